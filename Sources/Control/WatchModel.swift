internal import Base

/// What `ringctl watch` shows on a terminal, as a value: events in, lines out.
struct WatchModel {
    struct LiveCall: Equatable {
        var id: String
        var state: String
        var caller: String
        var detail: String
        var began: Instant
        var deadline: Instant

        /// Ringing in some way: it has time left to show.
        var isRinging: Bool { state != "active" && state != "answering" }
    }

    struct Line: Equatable {
        var text: String
        var kind: String
        var level: Int64
    }

    var calls: [LiveCall] = [] {
        didSet { selected = min(selected, max(0, calls.count - 1)) }
    }
    /// Newest last; bounded.
    private(set) var lines: [Line] = []
    /// What would happen to a call now.
    var foot = ""
    /// What the last key did, or why not.
    var notice = ""
    private(set) var selected = 0
    /// How many lines the view is scrolled up.
    private(set) var scroll = 0

    static let keptLines = 2000

    mutating func add(_ line: Line) {
        lines.append(line)
        if lines.count > Self.keptLines { lines.removeFirst(lines.count - Self.keptLines) }
        // Somebody who reads older lines keeps them in sight.
        if scroll > 0 { scroll = min(scroll + 1, lines.count) }
    }

    mutating func select(_ step: Int) { selected = max(0, min(calls.count - 1, selected + step)) }

    mutating func scroll(by step: Int) { scroll = max(0, min(max(0, lines.count - 1), scroll + step)) }

    var chosen: LiveCall? { calls.indices.contains(selected) ? calls[selected] : nil }

    /// Exactly `height` lines of at most `width` columns.
    func rendered(width: Int, height: Int, now: Instant, style: Style) -> [String] {
        guard width >= 20, height >= 8 else { return [Columns.fit("too small", width)] }
        var out: [String] = []
        out.append(
            style(
                .bold,
                Columns.fit(
                    " ringd · \(calls.isEmpty ? "no call" : calls.count == 1 ? "1 call" : "\(calls.count) calls")",
                    width)))
        let roomForCalls = min(calls.count, max(1, height / 3))
        for (index, call) in calls.prefix(roomForCalls).enumerated() {
            out.append(row(call, isChosen: index == selected && calls.count > 1, width, now, style))
        }
        if calls.count > roomForCalls {
            out.append(style(.dim, Columns.fit("   and \(calls.count - roomForCalls) more", width)))
        }
        out.append(style(.dim, String(repeating: "─", count: width)))
        let room = max(0, height - out.count - 2)
        let end = max(0, lines.count - scroll)
        let shown = lines[max(0, end - room)..<end]
        for line in shown { out.append(style.line(Columns.fit(line.text, width), level: line.level, kind: line.kind)) }
        for _ in shown.count..<max(shown.count, room) { out.append("") }
        out.append(style(.dim, String(repeating: "─", count: width)))
        out.append(footer(width, style))
        return Array(out.prefix(height))
    }

    private func footer(_ width: Int, _ style: Style) -> String {
        let keys = calls.isEmpty ? "q quit" : "a answer  d decline  s silence  q quit"
        let words = " " + (notice.isEmpty ? foot : notice)
        let room = width - Columns.width(keys) - 2
        // A narrow screen shows what matters more: the answer to a key.
        guard room >= 12 else { return Columns.fit(notice.isEmpty ? " " + keys : words, width) }
        return Columns.fit(words, room) + style(.dim, " \(keys) ")
    }

    private func row(_ call: LiveCall, isChosen: Bool, _ width: Int, _ now: Instant, _ style: Style) -> String {
        let left = call.deadline - now
        let mark = isChosen ? "▸" : " "
        let words =
            "\(mark) \(call.state.rightPadded(to: 10)) \(call.caller)\(call.detail.isEmpty ? "" : " · \(call.detail)")"
        guard call.isRinging else { return style(.green, Columns.fit(words, width)) }
        let barWidth = min(30, width / 3)
        let share = max(0, min(1, left.seconds / max(0.001, (call.deadline - call.began).seconds)))
        let filled = Int((share * Double(barWidth)).rounded())
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: barWidth - filled)
        let time = "\(max(0, Int(left.seconds.rounded(.up)))) s".leftPadded(to: 5)
        let colour: Style.Colour = call.state == "ringing" ? .green : .dim
        return style(.bold, Columns.fit(words, width - barWidth - 7)) + " " + style(colour, bar) + time + " "
    }
}
