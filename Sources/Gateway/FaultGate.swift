internal import Base

/// Lets the first faults of a flood through and counts the others, so that a flood of bad connections is not one of log
/// lines too: 20 at once, then one a second.
struct FaultGate {
    private var bucket: TokenBucket
    private var withheld = 0

    init(now: Instant) { bucket = TokenBucket(burst: 20, perSecond: 1, now: now) }

    /// How many were withheld before this one, or nil if this one is to be withheld too.
    mutating func admit(now: Instant) -> Int? {
        guard bucket.take(now: now) else {
            withheld += 1
            return nil
        }
        defer { withheld = 0 }
        return withheld
    }
}
