package import Base

/// Which past calls are meant; all conditions hold together.
package struct HistoryFilter: Sendable, Equatable {
    /// 1…10,000; what is outside is brought inside.
    package var limit: Int
    package var isMissedOnly: Bool
    /// Missed calls that the user has not been shown.
    package var isUnseenOnly: Bool
    package var app: String?
    /// Nil: either direction.
    package var isOutgoing: Bool?
    /// The shown one, as it was written.
    package var handle: String?
    /// Or written so; only beside a `handle`.
    package var spellings: [String] = []
    /// Only calls that began earlier: the last row's `began` pages on.
    package var before: WallTime?
    /// With blocked calls, and those that their app keeps out of recents.
    package var includesHidden: Bool

    package init(
        limit: Int = 20, isMissedOnly: Bool = false, isUnseenOnly: Bool = false, app: String? = nil,
        isOutgoing: Bool? = nil, handle: String? = nil, before: WallTime? = nil, includesHidden: Bool = false
    ) {
        self.limit = limit
        self.isMissedOnly = isMissedOnly
        self.isUnseenOnly = isUnseenOnly
        self.app = app
        self.isOutgoing = isOutgoing
        self.handle = handle
        self.before = before
        self.includesHidden = includesHidden
    }
}

/// Which past calls are to be forgotten. Live calls stay in any case.
package enum Clearing: Sendable, Equatable {
    case all
    case call(CallUUID)
    /// Those that began earlier.
    case before(WallTime)
}

/// How much history is kept: a flood of calls must not fill a disk.
package struct Retention: Sendable, Equatable {
    /// The newest so many; a few more may be there for a while.
    package var calls: Int
    /// Those that began longer ago go, too; nil keeps them.
    package var age: Duration?

    package init(calls: Int = 20_000, age: Duration? = nil) {
        self.calls = calls
        self.age = age
    }
}
