internal import Base
internal import EventLoop
internal import Glibc

/// Runs ringd-decode: no shell, nothing inherited but an error pipe, and a bound on its time.
struct Converter {
    let path: String
    var limit: Duration = .seconds(45)

    /// Blocks until the program ended or was ended.
    func run(_ input: String, to output: String) throws(SoundFailure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw failure("no pipe (\(String(cString: strerror(errno))))") }
        let (reader, writer) = (ends[0], ends[1])
        defer { close(reader) }
        _ = fcntl(reader, F_SETFD, FD_CLOEXEC)
        _ = fcntl(writer, F_SETFD, FD_CLOEXEC)
        // A path with a leading dash would be an option.
        let source = input.hasPrefix("/") ? input : "./" + input
        let child: ChildProcess
        do throws(LoopFailure) {
            child = try ChildProcess([path, source, output], environment: ["LC_ALL": "C.UTF-8"], errorsTo: writer)
        } catch {
            close(writer)
            throw failure("does not start (\(String(cString: strerror(error.code))))")
        }
        close(writer)
        let deadline = Instant.now + limit
        let said = drain(reader, until: deadline)
        guard let status = wait(child.pid, until: deadline) else {
            throw failure("took longer than \(limit.shortText) over \(input)")
        }
        if status != 0 {
            // Its own line says it best: "ringd-decode: FILE: cause; cure".
            let line = Text.clean(said, limit: 400)
            let text = line.hasPrefix("ringd-decode: ") ? String(line.dropFirst(14)) : line
            let end = Text.offset(of: "; ", in: text)
            let said = end.map { String(decoding: text.utf8.prefix($0), as: UTF8.self) } ?? text
            let cause = said.hasPrefix(source + ": ") ? String(said.dropFirst(source.count + 2)) : said
            throw SoundFailure(
                input, cause.isEmpty ? "cannot be converted (status \(status))" : cause,
                cure: end.map { String(decoding: text.utf8.dropFirst($0 + 2), as: UTF8.self) }
                    ?? "convert it to WAV first")
        }
    }

    /// What the child says until it closes the pipe; the first 4 kB are kept.
    private func drain(_ reader: Int32, until deadline: Instant) -> String {
        var kept: [UInt8] = []
        var block: [UInt8] = Array(repeating: 0, count: 4096)
        while true {
            let left = (deadline - .now).nanoseconds / 1_000_000
            var entry = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            guard left > 0, poll(&entry, 1, Int32(min(left, 60_000))) > 0 else { break }
            let count = read(reader, &block, block.count)
            if count <= 0 { break }
            kept += block[..<min(count, 4096 - kept.count)]
        }
        return String(decoding: kept, as: UTF8.self)
    }

    /// The exit status (128 + signal if it was killed), nil if it had to be ended here.
    private func wait(_ pid: pid_t, until deadline: Instant) -> Int32? {
        var status: Int32 = 0
        // The pipe is closed by its end, so it is almost gone: this rarely sleeps at all.
        while waitpid(pid, &status, WNOHANG) == 0 {
            if .now >= deadline {
                kill(pid, SIGKILL)
                waitpid(pid, &status, 0)
                return nil
            }
            usleep(1000)
        }
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }

    private func failure(_ cause: String) -> SoundFailure {
        SoundFailure(path, cause, cure: "is ringd installed completely?")
    }
}
