package import Base

/// A row of the call history (callkit.md 5.5).
package struct CallRow: Sendable, Equatable {
    package var uuid: CallUUID
    package var app: String
    package var key: String
    /// As the app gave it, never rewritten: what recents show is the app's to say.
    package var callerName: String
    /// The other side's, as it is shown; empty if there is none.
    package var handle: String
    package var handleKind: String
    package var isVideo: Bool
    /// Wall times; nil for what did not happen.
    package var began: WallTime
    package var answered: WallTime?
    package var connected: WallTime?
    package var ended: WallTime?
    /// Empty while the call is live.
    package var reason: String
    /// `missed`, or what begins with it, is a missed call; `blocked` is shown to nobody who does not ask for it.
    package var category: String
    package var rangMilliseconds: Int64
    package var isOutgoing: Bool
    /// The app's account whose call it was; empty if it has but one.
    package var account: String
    /// The name of the contact that the handle is of; empty if it is nobody's.
    package var contact: String
    /// Outgoing: when the app began to connect.
    package var startedConnecting: WallTime?
    /// What the network said, e.g. a SIP status; empty if it said nothing.
    package var detail: String
    /// False for a missed call that the user has not been shown. What was seen stays so, however often it is recorded.
    package var isSeen: Bool
    /// What a call back dials, which may be another than is shown; empty: the handle.
    package var callBackHandle: String
    package var callBackKind: String
    /// False if the app keeps its calls out of recents (CXProviderConfiguration.includesCallsInRecents).
    package var isInRecents: Bool
    /// The provider's counter, and when it sent the call, nanoseconds since 1970: what a call of the same id has to be
    /// newer than.
    package var serial: Int64?
    package var stamp: Int64?

    package init(
        uuid: CallUUID, app: String, key: String, callerName: String, handle: String, handleKind: String,
        isVideo: Bool, began: WallTime, answered: WallTime?, connected: WallTime?, ended: WallTime?, reason: String,
        category: String, rangMilliseconds: Int64, isOutgoing: Bool = false, account: String = "",
        contact: String = "", startedConnecting: WallTime? = nil, detail: String = "", isSeen: Bool = false,
        callBackHandle: String = "", callBackKind: String = "", isInRecents: Bool = true, serial: Int64? = nil,
        stamp: Int64? = nil
    ) {
        self.uuid = uuid
        self.app = app
        self.key = key
        self.callerName = callerName
        self.handle = handle
        self.handleKind = handleKind
        self.isVideo = isVideo
        self.began = began
        self.answered = answered
        self.connected = connected
        self.ended = ended
        self.reason = reason
        self.category = category
        self.rangMilliseconds = rangMilliseconds
        self.isOutgoing = isOutgoing
        self.account = account
        self.contact = contact
        self.startedConnecting = startedConnecting
        self.detail = detail
        self.isSeen = isSeen
        self.callBackHandle = callBackHandle
        self.callBackKind = callBackKind
        self.isInRecents = isInRecents
        self.serial = serial
        self.stamp = stamp
    }

    package var isMissed: Bool { category.hasPrefix("missed") }

    /// What a call back dials; nil if the caller is unknown.
    package var toCallBack: (handle: String, kind: String)? {
        if !callBackHandle.isEmpty { return (callBackHandle, callBackKind) }
        return handle.isEmpty ? nil : (handle, handleKind)
    }
}

/// What a successor needs to go on with a call that was ringing: written when it begins, gone when it ends.
package struct LiveRow: Sendable, Equatable {
    package var uuid: CallUUID
    package var app: String
    package var key: String
    package var isKeySynthetic: Bool
    package var callerName: String?
    package var handle: String?
    package var handleKind: String
    package var isVideo: Bool
    package var sound: String?
    package var serial: Int64?
    package var began: Instant
    package var deadline: Instant
    package var beganWall: WallTime
    /// Instants are of this boot only.
    package var bootID: String
    package var state: String
    /// The banner, and the unique name of the server that shows it.
    package var notification: UInt32?
    package var server: String
    package var isOutgoing: Bool
    /// The app's account whose call it is; empty if it has but one.
    package var account: String
    /// Nil until both sides hear each other.
    package var connected: WallTime?

    package init(
        uuid: CallUUID, app: String, key: String, isKeySynthetic: Bool, callerName: String?, handle: String?,
        handleKind: String, isVideo: Bool, sound: String?, serial: Int64?, began: Instant, deadline: Instant,
        beganWall: WallTime, bootID: String, state: String, notification: UInt32? = nil, server: String = "",
        isOutgoing: Bool = false, account: String = "", connected: WallTime? = nil
    ) {
        self.uuid = uuid
        self.app = app
        self.key = key
        self.isKeySynthetic = isKeySynthetic
        self.callerName = callerName
        self.handle = handle
        self.handleKind = handleKind
        self.isVideo = isVideo
        self.sound = sound
        self.serial = serial
        self.began = began
        self.deadline = deadline
        self.beganWall = beganWall
        self.bootID = bootID
        self.state = state
        self.notification = notification
        self.server = server
        self.isOutgoing = isOutgoing
        self.account = account
        self.connected = connected
    }
}

/// A call that is over, by its provider's id.
package struct OverRow: Sendable, Equatable {
    package let app: String
    package let key: String
    package let ended: WallTime
    /// False for a cancel whose call never came.
    package let hadInvite: Bool
    package let serial: Int64?
    package let stamp: Int64?
}

/// An event as it is kept: fields as JSON text.
package struct EventRow: Sendable, Equatable {
    package var call: CallUUID?
    package var at: Instant
    package var wall: WallTime
    package var kind: String
    package var level: Int
    package var message: String
    package var fields: String

    package init(
        call: CallUUID?, at: Instant, wall: WallTime, kind: String, level: Int, message: String, fields: String
    ) {
        self.call = call
        self.at = at
        self.wall = wall
        self.kind = kind
        self.level = level
        self.message = message
        self.fields = fields
    }
}
