internal import Glibc

/// A file written whole or not at all.
enum OutputFile {
    static func write(_ text: String, to path: String) throws(Refusal) {
        let draft = path + ".\(getpid()).part"
        let fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard fd >= 0 else { throw .refused("cannot write \(path): \(String(cString: strerror(errno)))") }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(fd, $0.baseAddress, $0.count) }
            guard count > 0 else {
                let why = String(cString: strerror(errno))
                close(fd)
                unlink(draft)
                throw .refused("cannot write \(path): \(why)")
            }
            rest = rest.dropFirst(count)
        }
        close(fd)
        guard rename(draft, path) == 0 else {
            let why = String(cString: strerror(errno))
            unlink(draft)
            throw .refused("cannot write \(path): \(why)")
        }
    }

    /// nil if it is not there.
    static func read(_ path: String) throws(Refusal) -> String? {
        guard let file = fopen(path, "re") else {
            if errno == ENOENT { return nil }
            throw .refused("cannot read \(path): \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// The folder of `path`, made with its parents.
    static func makeFolder(of path: String) {
        var prefix = ""
        for part in path.split(separator: "/").dropLast() {
            prefix += "/" + part
            mkdir(prefix, 0o700)
        }
    }

    static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
            guard let folder = getcwd(buffer.baseAddress!, buffer.count) else { return path }
            return String(cString: folder) + "/" + path
        }
    }
}
