package import Base

/// A push that waits for its device.
package struct StoredPush: Sendable, Equatable {
    package var number: UInt64
    package var token: DeviceToken
    package var app: String
    package var device: String
    package var kind: TokenKind
    package var payload: [UInt8]
    package var collapseID: String
    package var priority: UInt8
    /// Seconds since 1970, as sent; nil: nothing said.
    package var expiration: Int64?
    /// Until when it is kept, wall time.
    package var until: WallTime
    /// What brought it, for events.
    package var via: String
    package var peer: String

    package init(
        number: UInt64, token: DeviceToken, app: String, device: String, kind: TokenKind, payload: [UInt8],
        collapseID: String = "", priority: UInt8 = 10, expiration: Int64? = nil, until: WallTime, via: String,
        peer: String
    ) {
        self.number = number
        self.token = token
        self.app = app
        self.device = device
        self.kind = kind
        self.payload = payload
        self.collapseID = collapseID
        self.priority = priority
        self.expiration = expiration
        self.until = until
        self.via = via
        self.peer = peer
    }
}

/// What is kept for devices that are off: one push for each app and device, the newest (apns.md 1.8).
package struct Mailbox: Sendable {
    package struct Slot: Hashable, Sendable {
        package let device: String
        package let app: String
    }

    /// Nothing is kept longer.
    package static let longest: Duration = .seconds(30 * 86_400)
    /// Bounded, so that no sender can fill the disk; beyond it the oldest gives way.
    package static let most = 4096

    private var held: [Slot: StoredPush] = [:]

    package init() {}

    package var all: [StoredPush] { held.values.sorted { $0.number < $1.number } }

    /// Keeps `push`: what it took the place of, if anything.
    package mutating func put(_ push: StoredPush) -> StoredPush? {
        let slot = Slot(device: push.device, app: push.app)
        defer { held[slot] = push }
        if let before = held[slot] { return before }
        guard held.count >= Self.most, let oldest = held.min(by: { $0.value.number < $1.value.number }) else {
            return nil
        }
        held[oldest.key] = nil
        return oldest.value
    }

    /// Takes out what waits for a device, oldest first.
    package mutating func take(device: String) -> [StoredPush] {
        let found = all.filter { $0.device == device }
        for push in found { held[Slot(device: device, app: push.app)] = nil }
        return found
    }

    /// Forgets what was kept for an app.
    package mutating func forget(app: String) -> [StoredPush] {
        let found = all.filter { $0.app == app }
        for push in found { held[Slot(device: push.device, app: app)] = nil }
        return found
    }
}
