internal import Glibc

/// Where things live (XDG Base Directory Specification). Relative values of the variables are ignored, as it demands.
package struct Paths: Sendable {
    package let config: String
    package let state: String
    package let cache: String
    package let data: String

    package init(_ environment: [String: String]) {
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/"
        func folder(_ variable: String, _ fallback: String) -> String {
            let base = environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + fallback
            return base + "/ringd"
        }
        config = folder("XDG_CONFIG_HOME", "/.config")
        state = folder("XDG_STATE_HOME", "/.local/state")
        cache = folder("XDG_CACHE_HOME", "/.cache")
        data = folder("XDG_DATA_HOME", "/.local/share")
    }

    package var configFile: String { config + "/ringd.conf" }
    package var database: String { state + "/ringd.sqlite" }
    package var certificates: String { state + "/certs" }

    /// Makes the folders that are written to, for the user alone. Throws the errno's text.
    package func make() throws(PathFailure) {
        for folder in [state, cache] { try Self.makeFolder(folder) }
    }

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
        let fd = open(path, O_RDONLY | O_CLOEXEC)
        guard fd >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw PathFailure(description: "cannot read \(path): \(String(cString: strerror(errno)))")
        }
        defer { close(fd) }
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
