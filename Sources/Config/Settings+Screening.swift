internal import Base

/// `[screening]`.
extension Setting {
    private typealias Screening = Configuration.Screening
    private typealias Place<Value> = any WritableKeyPath<Configuration.Screening, Value> & Sendable

    private static func screening(
        _ key: String, _ expects: String, _ help: String, whenEmpty: String = "",
        read: @escaping @Sendable (String, inout Configuration.Screening) -> Bool,
        write: @escaping @Sendable (Configuration.Screening) -> String
    ) -> Setting {
        Setting(
            section: "screening", key: key, expects: expects, help: help, whenEmpty: whenEmpty,
            read: { read($0, &$1.screening) }, write: { write($0.screening) })
    }

    private static func word<Choice: RawRepresentable<String> & Sendable>(
        _ key: String, _ expects: String, _ help: String, _ path: Place<Choice>
    ) -> Setting {
        screening(
            key, expects, help, read: { text, c in choice(text) { c[keyPath: path] = $0 } },
            write: { $0[keyPath: path].rawValue })
    }

    private static func list(
        _ key: String, _ help: String, whenEmpty: String, _ path: Place<[HandlePattern]>
    ) -> Setting {
        screening(
            key, "patterns like +4930*, *@example.com or anonymous, with commas between; at most 1000", help,
            whenEmpty: whenEmpty,
            read: { text, c in
                guard let patterns = try? HandlePattern.list(text) else { return false }
                c[keyPath: path] = patterns
                return true
            }, write: { HandlePattern.text($0[keyPath: path]) })
    }

    static let screening: [Setting] = [
        word(
            "do-not-disturb", "silent, refuse or ignore",
            "What calls meet in do-not-disturb: seen but not heard, missed with a quiet notice, or rung all the same.",
            \.doNotDisturb),
        word(
            "switch", "auto, on or off",
            "Do-not-disturb for calls: as the desktop's own switch says, or on or off whatever it says (ringctl dnd).",
            \.switch),
        list("vip", "Callers that always get through (ringctl vip).", whenEmpty: "nobody", \.vip),
        list("block", "Callers that never ring (ringctl block).", whenEmpty: "nobody", \.block),
        list("known", "Callers that count as known.", whenEmpty: "nobody", \.known),
        word("unknown", "ring, silent or refuse", "What callers meet that are not known.", \.unknown),
        screening(
            "repeat", "0…60 minutes",
            "A second call of the same caller within this rings in spite of do-not-disturb and unknown; 0 for never.",
            read: { text, c in
                let bare = text.hasSuffix("min") ? String(text.dropLast(3)) : text
                guard let value = Double(bare), (0...60).contains(value) else { return false }
                c.repeat = .milliseconds(Int64((value * 60_000).rounded()))
                return true
            }, write: { minutes($0.repeat) }),
    ]

    private static func minutes(_ duration: Duration) -> String {
        let millis = duration.nanoseconds / 1_000_000
        return millis % 60_000 == 0 ? String(millis / 60_000) : Decimal.text(millis, unit: 60_000, places: 3)
    }
}
