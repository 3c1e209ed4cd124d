package import Base
package import DBus

/// The machine kept awake as a wish, while a call is live: by `org.freedesktop.PowerManagement` (Plasma, Xfce, MATE …),
/// else by GNOME's session manager. Confined to the loop's thread.
///
/// No service is started for it. Both forget their inhibitors when they end, and ours when we leave the bus.
package final class Inhibitor: BusListener {
    package var isWanted = false {
        didSet { if isWanted != oldValue { isWanted ? begin() : end() } }
    }

    private let appID: String
    private let reason: String
    private let report: (Event) -> Void
    private var connection: DBusConnection?
    private var held: Held?
    /// Counts wishes and owners: the cookie of an older one is given back at once.
    private var generation = 0
    private var isAsking = false
    private var isAbsenceSaid = false

    private struct Held {
        let service: Service
        let cookie: UInt32
    }

    private struct Service: Sendable {
        let name: String
        let path: String
        let interface: String
        let release: String
        let arguments: @Sendable (_ appID: String, _ reason: String) -> [DBusValue]
    }

    /// In order of liking. The first one holds off suspend on idle alone and leaves the screen to dim, as a call needs it.
    private static let services = [
        Service(
            name: "org.freedesktop.PowerManagement", path: "/org/freedesktop/PowerManagement/Inhibit",
            interface: "org.freedesktop.PowerManagement.Inhibit", release: "UnInhibit",
            arguments: { [.string($0), .string($1)] }),
        Service(
            name: "org.gnome.SessionManager", path: "/org/gnome/SessionManager", interface: "org.gnome.SessionManager",
            release: "Uninhibit",
            // Flag 4: "inhibit suspending the session or computer"; 0 is no window.
            arguments: { [.string($0), .uint32(0), .string($1), .uint32(4)] }),
    ]

    package init(appID: String, reason: String, report: @escaping (Event) -> Void) {
        self.appID = appID
        self.reason = reason
        self.report = report
    }

    // MARK: The bus

    package func busUp(_ connection: DBusConnection) {
        self.connection = connection
        for service in Self.services {
            connection.addMatch(
                "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(service.name)'")
        }
        if isWanted { begin() }
    }

    package func busDown() {
        connection = nil
        forget()
    }

    package func busMessage(_ message: InboundMessage) -> Bool {
        guard message.kind == .signal, message.sender == "org.freedesktop.DBus", message.member == "NameOwnerChanged",
            let name = message.arguments.first?.text, Self.services.contains(where: { $0.name == name })
        else { return false }
        // Whoever comes is asked if nobody holds; whoever goes (or is replaced) held nothing for long.
        if held?.service.name == name || isAsking { forget() }
        if isWanted, held == nil { begin() }
        return false
    }

    private func forget() {
        generation += 1
        isAsking = false
        if held != nil { report(Event(.inhibitorReleased, level: .debug, "who kept the machine awake is gone")) }
        held = nil
    }

    // MARK: Asking

    private func begin() {
        generation += 1
        isAsking = true
        ask(Self.services[...], generation)
    }

    private func ask(_ services: ArraySlice<Service>, _ mine: Int) {
        guard let connection else {
            isAsking = false
            return
        }
        guard let service = services.first else {
            isAsking = false
            guard !isAbsenceSaid else { return }
            isAbsenceSaid = true
            return report(
                Event(
                    .inhibitorReleased, level: .debug,
                    "nobody here keeps the machine awake (no PowerManagement, no SessionManager on the bus)"))
        }
        connection.call(
            message(service, "Inhibit", service.arguments(appID, reason)), timeout: .seconds(10)
        ) { [weak self] result in
            guard let self else { return }
            guard case .success(let values) = result, let cookie = values.first?.integer.flatMap(UInt32.init(exactly:))
            else {
                if mine == generation { ask(services.dropFirst(), mine) }
                return
            }
            let new = Held(service: service, cookie: cookie)
            // The wish went, or was renewed, while the answer was on its way.
            guard mine == generation else { return release(new) }
            isAsking = false
            held = new
            report(
                Event(
                    .inhibitorHeld, level: .debug, "the machine stays awake, by \(service.name)",
                    [.init("by", .text(service.name))]))
        }
    }

    private func end() {
        generation += 1
        isAsking = false
        guard let held else { return }
        release(held)
        self.held = nil
        report(Event(.inhibitorReleased, level: .debug, "the machine may sleep"))
    }

    private func release(_ held: Held) {
        // An unknown cookie is one of a service that was restarted: gone already.
        connection?.send(message(held.service, held.service.release, [.uint32(held.cookie)]))
    }

    private func message(_ service: Service, _ member: String, _ arguments: [DBusValue]) -> OutboundMessage {
        var message = OutboundMessage(
            to: service.name, path: service.path, interface: service.interface, member: member, arguments)
        message.startsService = false
        return message
    }
}
