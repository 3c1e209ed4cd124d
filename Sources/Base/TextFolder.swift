internal import Glibc

/// The text files of a folder that people put things into.
package enum TextFolder {
    package struct File: Sendable, Equatable {
        /// Without the suffix.
        package var name: String
        package var path: String
        /// Nil: it could not be read, and `fault` says why.
        package var text: String?
        package var fault = ""
    }

    /// Those whose names end in `suffix`, in the order of their names, at most `most` of them, each of at most `limit`
    /// bytes. A folder that is not there has none. What is no ordinary file is not read, so that nothing here waits.
    package static func read(_ folder: String, suffix: String, limit: Int, most: Int = 256) -> [File] {
        guard let handle = opendir(folder) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle), names.count < 4096 {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { raw in
                String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(suffix) && !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted().prefix(most).map { name in
            let path = folder + "/" + name
            let fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            var file = File(name: String(name.dropLast(suffix.count)), path: path)
            guard fd >= 0 else {
                file.fault = "cannot be read: \(String(cString: strerror(errno)))"
                return file
            }
            defer { close(fd) }
            var info = stat()
            guard fstat(fd, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
                file.fault = "is no ordinary file"
                return file
            }
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 8192)
            while bytes.count <= limit {
                let count = Glibc.read(fd, &chunk, chunk.count)
                guard count >= 0 else {
                    file.fault = "cannot be read: \(String(cString: strerror(errno)))"
                    return file
                }
                if count == 0 {
                    file.text = String(validating: bytes, as: UTF8.self)
                    if file.text == nil { file.fault = "is not UTF-8" }
                    return file
                }
                bytes.append(contentsOf: chunk[..<count])
            }
            file.fault = "is larger than \(limit) bytes"
            return file
        }
    }
}
