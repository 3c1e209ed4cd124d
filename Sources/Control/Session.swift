internal import Base
internal import DBus
internal import EventLoop
internal import Glibc
internal import JSON

/// One run of ringctl: the connection to ringd, and where words go.
final class Session {
    let isJSON: Bool
    let style: Style
    private var loop: EventLoop?
    private var connection: DBusConnection?
    private let environment = ChildProcess.environment

    init(isJSON: Bool) {
        self.isJSON = isJSON
        style = Style(isOn: !isJSON && Console.isTerminal(1) && (environment["NO_COLOR"] ?? "").isEmpty)
    }

    // MARK: Words

    func say(_ line: String) throws(Refusal) {
        // A reader that is gone (`| head`) is no fault.
        if !Console.write(line + "\n") { throw Refusal(status: 0, message: "") }
    }

    func say(_ json: JSONValue) throws(Refusal) { try say(json.encoded()) }

    var configFile: String { XDG.folder(.config, environment) + "/ringd.conf" }
    var dialectFolder: String { XDG.folder(.config, environment) + "/dialects" }
    var certificates: String { XDG.certificates(environment) }
    var webhookToken: String { XDG.webhookToken(environment) }

    // MARK: The bus

    static let name = "org.ringd.Ringd1"
    static let path = "/org/ringd/Ringd1"
    static let eventRule = "type='signal',sender='\(name)',interface='org.ringd.Monitor1',member='Event'"

    func connect() throws(Refusal) -> (EventLoop, DBusConnection) {
        if let loop, let connection { return (loop, connection) }
        guard let address = SessionBus.defaultAddress(environment) else {
            throw .unreachable(
                "no session bus: DBUS_SESSION_BUS_ADDRESS is unset (run it in your desktop session, or with dbus-run-session)"
            )
        }
        let made: (EventLoop, DBusConnection)
        do {
            let loop = try EventLoop()
            made = (loop, try DBusConnection(loop, address: address))
        } catch {
            throw .unreachable("the session bus at \(address) cannot be reached: \(error)")
        }
        // Ten thousand rows of history are twice ten megabytes.
        made.1.longestReply = 64 << 20
        (loop, connection) = made
        return made
    }

    /// Calls a method of ringd's root object and waits for its answer. `startsDaemon`: whether the bus may start ringd.
    func call(
        _ interface: String, _ member: String, _ arguments: [DBusValue] = [], timeout: Duration = .seconds(25),
        startsDaemon: Bool = true
    ) throws(Refusal) -> [DBusValue] {
        let (loop, connection) = try connect()
        var result: Result<[DBusValue], DBusFailure>?
        var message = OutboundMessage(
            to: Self.name, path: Self.path, interface: interface, member: member, arguments)
        message.startsService = startsDaemon
        connection.call(message, timeout: timeout) { result = $0 }
        while result == nil {
            do throws(LoopFailure) {
                try loop.turn(timeout: .seconds(3600))
            } catch {
                throw .unreachable("\(error)")
            }
        }
        switch result! {
        case .success(let values): return values
        case .failure(let failure): throw Self.refusal(failure)
        }
    }

    private static func refusal(_ failure: DBusFailure) -> Refusal {
        switch failure.name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
            .unreachable("ringd is not running: systemctl --user start ringd (or start ringd by hand)")
        case "org.freedesktop.DBus.Error.Disconnected", "org.freedesktop.DBus.Error.NoReply":
            .unreachable("ringd does not answer: \(failure.message) (systemctl --user status ringd)")
        case let name where name.hasPrefix("org.freedesktop.DBus.Error.Spawn"):
            .unreachable("ringd could not be started: \(failure.message) (journalctl --user -u ringd)")
        default: .refused(failure.message.isEmpty ? failure.name : failure.message)
        }
    }

    /// Calls `event` for each event of ringd, until `event` throws or the bus goes away.
    func follow(_ event: (String, DBusValue) throws(Refusal) -> Void) throws(Refusal) {
        try listen(for: "Event") { arguments throws(Refusal) in
            guard arguments.count == 2 else { return }
            try event(arguments[0].text ?? "", arguments[1])
        }
    }

    /// Calls `each` for each such signal of ringd's monitor, until `each` throws or the bus goes away. `first` runs when
    /// no signal can be missed any more.
    func listen(
        for member: String, first: () throws(Refusal) -> Void = {},
        _ each: ([DBusValue]) throws(Refusal) -> Void
    ) throws(Refusal) {
        let (loop, connection) = try connect()
        // Says at once if nobody is there.
        _ = try call("org.ringd.Monitor1", "Status")
        var waiting: [[DBusValue]] = []
        var isGone = false
        connection.onMessage = { message in
            if message.kind == .signal, message.interface == "org.ringd.Monitor1", message.member == member {
                waiting.append(message.arguments)
            }
            return false
        }
        connection.onDisconnect = { isGone = true }
        connection.addMatch(
            "type='signal',sender='\(Self.name)',interface='org.ringd.Monitor1',member='\(member)'")
        try first()
        while !isGone {
            let batch = waiting
            waiting = []
            for arguments in batch { try each(arguments) }
            guard waiting.isEmpty else { continue }
            do throws(LoopFailure) {
                try loop.turn(timeout: .seconds(3600))
            } catch {
                throw .unreachable("\(error)")
            }
        }
        throw .unreachable("the session bus went away")
    }
}

/// Colours on a terminal; nothing elsewhere (NO_COLOR is honoured).
struct Style: Sendable {
    let isOn: Bool

    enum Colour: String, Sendable {
        case green = "32"
        case yellow = "33"
        case red = "31"
        case blue = "34"
        case dim = "2"
        case bold = "1"
    }

    func callAsFunction(_ colour: Colour, _ text: String) -> String {
        isOn ? "\u{1b}[\(colour.rawValue)m\(text)\u{1b}[0m" : text
    }
}

extension DBusValue {
    /// The same facts in JSON.
    var json: JSONValue {
        switch self {
        case .byte(let n): .integer(Int64(n))
        case .bool(let flag): .bool(flag)
        case .int16(let n): .integer(Int64(n))
        case .uint16(let n): .integer(Int64(n))
        case .int32(let n): .integer(Int64(n))
        case .uint32(let n): .integer(Int64(n))
        case .int64(let n): .integer(n)
        case .uint64(let n): .integer(Int64(clamping: n))
        case .double(let n): .real(n)
        case .string(let text), .objectPath(let text), .signature(let text): .string(text)
        case .bytes(let bytes): .string(Hex.text(bytes))
        case .array(_, let values), .structure(let values): .array(values.map(\.json))
        case .dict(let entries): .object(entries.map { JSONValue.Member($0.key, $0.value.json) })
        case .entry(let key, let value): .array([key.json, value.json])
        case .variant(let inner): inner.json
        }
    }
}
