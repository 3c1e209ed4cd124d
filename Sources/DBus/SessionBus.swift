package import Base
package import EventLoop
internal import Glibc

/// The session bus as a wish: connected, and connected again whenever it went away. Confined to the loop's thread.
///
/// Listeners are told of each connection (`onUp`), of its loss (`onDown`), and of each message, in order of joining.
package final class SessionBus {
    /// The live connection, if there is one.
    package private(set) var connection: DBusConnection?

    private let loop: EventLoop
    private let address: String
    private let report: (Event) -> Void
    private var listeners: [any BusListener] = []
    private var retry: TimerSource?
    private var attempts = 0
    private var wasUp = false

    /// `address` in the form of `DBUS_SESSION_BUS_ADDRESS`.
    package init(_ loop: EventLoop, address: String, report: @escaping (Event) -> Void) throws(LoopFailure) {
        self.loop = loop
        self.address = address
        self.report = report
        retry = try TimerSource(loop, accuracy: .milliseconds(50)) { [unowned self] in self.connect() }
    }

    /// The address a session program is to use: the variable, else the socket systemd makes (`$XDG_RUNTIME_DIR/bus`).
    package static func defaultAddress(_ environment: [String: String]) -> String? {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
        guard let runtime = environment["XDG_RUNTIME_DIR"], access(runtime + "/bus", F_OK) == 0 else { return nil }
        return "unix:path=\(runtime)/bus"
    }

    package func join(_ listener: any BusListener) {
        listeners.append(listener)
        if let connection { listener.busUp(connection) }
    }

    /// Connects; on failure tries again later, for as long as it takes.
    package func connect() {
        guard connection == nil else { return }
        do {
            let made = try DBusConnection(loop, address: address)
            connection = made
            made.onMessage = { [unowned self] message in
                for listener in listeners where listener.busMessage(message) { return true }
                return false
            }
            made.onDisconnect = { [unowned self] in self.lost() }
            if wasUp { report(Event(.busReturned, level: .notice, "the session bus is back")) }
            wasUp = true
            attempts = 0
            for listener in listeners { listener.busUp(made) }
        } catch {
            if attempts == 0 {
                report(
                    Event(
                        .busLost, level: .error,
                        "no session bus at \(address): \(error.message); trying again (is dbus running?)"))
            }
            planRetry()
        }
    }

    package func close() {
        retry?.disarm()
        connection?.close()
        connection = nil
    }

    private func lost() {
        connection?.close()
        connection = nil
        report(Event(.busLost, level: .warning, "the session bus went away; calls ring on, trying to come back"))
        for listener in listeners { listener.busDown() }
        planRetry()
    }

    private func planRetry() {
        let delays: [Duration] = [.milliseconds(100), .milliseconds(300), .seconds(1), .seconds(2), .seconds(5)]
        retry?.arm(after: attempts < delays.count ? delays[attempts] : .seconds(15))
        attempts += 1
    }
}

/// Something that lives on the bus.
package protocol BusListener: AnyObject {
    /// A connection is there (again). What was known of the old one is void.
    func busUp(_ connection: DBusConnection)
    func busDown()
    /// True if it was a method call for this listener.
    func busMessage(_ message: InboundMessage) -> Bool
}

extension DBusConnection {
    /// The bus's own methods.
    package func callBus(
        _ member: String, _ arguments: [DBusValue], reply: @escaping (Result<[DBusValue], DBusFailure>) -> Void
    ) {
        call(
            OutboundMessage(
                to: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
                member: member, arguments), reply: reply)
    }
}
