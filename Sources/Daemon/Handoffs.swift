internal import Base
internal import Calls
internal import Config
internal import DBus
internal import EventLoop

/// Gives calls to apps: a D-Bus method, a URL, or a program. What comes back goes to the core as `fulfilled` or `failed`.
final class Handoffs: BusListener {
    /// Called once for each `perform`: nil if it worked, else why not. `tracks`: the app will report the call's end.
    typealias Done = (_ failure: String?, _ tracks: Bool) -> Void

    /// An app that had a connected call left the bus.
    var onGone: ((_ app: String) -> Void)?

    private let report: (Event) -> Void
    private let launcher: Launcher
    private var connection: DBusConnection?
    /// Bus names of apps with connected calls.
    private var watched: [String: String] = [:]

    /// What an app is asked to do.
    enum Purpose: String {
        case answer
        case end
        case open
        case callBack = "call-back"
    }

    init(_ loop: EventLoop, environment: [String: String], report: @escaping (Event) -> Void) {
        launcher = Launcher(loop, environment: environment)
        self.report = report
    }

    func busUp(_ connection: DBusConnection) {
        self.connection = connection
        for name in watched.keys { follow(name) }
    }

    func busDown() { connection = nil }

    func busMessage(_ message: InboundMessage) -> Bool {
        if message.kind == .signal, message.sender == "org.freedesktop.DBus", message.member == "NameOwnerChanged",
            let name = message.arguments.first?.text, let app = watched[name],
            message.arguments.last?.text?.isEmpty == true
        {
            unwatch(app)
            onGone?(app)
        }
        return false
    }

    func perform(
        _ handoff: Handoff, _ purpose: Purpose, _ call: Call, reason: String? = nil, activationToken: String? = nil,
        done: @escaping Done
    ) {
        switch handoff {
        case .dbus(let name, let path, let interface, let method):
            callApp(
                name ?? call.invite.app, path: path, interface: interface, method: method, purpose, call, reason,
                activationToken, done)
        case .url(let template):
            let url = Handoff.fill(template) { Self.field($0, of: call) }
            run(["xdg-open", url], purpose, call, reason, activationToken, missing: "install xdg-utils", done)
        case .run(let words):
            run(words, purpose, call, reason, activationToken, missing: "see ringd.conf", done)
        }
    }

    // MARK: D-Bus

    static let delegate = "org.ringd.ProviderDelegate1"

    private func callApp(
        _ name: String, path: String?, interface: String?, method: String?, _ purpose: Purpose, _ call: Call,
        _ reason: String?, _ activationToken: String?, _ done: @escaping Done
    ) {
        guard let connection else { return done("the session bus is away", false) }
        var message: OutboundMessage
        let path = path ?? DBusName.path(for: name)
        if purpose == .open && interface == nil {
            // Desktop Entry Specification, "D-Bus Activation".
            var platform: [DBusValue.Entry] = []
            if let activationToken { platform.append(.init("activation-token", .string(activationToken))) }
            message = OutboundMessage(
                to: name, path: path, interface: "org.freedesktop.Application", member: "Activate", [.dict(platform)])
        } else {
            let names: [Purpose: String] = [
                .answer: "PerformAnswerCall", .end: "PerformEndCall", .callBack: "PerformStartCall", .open: "Open",
            ]
            var details = Self.details(call)
            if let reason { details.append(.init("reason", .string(reason))) }
            if let activationToken { details.append(.init("activation-token", .string(activationToken))) }
            message = OutboundMessage(
                to: name, path: path, interface: interface ?? Self.delegate, member: method ?? names[purpose]!,
                [.string(call.uuid.description), .dict(details)])
        }
        // A goodbye does not wake an app that isn't there.
        message.startsService = purpose != .end
        let tracks = interface == nil && purpose == .answer
        let app = call.invite.app
        connection.call(message, timeout: .seconds(30)) { [weak self] result in
            switch result {
            case .success:
                if tracks { self?.watch(app, name: name) }
                done(nil, tracks)
            case .failure(let failure): done("\(name) refused: \(Text.clean(failure.description))", false)
            }
        }
    }

    private static func details(_ call: Call) -> [DBusValue.Entry] {
        [
            .init("app", .string(call.invite.app)), .init("key", .string(call.invite.key)),
            .init("caller", .string(call.invite.caller.display)),
            .init("handle", .string(call.invite.caller.handle?.value ?? "")),
            .init("video", .bool(call.invite.isVideo)),
        ]
    }

    private static func rule(_ name: String) -> String {
        "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'"
    }

    private func watch(_ app: String, name: String) {
        guard watched[name] == nil else { return }
        watched[name] = app
        follow(name)
    }

    /// Asks to be told of its end, and whether that has come already.
    private func follow(_ name: String) {
        connection?.addMatch(Self.rule(name))
        connection?.callBus("NameHasOwner", [.string(name)]) { [weak self] result in
            guard let self, case .success(let values) = result, values.first?.flag == false,
                let app = watched[name]
            else { return }
            unwatch(app)
            onGone?(app)
        }
    }

    /// The app's last connected call is over.
    func unwatch(_ app: String) {
        for (name, owner) in watched where owner == app {
            watched[name] = nil
            connection?.removeMatch(Self.rule(name))
        }
    }

    // MARK: Programs

    private func run(
        _ words: [String], _ purpose: Purpose, _ call: Call, _ reason: String?, _ activationToken: String?,
        missing cure: String, _ done: @escaping Done
    ) {
        var variables = ["RINGD_ACTION": purpose.rawValue]
        for field in Handoff.fields { variables["RINGD_\(field.uppercased())"] = Self.field(field, of: call) }
        if let reason { variables["RINGD_REASON"] = reason }
        if let activationToken {
            variables["XDG_ACTIVATION_TOKEN"] = activationToken
            variables["DESKTOP_STARTUP_ID"] = activationToken
        }
        let uuid = call.uuid
        let program = words[0]
        launcher.launch(words, variables, connection) { [unowned self] status in
            report(
                Event(
                    .appFault, call: uuid, level: .warning, "\(program) \(status.text)",
                    [.init("action", .text(purpose.rawValue))]))
        } done: { failure in
            done(failure.map { "\($0) (\(cure))" }, false)
        }
    }

    private static func field(_ name: String, of call: Call) -> String {
        switch name {
        case "id": call.uuid.description
        case "key": call.invite.key.filter { $0 != "\0" }
        case "caller": call.invite.caller.display
        case "handle": call.invite.caller.handle?.value ?? ""
        case "app": call.invite.app
        case "video": call.invite.isVideo ? "1" : "0"
        default: ""
        }
    }
}
