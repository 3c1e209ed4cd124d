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
    /// Since when nobody is logged in on this desktop for whom it could ring: 410 Unregistered until somebody is.
    package internal(set) var unbound: WallTime?
    /// The topic that it takes, as it stands on the wire. Made with the first push: most tokens never see one.
    private(set) lazy var topic = Array((kind == .voip ? app + PushType.voip.suffix : app).utf8)
    /// Nil until its first push.
    var bucket: TokenBucket?
    /// What it was made for: the configuration may change.
    var bucketRate = 0

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
    /// Apps that are logged out on this desktop.
    private var unbound: [String: WallTime] = [:]
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

    /// Whether so many more apps and devices are within bounds.
    package func hasRoom(apps: Int = 0, devices more: Int = 0) -> Bool {
        let apps = living.count + apps
        let devices = devices.count + more
        return apps <= Self.mostApps && devices <= Self.mostDevices
            && apps * devices * Self.tokensEach + dead.count <= Self.mostTokens
    }

    /// Of an app on a device.
    private static let tokensEach = 4

    // MARK: Coming

    /// Puts back what an earlier run had.
    package func restore(_ registration: Registration) {
        known[registration.token] = registration
        guard registration.end == nil else { return dead.append(registration.token) }
        addDevice(named: registration.device)
        Self.insert(registration, &living[registration.app, default: [:]][registration.device, default: []])
    }

    /// In place: a start has thousands of them.
    private static func insert(_ registration: Registration, _ held: inout [Registration]) {
        if held.isEmpty { held.reserveCapacity(tokensEach) }
        held.insert(registration, at: held.firstIndex { $0.order > registration.order } ?? held.count)
    }

    /// Makes room for what is about to be put back.
    package func reserve(apps: Int, tokens: Int) {
        living.reserveCapacity(apps)
        known.reserveCapacity(tokens)
    }

    /// Puts back an app that may have no token.
    package func restore(app: String) { living[app] = living[app] ?? [:] }

    /// Puts back a device that may have no app.
    package func addDevice(named name: String) {
        if deviceSet.insert(name).inserted { devices.append(name) }
    }

    /// Registers an app on every device: the tokens that are new, none if it was there.
    package func add(app: String) -> [Registration] {
        restore(app: app)
        return devices.flatMap { mint(app: app, device: $0) }
    }

    /// Adds emulated devices with every app on them: the tokens that are new, none if they were there.
    package func add(devices names: [String]) -> [Registration] {
        let apps = apps
        return names.flatMap { name in
            addDevice(named: name)
            return apps.flatMap { mint(app: $0, device: name) }
        }
    }

    /// Mints what an earlier run could not keep, on a disk that was full: without it, an app would be there and have no
    /// tokens for good. All that is there then may have to be kept anew.
    package func complete() -> [Registration] {
        guard hasRoom() else { return [] }
        let lacking = living.filter { held in devices.contains { held.value[$0] == nil } }.keys.sorted()
        return lacking.flatMap { app in devices.flatMap { mint(app: app, device: $0) } }
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
        living[app, default: [:]][device] = made
        if device == Self.desktop, let since = unbound[app] { for one in made { one.unbound = since } }
        for one in made { known[one.token] = one }
        return made
    }

    /// Apps that are here, and those whose dead tokens are still known.
    package var rememberedApps: Set<String> { Set(living.keys).union(known.values.map(\.app)) }

    /// Somebody is logged in to the app on this desktop, or (since `since`) nobody.
    package func setUnbound(app: String, since: WallTime?) {
        unbound[app] = since
        for one in tokens(app: app) { one.unbound = since }
    }

    // MARK: Going

    /// What has come to its end, and what ended so long ago that it is not known any more.
    package struct Ended {
        package var tokens: [Registration] = []
        package var forgotten: [DeviceToken] = []
    }

    /// Removes an app from every device; its tokens are dead from now on, and known as such.
    package func remove(app: String, at now: WallTime) -> Ended {
        unbound[app] = nil
        return bury((living.removeValue(forKey: app) ?? [:]).values.flatMap { $0 }, .unregistered(now))
    }

    /// Removes emulated devices; their tokens are dead from now on.
    package func remove(devices names: [String], at now: WallTime) -> Ended {
        let gone = names.filter { $0 != Self.desktop && deviceSet.remove($0) != nil }
        let set = Set(gone)
        devices.removeAll { set.contains($0) }
        var tokens: [Registration] = []
        for app in living.keys {
            for device in gone { tokens += living[app]?.removeValue(forKey: device) ?? [] }
        }
        return bury(tokens, .unregistered(now))
    }

    /// New tokens in the place of an app's old ones, as after a restore of a phone.
    package func renew(app: String, device: String = desktop, at now: WallTime) -> (old: Ended, new: [Registration]) {
        guard let old = living[app]?.removeValue(forKey: device) else { return (Ended(), []) }
        return (bury(old, .expired(now)), mint(app: app, device: device))
    }

    private func bury(_ gone: [Registration], _ end: Registration.End) -> Ended {
        for one in gone {
            one.end = end
            dead.append(one.token)
        }
        let excess = max(0, dead.count - Self.mostDead)
        let forgotten = Array(dead.prefix(excess))
        for token in forgotten { known[token] = nil }
        dead.removeFirst(excess)
        return Ended(tokens: gone, forgotten: forgotten)
    }
}

extension Registration {
    /// Kinds in order, environments in order within.
    fileprivate var order: Int { (kind == .alert ? 0 : 2) + (environment == .sandbox ? 0 : 1) }
}
