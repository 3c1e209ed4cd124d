internal import Glibc

/// A point on the clock that counts through suspend: nanoseconds of `CLOCK_BOOTTIME` (clock_gettime(2)).
///
/// A call must time out while the laptop sleeps, so no deadline in ringd lives on any other clock.
package struct Instant: Hashable, Comparable, Sendable {
    /// Nanoseconds since boot; never negative in practice.
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The present.
    package static var now: Instant { Instant(nanoseconds: Clock.read(CLOCK_BOOTTIME)) }

    /// How long the machine has been asleep since boot: what CLOCK_BOOTTIME counts and CLOCK_MONOTONIC does not.
    package static var asleep: Duration {
        // In this order, so that the time between the two readings is no sleep.
        let awake = Clock.read(CLOCK_MONOTONIC)
        return .nanoseconds(max(0, Clock.read(CLOCK_BOOTTIME) - awake))
    }

    package static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

    package static func + (a: Instant, b: Duration) -> Instant {
        Instant(nanoseconds: a.nanoseconds.addingClamped(b.nanoseconds))
    }

    /// How long after `b` this is; negative if it is before.
    package static func - (a: Instant, b: Instant) -> Duration {
        .nanoseconds(a.nanoseconds.subtractingClamped(b.nanoseconds))
    }
}

/// A point on the wall clock, nanoseconds since 1970-01-01 UTC: for people and for histories, never for a deadline.
package struct WallTime: Hashable, Comparable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static var now: WallTime { WallTime(nanoseconds: Clock.read(CLOCK_REALTIME)) }

    package static func < (a: WallTime, b: WallTime) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Whole seconds since the epoch.
    package var seconds: Int64 { nanoseconds / 1_000_000_000 }

    /// Local time through strftime(3), e.g. `%H:%M:%S`; at most 127 bytes.
    package func formatted(_ pattern: String) -> String {
        var parts = tm()
        var time = time_t(seconds)
        guard localtime_r(&time, &parts) != nil else { return "?" }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            let count = strftime(buffer.baseAddress!, buffer.count, pattern, &parts)
            return String(
                decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]), as: UTF8.self)
        }
    }

    /// `14:02:11.204`, local time.
    package var clockText: String {
        let millis = Int(((nanoseconds % 1_000_000_000) + 1_000_000_000) % 1_000_000_000 / 1_000_000)
        return formatted("%H:%M:%S") + "." + String(millis).leftPadded(to: 3, with: "0")
    }
}

private enum Clock {
    static func read(_ id: clockid_t) -> Int64 {
        var t = timespec()
        clock_gettime(id, &t)
        return Int64(t.tv_sec) * 1_000_000_000 + Int64(t.tv_nsec)
    }
}

extension Duration {
    /// Whole nanoseconds, clamped to what an Int64 holds (292 years).
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds.multipliedClamped(by: 1_000_000_000).addingClamped(attoseconds / 1_000_000_000)
    }

    package var seconds: Double { Double(nanoseconds) / 1e9 }

    /// `0.8 ms`, `6.002 s`: the precision a person can use.
    package var shortText: String {
        let n = nanoseconds
        if n.magnitude < 1_000_000_000 { return Decimal.text(n, unit: 1_000_000, places: 1) + " ms" }
        return Decimal.text(n, unit: 1_000_000_000, places: 3) + " s"
    }
}

/// Fixed-point text without Foundation.
package enum Decimal {
    /// `value / unit` with `places` decimals, rounded half away from zero.
    package static func text(_ value: Int64, unit: Int64, places: Int) -> String {
        var scale: Int64 = 1
        for _ in 0..<places { scale *= 10 }
        let negative = value < 0
        let magnitude = Double(value.magnitude) / Double(unit) * Double(scale)
        let scaled = UInt64(magnitude.rounded())
        let whole = scaled / UInt64(scale)
        let sign = negative && scaled != 0 ? "-" : ""
        guard places > 0 else { return sign + String(whole) }
        return sign + String(whole) + "." + String(scaled % UInt64(scale)).leftPadded(to: places, with: "0")
    }

    /// A Double with `places` decimals.
    package static func text(_ value: Double, places: Int) -> String {
        guard value.isFinite, value.magnitude < 1e12 else { return String(value) }
        return text(Int64((value * 1_000_000).rounded()), unit: 1_000_000, places: places)
    }
}

extension Int64 {
    package func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, at the ends of the range instead of beyond them.
    package func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    func multipliedClamped(by other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) != (other < 0) ? .min : .max) : product
    }
}

extension String {
    package func leftPadded(to width: Int, with pad: Character = " ") -> String {
        count >= width ? self : String(repeating: pad, count: width - count) + self
    }

    package func rightPadded(to width: Int) -> String {
        count >= width ? self : self + String(repeating: " ", count: width - count)
    }
}
