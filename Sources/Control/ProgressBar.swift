internal import Base

/// How far a long work is, in one line on a terminal's error output; nothing elsewhere.
final class ProgressBar {
    private let total: Int
    private let isOn: Bool
    private let began = Instant.now
    private var last = Instant(nanoseconds: 0)
    private var isShown = false

    private static let width = 30

    init(total: Int, isOn: Bool) {
        self.total = max(1, total)
        self.isOn = isOn && Console.isTerminal(2)
    }

    /// At most ten times a second, and not for what is over at once.
    func show(_ done: Int) {
        guard isOn else { return }
        let now = Instant.now
        guard now - last > .milliseconds(100), now - began > .milliseconds(300) else { return }
        last = now
        isShown = true
        let filled = min(Self.width, done * Self.width / total)
        let rate = Int(Double(done) / (now - began).seconds)
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.width - filled)
        Console.writeError("\r\(bar) \(done * 100 / total) % · \(rate)/s ")
    }

    func clear() {
        if isShown { Console.writeError("\r\u{1b}[K") }
    }
}
