internal import Glibc

/// Small files that only their owner may read, and the directory for them.
package enum PrivateFile {
    /// More than any certificate chain with its key.
    package static let sizeLimit = 1 << 20

    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// When it was last written, in nanoseconds since 1970; 0 if it is not there.
    static func modified(_ path: String) -> Int64 {
        var info = stat()
        guard stat(path, &info) == 0 else { return 0 }
        return Int64(info.st_mtim.tv_sec) * 1_000_000_000 + Int64(info.st_mtim.tv_nsec)
    }

    static func remove(_ path: String) { unlink(path) }

    /// The whole file; refuses one over `limit` bytes.
    package static func read(_ path: String, limit: Int = sizeLimit) throws(CryptoFailure) -> [UInt8] {
        let fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard fd >= 0 else { throw failure("cannot read \(path)") }
        defer { close(fd) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(fd, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw failure("cannot read \(path)") }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= limit else { throw CryptoFailure(.file, "\(path) is over \(limit >> 20) MiB") }
        }
    }

    /// Puts `bytes` there in one step (a new file of mode 0600, fsync(2), rename(2)): a reader sees the old file or
    /// the new one, never half of it, and neither does a crash. Where a file is already it is replaced; if that is not
    /// wanted, it is an error instead.
    package static func write(
        _ bytes: [UInt8], to path: String, replacing: Bool = true
    ) throws(CryptoFailure) {
        let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        // Not derived from the name, which may be as long as a file system allows.
        let draft = directory + "/.new-" + String(UInt64.random(in: .min ... .max), radix: 36)
        let fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard fd >= 0 else { throw failure("cannot write in \(directory)") }
        var done = 0
        var isGood = fchmod(fd, 0o600) == 0
        while isGood && done < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(fd, $0.baseAddress! + done, bytes.count - done) }
            if count < 0 && errno == EINTR { continue }
            isGood = count > 0
            done += max(0, count)
        }
        isGood = isGood && fsync(fd) == 0
        let code = errno
        close(fd)
        if isGood && move(draft, to: path, replacing: replacing) { return }
        let reason = isGood ? errno : code
        unlink(draft)
        throw failure("cannot write \(path)", reason)
    }

    private static func move(_ draft: String, to path: String, replacing: Bool) -> Bool {
        if replacing { return rename(draft, path) == 0 }
        if link(draft, path) == 0 {
            unlink(draft)
            return true
        }
        // A file system without links.
        guard errno != EEXIST, !exists(path) else {
            errno = EEXIST
            return false
        }
        return rename(draft, path) == 0
    }

    /// Makes `path` and what is missing above it, mode 0700, and takes others' rights off one that exists.
    static func makeDirectory(_ path: String) throws(CryptoFailure) {
        var end = path.startIndex
        while end < path.endIndex {
            end = path[end...].dropFirst().firstIndex(of: "/") ?? path.endIndex
            if mkdir(String(path[..<end]), 0o700) != 0 && errno != EEXIST && errno != EISDIR && errno != EROFS {
                throw failure("cannot make the directory \(path[..<end])")
            }
        }
        guard chmod(path, 0o700) == 0 else { throw failure("cannot make \(path) private") }
    }

    /// Takes others' rights off a file that exists.
    static func restrict(_ path: String) { chmod(path, 0o600) }

    static func failure(_ doing: String, _ code: Int32 = errno) -> CryptoFailure {
        CryptoFailure(.file, "\(doing): \(String(cString: strerror(code)))")
    }
}
