internal import APNs
internal import Base
internal import BusService
internal import Calls
internal import Config
internal import DBus
internal import EventLoop
internal import Ringtone
internal import Store

/// `org.ringd.PushRegistry1`, the apps' half: tokens, accounts, pushes.
extension Daemon {
    static let registryOfApps: Set<String> = [
        "Register", "Unregister", "Token", "BindAccount", "UnbindAccount", "MarkUploaded", "PlaySound", "StopSound",
    ]

    func appRegistry(_ call: BusCall, _ app: String) throws(DBusFailure) -> [DBusValue]? {
        let second = call.arguments.count > 1 ? call.arguments[1].text ?? "" : ""
        switch call.member {
        case "Register": return try registerPushes(call, app)
        case "PlaySound": return try playSound(call, of: app, second)
        case "StopSound":
            if sounding == app { edges.player?.stopPlaying() }
            return []
        default: break
        }
        _ = try row(of: app)
        switch call.member {
        case "Token":
            let kind = try tokenKind(second)
            return [.bytes(token(app, kind)?.token.bytes ?? [])]
        case "BindAccount":
            guard (1...512).contains(second.utf8.count) else { throw invalid("an account has 1 to 512 bytes") }
            bind(app, second)
        case "MarkUploaded": try markUploaded(app, second, call.arguments[2].text ?? "")
        default: bind(app, nil)
        }
        return []
    }

    /// A notification's sound: the ring of a call goes before it.
    private func playSound(_ call: BusCall, of app: String, _ name: String) throws(DBusFailure) -> [DBusValue]? {
        guard let player = edges.player, configuration.sound.isOn else {
            throw refusal("Sound", "there is no sound (ringctl doctor)")
        }
        guard !center.calls.contains(where: { $0.state.isRinging }) else { throw refusal("Busy", "a call is ringing") }
        guard name.utf8.count <= 256 else { throw invalid("a sound's name has at most 256 bytes") }
        let sound = edges.catalog.resolve(SoundRequest(pushed: name, app: soundOf(app: app)))
        if let missing = sound.missing.first { throw refusal("Sound", missing) }
        player.stopPlaying()
        sounding = app
        soundings += 1
        agenda.after(.seconds(30)) { [unowned self, soundings] in
            if self.soundings == soundings && sounding == app { edges.player?.stopPlaying() }
        }
        player.play(sound, volume: Double(configuration.sound.volume) / 100) { [unowned self] result in
            if sounding == app { sounding = nil }
            edges.service.answer(
                call, result.map { [] }.mapError { DBusFailure("org.ringd.Error.Sound", $0.description) })
        }
        return nil
    }

    private func row(of app: String) throws(DBusFailure) -> ProviderRow {
        guard let row = registered[app], edges.links.path(.pushes, of: app) != nil else {
            throw refusal("UnknownApp", "the app has not registered for pushes (PushRegistry1.Register)")
        }
        return row
    }

    private func tokenKind(_ word: String) throws(DBusFailure) -> TokenKind {
        guard let kind = TokenKind(rawValue: word) else { throw invalid("a push type is voip or alert") }
        return kind
    }

    /// The app's token on this desktop, in the environment that it registered for.
    private func token(_ app: String, _ kind: TokenKind) -> Registration? {
        guard let row = registered[app], row.isBound else { return nil }
        return apns.directory.tokens(app: app).first { $0.kind == kind && $0.environment.rawValue == row.environment }
    }

    // MARK: Registering

    private func registerPushes(_ call: BusCall, _ app: String) throws(DBusFailure) -> [DBusValue]? {
        guard let path = call.arguments[1].text else { throw invalid("a delegate is an object path") }
        let options = call.arguments[2]
        try checkVersion(options)
        // A word that is not understood must not leave an app bound that means to be logged out.
        let known = ["types", "environment", "account", "version"]
        if let other = options.entries?.first(where: { !known.contains($0.key) }) {
            throw invalid("\(Text.clean(other.key, limit: 40)) is no option of Register: types, environment, account")
        }
        var types: [TokenKind] = []
        guard let words = (options["types"] ?? .strings(["voip"])).elements else {
            throw invalid("types are an array of voip and alert (as)")
        }
        for word in words {
            let kind = try tokenKind(word.text ?? "")
            if !types.contains(kind) { types.append(kind) }
        }
        let stated = options["environment"] ?? .string("production")
        guard let environment = stated.text.flatMap(PushEnvironment.init(rawValue:)) else {
            throw invalid("an environment is production or sandbox")
        }
        if let account = options["account"], account.text == nil { throw invalid("an account is a text (s)") }
        guard addApp(app) else {
            throw refusal(
                "InvalidAppID", "\"\(Text.clean(app))\" is no app id like com.example.talk, or there are too many")
        }
        let old = registered[app]
        var row = old ?? ProviderRow(app: app, types: "", environment: "")
        row.types = types.map(\.rawValue).joined(separator: " ")
        row.environment = environment.rawValue
        if let account = options["account"]?.text {
            guard account.utf8.count <= 512 else { throw invalid("an account has at most 512 bytes") }
            row.account = account.isEmpty ? nil : account
            row.isBound = !account.isEmpty
        } else if row.account == nil && !row.isBound {
            // It knows no accounts, and wants pushes again.
            row.isBound = true
        }
        // Another account's calls are not this one's. One that had none was nobody else's.
        let isAnother =
            old.map { $0.isBound && (!row.isBound || $0.account != nil && $0.account != row.account) } ?? false
        if isAnother { receive(.app(app, .unbound)) }
        remember(row)
        applyBinding(row)
        edges.links.link(app, to: call.sender, pushes: path)
        edges.service.answer(
            call,
            .success([
                .dict(
                    ("environment", .string(row.environment)), ("account", .string(row.account ?? "")),
                    ("suspended", .bool(center.standing(of: app).isSuspended)))
            ]))
        if isAnother, !row.isBound { tellInvalidated(app) }
        tellTokens(app)
        deliverLate(app)
        return nil
    }

    /// `DidUpdatePushCredentials` for each type that it wants.
    func tellTokens(_ app: String) {
        guard let row = registered[app], row.isBound else { return }
        for word in row.types.split(separator: " ") {
            guard let kind = TokenKind(rawValue: String(word)), let token = token(app, kind) else { continue }
            let upload = uploads[UploadKey(app, kind, token.environment)]
            let isUploaded = upload.map { $0.token == token.token.bytes && $0.account == row.account ?? "" } ?? false
            edges.links.tell(
                app, .pushes, "DidUpdatePushCredentials",
                [
                    .string(kind.rawValue), .bytes(token.token.bytes),
                    .dict(
                        ("environment", .string(row.environment)), ("account", .string(row.account ?? "")),
                        ("uploaded", .bool(isUploaded)),
                        ("server-device", .string(isUploaded ? upload?.serverDevice ?? "" : ""))),
                ])
        }
    }

    func tellInvalidated(_ app: String) {
        for word in registered[app]?.types.split(separator: " ") ?? [] {
            edges.links.tell(app, .pushes, "DidInvalidatePushToken", [.string(String(word))])
        }
    }

    // MARK: Accounts

    /// Somebody is logged in from now on, or nobody.
    private func bind(_ app: String, _ account: String?) {
        guard var row = registered[app], row.account != account || row.isBound != (account != nil) else {
            return tellTokens(app)
        }
        // Another account's calls are not this one's.
        if row.isBound { receive(.app(app, .unbound)) }
        row.account = account
        row.isBound = account != nil
        remember(row)
        applyBinding(row)
        emit(
            Event(
                .appAccount, level: .info,
                account == nil ? "\(app) is logged out: nothing rings" : "\(app) is logged in",
                [.init("app", .text(app)), .init("bound", .flag(account != nil))]))
        if account == nil { tellInvalidated(app) } else { tellTokens(app) }
    }

    /// What the row says, in the directory and the core.
    func applyBinding(_ row: ProviderRow) {
        apns.directory.setUnbound(app: row.app, since: row.isBound ? nil : .now)
        receive(.app(row.app, .account(row.account ?? "")))
    }

    /// Whether a push for the app may ring: it is known, and somebody is logged in.
    func isBound(_ app: String) -> Bool { has(app: app) && registered[app]?.isBound ?? true }

    private func markUploaded(_ app: String, _ word: String, _ serverDevice: String) throws(DBusFailure) {
        let row = try row(of: app)
        let kind = try tokenKind(word)
        guard serverDevice.utf8.count <= 512 else { throw invalid("a server's device id has at most 512 bytes") }
        guard let token = token(app, kind) else { throw refusal("UnknownApp", "the app has no such token now") }
        let upload = UploadRow(
            app: app, kind: kind == .voip ? .voip : .alert,
            environment: token.environment == .sandbox ? .sandbox : .production, account: row.account ?? "",
            token: token.token.bytes, serverDevice: serverDevice, at: .now)
        uploads[UploadKey(app, kind, token.environment)] = upload
        edges.store.setUpload(upload)
    }

    // MARK: What is remembered

    func remember(_ row: ProviderRow) {
        guard registered[row.app] != row else { return }
        registered[row.app] = row
        edges.store.setProvider(row)
    }

    /// It takes calls no longer; its account and tokens stay.
    func forgetProvider(_ app: String) {
        guard var row = registered[app] else { return }
        row.configuration = ""
        remember(row)
    }

    /// From an earlier run: who takes calls over the bus, and for whom.
    func restoreProviders(_ snapshot: Store.Snapshot) {
        registered.reserveCapacity(snapshot.providers.count)
        uploads.reserveCapacity(snapshot.uploads.count)
        center.reserve(apps: snapshot.providers.count)
        for row in snapshot.providers where apns.directory.has(app: row.app) {
            registered[row.app] = row
            let isForeign = configuration.apps[row.app]?.answer?.isForeign ?? false
            center.remember(
                app: row.app,
                // ringd.conf may say that it takes calls, whatever it has registered for.
                provider: isForeign
                    ? nil
                    : row.configuration.isEmpty
                        ? center.provider(of: row.app) : ProviderConfiguration(stored: row.configuration),
                account: row.account ?? "", strikes: row.strikes(most: center.policy.mostStrikes),
                isSuspended: row.isSuspended)
            if !row.isBound { apns.directory.setUnbound(app: row.app, since: .now) }
        }
        for row in snapshot.uploads {
            let kind: TokenKind = row.kind == .voip ? .voip : .alert
            uploads[UploadKey(row.app, kind, row.environment == .sandbox ? .sandbox : .production)] = row
        }
    }
}

/// One token of an app's on this desktop.
struct UploadKey: Hashable {
    let app: String
    let kind: TokenKind
    let environment: PushEnvironment

    init(_ app: String, _ kind: TokenKind, _ environment: PushEnvironment) {
        self.app = app
        self.kind = kind
        self.environment = environment
    }
}
