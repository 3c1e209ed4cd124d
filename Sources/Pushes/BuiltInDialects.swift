internal import Base
internal import CDialects

extension DialectBook {
    /// The dialects that come with ringd, read once, when somebody first asks.
    package static let builtIn: DialectBook = {
        var all: [Dialect] = []
        for name in builtInNames {
            guard let text = text(of: name) else { continue }
            let (dialect, faults) = DialectFile.read(text, name: name, base: { base, _ in Self.text(of: base) })
            // A test reads all of them; a fault here would be a fault of the build.
            assert(faults.isEmpty, "\(name): \(faults)")
            if let dialect { all.append(dialect) }
        }
        return DialectBook(all)
    }()

    /// In the order of the names.
    package static var builtInNames: [String] { files.map(\.name) }

    /// The file itself.
    package static func text(of name: String) -> String? {
        files.first { $0.name == name }?.text
    }

    private struct BuiltIn {
        var name: String
        var text: String
    }

    /// The table in the program's own data. Texts are copied only here, once, and for whoever asks for one by name.
    private static let files: [BuiltIn] = {
        var out: [BuiltIn] = []
        var next = unsafe ringd_dialects()
        while let file = unsafe next, let name = unsafe file.pointee.name {
            let text = unsafe UnsafeBufferPointer(start: file.pointee.text, count: file.pointee.size)
            out.append(unsafe BuiltIn(name: String(cString: name), text: String(decoding: text, as: UTF8.self)))
            unsafe next = file.advanced(by: 1)
        }
        return out
    }()
}
