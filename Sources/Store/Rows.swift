package import Base

/// A row of the call history.
package struct CallRow: Sendable, Equatable {
    package var uuid: CallUUID
    package var app: String
    package var key: String
    package var callerName: String
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
    package var category: String
    package var rangMilliseconds: Int64

    package init(
        uuid: CallUUID, app: String, key: String, callerName: String, handle: String, handleKind: String,
        isVideo: Bool, began: WallTime, answered: WallTime?, connected: WallTime?, ended: WallTime?, reason: String,
        category: String, rangMilliseconds: Int64
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

    package init(
        uuid: CallUUID, app: String, key: String, isKeySynthetic: Bool, callerName: String?, handle: String?,
        handleKind: String, isVideo: Bool, sound: String?, serial: Int64?, began: Instant, deadline: Instant,
        beganWall: WallTime, bootID: String, state: String, notification: UInt32? = nil, server: String = ""
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
    }
}

/// A call that is over, by its provider's id.
package struct OverRow: Sendable, Equatable {
    package let app: String
    package let key: String
    package let ended: WallTime
    /// False for a cancel whose call never came.
    package let hadInvite: Bool
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
