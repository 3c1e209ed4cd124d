/// A line of an INI file that says something.
package struct INILine: Sendable, Equatable {
    /// From 1.
    package var number: Int
    package var section: String
    package var key: String
    package var value: String

    package init(number: Int, section: String, key: String, value: String) {
        self.number = number
        self.section = section
        self.key = key
        self.value = value
    }
}

/// The INI form of systemd and friends: `[section]`, `key = value`, `#` or `;` at the beginning of a line for comments.
///
/// Our own forty lines rather than inih, which tells its handler no line numbers and cuts lines at 200 bytes; a fault
/// without a line number is a fault that people cannot find.
package enum INI {
    package static let lineLimit = 4096
    package static let sizeLimit = 1 << 20

    /// `lineLimits`: of sections whose lines may be longer, in bytes. The caller has bounded the text.
    package static func parse(
        _ text: String, lineLimits: [String: Int] = [:]
    ) -> (lines: [INILine], faults: [ConfigFault]) {
        var lines: [INILine] = []
        var faults: [ConfigFault] = []
        var section = ""
        var limit = lineLimits[""] ?? lineLimit
        for (index, raw) in split(text).enumerated() {
            let number = index + 1
            let line = trim(raw.utf8[...])
            guard let first = line.first, first != UInt8(ascii: "#"), first != UInt8(ascii: ";") else { continue }
            guard line.count <= limit else {
                faults.append(ConfigFault(number, nil, "the line is longer than \(limit) bytes"))
                continue
            }
            if first == UInt8(ascii: "[") {
                guard line.last == UInt8(ascii: "]"), line.count > 2 else {
                    faults.append(ConfigFault(number, nil, "a section is written [name]"))
                    section = "?"
                    continue
                }
                section = String(trim(line.dropFirst().dropLast())) ?? "?"
                limit = lineLimits[section] ?? lineLimit
                continue
            }
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")), equals != line.startIndex,
                let key = String(trim(line[..<equals])), let value = String(trim(line[equals...].dropFirst()))
            else {
                faults.append(ConfigFault(number, nil, "expected key = value, a [section] or a # comment"))
                continue
            }
            lines.append(INILine(number: number, section: section, key: key, value: value))
        }
        return (lines, faults)
    }

    /// Lines end in LF or CR LF.
    package static func split(_ text: String) -> [Substring] {
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            Substring(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
        }
    }

    /// By bytes: characters are ten times as dear, and no blank that people type is another.
    private static func trim(_ bytes: Substring.UTF8View) -> Substring.UTF8View {
        var view = bytes
        while let first = view.first, isBlank(first) { view = view.dropFirst() }
        while let last = view.last, isBlank(last) { view = view.dropLast() }
        return view
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
}

/// What is wrong with a line of a file that people write. The rest is in force.
package struct ConfigFault: Sendable, Equatable, CustomStringConvertible {
    /// From 1; 0 where it is no line's fault.
    package let line: Int
    /// `section.key`, where it is one key's fault.
    package let key: String?
    package let reason: String

    package init(_ line: Int, _ key: String?, _ reason: String) {
        self.line = line
        self.key = key
        self.reason = reason
    }

    package var description: String { (line > 0 ? "line \(line): " : "") + (key.map { "\($0): " } ?? "") + reason }
}
