internal import Base
internal import DBus

/// Past calls as lines, one each.
enum PastCalls {
    /// Names up to so many columns are padded to the widest of them; what is longer sticks out and is not cut.
    private static let widest = 36

    static func lines(_ calls: [DBusValue], _ style: Style) -> [String] {
        let names = calls.map(name)
        let column = names.map(Columns.width).filter { $0 <= widest }.max() ?? 0
        return zip(calls, names).map { call, name in
            line(call, Columns.width(name) > column ? name : Columns.fit(name, column), style)
        }
    }

    private static func line(_ call: DBusValue, _ name: String, _ style: Style) -> String {
        func text(_ key: String) -> String { Text.clean(call[key]?.text ?? "") }
        let began = WallTime(nanoseconds: call["began_ns"]?.integer ?? 0)
        // "answered on another device" is a sentence; its reason says the same.
        let category = text("category").hasSuffix("another device") ? "elsewhere" : text("category")
        let isMissed = category.hasPrefix("missed")
        let mark = isMissed && call["seen"]?.flag == false ? style(.bold, "*") : " "
        let arrow = text("direction") == "outgoing" ? "→" : "←"
        let padded = category.rightPadded(to: 11)
        let spoken = call["duration_ms"]?.integer.map(spoken) ?? "–"
        var why = [text("reason")]
        // An outgoing call rings somewhere else.
        if call["duration_ms"] == nil, text("direction") != "outgoing" {
            why.append("rang \(Duration.milliseconds(call["rang_ms"]?.integer ?? 0).shortText)")
        }
        if call["video"]?.flag == true { why.append("video") }
        if !text("detail").isEmpty { why.append(text("detail")) }
        return
            "\(text("id").prefix(8))  \(began.formatted("%Y-%m-%d %H:%M:%S"))  \(mark)\(arrow) \(isMissed ? style(.red, padded) : padded)\(spoken.leftPadded(to: 8))  \(name)  (\(why.joined(separator: ", ")))  \(style(.dim, text("app")))"
    }

    /// The contact's name before the one that the app gave, and the handle behind it.
    private static func name(_ call: DBusValue) -> String {
        func text(_ key: String) -> String { Text.clean(call[key]?.text ?? "") }
        let name = text("contact").isEmpty ? text("caller") : text("contact")
        let handle = HandleText.shown(text("handle"))
        // A call without a name was called by its handle, which older ones have as it came.
        let isNameless = name.isEmpty || HandleText.shown(name) == handle
        return handle.isEmpty ? name : isNameless ? handle : "\(name) <\(handle)>"
    }

    /// `0:42`, `1:02:03`.
    static func spoken(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds / 1000)
        func two(_ number: Int64) -> String { String(number).leftPadded(to: 2, with: "0") }
        let hours = seconds / 3600
        let minutes = seconds / 60 % 60
        return (hours > 0 ? "\(hours):\(two(minutes))" : String(minutes)) + ":" + two(seconds % 60)
    }
}
