internal import Base
internal import Glibc

/// A program that is asked for a word: started without a shell, heard when it ends. Confined to the loop's thread; a
/// released one is ended and never heard.
package final class ChildAnswer {
    private let child: ChildProcess
    private var source: ChildSource?
    private var timer: TimerSource?
    private let output: Int32
    private let then: (String?) -> Void

    /// `words[0]` is a path. `then` gets what the program said on stdout (`limit` bytes at most, which a pipe holds), or
    /// nil if it failed, said more, or was not done within `patience`.
    package init(
        _ loop: EventLoop, _ words: [String], environment: [String: String], limit: Int = 256,
        patience: Duration = .seconds(5), then: @escaping (String?) -> Void
    ) throws(LoopFailure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw LoopFailure(code: errno, doing: "making a pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // Whoever inherits the other end may live longer than the program.
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        defer { close(ends[1]) }
        output = ends[0]
        self.then = then
        do throws(LoopFailure) {
            child = try ChildProcess(words, environment: environment, outputTo: ends[1])
        } catch {
            close(ends[0])
            throw error
        }
        timer = try TimerSource(loop) { [unowned self] in kill(child.pid, SIGKILL) }
        source = try ChildSource(loop, pid: child.pid) { [unowned self] status in ended(status, limit) }
        timer?.arm(after: patience)
    }

    deinit {
        // Not reaped yet, so the number is still its own.
        if source != nil {
            kill(child.pid, SIGKILL)
            source = nil
            waitpid(child.pid, nil, 0)
        }
        close(output)
    }

    private func ended(_ status: ChildStatus, _ limit: Int) {
        source = nil
        timer = nil
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        let count = read(output, &bytes, bytes.count)
        let isWhole = status == .exited(0) && count >= 0 && count <= limit
        // The listener may drop this.
        withExtendedLifetime(self) { then(isWhole ? String(decoding: bytes[..<count], as: UTF8.self) : nil) }
    }
}
