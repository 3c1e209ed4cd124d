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
    /// Greeted or not, it is ours to keep until it fails.
    private var opening: DBusConnection?
    /// There is no bus at present, or it does not answer; called for each failure to reach it.
    package var onUnavailable: (() -> Void)?

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
        guard connection == nil, opening == nil else { return }
        do {
            opening = try DBusConnection(loop, address: address) { [unowned self] result in
                // The connection calls this: it must not be dropped from inside.
                loop.later { [weak self] in self?.greeted(result) }
            }
        } catch {
            failed(error)
        }
    }

    private func greeted(_ result: Result<Void, DBusFailure>) {
        guard let made = opening else { return }
        opening = nil
        switch result {
        case .failure(let failure):
            made.close()
            failed(failure)
        case .success:
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
        }
    }

    private func failed(_ failure: DBusFailure) {
        if attempts == 0 {
            report(
                Event(
                    .busLost, level: .error,
                    "no session bus at \(address): \(failure.message); trying again (is dbus running?)"))
        }
        planRetry()
        onUnavailable?()
    }

    package func close() {
        retry?.disarm()
        opening?.close()
        opening = nil
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
        _ member: String, _ arguments: [DBusValue], timeout: Duration = .seconds(25),
        reply: @escaping (Result<[DBusValue], DBusFailure>) -> Void
    ) {
        call(
            OutboundMessage(
                to: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
                member: member, arguments), timeout: timeout, reply: reply)
    }
}
