package import Base

/// A device token: 32 random bytes, for one app on one device, of one kind and in one environment.
package struct TokenRow: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case alert
        case voip
    }

    package enum Environment: String, Sendable, CaseIterable {
        case sandbox
        case production
    }

    /// How it came to its end.
    package struct End: Sendable, Equatable {
        package enum Reason: String, Sendable {
            case unregistered
            case expired
        }

        package var reason: Reason
        package var at: WallTime

        package init(_ reason: Reason, at: WallTime) {
            self.reason = reason
            self.at = at
        }
    }

    package var bytes: [UInt8]
    package var app: String
    package var device: String
    package var kind: Kind
    package var environment: Environment
    /// Nil while it lives.
    package var end: End?

    package init(
        bytes: [UInt8], app: String, device: String, kind: Kind, environment: Environment, end: End? = nil
    ) {
        self.bytes = bytes
        self.app = app
        self.device = device
        self.kind = kind
        self.environment = environment
        self.end = end
    }
}

package struct DeviceRow: Sendable, Equatable {
    package var name: String
    package var isOffline: Bool

    package init(name: String, isOffline: Bool = false) {
        self.name = name
        self.isOffline = isOffline
    }
}

/// A token that failed, and when.
package struct FeedbackRow: Sendable, Equatable {
    package var token: [UInt8]
    package var failed: WallTime

    package init(token: [UInt8], failed: WallTime) {
        self.token = token
        self.failed = failed
    }
}

/// A push that waits for its device: one for each device and app.
package struct MailRow: Sendable, Equatable {
    package struct Slot: Sendable, Hashable {
        package var device: String
        package var app: String

        package init(device: String, app: String) {
            self.device = device
            self.app = app
        }
    }

    package var slot: Slot
    package var token: [UInt8]
    package var kind: TokenRow.Kind
    package var payload: [UInt8]
    package var collapseID: String
    package var priority: Int64
    /// Seconds since 1970, as sent; nil: nothing said.
    package var expiration: Int64?
    package var until: WallTime
    package var via: String
    package var peer: String

    package init(
        slot: Slot, token: [UInt8], kind: TokenRow.Kind, payload: [UInt8], collapseID: String, priority: Int64,
        expiration: Int64?, until: WallTime, via: String, peer: String
    ) {
        self.slot = slot
        self.token = token
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

/// What changes together in apps, devices and tokens.
package struct DirectoryChange: Sendable {
    package var newApps: [String] = []
    package var goneApps: [String] = []
    package var newDevices: [String] = []
    package var goneDevices: [String] = []
    package var newTokens: [TokenRow] = []
    /// Their `end` is set.
    package var endedTokens: [TokenRow] = []
    package var forgottenTokens: [[UInt8]] = []

    package init() {}
}
