package import Base

/// A rate with a burst: a value, time is a parameter.
package struct TokenBucket: Sendable, Equatable {
    private let burst: Double
    private let perSecond: Double
    private var level: Double
    private var at: Instant

    /// Starts full. `burst`: at least 1; `perSecond`: over 0.
    package init(burst: Int, perSecond: Int, now: Instant) {
        self.burst = Double(max(1, burst))
        self.perSecond = Double(max(1, perSecond))
        level = self.burst
        at = now
    }

    private mutating func refill(_ now: Instant) {
        guard now > at else { return }
        level = min(burst, level + (now - at).seconds * perSecond)
        at = now
    }

    /// Takes one; false if there is none.
    package mutating func take(now: Instant) -> Bool {
        refill(now)
        guard level >= 1 else { return false }
        level -= 1
        return true
    }

    /// When there will be enough for a tenth of a second's work, so that one who waits wakes at most ten times a second.
    package func refilled() -> Instant {
        let wanted = min(burst, max(1, perSecond / 10))
        return at + .nanoseconds(Int64(max(0, wanted - level) / perSecond * 1e9) + 1)
    }
}
