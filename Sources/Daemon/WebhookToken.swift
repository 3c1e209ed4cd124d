internal import Base
internal import Crypto
internal import Glibc

/// The file with the token that senders of webhooks show.
enum WebhookToken {
    /// What is wrong with it, and the cure.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static let shortest = 16
    static let longest = 512

    /// What is in it. A file that is not there is made, with 32 random bytes in Base 64 (URL-safe); one that others may
    /// read is refused, and so is a token that could be guessed or that no header could carry.
    static func load(_ path: String) throws -> [UInt8] {
        if !PrivateFile.exists(path) { try make(path) }
        let fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard fd >= 0 else { throw Failure(description: "cannot read \(path): \(String(cString: strerror(errno)))") }
        defer { close(fd) }
        var info = stat()
        guard fstat(fd, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            throw Failure(description: "\(path) is not a file")
        }
        guard info.st_uid == geteuid() || info.st_uid == 0 else {
            throw Failure(description: "\(path) is another user's: whoever it is could ring this desktop")
        }
        guard info.st_mode & 0o077 == 0 else {
            throw Failure(
                description: "others may read the webhooks' token: chmod 600 \(path), and better a new one (rm \(path))"
            )
        }
        var bytes = [UInt8](repeating: 0, count: longest + 3)
        let count = read(fd, &bytes, bytes.count)
        guard count >= 0 else {
            throw Failure(description: "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        var token = bytes[..<count]
        while let last = token.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { token.removeLast() }
        guard (shortest...longest).contains(token.count), token.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw Failure(
                description:
                    "\(path) has no good token: one line of \(shortest) to \(longest) visible ASCII characters (remove the file, and a new one is made)"
            )
        }
        return Array(token)
    }

    private static func make(_ path: String) throws {
        // getrandom(2), by way of Swift's own generator.
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        try PrivateFile.write(Array((Base64URL.encode(bytes) + "\n").utf8), to: path, replacing: false)
    }
}
