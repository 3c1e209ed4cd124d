package import Base
internal import JSON

/// Reads dialect files: INI, as ringd.conf is (Docs/dialects.md). What is wrong is named with its line; a dialect with a
/// fault is not used at all, because half a dialect would ring the wrong way.
package enum DialectFile {
    package static let sizeLimit = 65_536
    static let mostSources = 16
    static let mostConditions = 16
    static let mostEntries = 64
    static let mostMaps = 32
    static let mostConstants = 64

    /// A file by itself, or upon the one that it `extends`. `base`: the text of a dialect that is known by this name, and
    /// the name of the file that extends it.
    package static func read(
        _ text: String, name: String, base: (String, _ above: String) -> String? = { _, _ in nil }
    ) -> (dialect: Dialect?, faults: [ConfigFault]) {
        guard Dialect.isName(name) else {
            return (
                nil,
                [fault(0, "a dialect's name has lower-case letters, digits and hyphens, at most 40: not \"\(name)\"")]
            )
        }
        var (lines, faults) = lines(text, of: name, base, depth: 0)
        guard faults.isEmpty else { return (nil, faults) }
        var reader = DialectReader(name: name)
        for line in lines {
            if let reason = reader.take(line) { faults.append(ConfigFault(line.number, line.key, reason)) }
        }
        if let reason = reader.missing { faults.append(fault(lines.last?.number ?? 1, reason)) }
        guard faults.isEmpty else { return (nil, faults.sorted { $0.line < $1.line }) }
        return (reader.finished, [])
    }

    /// The file's, upon those of the one below; their numbers are 0.
    private static func lines(
        _ text: String, of name: String, _ base: (String, _ above: String) -> String?, depth: Int
    ) -> (lines: [INILine], faults: [ConfigFault]) {
        guard text.utf8.count <= sizeLimit else {
            return ([], [fault(1, "the file is larger than \(sizeLimit) bytes")])
        }
        let (lines, faults) = INI.parse(text)
        guard faults.isEmpty, let extends = lines.first(where: { $0.section == "dialect" && $0.key == "extends" })
        else {
            return (lines, faults)
        }
        guard depth < 4 else { return ([], [fault(extends.number, "extends goes too deep, or round in a circle")]) }
        guard let below = base(extends.value, name) else {
            return (
                [], [fault(extends.number, "there is no dialect \"\(extends.value)\" to extend (ringctl dialects)")]
            )
        }
        let (under, wrong) = Self.lines(below, of: extends.value, base, depth: depth + 1)
        guard wrong.isEmpty else {
            return ([], [fault(extends.number, "\(extends.value), which it extends: \(wrong[0])")])
        }
        return (merge(lines, upon: under), [])
    }

    private static func fault(_ line: Int, _ reason: String) -> ConfigFault {
        ConfigFault(line, nil, Text.clean(reason, limit: 300))
    }

    /// A field or a constant is replaced by itself; what is found by (`[detect]`) and each map of values as a whole.
    private static func merge(_ lines: [INILine], upon base: [INILine]) -> [INILine] {
        let sections = Set(lines.map(\.section))
        let keys = Set(lines.map { $0.section + "\n" + $0.key })
        let kept = base.filter { line in
            if line.section == "dialect" { return line.key != "extends" && !keys.contains("dialect\n" + line.key) }
            let isWhole =
                line.section == "detect" || line.section.hasPrefix("kind ") || line.section.hasPrefix("video ")
            return isWhole ? !sections.contains(line.section) : !keys.contains(line.section + "\n" + line.key)
        }
        return kept.map { INILine(number: 0, section: $0.section, key: $0.key, value: $0.value) } + lines
    }
}
