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
        for (index, raw) in split(text).enumerated() {
            let number = index + 1
            let line = trim(raw)
            if line.isEmpty || line.first == "#" || line.first == ";" { continue }
            let limit = lineLimits[section] ?? lineLimit
            guard line.utf8.count <= limit else {
                faults.append(ConfigFault(number, nil, "the line is longer than \(limit) bytes"))
                continue
            }
            if line.first == "[" {
                guard line.last == "]", line.count > 2 else {
                    faults.append(ConfigFault(number, nil, "a section is written [name]"))
                    section = "?"
                    continue
                }
                section = trim(line.dropFirst().dropLast())
                continue
            }
            guard let equals = line.firstIndex(of: "="), equals != line.startIndex else {
                faults.append(ConfigFault(number, nil, "expected key = value, a [section] or a # comment"))
                continue
            }
            let key = trim(line[..<equals])
            lines.append(
                INILine(number: number, section: section, key: key, value: trim(line[line.index(after: equals)...])))
        }
        return (lines, faults)
    }

    /// Lines end in LF or CR LF, which is one Character.
    package static func split(_ text: String) -> [Substring] {
        text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    }

    private static func trim(_ text: some StringProtocol) -> String {
        var view = Substring(text)
        while let first = view.first, first.isWhitespace { view = view.dropFirst() }
        while let last = view.last, last.isWhitespace { view = view.dropLast() }
        return String(view)
    }
}

/// What is wrong with a line of a file that people write. The rest is in force.
package struct ConfigFault: Sendable, Equatable, CustomStringConvertible {
    /// From 1.
    package let line: Int
    /// `section.key`, where it is one key's fault.
    package let key: String?
    package let reason: String

    package init(_ line: Int, _ key: String?, _ reason: String) {
        self.line = line
        self.key = key
        self.reason = reason
    }

    package var description: String { "line \(line): " + (key.map { "\($0): " } ?? "") + reason }
}
