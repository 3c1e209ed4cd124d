internal import Glibc

/// Lookup in freedesktop sound themes (Sound Theme Specification 0.8), as far as a ring needs it.
struct SoundTheme: Sendable, Equatable {
    /// Folders that hold theme folders, best first (`…/sounds`).
    let bases: [String]

    enum Found: Equatable {
        case file(String)
        /// The theme wants silence: `NAME.disabled`.
        case disabled
    }

    /// The theme, those it inherits from breadth first, then `freedesktop`.
    func chain(from theme: String) -> [String] {
        var order: [String] = []
        var queue = [theme]
        // A theme may inherit itself; 16 of them are plenty.
        while !queue.isEmpty, order.count < 16 {
            let next = queue.removeFirst()
            guard !order.contains(next), (try? SoundName(next)) != nil else { continue }
            order.append(next)
            queue += bases.lazy.compactMap { Self.index("\($0)/\(next)/index.theme")?.inherits }.first ?? []
        }
        order.removeAll { $0 == "freedesktop" }
        return order + ["freedesktop"]
    }

    func find(_ name: String, in themes: [String]) -> Found? {
        for theme in themes {
            for base in bases {
                if let found = Self.find(name, inTheme: "\(base)/\(theme)") { return found }
            }
        }
        return nil
    }

    /// Looks in one theme's folder.
    static func find(_ name: String, inTheme folder: String) -> Found? {
        for directory in index("\(folder)/index.theme")?.directories ?? ["stereo"] {
            for suffix in ["disabled", "oga", "ogg", "wav"] {
                let path = "\(folder)/\(directory)/\(name).\(suffix)"
                if Folder.isFile(path) { return suffix == "disabled" ? .disabled : .file(path) }
            }
        }
        return nil
    }

    struct Index: Equatable {
        var inherits: [String] = []
        /// `stereo` last if it is not listed: every theme in the field has it.
        var directories: [String] = []
    }

    /// The group `[Sound Theme]` of an index.theme; nil if there is no such file.
    static func index(_ path: String) -> Index? {
        guard let text = Folder.text(path, limit: 65536) else { return nil }
        var index = Index()
        var inGroup = false
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") {
                inGroup = line.hasPrefix("[Sound Theme]")
                continue
            }
            guard inGroup, let equals = line.firstIndex(of: "=") else { continue }
            let words = line[line.index(after: equals)...].split { $0 == "," || $0 == " " || $0 == "\t" }
            // A theme is data from somewhere: its words are names, too.
            let names = words.map(String.init).filter { (try? SoundName($0)) != nil }
            switch line[..<equals].filter({ !$0.isWhitespace }) {
            case "Inherits": index.inherits = Array(names.prefix(16))
            case "Directories": index.directories = Array(names.prefix(16))
            default: break
            }
        }
        if !index.directories.contains("stereo") { index.directories.append("stereo") }
        return index
    }
}

/// The little of a file system that a lookup needs.
enum Folder {
    static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Names of the folder's entries, sorted, without hidden ones; at most 4096.
    static func entries(_ path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while names.count < 4096, let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// A small text file; nil if it is not there or larger than `limit` bytes.
    static func text(_ path: String, limit: Int) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = Array(repeating: 0, count: limit + 1)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0, count <= limit else { return nil }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// mkdir -p, 0700 for what is made.
    static func make(_ path: String) -> Bool {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return true }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return false }
        return make(String(path[..<slash])) && (mkdir(path, 0o700) == 0 || errno == EEXIST)
    }
}
