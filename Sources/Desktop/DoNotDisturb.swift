package import Base
package import DBus
package import EventLoop

/// The desktop's own do-not-disturb switch, read and followed. It decides nothing. Confined to the loop's thread.
///
/// Which switch that is depends on the notification server of the moment; `DesktopSwitch` has the table. No service is
/// ever started for it, and nothing is waited for: what is not known yet is unknown.
package final class DoNotDisturb: BusListener {
    package struct State: Sendable, Equatable {
        /// nil: nobody says.
        package var isOn: Bool?
        /// Whose switch it is, for people, e.g. `dunst`; empty where none is known.
        package var source = ""
        /// While it is on, critical banners are hidden, too: a call is not seen.
        package var hidesCritical = false

        /// `on`, `off` or `unknown`.
        package var word: String { isOn.map { $0 ? "on" : "off" } ?? "unknown" }
    }

    package private(set) var state = State()
    /// The state is another one.
    package var onChange: (() -> Void)?

    private let loop: EventLoop
    private let environment: [String: String]
    private let report: (Event) -> Void
    private var connection: DBusConnection?
    /// The notification server's unique name; empty while there is none.
    private var owner = ""
    private var source: DesktopSwitch?
    private var rules: [String] = []
    /// Counts sources: an answer of the one before says nothing.
    private var generation = 0
    private var isAsking = false
    private var asksAgain = false
    private var child: ChildAnswer?

    /// `environment`: the session's; XDG_CURRENT_DESKTOP and PATH are read, and gsettings gets what it needs.
    package init(_ loop: EventLoop, environment: [String: String], report: @escaping (Event) -> Void) {
        self.loop = loop
        self.environment = environment
        self.report = report
    }

    // MARK: The bus

    package func busUp(_ connection: DBusConnection) {
        self.connection = connection
        connection.addMatch(Self.ownerRule(DesktopSwitch.notifications))
        connection.callBus("GetNameOwner", [.string(DesktopSwitch.notifications)]) { [weak self] result in
            let owner = (try? result.get())?.first?.text ?? ""
            self?.serverChanged(owner, isFirst: true)
        }
    }

    package func busDown() {
        connection = nil
        owner = ""
        rules = []
        use(nil)
    }

    package func busMessage(_ message: InboundMessage) -> Bool {
        guard message.kind == .signal else { return false }
        if message.sender == "org.freedesktop.DBus", message.member == "NameOwnerChanged" {
            let name = message.arguments.first?.text
            if name == DesktopSwitch.notifications {
                serverChanged(message.arguments.last?.text ?? "")
            } else if case .bus(let place)? = source?.place, place.service == name {
                ask()
            }
        } else if isNews(message) {
            if case .bus(let place)? = source?.place, message.sender == owner, !isAsking,
                let reading = place.told?(message)
            {
                take(reading)
            } else {
                ask()
            }
        }
        return false
    }

    private static func ownerRule(_ name: String) -> String {
        "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'"
    }

    private func isNews(_ message: InboundMessage) -> Bool {
        switch source?.place {
        case .bus(let place):
            guard message.path == place.path, message.interface == place.interface else { return false }
            guard place.firstArgument == nil || message.arguments.first?.text == place.firstArgument else {
                return false
            }
            guard message.member == "PropertiesChanged", message.arguments.count == 3 else { return true }
            let changed = message.arguments[1].entries?.map(\.key) ?? []
            let invalidated = message.arguments[2].elements?.compactMap(\.text) ?? []
            return (changed + invalidated).contains(where: place.names.contains)
        case .settings(let place):
            guard message.interface == Self.dconf, message.member == "Notify" else { return false }
            // A key or a folder, and what in it: `("/org/gnome/", ["desktop/notifications/show-banners"], tag)`.
            let prefix = message.arguments.first?.text ?? ""
            let changes = message.arguments.dropFirst().first?.elements?.compactMap(\.text) ?? []
            return changes.contains { change in
                let whole = prefix + change
                return whole == place.path + place.key || whole.hasSuffix("/") && place.path.hasPrefix(whole)
            }
        case nil: return false
        }
    }

    private static let dconf = "ca.desrt.dconf.Writer"

    // MARK: Whose

    private func serverChanged(_ new: String, isFirst: Bool = false) {
        guard isFirst || new != owner else { return }
        owner = new
        guard !new.isEmpty else { return choose(ServerProfile()) }
        let question = OutboundMessage(
            to: new, path: "/org/freedesktop/Notifications", interface: DesktopSwitch.notifications,
            member: "GetServerInformation")
        call(question) { [weak self] result in
            guard let self, owner == new else { return }
            let words = (try? result.get())?.map { Text.clean($0.text ?? "", limit: 64) } ?? []
            choose(words.count >= 2 ? ServerProfile(name: words[0], vendor: words[1]) : ServerProfile())
        }
    }

    private func choose(_ profile: ServerProfile) {
        let desktop = (environment["XDG_CURRENT_DESKTOP"] ?? "").split(separator: ":").map(String.init)
        use(DesktopSwitch.of(profile, desktop: desktop))
    }

    private func use(_ new: DesktopSwitch?) {
        generation += 1
        isAsking = false
        asksAgain = false
        child = nil
        for rule in rules { connection?.removeMatch(rule) }
        rules = []
        source = new
        switch new?.place {
        case .bus(let place):
            rules = ["type='signal',sender='\(place.service)',path='\(place.path)',interface='\(place.interface)'"]
            if place.service != DesktopSwitch.notifications { rules.append(Self.ownerRule(place.service)) }
        case .settings(let place):
            // Matches what is in that folder, and what it is in.
            rules = ["type='signal',interface='\(Self.dconf)',member='Notify',arg0path='\(place.path)'"]
        case nil: break
        }
        for rule in rules { connection?.addMatch(rule) }
        guard new != nil else { return take(nil) }
        ask()
    }

    // MARK: Asking

    private func ask() {
        guard !isAsking else {
            asksAgain = true
            return
        }
        isAsking = true
        asksAgain = false
        switch source?.place {
        case .bus(let place): ask(place, place.asks[...], generation)
        case .settings(let place): ask(place, generation)
        case nil: isAsking = false
        }
    }

    private func ask(_ place: DesktopSwitch.OnBus, _ asks: ArraySlice<DesktopSwitch.Ask>, _ mine: Int) {
        guard let ask = asks.first else { return answered(nil, mine) }
        let question = OutboundMessage(
            to: place.service, path: place.path, interface: ask.interface, member: ask.member, ask.arguments)
        call(question) { [weak self] result in
            guard let self, mine == generation else { return }
            switch result {
            case .success(let values):
                if let reading = ask.read(values) { return answered(reading, mine) }
            case .failure(let failure):
                if let off = place.errorOfOff, failure.name.hasPrefix(off) {
                    return answered(DesktopSwitch.Reading(isOn: false), mine)
                }
            }
            self.ask(place, asks.dropFirst(), mine)
        }
    }

    private func call(
        _ question: OutboundMessage, then: @escaping (Result<[DBusValue], DBusFailure>) -> Void
    ) {
        var question = question
        question.startsService = false
        connection?.call(question, timeout: .seconds(10), reply: then)
    }

    private func ask(_ place: DesktopSwitch.InSettings, _ mine: Int) {
        guard let program = ChildProcess.path(of: "gsettings", environment) else { return answered(nil, mine) }
        let wanted = environment.filter { name, _ in
            ["HOME", "PATH", "DBUS_SESSION_BUS_ADDRESS", "GSETTINGS_BACKEND", "DCONF_PROFILE"].contains(name)
                || name.hasPrefix("XDG_")
        }
        do throws(LoopFailure) {
            child = try ChildAnswer(loop, [program, "get", place.schema, place.key], environment: wanted) {
                [weak self] said in
                guard let self, mine == generation else { return }
                child = nil
                var reading: DesktopSwitch.Reading?
                if let said, said == "true\n" || said == "false\n" {
                    let isOn = (said == "true\n") == place.onIs
                    reading = DesktopSwitch.Reading(isOn: isOn, hidesCritical: isOn && place.hidesCritical)
                }
                answered(reading, mine)
            }
        } catch {
            answered(nil, mine)
        }
    }

    private func answered(_ reading: DesktopSwitch.Reading?, _ mine: Int) {
        guard mine == generation else { return }
        isAsking = false
        take(reading)
        if asksAgain { ask() }
    }

    private func take(_ reading: DesktopSwitch.Reading?) {
        let new = State(
            isOn: reading?.isOn, source: reading == nil ? "" : source?.word ?? "",
            hidesCritical: reading?.hidesCritical ?? false)
        guard new != state else { return }
        let old = state
        state = new
        if new.isOn == true, old.isOn != true {
            report(
                Event(
                    .dndOn,
                    "do not disturb, says \(new.source)\(new.hidesCritical ? "; it hides banners of calls, too" : "")",
                    [.init("source", .text(new.source))]))
        } else if old.isOn == true, new.isOn != true {
            report(
                Event(
                    .dndOff,
                    new.isOn == nil ? "do not disturb: nobody says so any more" : "\(new.source) may disturb again",
                    [.init("source", .text(old.source))]))
        }
        onChange?()
    }
}
