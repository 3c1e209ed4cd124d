internal import APNs
internal import Base
internal import BusService
internal import Calls
internal import Config
internal import Crypto
internal import DBus
internal import Store

/// `org.ringd.PushRegistry1`: apps, devices and tokens.
extension Daemon {
    func registry(_ call: BusCall, _ first: String) throws(DBusFailure) -> [DBusValue] {
        switch call.member {
        case "AddApp": return try addApp(named: first)
        case "RemoveApp":
            guard removeApp(first) else { throw unknownApp(first) }
            return []
        case "ResetApp":
            guard apns.directory.has(app: first) else { throw unknownApp(first) }
            receive(.app(first, .suspended(false)))
            struck(first, 0, isSuspended: false)
            return []
        case "RenewApp": return try renew(first, on: call.arguments[1].text ?? "")
        case "Apps": return [apps(on: TokenDirectory.desktop)]
        case "AppsOn":
            let device = try deviceName(first)
            return [apps(on: device)]
        case "Devices": return [devices()]
        case "AddDevices": return try addDevices(first, count: call.arguments[1].integer ?? 0)
        case "RemoveDevices": return try removeDevices(first, count: call.arguments[1].integer ?? 0)
        case "SetOnline":
            let device = try deviceName(first)
            return [.uint32(UInt32(clamping: setOnline(call.arguments[1].flag ?? true, device: device)))]
        case "Tokens": return try tokens(call.arguments[0])
        default: throw refusal("UnknownMethod", "\(call.member) is not known")
        }
    }

    // MARK: Apps

    private func addApp(named id: String) throws(DBusFailure) -> [DBusValue] {
        guard addApp(id) else {
            guard AppID.isValid(id), id != Self.manualApp else {
                throw refusal(
                    "InvalidAppID", "\"\(Text.clean(id))\" is no app id: it is to look like com.example.talk")
            }
            throw refusal(
                "TooMany",
                "no room for the tokens of another app on \(apns.directory.devices.count) devices (ringctl device remove)"
            )
        }
        return [.dict(entries(app: id, device: TokenDirectory.desktop))]
    }

    private func renew(_ app: String, on device: String) throws(DBusFailure) -> [DBusValue] {
        guard apns.directory.has(app: app) else { throw unknownApp(app) }
        let device = try deviceName(device)
        guard renewApp(app, device: device) else { throw unknownApp(app) }
        return [.dict(entries(app: app, device: device))]
    }

    private func apps(on device: String) -> DBusValue {
        .array(of: "a{sv}", apns.directory.apps.map { .dict(entries(app: $0, device: device)) })
    }

    private func entries(app id: String, device: String) -> [DBusValue.Entry] {
        let app = configuration.apps[id]
        var out: [DBusValue.Entry] = [
            .init("app", .string(id)), .init("device", .string(device)), .init("name", .string(app?.name ?? "")),
            .init("answer", .string(app?.answer?.words ?? "")),
        ]
        if device == TokenDirectory.desktop {
            let row = registered[id]
            let standing = center.standing(of: id)
            out += [
                .init("calls", .string(center.provider(of: id) == nil ? "" : "dbus")),
                .init("attached", .bool(center.isAttached(id))),
                .init("session", .string(center.session(of: id).rawValue)),
                .init("account", .string(row?.account ?? "")), .init("bound", .bool(row?.isBound ?? true)),
                .init("strikes", .int64(Int64(standing.strikes))), .init("suspended", .bool(standing.isSuspended)),
            ]
        }
        if let credentials = edges.credentials {
            out.append(.init("certificate", .string(credentials.directory + "/voip-\(id).pem")))
            out.append(.init("authority", .string(credentials.authorityPath)))
        }
        for one in apns.directory.tokens(app: id, device: device) {
            out.append(.init("\(one.kind.rawValue)-\(one.environment.rawValue)", .string(one.token.hex)))
        }
        return out
    }

    // MARK: Devices

    func unknownDevice(_ name: String) -> DBusFailure {
        // A handful of names is enough to guess from.
        let hint =
            Text.nearest(to: name, in: apns.directory.devices.prefix(200)).map { "; did you mean \($0)?" } ?? ""
        return refusal("UnknownDevice", "there is no device \"\(Text.clean(name))\"\(hint) (ringctl device)")
    }

    /// This desktop, if none is named.
    private func deviceName(_ text: String) throws(DBusFailure) -> String {
        if text.isEmpty { return TokenDirectory.desktop }
        guard apns.directory.has(device: text) else { throw unknownDevice(text) }
        return text
    }

    private func devices() -> DBusValue {
        let waiting = apns.mailbox.counts
        let apps = apns.directory.apps
        return .array(
            of: "a{sv}",
            apns.directory.devices.map { name in
                let tokens = apps.reduce(0) { $0 + apns.directory.tokens(app: $1, device: name).count }
                return .dict(
                    ("device", .string(name)), ("online", .bool(!apns.offline.contains(name))),
                    ("rings", .bool(name == TokenDirectory.desktop)), ("tokens", .int64(Int64(tokens))),
                    ("waiting", .int64(Int64(waiting[name] ?? 0))))
            })
    }

    /// At most this many at once.
    private static let mostAtOnce: Int64 = 5000

    /// NAME, or NAME-1 to NAME-COUNT.
    private func names(_ base: String, _ count: Int64) throws(DBusFailure) -> [String] {
        let isName =
            (1...64).contains(base.utf8.count)
            && base.utf8.allSatisfy { byte in
                byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
            }
        guard isName, base.first != "-" else {
            throw refusal(
                "InvalidArgument", "a device's name has 1 to 64 letters, digits, dots, - and _, e.g. phone-of-bob")
        }
        guard base != TokenDirectory.desktop else {
            throw refusal("InvalidArgument", "\(base) is this computer, which is always there")
        }
        guard (0...Self.mostAtOnce).contains(count) else {
            throw refusal("InvalidArgument", "at most \(Self.mostAtOnce) devices at once")
        }
        return count == 0 ? [base] : (1...count).map { "\(base)-\($0)" }
    }

    private func addDevices(_ base: String, count: Int64) throws(DBusFailure) -> [DBusValue] {
        let names = try names(base, count)
        let new = names.count { !apns.directory.has(device: $0) }
        guard new > 0 else { throw refusal("InvalidArgument", "\(names[0]) is there already (ringctl device)") }
        guard apns.directory.hasRoom(devices: new) else {
            throw refusal(
                "TooMany",
                "\(new) more devices with \(apns.directory.apps.count) apps on each are more than may be: \(TokenDirectory.mostDevices) devices, \(TokenDirectory.mostTokens) tokens"
            )
        }
        let added = addDevices(names)
        return [
            .dict(("devices", .int64(Int64(added.devices))), ("tokens", .int64(Int64(added.tokens))))
        ]
    }

    private func removeDevices(_ base: String, count: Int64) throws(DBusFailure) -> [DBusValue] {
        let there = try names(base, count).filter { apns.directory.has(device: $0) }
        guard !there.isEmpty else { throw unknownDevice(count == 0 ? base : "\(base)-1") }
        removeDevices(there)
        return [.uint32(UInt32(clamping: there.count))]
    }

    // MARK: Tokens

    /// A page ends with a device, so that `skip` counts those.
    private static let tokensAPage = 2000

    private func tokens(_ filter: DBusValue) throws(DBusFailure) -> [DBusValue] {
        func text(_ key: String) -> String? { filter[key]?.text.flatMap { $0.isEmpty ? nil : $0 } }
        let (app, device, kind, environment) = (text("app"), text("device"), text("kind"), text("environment"))
        if let app, !apns.directory.has(app: app) { throw unknownApp(app) }
        if let device { _ = try deviceName(device) }
        let apps = apns.directory.apps.filter { app == nil || $0 == app }
        let devices = apns.directory.devices.filter { device == nil || $0 == device }
        var skipped = max(0, Int(clamping: filter["skip"]?.integer ?? 0))
        var rows: [DBusValue] = []
        for name in devices.dropFirst(skipped) {
            guard rows.count < Self.tokensAPage else { break }
            skipped += 1
            for id in apps {
                for one in apns.directory.tokens(app: id, device: name)
                where (kind == nil || one.kind.rawValue == kind)
                    && (environment == nil || one.environment.rawValue == environment)
                {
                    rows.append(
                        .dict(
                            ("token", .string(one.token.hex)), ("app", .string(id)), ("device", .string(name)),
                            ("kind", .string(one.kind.rawValue)), ("environment", .string(one.environment.rawValue))))
                }
            }
        }
        let next = skipped < devices.count ? skipped : 0
        return [.dict(("next", .int64(Int64(next)))), .array(of: "a{sv}", rows)]
    }
}
