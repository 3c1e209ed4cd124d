internal import Base
internal import JSON

/// How places and conditions are written in a dialect file.
extension DialectReader {
    struct Why: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }

    func items(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmed }.filter { !$0.isEmpty }
    }

    /// `POINTER`, `POINTER is PATTERN` or `POINTER not PATTERN`.
    func condition(_ text: String) -> Result<Condition, Why> {
        let words = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
        guard let first = words.first, let pointer = JSONPointer(first), !pointer.tokens.contains(.each) else {
            return .failure(Why(notPointer(text)))
        }
        guard words.count > 1 else { return .success(Condition(path: Path(pointer: pointer))) }
        guard words.count == 3, words[1] == "is" || words[1] == "not",
            let pattern = ValuePattern(String(words[2]).trimmed)
        else { return .failure(Why("expected POINTER, POINTER is VALUE or POINTER not VALUE, not \"\(text)\"")) }
        return .success(Condition(path: Path(pointer: pointer), pattern: pattern, isNot: words[1] == "not"))
    }

    /// `POINTER [| FILTER]… [if CONDITION]`.
    func source(_ text: String) -> Result<ValueSource, Why> {
        var text = text
        var condition: Condition?
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        if let place = words.firstIndex(of: "if") {
            switch self.condition(words[(place + 1)...].joined(separator: " ")) {
            case .success(let made): condition = made
            case .failure(let why): return .failure(why)
            }
            text = words[..<place].joined(separator: " ")
        }
        let parts = text.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmed }
        guard let pointer = parts.first.flatMap({ JSONPointer($0) }) else { return .failure(Why(notPointer(text))) }
        guard pointer.tokens.count(where: { $0 == .each }) <= 1 else { return .failure(Why("one * at most")) }
        guard parts.count <= 6 else { return .failure(Why("no more than 5 filters")) }
        var out = ValueSource(path: Path(pointer: pointer), condition: condition)
        for part in parts.dropFirst() {
            guard let filter = filter(part) else {
                return .failure(
                    Why(
                        "unknown filter \"\(part)\"; there are after TEXT, before TEXT, not VALUE, number, text, s and ms"
                    ))
            }
            out.filters.append(filter)
        }
        return .success(out)
    }

    func filter(_ text: String) -> ValueSource.Filter? {
        switch text {
        case "number": return .number
        case "text": return .text
        case "s": return .seconds
        case "ms": return .milliseconds
        default: break
        }
        let words = text.split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { return nil }
        let value = words[1].trimmed
        switch words[0] {
        case "after": return .after(value)
        // A comma is what items end at.
        case "before": return .before(value == "comma" ? "," : value)
        case "not": return ValuePattern(value).map { .not($0) }
        default: return nil
        }
    }

    func notPointer(_ text: String) -> String {
        "\"\(Text.clean(text, limit: 60))\" is no JSON pointer: write /metadata/call_id (RFC 6901; %2C for a comma, %20 for a blank)"
    }

    func notKind(_ text: String) -> String {
        let known = CallSignal.Kind.allCases.map(\.rawValue)
        return "\"\(Text.clean(text, limit: 40))\" is no kind; there are " + known.joined(separator: ", ")
    }

    func hint(_ key: String, _ known: some Sequence<String>) -> String {
        Text.nearest(to: key, in: known.sorted()).map { "; did you mean \($0)?" } ?? "; there are "
            + known.sorted().joined(separator: ", ")
    }
}

extension StringProtocol {
    /// Without blanks around it.
    var trimmed: String {
        var view = Substring(self).utf8
        while view.first == 0x20 || view.first == 0x09 { view = view.dropFirst() }
        while view.last == 0x20 || view.last == 0x09 { view = view.dropLast() }
        return String(Substring(view))
    }
}
