/// The numbers of callkit.md 5.2 and 5.3 that a user may change.
package struct CallPolicy: Sendable, Hashable {
    /// Ring time when the push does not say: 30 s, as WeChat rings (callkit.md W03).
    package var ringTime: Duration = .seconds(30)
    /// No call rings longer, whatever its push asks.
    package var longestRing: Duration = .seconds(90)
    /// The banner comes back this often; nil for never. At least 2 s: Plasma refuses faster repeats.
    package var raiseInterval: Duration? = .seconds(4)
    /// With less time than this left, a call is too late to ring.
    package var shortestRing: Duration = .seconds(3)
    /// A push sent longer ago is stale, when it says when it was sent.
    package var lifetime: Duration = .seconds(60)
    /// An app must answer a request within this.
    package var actionTimeout: Duration = .seconds(10)
    /// How long a call that is over is remembered.
    package var tombstoneTime: Duration = .seconds(600)
    /// Keep a silenced call's banner.
    package var keepsBannerWhenSilenced = false
    /// Live calls at once; more are busy.
    package var mostCalls = 8

    package init() {}
}
