internal import Base
internal import Glibc

/// Where things live.
package struct Paths: Sendable {
    package let config: String
    package let state: String
    package let certificates: String
    package let webhookToken: String

    package init(_ environment: [String: String]) {
        config = XDG.folder(.config, environment)
        state = XDG.folder(.state, environment)
        certificates = XDG.certificates(environment)
        webhookToken = XDG.webhookToken(environment)
    }

    package var configFile: String { config + "/ringd.conf" }
    /// The user's own dialect files.
    package var dialects: String { config + "/dialects" }
    package var database: String { state + "/ringd.sqlite" }

    /// Makes the folder that is written to, for the user alone. Throws the errno's text.
    package func make() throws(PathFailure) { try Self.makeFolder(state) }

    private static func makeFolder(_ path: String) throws(PathFailure) {
        var prefix = ""
        for part in path.split(separator: "/") {
            prefix += "/" + part
            if mkdir(prefix, 0o700) != 0 && errno != EEXIST {
                throw PathFailure(description: "cannot make \(prefix): \(String(cString: strerror(errno)))")
            }
        }
    }

    /// A whole text file of at most `limit` bytes; nil if it is not there.
    package static func read(_ path: String, limit: Int = 1 << 20) throws(PathFailure) -> String? {
        // A pipe or a device must not hold up the loop.
        let fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard fd >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw PathFailure(description: "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        defer { close(fd) }
        var info = stat()
        guard fstat(fd, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            throw PathFailure(description: "\(path) is not a file")
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= limit {
            let count = Glibc.read(fd, &chunk, chunk.count)
            guard count >= 0 else {
                throw PathFailure(description: "cannot read \(path): \(String(cString: strerror(errno)))")
            }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(contentsOf: chunk[..<count])
        }
        throw PathFailure(description: "\(path) is larger than \(limit) bytes")
    }
}

package struct PathFailure: Error, Sendable, CustomStringConvertible {
    package let description: String
}
