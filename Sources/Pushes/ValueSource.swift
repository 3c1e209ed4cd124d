internal import Base
internal import JSON

/// One place where a field of a call may stand, and how it is taken from there.
struct ValueSource: Sendable, Hashable {
    enum Filter: Sendable, Hashable {
        /// Without these letters in front, where it has them; written, they are put there.
        case after(String)
        /// What comes before this text; all of it where it does not come.
        case before(String)
        /// This value says that there is none.
        case not(ValuePattern)
        /// Written as a number.
        case number
        /// Written as text.
        case text
        /// Seconds since 1970, or a duration in seconds.
        case seconds
        /// The same in milliseconds.
        case milliseconds
    }

    var path: Path
    var filters: [Filter] = []
    var condition: Condition?

    var isMilliseconds: Bool { filters.contains(.milliseconds) }

    /// The value, if it counts.
    func value(in view: inout PayloadView) -> JSONValue? {
        if let condition, !condition.holds(in: &view) { return nil }
        guard let value = view.values(at: path).first else { return nil }
        return filtered(value)
    }

    private func filtered(_ value: JSONValue) -> JSONValue? {
        var value = value
        for filter in filters {
            switch filter {
            case .not(let pattern): if pattern.matches(value) { return nil }
            case .after(let prefix):
                guard let text = value.looseText else { continue }
                if text.utf8.count >= prefix.utf8.count,
                    text.utf8.prefix(prefix.utf8.count).elementsEqual(prefix.utf8, by: { $0 | 0x20 == $1 | 0x20 })
                {
                    value = .string(String(decoding: text.utf8.dropFirst(prefix.utf8.count), as: UTF8.self))
                }
            case .before(let end):
                guard let text = value.looseText, let place = Text.offset(of: end, in: text) else { continue }
                value = .string(String(decoding: text.utf8.prefix(place), as: UTF8.self))
            case .number, .text, .seconds, .milliseconds: break
            }
        }
        return value
    }

    /// What stands there for `text`.
    func written(_ text: String) -> JSONValue {
        var text = text
        for case .after(let prefix) in filters where !text.lowercased().hasPrefix(prefix.lowercased()) {
            text = prefix + text
        }
        if filters.contains(.number), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text) {
            return .integer(number)
        }
        return .string(text)
    }

    /// A time of the clock: ISO 8601, unless the dialect counts.
    func written(_ time: WallTime) -> JSONValue {
        let millis = time.nanoseconds / 1_000_000
        if isMilliseconds { return number(millis) }
        if filters.contains(.seconds) { return number(millis / 1000) }
        return .string(ISO8601.text(time))
    }

    func written(_ time: Duration) -> JSONValue {
        let millis = time.nanoseconds / 1_000_000
        if isMilliseconds { return number(millis) }
        if millis % 1000 == 0 || filters.contains(.text) { return number(millis / 1000) }
        return .real(Double(millis) / 1000)
    }

    private func number(_ value: Int64) -> JSONValue {
        filters.contains(.text) ? .string(String(value)) : .integer(value)
    }
}

/// What the values at one place mean: `[kind POINTER]` and `[video POINTER]` of a dialect file.
struct ValueMap<Meaning: Sendable & Hashable>: Sendable, Hashable {
    struct Entry: Sendable, Hashable {
        var pattern: ValuePattern
        var meaning: Meaning
        /// What is written for it; nil for a pattern with stars.
        var value: JSONValue?

        static func == (a: Self, b: Self) -> Bool { a.pattern == b.pattern && a.meaning == b.meaning }
        func hash(into hasher: inout Hasher) { hasher.combine(pattern) }
    }

    var path: Path
    var entries: [Entry] = []

    /// Nil where there is no value, or none of them; the text where only `*` matched it.
    func meaning(in view: inout PayloadView) -> (meaning: Meaning, unknown: String?)? {
        guard let value = view.value(at: path) else { return nil }
        guard let text = value.scalarText else {
            // No word at all, and so one that nobody knows.
            return entries.first { $0.pattern.isAny }.map { ($0.meaning, "{…}") }
        }
        let folded = ValuePattern.folded(text.utf8)
        guard let entry = entries.first(where: { $0.pattern.matches(folded: folded) }) else { return nil }
        return (entry.meaning, entry.pattern.isAny ? text : nil)
    }

    /// The value that says `meaning`.
    func value(of meaning: Meaning) -> JSONValue? { entries.first { $0.meaning == meaning && $0.value != nil }?.value }
}
