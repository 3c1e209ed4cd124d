internal import Base

/// Lets some of a flood through, a minute long, and counts the rest.
struct Withholding {
    private var began: Instant
    private var passed = 0
    private var withheld = 0

    private static let mostInPeriod = 10
    private static let period: Duration = .seconds(60)

    init(now: Instant) { began = now }

    /// How many were withheld before this one, or nil if this one is to be withheld too.
    mutating func admit(now: Instant) -> Int? {
        if now - began >= Self.period {
            began = now
            passed = 0
        }
        guard passed < Self.mostInPeriod else {
            withheld += 1
            return nil
        }
        passed += 1
        defer { withheld = 0 }
        return withheld
    }
}
