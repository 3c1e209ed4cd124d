package import Base

/// A call and everything the core knows of it.
package struct Call: Sendable, Hashable {
    package internal(set) var invite: Invite
    package internal(set) var state: CallState
    /// Dialled here.
    package let isOutgoing: Bool
    /// When its ring began, or it was dialled: the first entry into any state.
    package let began: Instant
    /// When it stops ringing; set once, never restarted (callkit.md N13). Of an outgoing call: `began`.
    package let deadline: Instant
    /// When the banner is due again.
    package internal(set) var nextRaise: Instant?
    /// A banner is wanted for it at present.
    package internal(set) var isShown = false
    /// What that banner offers.
    var offers = CallAction.Waiting.no
    package internal(set) var answered: Instant?
    package internal(set) var startedConnecting: Instant?
    package internal(set) var connected: Instant?
    package internal(set) var ended: Instant?
    /// The provider's own words or code for its end.
    package internal(set) var detail = ""
    package internal(set) var features = CallFeatures()
    package internal(set) var isMuted = false
    /// Calls of one number are a conference (CXSetGroupCallAction).
    package internal(set) var group: UInt64?
    package internal(set) var audio = AudioState.off
    /// The account its app was logged in with.
    package internal(set) var account = ""
    /// What to call back, if that is not the handle that is shown (callkit.md Z07).
    package internal(set) var callBack: Handle?

    /// It rang out before, and gives up then.
    var insistsUntil: Instant?
    /// The app's own connection has spoken of it, not the push alone.
    var isConfirmed = false
    /// It rang in an earlier run: whether its app had spoken of it is not known, so that it counts as both.
    var isRestored = false
    /// A silent ring that has a banner all the same: one that was screened.
    var isSeenInSilence = false
    /// Its missed notice is a quiet one.
    var isQuiet = false
    /// What has to be over before its app may be asked to answer: the ends and holds of other calls.
    var waitsFor: Set<ActionID> = []
    var timers: [CallTimer: Instant] = [:]

    package var uuid: CallUUID { invite.uuid }
    package var app: String { invite.app }
    package var wasConnected: Bool { connected != nil }
    /// The app's own user interface presents it (`foreground-handled`).
    package internal(set) var isPresentedByApp = false

    init(
        invite: Invite, state: CallState, isOutgoing: Bool = false, began: Instant, deadline: Instant
    ) {
        self.invite = invite
        self.state = state
        self.isOutgoing = isOutgoing
        self.began = began
        self.deadline = deadline
    }

    /// When it stopped ringing: answered, or over; nil while it rings.
    package var rangUntil: Instant? { answered ?? ended }
}

/// What can be done with a call: CXCallUpdate's `supports…` (callkit.md 2.3).
package struct CallFeatures: Sendable, Hashable {
    package var holding = true
    package var grouping = true
    package var ungrouping = true
    package var dtmf = true

    package init() {}
}

/// Whether an app may run a call's audio (callkit.md 2.8).
package enum AudioState: String, Sendable, Hashable {
    case off
    /// The app was told to start and has not said that it did.
    case pending
    case on
}

/// The clocks of callkit.md 5.2 that run for one call, beside its ring and its open actions.
enum CallTimer: Int, Sendable, Hashable {
    /// A push came, the app's own invite has not.
    case invite
    /// Answered, and the app is not there or not logged in.
    case attach
    /// The app took the answer and is not through.
    case connect
    /// Audio was activated and the app has not said that it runs.
    case audio
    /// The app lost its session.
    case grace
    /// The app said it would show the call itself, and has not said that it does.
    case presented
    /// Just resumed: no sound yet, the call may be over.
    case hush
}

/// A change to a call: CXCallUpdate (callkit.md 2.3). What is nil stays as it is.
package struct CallUpdate: Sendable, Hashable {
    package var name: String?
    package var handle: Handle?
    package var callBack: Handle?
    package var isVideo: Bool?
    package var holding: Bool?
    package var grouping: Bool?
    package var ungrouping: Bool?
    package var dtmf: Bool?
    /// A muted conversation: history and a missed notice, no alert (callkit.md 2.9). Counts when the call is new.
    package var isSilent: Bool?

    package init() {}
}

extension Call {
    /// True if that changed anything.
    mutating func apply(_ update: CallUpdate) -> Bool {
        let before = (invite, features, callBack)
        if let name = update.name { invite.caller.name = name }
        if let handle = update.handle { invite.caller.handle = handle }
        if let callBack = update.callBack { self.callBack = callBack }
        if let isVideo = update.isVideo { invite.isVideo = isVideo }
        if let holding = update.holding { features.holding = holding }
        if let grouping = update.grouping { features.grouping = grouping }
        if let ungrouping = update.ungrouping { features.ungrouping = ungrouping }
        if let dtmf = update.dtmf { features.dtmf = dtmf }
        return before != (invite, features, callBack)
    }
}
