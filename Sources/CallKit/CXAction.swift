internal import Base
public import Foundation

/// Something to be done with a call: by the app, for ringd or for itself.
///
/// Exactly one of `fulfill()` and `fail()` counts, the first; after the action timed out neither does. Both may be called
/// from any thread.
open class CXAction: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: what changes is behind `state`'s lock.

    /// The action's own; not the call's.
    public let uuid: UUID
    /// After this it is timed out.
    public let timeoutDate: Date

    struct State {
        var isComplete = false
        /// Set when ringd asks for it; an app's own request has none.
        var complete: (@Sendable (Outcome) -> Void)?
    }

    enum Outcome: Sendable {
        case fulfilled(Date?)
        case failed
    }

    let state = Lock(State())

    /// An action of its own UUID, ten seconds to complete.
    public override convenience init() { self.init(uuid: UUID(), timeoutDate: Date(timeIntervalSinceNow: 10)) }

    init(uuid: UUID, timeoutDate: Date) {
        self.uuid = uuid
        self.timeoutDate = timeoutDate
        super.init()
    }

    /// It was fulfilled, failed or timed out.
    public var isComplete: Bool { state.withLock { $0.isComplete } }

    /// Done, now. The second outcome of an action is nothing.
    open func fulfill() { finish(.fulfilled(nil)) }

    /// It could not be done. What becomes of the call is the kind's: an answer or a start that failed ends it.
    open func fail() { finish(.failed) }

    final func finish(_ outcome: Outcome) {
        let complete = state.withLock { state -> (@Sendable (Outcome) -> Void)? in
            guard !state.isComplete else { return nil }
            state.isComplete = true
            defer { state.complete = nil }
            return state.complete
        }
        complete?(outcome)
    }

    /// Nobody waits for it any more.
    final func void() {
        state.withLock { state in
            state.isComplete = true
            state.complete = nil
        }
    }

    /// The object itself: it does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// An action for one call.
open class CXCallAction: CXAction, @unchecked Sendable {
    /// The call's; not the action's.
    public let callUUID: UUID

    /// To be requested with a `CXCallController`.
    public convenience init(call callUUID: UUID) {
        self.init(call: callUUID, uuid: UUID(), timeoutDate: Date(timeIntervalSinceNow: 10))
    }

    init(call callUUID: UUID, uuid: UUID, timeoutDate: Date) {
        self.callUUID = callUUID
        super.init(uuid: uuid, timeoutDate: timeoutDate)
    }
}

/// Dial: requested by the app, or by the user who calls back from the history.
open class CXStartCallAction: CXCallAction, @unchecked Sendable {
    /// Whom to call.
    public let handle: CXHandle
    /// The app's own key to its address book; ringd shows it to nobody.
    open var contactIdentifier: String?
    /// A video call.
    open var isVideo = false

    /// A new call under a UUID that the app chooses.
    public init(call callUUID: UUID, handle: CXHandle) {
        self.handle = handle
        super.init(call: callUUID, uuid: UUID(), timeoutDate: Date(timeIntervalSinceNow: 10))
    }

    init(call callUUID: UUID, handle: CXHandle, uuid: UUID, timeoutDate: Date) {
        self.handle = handle
        super.init(call: callUUID, uuid: uuid, timeoutDate: timeoutDate)
    }

    /// Dialled, at that time. The call is connected with `reportOutgoingCall(with:connectedAt:)`.
    open func fulfill(withDateStarted dateStarted: Date) { finish(.fulfilled(dateStarted)) }
}

/// The user answered. Fulfil it when the call is connected; audio is activated after that.
open class CXAnswerCallAction: CXCallAction, @unchecked Sendable {
    /// Connected, at that time.
    open func fulfill(withDateConnected dateConnected: Date) { finish(.fulfilled(dateConnected)) }
}

/// Decline, cancel and hang-up.
open class CXEndCallAction: CXCallAction, @unchecked Sendable {
    /// Ended, at that time.
    open func fulfill(withDateEnded dateEnded: Date) { finish(.fulfilled(dateEnded)) }
}

/// Hold, or go on.
open class CXSetHeldCallAction: CXCallAction, @unchecked Sendable {
    /// True: hold; false: go on.
    open var isOnHold: Bool

    /// To be requested with a `CXCallController`.
    public init(call callUUID: UUID, onHold: Bool) {
        isOnHold = onHold
        super.init(call: callUUID, uuid: UUID(), timeoutDate: Date(timeIntervalSinceNow: 10))
    }

    init(call callUUID: UUID, onHold: Bool, uuid: UUID, timeoutDate: Date) {
        isOnHold = onHold
        super.init(call: callUUID, uuid: uuid, timeoutDate: timeoutDate)
    }
}

/// Mute the microphone for this call, or unmute it.
open class CXSetMutedCallAction: CXCallAction, @unchecked Sendable {
    /// True: mute; false: unmute.
    open var isMuted: Bool

    /// To be requested with a `CXCallController`.
    public init(call callUUID: UUID, muted: Bool) {
        isMuted = muted
        super.init(call: callUUID, uuid: UUID(), timeoutDate: Date(timeIntervalSinceNow: 10))
    }

    init(call callUUID: UUID, muted: Bool, uuid: UUID, timeoutDate: Date) {
        isMuted = muted
        super.init(call: callUUID, uuid: uuid, timeoutDate: timeoutDate)
    }
}

/// Join a conference with another call, or leave it.
open class CXSetGroupCallAction: CXCallAction, @unchecked Sendable {
    /// Nil: leave the conference.
    open var callUUIDToGroupWith: UUID?

    /// To be requested with a `CXCallController`.
    public init(call callUUID: UUID, callUUIDToGroupWith: UUID?) {
        self.callUUIDToGroupWith = callUUIDToGroupWith
        super.init(call: callUUID, uuid: UUID(), timeoutDate: Date(timeIntervalSinceNow: 10))
    }

    init(call callUUID: UUID, callUUIDToGroupWith: UUID?, uuid: UUID, timeoutDate: Date) {
        self.callUUIDToGroupWith = callUUIDToGroupWith
        super.init(call: callUUID, uuid: uuid, timeoutDate: timeoutDate)
    }
}

/// Send tones.
open class CXPlayDTMFCallAction: CXCallAction, @unchecked Sendable {
    /// What the digits are. Numbers are Apple's.
    public enum ActionType: Int, Sendable {
        /// Tones.
        case singleTone = 1
        /// A pause of some seconds: a comma.
        case softPause = 2
        /// A pause until the user goes on: a semicolon.
        case hardPause = 3
    }

    /// 0-9, *, #, A-D; comma and semicolon are pauses.
    open var digits: String
    /// Tones or a pause.
    open var type: ActionType

    /// To be requested with a `CXCallController`.
    public init(call callUUID: UUID, digits: String, type: ActionType) {
        self.digits = digits
        self.type = type
        super.init(call: callUUID, uuid: UUID(), timeoutDate: Date(timeIntervalSinceNow: 10))
    }

    init(call callUUID: UUID, digits: String, type: ActionType, uuid: UUID, timeoutDate: Date) {
        self.digits = digits
        self.type = type
        super.init(call: callUUID, uuid: uuid, timeoutDate: timeoutDate)
    }
}

/// Actions that are done in order, all accepted or none.
open class CXTransaction: NSObject, NSCopying, @unchecked Sendable {
    /// The transaction's own.
    public let uuid = UUID()
    private let list = Lock<[CXAction]>([])

    /// In the order in which they are performed.
    public var actions: [CXAction] { list.withLock { $0 } }

    /// All actions are.
    public var isComplete: Bool { actions.allSatisfy(\.isComplete) }

    /// An empty one, which `CXCallController` refuses.
    public override init() { super.init() }

    /// One action.
    public convenience init(action: CXAction) { self.init(actions: [action]) }

    /// Several actions, in order.
    public convenience init(actions: [CXAction]) {
        self.init()
        list.withLock { $0 = actions }
    }

    /// Adds one at the end; from any thread.
    open func addAction(_ action: CXAction) { list.withLock { $0.append(action) } }

    /// The object itself: it does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}
