internal import Base
internal import Glibc

/// A whole file in memory; `-` is standard input.
enum InputFile {
    /// Refuses one over `limit` bytes before that much is read. Waits for a pipe, as `<(pass show x)` is one.
    static func read(_ path: String, limit: Int) throws(Refusal) -> [UInt8] {
        let fd = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        func refusal() -> Refusal { .refused("cannot read \(Text.clean(path)): \(String(cString: strerror(errno)))") }
        guard fd >= 0 else { throw refusal() }
        defer { if fd > 0 { close(fd) } }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= limit {
            let count = Glibc.read(fd, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw refusal() }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
        throw .refused("\(Text.clean(path)) is over \(limit) bytes")
    }

    /// The first line of a file: a password.
    static func password(_ path: String) throws(Refusal) -> String {
        let line = try read(path, limit: 4096).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw .refused("\(Text.clean(path)): the password is not UTF-8 text")
        }
        return text
    }
}
