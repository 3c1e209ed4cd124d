internal import Base
internal import CSystemd
internal import Glibc

/// Where log lines go: the journal with its fields where we run under it, else stderr.
package struct Journal: Sendable {
    private let isJournal: Bool

    /// stderr is the journal's if its device and inode are those in `$JOURNAL_STREAM` (systemd.exec(5)).
    package init(environment: [String: String]) {
        guard let stream = environment["JOURNAL_STREAM"] else {
            isJournal = false
            return
        }
        var info = stat()
        isJournal = fstat(2, &info) == 0 && stream == "\(info.st_dev):\(info.st_ino)"
    }

    /// `priority` is syslog's number. Field names are upper case, as journald wants them; values may hold any bytes.
    package func log(priority: Int, message: String, fields: [(String, String)]) {
        guard isJournal else {
            return Console.complain(message)
        }
        let lines =
            ["MESSAGE=\(message)", "PRIORITY=\(priority)", "SYSLOG_IDENTIFIER=ringd"] + fields.map { "\($0.0)=\($0.1)" }
        let buffers = lines.map { Array($0.utf8) }
        withUnsafeTemporaryAllocation(of: iovec.self, capacity: buffers.count) { vectors in
            // Each array is alive until the end of the scope, so its bytes are, too.
            let copies = buffers.map { bytes in
                let copy = UnsafeMutableRawPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
                bytes.withUnsafeBytes { if !$0.isEmpty { copy.copyMemory(from: $0.baseAddress!, byteCount: $0.count) } }
                return copy
            }
            defer { for copy in copies { copy.deallocate() } }
            for (index, copy) in copies.enumerated() {
                vectors[index] = iovec(iov_base: copy, iov_len: buffers[index].count)
            }
            sd_journal_sendv(vectors.baseAddress, Int32(vectors.count))
        }
    }
}

/// sd_notify(3): what systemd is told; nothing at all where it does not listen.
package enum ServiceManager {
    /// E.g. `READY=1\nSTATUS=…`.
    package static func notify(_ state: String) { sd_notify(0, state) }

    /// Sockets that systemd listens on for us (sd_listen_fds(3)); ours from now on, and not a child's.
    package static func takeSockets() -> [Int32] {
        let count = sd_listen_fds(1)
        guard count > 0 else { return [] }
        return (0..<count).map { SD_LISTEN_FDS_START + $0 }
    }

    /// The state for a reload's begin; systemd wants the monotonic time with it.
    package static var reloading: String {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return "RELOADING=1\nMONOTONIC_USEC=\(Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)"
    }
}
