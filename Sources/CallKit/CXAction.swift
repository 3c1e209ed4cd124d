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

    public override convenience init() { self.init(uuid: UUID(), timeoutDate: Date(timeIntervalSinceNow: 10)) }

    init(uuid: UUID, timeoutDate: Date) {
        self.uuid = uuid
        self.timeoutDate = timeoutDate
        super.init()
    }

    /// It was fulfilled, failed or timed out.
    public var isComplete: Bool { state.withLock { $0.isComplete } }

    open func fulfill() { finish(.fulfilled(nil)) }

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

    open func copy(with zone: NSZone? = nil) -> Any { self }
}

open class CXCallAction: CXAction, @unchecked Sendable {
    public let callUUID: UUID

    public convenience init(call callUUID: UUID) {
        self.init(call: callUUID, uuid: UUID(), timeoutDate: Date(timeIntervalSinceNow: 10))
    }

    init(call callUUID: UUID, uuid: UUID, timeoutDate: Date) {
        self.callUUID = callUUID
        super.init(uuid: uuid, timeoutDate: timeoutDate)
    }
}

open class CXStartCallAction: CXCallAction, @unchecked Sendable {
    public let handle: CXHandle
    /// The app's own key to its address book; ringd shows it to nobody.
    open var contactIdentifier: String?
    open var isVideo = false

    public init(call callUUID: UUID, handle: CXHandle) {
        self.handle = handle
        super.init(call: callUUID, uuid: UUID(), timeoutDate: Date(timeIntervalSinceNow: 10))
    }

    init(call callUUID: UUID, handle: CXHandle, uuid: UUID, timeoutDate: Date) {
        self.handle = handle
        super.init(call: callUUID, uuid: uuid, timeoutDate: timeoutDate)
    }

    open func fulfill(withDateStarted dateStarted: Date) { finish(.fulfilled(dateStarted)) }
}

open class CXAnswerCallAction: CXCallAction, @unchecked Sendable {
    open func fulfill(withDateConnected dateConnected: Date) { finish(.fulfilled(dateConnected)) }
}

/// Decline, cancel and hang-up.
open class CXEndCallAction: CXCallAction, @unchecked Sendable {
    open func fulfill(withDateEnded dateEnded: Date) { finish(.fulfilled(dateEnded)) }
}

open class CXSetHeldCallAction: CXCallAction, @unchecked Sendable {
    open var isOnHold: Bool

    public init(call callUUID: UUID, onHold: Bool) {
        isOnHold = onHold
        super.init(call: callUUID, uuid: UUID(), timeoutDate: Date(timeIntervalSinceNow: 10))
    }

    init(call callUUID: UUID, onHold: Bool, uuid: UUID, timeoutDate: Date) {
        isOnHold = onHold
        super.init(call: callUUID, uuid: uuid, timeoutDate: timeoutDate)
    }
}

open class CXSetMutedCallAction: CXCallAction, @unchecked Sendable {
    open var isMuted: Bool

    public init(call callUUID: UUID, muted: Bool) {
        isMuted = muted
        super.init(call: callUUID, uuid: UUID(), timeoutDate: Date(timeIntervalSinceNow: 10))
    }

    init(call callUUID: UUID, muted: Bool, uuid: UUID, timeoutDate: Date) {
        isMuted = muted
        super.init(call: callUUID, uuid: uuid, timeoutDate: timeoutDate)
    }
}

open class CXSetGroupCallAction: CXCallAction, @unchecked Sendable {
    /// Nil: leave the conference.
    open var callUUIDToGroupWith: UUID?

    public init(call callUUID: UUID, callUUIDToGroupWith: UUID?) {
        self.callUUIDToGroupWith = callUUIDToGroupWith
        super.init(call: callUUID, uuid: UUID(), timeoutDate: Date(timeIntervalSinceNow: 10))
    }

    init(call callUUID: UUID, callUUIDToGroupWith: UUID?, uuid: UUID, timeoutDate: Date) {
        self.callUUIDToGroupWith = callUUIDToGroupWith
        super.init(call: callUUID, uuid: uuid, timeoutDate: timeoutDate)
    }
}

open class CXPlayDTMFCallAction: CXCallAction, @unchecked Sendable {
    public enum ActionType: Int, Sendable {
        case singleTone = 1
        case softPause = 2
        case hardPause = 3
    }

    /// 0-9, *, #, A-D; comma and semicolon are pauses.
    open var digits: String
    open var type: ActionType

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
    public let uuid = UUID()
    private let list = Lock<[CXAction]>([])

    public var actions: [CXAction] { list.withLock { $0 } }

    public var isComplete: Bool { actions.allSatisfy(\.isComplete) }

    public override init() { super.init() }

    public convenience init(action: CXAction) { self.init(actions: [action]) }

    public convenience init(actions: [CXAction]) {
        self.init()
        list.withLock { $0 = actions }
    }

    open func addAction(_ action: CXAction) { list.withLock { $0.append(action) } }

    open func copy(with zone: NSZone? = nil) -> Any { self }
}
