package import Base

/// Lets the first of a flood through and counts the others, so that a flood of bad pushes or connections is not one of log
/// lines too.
package struct FaultGate: Sendable {
    private var bucket: TokenBucket
    private var withheld = 0

    package init(now: Instant, burst: Int = 20, perSecond: Int = 1) {
        bucket = TokenBucket(burst: burst, perSecond: perSecond, now: now)
    }

    /// How many were withheld before this one, or nil if this one is to be withheld too.
    package mutating func admit(now: Instant) -> Int? {
        guard bucket.take(now: now) else {
            withheld += 1
            return nil
        }
        defer { withheld = 0 }
        return withheld
    }
}
