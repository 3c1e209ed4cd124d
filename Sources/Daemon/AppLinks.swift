internal import APNs
internal import Base
internal import Config
internal import DBus
internal import Glibc

/// Who is who on the bus: apps that registered, by the name that they own, and peers that act for the user.
///
/// It knows names, paths and credentials, and nothing of calls. Confined to the loop's thread.
final class AppLinks: BusListener {
    /// An app on the bus.
    struct Link {
        /// Its connection's unique name.
        let owner: String
        /// The bus name by which it is known to be there.
        let name: String
        /// Where it exports `PushDelegate1` and `ProviderDelegate1`.
        var pushes: String?
        var provider: String?
    }

    /// An app left the bus, or another program took its name.
    var onGone: ((_ app: String) -> Void)?
    /// The bus name of an app, where it is not the app's id.
    var busNames: [String: String] = [:]

    private var connection: DBusConnection?
    private var links: [String: Link] = [:]
    private var appsOf: [String: [String]] = [:]
    /// The apps that are there as long as a bus name is owned: one, but for a section that names another app's.
    private var appsNamed: [String: [String]] = [:]
    /// What is known of peers: whether they come from a sandbox.
    private var sandboxed: [String: Bool] = [:]
    /// Calls of peers that are being looked at, in their order.
    private var waiting: [String: [(Bool) -> Void]] = [:]

    /// What peers may still ask as apps. Theirs and not their registrations', which they can renew at will.
    private var buckets: [String: TokenBucket] = [:]

    /// What peers asked while the bus is being asked about them, oldest first; bounded by what they may ask.
    private var turns: [String: [() -> Void]] = [:]

    private static let mostPeers = 1024
    private static let burst = 200
    private static let perSecond = 50

    func busName(of app: String) -> String { busNames[app] ?? app }

    // MARK: The bus

    func busUp(_ connection: DBusConnection) { self.connection = connection }

    func busDown() {
        connection = nil
        sandboxed = [:]
        buckets = [:]
        turns = [:]
        // They will never be answered: the bus that could is gone, and so is who asked.
        waiting = [:]
        for app in links.keys.sorted() { drop(app) }
    }

    func busMessage(_ message: InboundMessage) -> Bool {
        guard message.kind == .signal, message.sender == "org.freedesktop.DBus", message.member == "NameOwnerChanged",
            let name = message.arguments.first?.text
        else { return false }
        let owner = message.arguments.last?.text ?? ""
        for app in appsNamed[name] ?? [] where links[app]?.owner != owner { drop(app) }
        return false
    }

    private func drop(_ app: String) {
        guard let link = links.removeValue(forKey: app) else { return }
        appsOf[link.owner]?.removeAll { $0 == app }
        if appsOf[link.owner]?.isEmpty == true { appsOf[link.owner] = nil }
        appsNamed[link.name]?.removeAll { $0 == app }
        if appsNamed[link.name]?.isEmpty == true { appsNamed[link.name] = nil }
        connection?.removeMatch(Self.rule(link.name))
        onGone?(app)
    }

    private static func rule(_ name: String) -> String {
        "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'"
    }

    // MARK: Apps

    /// The apps that this peer registered as.
    func apps(of peer: String) -> [String] { appsOf[peer] ?? [] }

    func isLinked(_ app: String) -> Bool { links[app] != nil }

    func isOwner(_ peer: String, of app: String) -> Bool { links[app]?.owner == peer }

    /// False: this peer asks too often, and is to be refused. One bucket for a connection, whatever it registers as.
    func mayAsk(_ peer: String) -> Bool {
        if buckets[peer] == nil, buckets.count >= Self.mostPeers {
            buckets = buckets.filter { appsOf[$0.key] != nil }
        }
        return buckets[peer, default: TokenBucket(burst: Self.burst, perSecond: Self.perSecond, now: .now)]
            .take(now: .now)
    }

    /// Runs `work` when all that the peer asked before has been looked at: at once, but while the bus is being asked who
    /// it is. So an app need not wait for the reply to one call before it makes the next.
    func inTurn(_ peer: String, _ work: @escaping () -> Void) {
        guard turns[peer] != nil else { return work() }
        turns[peer]?.append(work)
    }

    /// Whether the peer owns the app's bus name; at once for one that is linked, else when the bus has said so.
    func verify(_ peer: String, owns app: String, then: @escaping (Bool) -> Void) {
        if let link = links[app] { return then(link.owner == peer) }
        guard let connection else { return then(false) }
        turns[peer] = []
        connection.callBus("GetNameOwner", [.string(busName(of: app))]) { [weak self] result in
            if case .success(let values) = result { then(values.first?.text == peer) } else { then(false) }
            self?.goOn(peer)
        }
    }

    /// Those that waited, until one of them has to ask the bus in its turn.
    private func goOn(_ peer: String) {
        var rest = (turns.removeValue(forKey: peer) ?? [])[...]
        while turns[peer] == nil, let next = rest.popFirst() { next() }
        if !rest.isEmpty { turns[peer]?.append(contentsOf: rest) }
    }

    /// The peer speaks for the app from now on, until it loses the name.
    func link(_ app: String, to peer: String, pushes: String? = nil, provider: String? = nil) {
        if links[app]?.owner != peer {
            drop(app)
            let name = busName(of: app)
            links[app] = Link(owner: peer, name: name)
            appsOf[peer, default: []].append(app)
            appsNamed[name, default: []].append(app)
            connection?.addMatch(Self.rule(name))
            // It may have gone before we watched.
            connection?.callBus("GetNameOwner", [.string(name)]) { [weak self] result in
                guard let self, links[app]?.owner == peer else { return }
                if case .success(let values) = result, values.first?.text == peer { return }
                drop(app)
            }
        }
        if let pushes { links[app]?.pushes = pushes }
        if let provider { links[app]?.provider = provider }
    }

    /// It takes calls no longer; what it wants of pushes stays.
    func withdrawProvider(_ app: String) {
        links[app]?.provider = nil
        if links[app]?.pushes == nil { drop(app) }
    }

    /// Not by its doing: it was removed.
    func unlink(_ app: String) { drop(app) }

    /// Which of an app's two objects.
    enum Delegate {
        case pushes
        case provider

        var interface: String { self == .pushes ? "org.ringd.PushDelegate1" : "org.ringd.ProviderDelegate1" }
    }

    func path(_ delegate: Delegate, of app: String) -> String? {
        delegate == .pushes ? links[app]?.pushes : links[app]?.provider
    }

    /// Calls a method of a linked app. Addressed to the connection, not the name: nobody else can get it.
    func call(
        _ app: String, _ delegate: Delegate, _ member: String, _ arguments: [DBusValue],
        timeout: Duration = .seconds(25), reply: @escaping (Result<[DBusValue], DBusFailure>) -> Void
    ) {
        guard let connection, let link = links[app], let path = path(delegate, of: app) else {
            return reply(.failure(.disconnected))
        }
        let message = OutboundMessage(
            to: link.owner, path: path, interface: delegate.interface, member: member, arguments)
        connection.call(message, timeout: timeout, reply: reply)
    }

    /// The same, with nobody waiting for a reply.
    func tell(_ app: String, _ delegate: Delegate, _ member: String, _ arguments: [DBusValue] = []) {
        guard let link = links[app], let path = path(delegate, of: app) else { return }
        connection?.send(
            OutboundMessage(to: link.owner, path: path, interface: delegate.interface, member: member, arguments))
    }

    /// Starts the app by D-Bus activation; nil if the bus did, else why not.
    func start(_ app: String, then: @escaping (String?) -> Void) {
        guard let connection else { return then("the session bus is away") }
        connection.callBus(
            "StartServiceByName", [.string(busName(of: app)), .uint32(0)], timeout: .seconds(30)
        ) { result in
            switch result {
            case .success: then(nil)
            case .failure(let failure): then(failure.message)
            }
        }
    }

    // MARK: Peers

    /// Whether the peer may act for the user: it is no app and comes from no sandbox. Its calls keep their order.
    func look(at peer: String, then: @escaping (_ isUser: Bool) -> Void) {
        if appsOf[peer] != nil { return then(false) }
        if let known = sandboxed[peer] { return then(!known) }
        if waiting[peer] != nil {
            waiting[peer]?.append(then)
            return
        }
        guard let connection else { return then(true) }
        waiting[peer] = [then]
        connection.callBus("GetConnectionUnixProcessID", [.string(peer)]) { [weak self] result in
            guard let self else { return }
            var isSandboxed = false
            if case .success(let values) = result, let pid = values.first?.integer {
                isSandboxed = Self.isSandboxed(pid: pid)
            }
            if sandboxed.count >= Self.mostPeers { sandboxed = [:] }
            sandboxed[peer] = isSandboxed
            for next in waiting.removeValue(forKey: peer) ?? [] { next(!isSandboxed && appsOf[peer] == nil) }
        }
    }

    /// Flatpak marks the root of its sandboxes (flatpak-metadata(5)); snapd confines by AppArmor labels named `snap.…`.
    private static func isSandboxed(pid: Int64) -> Bool {
        if access("/proc/\(pid)/root/.flatpak-info", F_OK) == 0 { return true }
        guard let label = try? Paths.read("/proc/\(pid)/attr/current", limit: 256) else { return false }
        return label.hasPrefix("snap.")
    }
}
