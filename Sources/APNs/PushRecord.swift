package import Base

/// What is kept of a push: how it came, what was found, what was answered, what became of it.
package struct PushRecord: Sendable, Equatable {
    /// Counts pushes of this run, from 1.
    package var number: UInt64 = 0
    package var arrived = WallTime(nanoseconds: 0)
    /// In words: `HTTP/2`, `binary, command 0`, `D-Bus`.
    package var transport = ""
    /// Counts connections of this run, from 1; 0 for the bus.
    package var connection: UInt64 = 0
    package var peer = ""
    /// What it showed of itself: its provider token's key and team, or its certificate's name. Empty: nothing, or not yet.
    package var sender = ""
    package var environment = PushEnvironment.unknown
    /// Empty: the token is nobody's.
    package var app = ""
    package var device = ""
    /// The token's first 8 digits: all of it is a key to the user's attention.
    package var token = ""
    /// What the token is for.
    package var kind: TokenKind?
    /// As sent, cleaned for people; empty for none.
    package var topic = ""
    package var pushType = ""
    package var collapseID = ""
    /// As answered.
    package var id = ""
    /// The sandbox's only.
    package var uniqueID = ""
    package var expiration: Int64?
    package var priority: UInt8 = 10
    /// The HTTP status, also for pushes of other doors; 0: a fault came instead of an answer, and `reason` says which.
    package var status = 200
    /// Empty: accepted. Else a reason of APNs.
    package var reason = ""
    package var findings: [Finding] = []
    /// What became of it, a word that stays and for some a colon and words: `rings`, `stored: desktop is offline`.
    package var outcome = ""
    /// What came later.
    package var notes: [String] = []
    package var payload: [UInt8] = []

    package init() {}

    /// The word of `outcome`.
    package var outcomeWord: String { String(outcome.prefix { $0 != ":" }) }
}
