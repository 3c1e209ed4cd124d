package import Base

/// The numbers of callkit.md 5.2 and 5.3, and the screening of 2.9, that a user may change.
package struct CallPolicy: Sendable {
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
    /// An app must complete an action within this (T_action).
    package var actionTimeout: Duration = .seconds(10)
    /// A push is followed by the app's own invite within this, if the app has signalling (T_invite).
    package var inviteTimeout: Duration = .seconds(15)
    /// An app that is started must be there within this (T_attach).
    package var attachTimeout: Duration = .seconds(10)
    /// An app that took an answer must be through within this (T_connect).
    package var connectTimeout: Duration = .seconds(10)
    /// An app that was given the audio says so within this (T_audio).
    package var audioTimeout: Duration = .seconds(3)
    /// An app completes a push within this (T_push).
    package var pushTimeout: Duration = .seconds(5)
    /// An app that lost its session finds it again within this (T_grace).
    package var graceTime: Duration = .seconds(15)
    /// An app that shows calls itself says so within this (callkit.md W06).
    package var presentTimeout: Duration = .seconds(1)
    /// After a resume, sound waits this long for a word that the call still is.
    package var hushTime: Duration = .seconds(2)
    /// How long after a resume that goes on.
    package var resumeTime: Duration = .seconds(10)
    /// How long a call that is over is remembered (T_tomb).
    package var tombstoneTime: Duration = .seconds(600)
    /// A call that went unanswered may turn out to have been answered elsewhere within this.
    package var annotateTime: Duration = .seconds(10)
    /// Keep a silenced call's banner.
    package var keepsBannerWhenSilenced = false
    /// Live calls of one app at once; more are busy. No app takes another's room.
    package var mostCalls = 8
    /// Live calls of all apps.
    package var mostCallsOfAll = 32
    /// Between two rings of a call that insists.
    package var insistPause: Duration = .seconds(30)
    /// A call that another one put on hold goes on when that one ends.
    package var resumesHeld = true
    /// Failed duties within a day that cost an app its pushes (`mustReport`).
    package var mostStrikes = 3
    package var screening = Screening()
    /// Where numbers without a calling code are at home.
    package var region: PhoneRegion?

    package init() {}
}

/// What may keep a call from ringing (callkit.md 2.9).
package struct Screening: Sendable {
    package enum Answer: Sendable, Hashable {
        case ring
        /// Seen, not heard.
        case silent
        /// Missed, and its app is told.
        case refuse
    }

    /// While the desktop or the user wants no disturbance.
    package var whenDisturbing = Answer.silent
    package var unknownCallers = Answer.ring
    /// These ring whatever else is said here. In all lists, patterns are resolved for the policy's region.
    package var vip: [HandlePattern] = []
    package var blocked: [HandlePattern] = []
    /// Callers that count as known, beside those who were dialled or spoken to.
    package var known: [HandlePattern] = []
    /// A second call of the same caller within this rings all the same; nil for never.
    package var repeatTime: Duration? = .seconds(180)

    package init() {}
}
