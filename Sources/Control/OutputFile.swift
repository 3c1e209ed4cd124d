internal import Glibc

/// A file written whole or not at all.
enum OutputFile {
    /// A link is followed, and what is replaced keeps its mode.
    static func write(_ text: String, to given: String) throws(Refusal) {
        let path = real(given)
        var info = stat()
        let mode = stat(path, &info) == 0 ? info.st_mode & 0o777 : 0o644
        let draft = path + ".\(getpid()).part"
        let fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
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

    private static func real(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// False for a folder, a device, a pipe.
    static func isFileOrNothing(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) != 0 || info.st_mode & S_IFMT == S_IFREG
    }

    /// nil if it is not there.
    static func read(_ path: String) throws(Refusal) -> String? {
        guard let file = fopen(path, "re") else {
            if errno == ENOENT { return nil }
            throw .refused("cannot read \(path): \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        let limit = 1 << 20
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        let count = fread(&bytes, 1, bytes.count, file)
        guard count <= limit else { throw .refused("\(path) is larger than 1 MiB: nothing was changed") }
        guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
            throw .refused("\(path) is not UTF-8 text: nothing was changed")
        }
        return text
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
