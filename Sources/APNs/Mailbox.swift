package import Base

/// A push that waits for its device.
package struct StoredPush: Sendable, Equatable {
    /// Of its record; 0: it came in an earlier run, and has none yet.
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

    private var held: [Slot: Held] = [:]
    /// Numbers of pushes begin anew with each run; the order in which they came does not.
    private var lastOrder = 0

    private struct Held {
        let order: Int
        let push: StoredPush
    }

    package init() {}

    package var count: Int { held.count }

    /// Oldest first.
    package var all: [StoredPush] { sorted { _ in true } }

    /// How many wait for each device.
    package var counts: [String: Int] { held.keys.reduce(into: [:]) { $0[$1.device, default: 0] += 1 } }

    private func sorted(_ isWanted: (StoredPush) -> Bool) -> [StoredPush] {
        held.values.filter { isWanted($0.push) }.sorted { $0.order < $1.order }.map(\.push)
    }

    /// Keeps `push`: what it took the place of, if anything.
    package mutating func put(_ push: StoredPush) -> StoredPush? {
        let slot = Slot(device: push.device, app: push.app)
        lastOrder += 1
        let before = held.updateValue(Held(order: lastOrder, push: push), forKey: slot)
        if let before { return before.push }
        guard held.count > Self.most, let oldest = held.min(by: { $0.value.order < $1.value.order }) else {
            return nil
        }
        held[oldest.key] = nil
        return oldest.value.push
    }

    /// Takes out what waits for these devices, oldest first.
    package mutating func take(devices: Set<String>) -> [StoredPush] { take { devices.contains($0.device) } }

    /// Takes out what was kept for an app, on one device or on all.
    package mutating func take(app: String, device: String? = nil) -> [StoredPush] {
        take { $0.app == app && (device == nil || $0.device == device) }
    }

    private mutating func take(_ isWanted: (StoredPush) -> Bool) -> [StoredPush] {
        let found = sorted(isWanted)
        for push in found { held[Slot(device: push.device, app: push.app)] = nil }
        return found
    }
}
