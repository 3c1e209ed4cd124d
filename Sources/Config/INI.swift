internal import Base

/// A line of an INI file that says something.
struct INILine: Sendable, Equatable {
    /// From 1.
    var number: Int
    var section: String
    var key: String
    var value: String
}

/// The INI form of systemd and friends: `[section]`, `key = value`, `#` or `;` at the beginning of a line for comments.
///
/// Our own forty lines rather than inih, which tells its handler no line numbers and cuts lines at 200 bytes; a fault
/// without a line number is a fault that people cannot find.
enum INI {
    static let lineLimit = 4096
    /// The lists of callers are a line each.
    static let screeningLimit = lineLimit + HandlePattern.mostInList * (HandlePattern.longest + 2)
    static let sizeLimit = 1 << 20

    static func parse(_ text: String) -> (lines: [INILine], faults: [ConfigFault]) {
        var lines: [INILine] = []
        var faults: [ConfigFault] = []
        var section = ""
        for (index, raw) in split(text).enumerated() {
            let number = index + 1
            let line = trim(raw)
            if line.isEmpty || line.first == "#" || line.first == ";" { continue }
            let limit = section == "screening" ? screeningLimit : lineLimit
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
    static func split(_ text: String) -> [Substring] {
        text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    }

    private static func trim(_ text: some StringProtocol) -> String {
        var view = Substring(text)
        while let first = view.first, first.isWhitespace { view = view.dropFirst() }
        while let last = view.last, last.isWhitespace { view = view.dropLast() }
        return String(view)
    }
}

/// What is wrong with a line of the configuration. The rest is in force.
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
