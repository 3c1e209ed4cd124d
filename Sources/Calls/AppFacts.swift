import Base

/// What an app's provider is like: CXProviderConfiguration (callkit.md 2.2), and what ringd asks besides.
package struct ProviderConfiguration: Sendable, Hashable {
    /// How many independent calls, active and held.
    package var maximumCallGroups = 2
    /// The size of a conference.
    package var maximumCallsPerCallGroup = 5
    /// Empty: any.
    package var supportedHandleTypes: Set<Handle.Kind> = []
    package var supportsVideo = false
    /// Its calls are listed in the history.
    package var includesCallsInRecents = true
    package var ringtoneSound: String?
    package var localizedName: String?
    package var iconName: String?
    /// A push is only an announcement: the app's own invite follows (T_invite).
    package var hasSignalling = false
    /// While in the foreground it shows its calls itself (callkit.md W06).
    package var isForegroundHandled = false
    /// It is to be asked before start, answer and resume (callkit.md Z09).
    package var configuresAudio = false
    /// It may be asked for the name of a caller (callkit.md Z08).
    package var providesRemoteInfo = false

    package init() {}
}

/// The rules of ringd.conf for one app (callkit.md 5.6).
package struct AppRules: Sendable, Hashable {
    /// A second call while one is on: it knocks, or hears busy.
    package var isBusyWhenTaken = false
    package var glare = Glare.wait
    /// An invite from the very caller of an active call ends that one: the other side has lost it.
    package var recalls = false
    /// A push rings only if the app reports it, as on iOS since 13 (callkit.md 2.7).
    package var mustReport = false

    /// How long a call that nobody takes goes on to ring again; nil: it is missed at once. Not for calls that a provider takes.
    package var insistence: Duration?

    package enum Glare: Sendable, Hashable {
        /// The incoming call knocks while we dial.
        case wait
        /// The smaller id survives (Matrix).
        case lesserID
        /// Ours is dropped, theirs taken.
        case accept
    }

    package init() {}
}

/// An app's connection to its own service.
package enum Session: String, Sendable, Hashable, CaseIterable {
    case down
    case connecting
    case up
    case failed
}

/// What the core knows of an app that takes calls over the bus.
struct AppState: Sendable {
    /// Nil: calls are handed over by link or program, or to nobody.
    var provider: ProviderConfiguration?
    var rules = AppRules()
    var isAttached = false
    var session = Session.up
    var isForeground = false
    var account = ""
    /// Asked to start, and until when that may take.
    var wakeUntil: Instant?
    /// It could not be started; pushes do not try again before this, or each would start a program that ends at once.
    var restsUntil: Instant?
    /// Pushes for it that it has not been given yet, oldest first.
    var undelivered: [KeptPush] = []
    /// Ends that it has not been told of.
    var unsaid: [(call: Call, reason: EndReason)] = []
    /// When it failed its duties (`mustReport`).
    var strikes: [Instant] = []
    var isSuspended = false
}

/// A push that waits for its app to start.
struct KeptPush: Sendable {
    let id: PushID
    let call: CallUUID?
    let mustReport: Bool
}
