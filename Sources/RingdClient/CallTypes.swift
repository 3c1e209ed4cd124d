internal import DBus
public import Foundation

/// How the other side of a call is reached.
public struct CallHandle: Sendable, Hashable {
    /// What kind of text it is.
    public enum Kind: String, Sendable {
        /// Any name that the app understands.
        case generic
        /// A phone number.
        case phoneNumber = "phone-number"
        /// An e-mail address.
        case emailAddress = "email-address"
    }

    /// What kind of text it is.
    public var kind: Kind
    /// The text; at most 512 bytes.
    public var value: String

    /// Nothing checks that the text is of that kind.
    public init(_ value: String, kind: Kind = .generic) {
        self.kind = kind
        self.value = value
    }
}

/// What an app says of a call; what is nil stays as it is.
public struct CallDetails: Sendable, Hashable {
    /// What the call is shown as; at most 512 bytes.
    public var caller: String?
    /// Whom the user would call back.
    public var handle: CallHandle?
    /// Another handle to call back.
    public var callBack: CallHandle?
    /// A video call.
    public var isVideo: Bool?
    /// It can be held.
    public var supportsHolding: Bool?
    /// It can join a conference.
    public var supportsGrouping: Bool?
    /// It can leave a conference.
    public var supportsUngrouping: Bool?
    /// Tones can be sent.
    public var supportsDTMF: Bool?
    /// A muted conversation: no ring, but a place in the history. Counts at the report of a new call.
    public var isSilent: Bool?
    /// Seconds it rings, at most 90. Counts at the report of a new call.
    public var ringTime: Double?
    /// A sound's name (`ringctl sounds`). Counts at the report of a new call.
    public var sound: String?

    /// What is left out stays as it is.
    public init(caller: String? = nil, handle: CallHandle? = nil, isVideo: Bool? = nil) {
        self.caller = caller
        self.handle = handle
        self.isVideo = isVideo
    }

    var entries: [DBusValue.Entry] {
        var out: [DBusValue.Entry] = []
        for (key, text) in [
            ("caller", caller), ("handle", handle?.value), ("handle-type", handle?.kind.rawValue),
            ("call-back", callBack?.value), ("call-back-type", callBack?.kind.rawValue), ("sound", sound),
        ] {
            if let text { out.append(.init(key, .string(text))) }
        }
        for (key, flag) in [
            ("video", isVideo), ("supports-holding", supportsHolding), ("supports-grouping", supportsGrouping),
            ("supports-ungrouping", supportsUngrouping), ("supports-dtmf", supportsDTMF), ("silent", isSilent),
        ] {
            if let flag { out.append(.init(key, .bool(flag))) }
        }
        if let ringTime { out.append(.init("time", .double(ringTime))) }
        return out
    }
}

/// What an app's calls are like; see Docs/dbus.md, `CallProvider1.Register`.
public struct ProviderSettings: Sendable, Hashable {
    /// Independent calls at once, active and held; 1 to 8.
    public var maximumCallGroups = 2
    /// The size of a conference; 1 to 16.
    public var maximumCallsPerCallGroup = 5
    /// The app has video calls.
    public var supportsVideo = false
    /// False keeps the app's calls out of `ringctl history`.
    public var includesCallsInRecents = true
    /// One of `ringctl sounds`; nil: the user's own ringtone.
    public var ringtoneSound: String?
    /// The app's name beside its calls; nil: its desktop file's.
    public var localizedName: String?
    /// A push is only the announcement of a call that the app itself reports.
    public var hasSignalling = false
    /// In the foreground the app shows its calls itself.
    public var isForegroundHandled = false
    /// The app is asked before start, answer and going on.
    public var configuresAudio = false
    /// The app may be asked who a caller is.
    public var providesRemoteInfo = false
    /// Answers and ends wait for `up`.
    public var session = SessionState.up

    /// CallKit's defaults.
    public init() {}

    var entries: [DBusValue.Entry] {
        var out: [DBusValue.Entry] = [
            .init("maximum-call-groups", .uint32(UInt32(clamping: maximumCallGroups))),
            .init("maximum-calls-per-call-group", .uint32(UInt32(clamping: maximumCallsPerCallGroup))),
            .init("supports-video", .bool(supportsVideo)),
            .init("includes-calls-in-recents", .bool(includesCallsInRecents)),
            .init("has-signalling", .bool(hasSignalling)), .init("foreground-handled", .bool(isForegroundHandled)),
            .init("configures-audio", .bool(configuresAudio)),
            .init("provides-remote-info", .bool(providesRemoteInfo)), .init("session", .string(session.rawValue)),
        ]
        if let ringtoneSound { out.append(.init("ringtone-sound", .string(ringtoneSound))) }
        if let localizedName { out.append(.init("localized-name", .string(localizedName))) }
        return out
    }
}

/// An app's connection to its own service.
public enum SessionState: String, Sendable {
    /// Not logged in.
    case down
    /// Logging in.
    case connecting
    /// Logged in.
    case up
    /// It could not log in: answers that wait fail.
    case failed
}

/// CXCallEndedReason.
public enum CallEnd: Int, Sendable {
    /// It could not be set up or kept.
    case failed = 1
    /// The far end gave up or hung up.
    case remoteEnded = 2
    /// Nobody answered in time.
    case unanswered = 3
    /// Taken on another device of the user's: not missed.
    case answeredElsewhere = 4
    /// Declined on another device of the user's: not missed.
    case declinedElsewhere = 5
}

/// One action of a transaction.
public enum CallRequest: Sendable, Hashable {
    /// Dial, under a UUID that the app chooses.
    case start(UUID, CallHandle, isVideo: Bool = false)
    /// Answer a call that rings.
    case answer(UUID)
    /// Decline, hang up or give up.
    case end(UUID)
    /// Hold, or go on.
    case setHeld(UUID, Bool)
    /// Mute, or unmute.
    case setMuted(UUID, Bool)
    /// Nil: leave the conference.
    case setGroup(UUID, with: UUID?)
    /// Send tones: 0-9, *, #, A-D; comma and semicolon are pauses.
    case playDTMF(UUID, String)

    func value(app: String) -> DBusValue {
        let (word, call, details): (String, UUID, [DBusValue.Entry]) =
            switch self {
            case .start(let call, let handle, let isVideo):
                (
                    "start", call,
                    [
                        .init("handle", .string(handle.value)), .init("handle-type", .string(handle.kind.rawValue)),
                        .init("video", .bool(isVideo)), .init("app", .string(app)),
                    ]
                )
            case .answer(let call): ("answer", call, [])
            case .end(let call): ("end", call, [])
            case .setHeld(let call, let isHeld): ("set-held", call, [.init("on-hold", .bool(isHeld))])
            case .setMuted(let call, let isMuted): ("set-muted", call, [.init("muted", .bool(isMuted))])
            case .setGroup(let call, let other):
                ("set-group", call, [.init("with", .string(other?.uuidString.lowercased() ?? ""))])
            case .playDTMF(let call, let digits): ("play-dtmf", call, [.init("digits", .string(digits))])
            }
        return .structure([.string(word), .string(call.uuidString.lowercased()), .dict(details)])
    }
}

/// What ringd asks of an app, to be fulfilled or failed once, from any thread.
public struct CallAction: Sendable {
    /// What is to be done.
    public enum Kind: Sendable, Hashable {
        /// Dial.
        case start(CallHandle, isVideo: Bool)
        /// The user answered: fulfil when connected.
        case answer
        /// The user declined, hung up or gave up; the reason says which.
        case end(reason: String)
        /// Hold, or go on.
        case setHeld(Bool)
        /// Mute, or unmute.
        case setMuted(Bool)
        /// Join a conference with that call; nil: leave it.
        case setGroup(UUID?)
        /// Send these tones.
        case playDTMF(String)
    }

    /// The action's own; not the call's.
    public let id: UUID
    /// The call's UUID.
    public let call: UUID
    /// What is to be done.
    public let kind: Kind
    /// After this it is timed out.
    public let deadline: Date
    let finish: Once<Outcome>

    enum Outcome: Sendable {
        case fulfilled(Date?, isConnecting: Bool)
        case failed
    }

    /// Done; `date`: when, if not now. False: it was completed before.
    @discardableResult public func fulfill(at date: Date? = nil) -> Bool {
        finish(.fulfilled(date, isConnecting: false))
    }

    /// Of an answer: taken, and `RingdClient.connected` follows within ten seconds.
    @discardableResult public func fulfillConnecting() -> Bool { finish(.fulfilled(nil, isConnecting: true)) }

    /// It could not be done. False: it was completed before.
    @discardableResult public func fail() -> Bool { finish(.failed) }
}

/// What happens to an app's calls.
public enum CallEvent: Sendable {
    /// Registered (again): reports are taken.
    case began
    /// Every call is void.
    case reset
    /// The daemon went away; it comes back by itself, and the registration with it.
    case lost
    /// Registration was refused: nothing will come.
    case refused(RingdError)
    /// Something to be done with a call.
    case action(CallAction)
    /// Too late: complete it no more.
    case timedOut(action: UUID, call: UUID)
    /// Over without the app's doing.
    case ended(call: UUID, reason: String, CallEnd?)
    /// Make audio ready; call `ready` with false if that is not possible.
    case configureAudio(call: UUID, ready: @Sendable (Bool) -> Void)
    /// Media may run from now on: call `running` when it does.
    case audioOn(call: UUID, running: @Sendable () -> Void)
    /// Media must stop.
    case audioOff(call: UUID)
    /// Who is this? Answer within two seconds.
    case remoteInfo(call: UUID, answer: @Sendable (CallDetails) -> Void)
}

/// What happens to an app's pushes.
public enum PushEvent: Sendable {
    /// To be uploaded, unless `isUploaded` says that this account's server has it.
    case token(Data, isUploaded: Bool)
    /// The token is dead: tell the server.
    case tokenInvalid
    /// `call`: the UUID under which ringd rings it. Call `complete` once, within five seconds.
    case push(payload: Data, call: UUID?, mustReport: Bool, complete: @Sendable () -> Void)
    /// The daemon went away; it comes back by itself.
    case lost
    /// Registration was refused: nothing will come.
    case refused(RingdError)
}

/// A live call of any app.
public struct LiveCall: Sendable, Hashable, Identifiable {
    /// The call's UUID.
    public let id: UUID
    /// Whose call it is.
    public let app: String
    /// ringing, waiting, silenced, queued, deferred, answering, connecting, requested, dialing, active, held, ending.
    public let state: String
    /// As the app gave it.
    public let caller: String
    /// The far end's; "" if it is not known.
    public let handle: String
    /// Dialled here.
    public let isOutgoing: Bool
    /// The microphone is off for this call.
    public let isMuted: Bool

    init(_ call: UUID, _ properties: [DBusValue.Entry]) {
        func value(_ name: String) -> DBusValue? { properties.last { $0.key == name }?.value }
        id = call
        app = value("App")?.text ?? ""
        state = value("State")?.text ?? ""
        caller = value("Caller")?.text ?? ""
        handle = value("Handle")?.text ?? ""
        isOutgoing = value("IsOutgoing")?.flag ?? false
        isMuted = value("IsMuted")?.flag ?? false
    }
}
