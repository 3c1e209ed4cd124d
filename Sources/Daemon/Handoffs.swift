internal import Base
internal import Calls
internal import Config
internal import DBus
internal import EventLoop

/// Gives calls to what knows nothing of ringd: a D-Bus method, a URL, or a program.
final class Handoffs: BusListener {
    /// Called once for each `perform`: nil if it worked, else why not.
    typealias Done = (_ failure: String?) -> Void

    private let report: (Event) -> Void
    private let launcher: Launcher
    private var connection: DBusConnection?

    /// What something is asked to do.
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

    func busUp(_ connection: DBusConnection) { self.connection = connection }

    func busDown() { connection = nil }

    func busMessage(_ message: InboundMessage) -> Bool { false }

    func perform(
        _ handoff: Handoff, _ purpose: Purpose, _ call: Invite, reason: String? = nil, activationToken: String? = nil,
        done: @escaping Done
    ) {
        switch handoff {
        case .dbus(let name, let path, let interface, let method):
            callMethod(
                name ?? call.app, path: path, interface: interface, method: method, purpose, call, reason,
                activationToken, done)
        case .url(let template):
            let url = Handoff.fill(template) { name in
                // What has its scheme from the template brings none.
                name == "handle" && Self.isAddress(template)
                    ? HandleText.address(call.caller.handle?.value ?? "") : Self.field(name, of: call)
            }
            run(["xdg-open", url], purpose, call, reason, activationToken, missing: "install xdg-utils", done)
        case .run(let words):
            run(words, purpose, call, reason, activationToken, missing: "see ringd.conf", done)
        }
    }

    // MARK: D-Bus

    private func callMethod(
        _ name: String, path: String?, interface: String?, method: String?, _ purpose: Purpose, _ call: Invite,
        _ reason: String?, _ activationToken: String?, _ done: @escaping Done
    ) {
        guard let connection else { return done("the session bus is away") }
        var message: OutboundMessage
        let path = path ?? DBusName.path(for: name)
        if let interface, let method {
            var details = Self.details(call)
            if let reason { details.append(.init("reason", .string(reason))) }
            if let activationToken { details.append(.init("activation-token", .string(activationToken))) }
            message = OutboundMessage(
                to: name, path: path, interface: interface, member: method,
                [.string(call.uuid.description), .dict(details)])
        } else {
            // Desktop Entry Specification, "D-Bus Activation".
            var platform: [DBusValue.Entry] = []
            if let activationToken { platform.append(.init("activation-token", .string(activationToken))) }
            message = OutboundMessage(
                to: name, path: path, interface: "org.freedesktop.Application", member: "Activate", [.dict(platform)])
        }
        // A goodbye does not wake an app that isn't there.
        message.startsService = purpose != .end
        connection.call(message, timeout: .seconds(30)) { result in
            switch result {
            case .success: done(nil)
            case .failure(let failure): done("\(name) refused: \(Text.clean(failure.description))")
            }
        }
    }

    private static func details(_ call: Invite) -> [DBusValue.Entry] {
        [
            .init("app", .string(call.app)), .init("key", .string(call.key)),
            .init("caller", .string(call.caller.display)),
            .init("handle", .string(call.caller.handle?.value ?? "")), .init("video", .bool(call.isVideo)),
        ]
    }

    // MARK: Programs

    private func run(
        _ words: [String], _ purpose: Purpose, _ call: Invite, _ reason: String?, _ activationToken: String?,
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
            done(failure.map { "\($0) (\(cure))" })
        }
    }

    /// `tel:{handle}` and the like.
    private static func isAddress(_ template: String) -> Bool {
        Handoff.schemes.contains { $0 != "https" && template.lowercased().hasPrefix("\($0):{handle}") }
    }

    private static func field(_ name: String, of call: Invite) -> String {
        switch name {
        case "id": call.uuid.description
        case "key": call.key.filter { $0 != "\0" }
        case "caller": call.caller.display
        case "handle": call.caller.handle?.value ?? ""
        case "app": call.app
        case "video": call.isVideo ? "1" : "0"
        default: ""
        }
    }
}
