internal import Base

/// Things to do later, in the order of their time, on one timer.
package final class Agenda {
    private let loop: EventLoop
    private var timer: TimerSource?
    private var entries: [(at: Instant, work: () -> Void)] = []

    /// At most this many wait; beyond it the earliest is done at once, so that no peer can fill memory with delays.
    package static let most = 10_000

    package init(_ loop: EventLoop) throws(LoopFailure) {
        self.loop = loop
        timer = try TimerSource(loop) { [weak self] in self?.timeUp() }
    }

    package func after(_ delay: Duration, _ work: @escaping () -> Void) {
        let at = Instant.now + delay
        var place = entries.count
        while place > 0, entries[place - 1].at > at { place -= 1 }
        entries.insert((at, work), at: place)
        // Never from inside of this: who asks for later is not ready for it now.
        if entries.count > Self.most { loop.later(entries.removeFirst().work) }
        arm()
    }

    private func timeUp() {
        let now = Instant.now
        while let first = entries.first, first.at <= now {
            entries.removeFirst()
            first.work()
        }
        arm()
    }

    private func arm() {
        if let first = entries.first { timer?.arm(at: first.at) } else { timer?.disarm() }
    }
}
