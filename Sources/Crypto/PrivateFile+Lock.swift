internal import Glibc

extension PrivateFile {
    /// How long another program may keep a folder to itself: making keys takes milliseconds.
    private static let patience = 1_000_000

    /// Calls `body` while no other program does the same in `directory`, so that `ringctl certs init` and a daemon that
    /// starts do not each make an authority. Throws `.file` if another one holds the folder for a second. On a file
    /// system without flock(2) it goes on without.
    static func locked<T>(
        _ directory: String, _ body: () throws(CryptoFailure) -> T
    ) throws(CryptoFailure) -> T {
        let fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard fd >= 0 else { throw failure("cannot open \(directory)") }
        // The lock goes with the descriptor.
        defer { close(fd) }
        var waited = 0
        while flock(fd, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { break }
            guard waited < patience else {
                throw CryptoFailure(.file, "another program has kept \(directory) to itself for a second; try again")
            }
            usleep(10_000)
            waited += 10_000
        }
        return try body()
    }

    /// The names in `directory` that `isWanted`, sorted, at most 1000 of them; none if it cannot be read.
    package static func names(in directory: String, where isWanted: (String) -> Bool) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var found: [String] = []
        while found.count < 1000, let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if isWanted(name) { found.append(name) }
        }
        return found.sorted()
    }
}
