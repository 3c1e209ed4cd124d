package import Base

/// What a token is for. Apps have one of each kind in each environment, as on a phone.
package enum TokenKind: String, Sendable, CaseIterable {
    case alert
    case voip
}

/// One token: whose it is, and whether it still is.
package final class Registration {
    /// How a token came to its end.
    package enum End: Sendable, Equatable {
        /// The app was removed: 410 Unregistered, after the delay that Apple has (apns.md 1.7).
        case unregistered(WallTime)
        /// The app got a new token in its place: 410 ExpiredToken.
        case expired(WallTime)

        package var at: WallTime {
            switch self {
            case .unregistered(let at), .expired(let at): at
            }
        }
    }

    package let token: DeviceToken
    package let app: String
    /// `TokenDirectory.desktop`, or an emulated device, which rings nothing.
    package let device: String
    package let kind: TokenKind
    package let environment: PushEnvironment
    package internal(set) var end: End?
    /// The topic that it takes, as it stands on the wire.
    let topic: [UInt8]
    /// Nil until its first push.
    var bucket: TokenBucket?

    package init(
        token: DeviceToken, app: String, device: String = TokenDirectory.desktop, kind: TokenKind,
        environment: PushEnvironment, end: End? = nil
    ) {
        self.token = token
        self.app = app
        self.device = device
        self.kind = kind
        self.environment = environment
        self.end = end
        topic = Array((kind == .voip ? app + PushType.voip.suffix : app).utf8)
    }
}

/// Every token there is, living and dead: in memory, for the loop that owns it. Who keeps it across runs is told by the
/// values that come back.
package final class TokenDirectory {
    /// This computer: the device that rings.
    package static let desktop = "desktop"

    // Bounded, so that no peer can fill the disk.
    package static let mostApps = 4096
    package static let mostDevices = 16_384
    package static let mostTokens = 131_072
    package static let mostDead = 4096

    private var known: [DeviceToken: Registration] = [:]
    /// Per app and device, the living ones.
    private var living: [String: [String: [Registration]]] = [:]
    private var dead: [DeviceToken] = []
    package private(set) var devices: [String] = [desktop]
    private var deviceSet: Set<String> = [desktop]

    package init() {}

    package subscript(token: DeviceToken) -> Registration? { known[token] }

    package var apps: [String] { living.keys.sorted() }

    package func has(app: String) -> Bool { living[app] != nil }
    package func has(device: String) -> Bool { deviceSet.contains(device) }
    package var tokenCount: Int { known.count }

    /// An app's living tokens on a device, in the order kind, environment.
    package func tokens(app: String, device: String = desktop) -> [Registration] { living[app]?[device] ?? [] }

    // MARK: Coming

    /// Puts back what an earlier run had.
    package func restore(_ registration: Registration) {
        known[registration.token] = registration
        if registration.end == nil {
            living[registration.app, default: [:]][registration.device, default: []].append(registration)
            addDevice(named: registration.device)
        } else {
            dead.append(registration.token)
        }
    }

    /// Puts back a device that may have no app.
    package func addDevice(named name: String) {
        if deviceSet.insert(name).inserted { devices.append(name) }
    }

    /// Registers an app on every device: the tokens that are new, none if it was there.
    package func add(app: String) -> [Registration] {
        if living[app] == nil { living[app] = [:] }
        return devices.flatMap { mint(app: app, device: $0) }
    }

    /// Adds an emulated device with every app on it: the tokens that are new, none if it was there.
    package func add(device: String) -> [Registration] {
        addDevice(named: device)
        return living.keys.sorted().flatMap { mint(app: $0, device: device) }
    }

    private func mint(app: String, device: String) -> [Registration] {
        guard living[app]?[device] == nil else { return [] }
        var made: [Registration] = []
        for kind in TokenKind.allCases {
            for environment in [PushEnvironment.sandbox, .production] {
                made.append(
                    Registration(token: .random(), app: app, device: device, kind: kind, environment: environment))
            }
        }
        living[app]?[device] = made
        for one in made { known[one.token] = one }
        return made
    }

    // MARK: Going

    /// Removes an app from every device; its tokens are dead from now on, and known as such.
    package func remove(app: String, at now: WallTime) -> [Registration] {
        let gone = (living.removeValue(forKey: app) ?? [:]).values.flatMap { $0 }
        bury(gone, .unregistered(now))
        return gone
    }

    /// Removes an emulated device; its tokens are dead from now on.
    package func remove(device: String, at now: WallTime) -> [Registration] {
        guard device != Self.desktop, deviceSet.remove(device) != nil else { return [] }
        devices.removeAll { $0 == device }
        var gone: [Registration] = []
        for app in living.keys { gone += living[app]?.removeValue(forKey: device) ?? [] }
        bury(gone, .unregistered(now))
        return gone
    }

    /// New tokens in the place of an app's old ones, as after a restore of a phone.
    package func renew(app: String, device: String = desktop, at now: WallTime) -> (
        old: [Registration], new: [Registration]
    ) {
        guard let old = living[app]?.removeValue(forKey: device) else { return ([], []) }
        bury(old, .expired(now))
        return (old, mint(app: app, device: device))
    }

    private func bury(_ gone: [Registration], _ end: Registration.End) {
        for one in gone {
            one.end = end
            dead.append(one.token)
        }
        guard dead.count > Self.mostDead else { return }
        for token in dead.prefix(dead.count - Self.mostDead) { known[token] = nil }
        dead.removeFirst(dead.count - Self.mostDead)
    }
}
