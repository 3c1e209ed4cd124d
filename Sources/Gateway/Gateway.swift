package import APNs
package import Base
package import Crypto
package import EventLoop
internal import HTTP2
package import Sockets

/// APNs' doors on the loop: the HTTP/2 provider API, the legacy binary protocol, its feedback service, and an HTTP CONNECT
/// front door. All but the last speak TLS.
///
/// It knows nothing of calls or tokens: each push goes to the service, at once and in order, and the answer to the sender
/// follows from what the service says. What happens to connections is told through `report`, called on the loop's thread,
/// from inside its handlers; it may call `stop()`.
package final class Gateway {
    let loop: EventLoop
    let service: PushService
    package private(set) var configuration: Configuration
    let scratch = Scratch()
    let frameScratch = FrameScratch()
    private let tell: (Event) -> Void
    private var context: TLSContext
    private var listeners: [Listening] = []
    private var inherited: [Socket] = []
    private var guests: [Int: any Guest] = [:]
    private var nextID = 0
    private var gate: FaultGate
    private var timer: TimerSource?
    private var isStopped = false
    /// What the requests of all connections hold.
    package internal(set) var heldBytes = 0

    /// Spare requests, for whichever connection needs one next.
    var streams: [PushStream] = []
    static let mostSpareStreams = 1024

    /// The most that unfinished requests may hold together; beyond it new ones are refused, to be tried again.
    static let mostHeldBytes = 32 << 20

    /// Listens from `start()` on. `context`: a server's; see `TLSContext.server`. `inheritedDescriptors`: listening
    /// sockets from systemd, which become this object's; one that is bound to a configured address serves as that
    /// listener, others are added with the profile `auto`.
    package init(
        _ loop: EventLoop, _ configuration: Configuration, context: TLSContext, service: PushService,
        inheritedDescriptors: [Int32] = [], report: @escaping (Event) -> Void
    ) throws(LoopFailure) {
        self.loop = loop
        self.service = service
        self.configuration = configuration
        self.context = context
        tell = report
        gate = FaultGate(now: .now)
        // Deadlines of seconds: 50 ms of slack lets the kernel join them with other wake-ups.
        timer = try TimerSource(loop, accuracy: .milliseconds(50)) { [weak self] in self?.timeUp() }
        for fd in inheritedDescriptors { adopt(fd) }
    }

    // MARK: Life

    /// Listens on everything that is configured. What fails is reported and tried again, a few times.
    package func start() {
        isStopped = false
        var spare = inherited
        inherited = []
        listen(with: &spare)
    }

    /// On what is configured and not listened on yet, and on sockets that were passed in and that nothing names.
    private func listen(with spare: inout [Socket]) {
        // Port 0 may be asked for several times, and is another port each time.
        var held = listeners.map(\.wish)
        for listener in configuration.listeners {
            if let place = held.firstIndex(of: listener) {
                held.remove(at: place)
                continue
            }
            let match = spare.firstIndex { $0.localAddress == listener.address }
            listeners.append(Listening(listener, gateway: self, inherited: match.map { spare.remove(at: $0) }))
        }
        for socket in spare {
            guard let address = socket.localAddress else { continue }
            listeners.append(Listening(Listener(address), gateway: self, inherited: socket))
        }
        for listener in listeners { listener.open(afresh: true) }
        arm()
    }

    /// Takes new settings. Listeners that are no longer wanted go, new ones come, failed ones are tried afresh;
    /// connections stay, under the new limits. `context` is for connections to come.
    package func reload(_ configuration: Configuration, context: TLSContext? = nil) {
        self.configuration = configuration
        if let context { self.context = context }
        guard !isStopped else { return }
        let wanted = configuration.listeners
        var spare: [Socket] = []
        listeners.removeAll { held in
            let isUnnamed =
                held.wish == Listener(held.wish.address) && !wanted.contains { $0.address == held.wish.address }
            guard !wanted.contains(held.wish), !(held.isPassedIn && isUnnamed) else { return false }
            if let socket = held.handOver() { spare.append(socket) }
            return true
        }
        listen(with: &spare)
    }

    /// Stops listening and ends every connection, each in the words of its protocol.
    package func stop() {
        isStopped = true
        listeners = []
        for guest in guests.values { guest.abandon() }
        guests = [:]
        timer?.disarm()
    }

    /// Where it listens now, with real port numbers, in the order of the configuration.
    package var addresses: [ListenAddress] { listeners.compactMap(\.address) }

    /// The same with what is served there.
    package var doors: [(address: ListenAddress, service: Service, profile: Profile)] {
        listeners.compactMap { one in one.address.map { ($0, one.wish.service, one.wish.profile) } }
    }

    /// Connections at this moment, in whatever phase.
    package var connectionCount: Int { guests.count }

    /// True while it would wake up by itself at some time.
    package var hasDeadline: Bool { timer?.deadline != nil }

    private func adopt(_ fd: Int32) {
        do throws(SocketFailure) {
            inherited.append(try Socket.inherited(fd))
        } catch {
            report(
                fault: .gatewayFault, "cannot use the socket that was passed in: \(error.text)",
                [Event.Field("cause", .text("bad-descriptor"))], .error)
        }
    }

    // MARK: Connections

    /// A socket that a listener accepted.
    func admit(_ socket: Socket, _ door: Listener) {
        let now = Instant.now
        if guests.count >= configuration.connections { makeRoom(now) }
        guard guests.count < configuration.connections else {
            return report(
                fault: .gatewayFault,
                "turned a connection away: \(guests.count) are open already; a sender is to keep one and reuse it",
                [Event.Field("cause", .text("too-many-connections"))], .warning)
        }
        if door.service == .proxy {
            serve { gateway, id in try ProxyConnection(id: id, socket: socket, gateway: gateway, now: now) }
        } else {
            begin(socket, service: door.service, profile: door.profile, name: nil, first: [], now: now)
        }
    }

    /// TLS begins: on a fresh socket, or on one that came through CONNECT with `name`, and with the `first` bytes that
    /// came behind it.
    func begin(
        _ socket: Socket, service: Service, profile: Profile, name: String?, first: [UInt8], now: Instant
    ) {
        var made: Connection?
        serve { [context] gateway, id in
            let connection = try Connection(
                id: id, socket: socket, session: try .server(context), service: service, profile: profile,
                connectName: name, gateway: gateway, now: now)
            made = connection
            return connection
        }
        if !first.isEmpty { made?.begin(with: first) }
    }

    private func serve(_ make: (Gateway, Int) throws -> any Guest) {
        nextID += 1
        do {
            let guest = try make(self, nextID)
            guests[nextID] = guest
            expect(guest.deadline)
        } catch {
            report(
                fault: .gatewayFault, "cannot serve a connection: \(error)",
                [Event.Field("cause", .text("out-of-resources"))], .error)
        }
    }

    /// Those who have nothing to say do not keep others out: one that is being closed goes first, then the oldest
    /// handshake that has had a second, then the one that has been idle longest, if that is half a minute.
    private func makeRoom(_ now: Instant) {
        let all = guests.values
        let stalled = all.filter { $0.isHandshaking && $0.age(now: now) > .seconds(1) }
        let idle = all.filter { $0.idleTime(now: now) > .seconds(30) }
        let spare =
            all.filter(\.isClosing).min { $0.id < $1.id } ?? stalled.min { $0.id < $1.id }
            ?? idle.max { $0.idleTime(now: now) < $1.idleTime(now: now) }
        spare?.abandon()
    }

    func forget(_ guest: any Guest) {
        guests[guest.id] = nil
        if guests.isEmpty { arm() }
    }

    // MARK: Time: one timer for all

    /// Something is due at `instant`: arms the timer if nothing is due earlier. Deadlines that moved away are found out
    /// when it fires.
    func expect(_ instant: Instant) {
        if let timer, timer.deadline.map({ instant < $0 }) ?? true { timer.arm(at: instant) }
    }

    private func timeUp() {
        let now = Instant.now
        for guest in Array(guests.values) { guest.timeUp(now: now) }
        for listener in listeners { listener.timeUp(now: now) }
        arm()
    }

    private func arm() {
        let all = guests.values.map(\.deadline) + listeners.compactMap(\.deadline)
        if let next = all.min() { timer?.arm(at: next) } else { timer?.disarm() }
    }

    // MARK: Events

    func report(_ event: Event) { tell(event) }

    /// Reports what a sender did wrong, unless too many do so at once.
    func report(fault kind: Event.Kind, _ message: String, _ fields: [Event.Field], _ level: Event.Level) {
        guard let withheld = gate.admit(now: .now) else { return }
        guard withheld > 0 else { return tell(Event(kind, level: level, message, fields)) }
        tell(
            Event(
                kind, level: level,
                "\(message) (\(withheld) faults before this one were not reported: too many at once)",
                fields + [Event.Field("withheld", .number(Int64(withheld)))]))
    }

    func report(_ fault: ConnectionFault, of peer: String) {
        var fields = [Event.Field("peer", .text(peer)), Event.Field("cause", .text(fault.code))]
        if !fault.detail.isEmpty { fields.append(Event.Field("detail", .text(fault.detail))) }
        report(fault: .gatewayFault, "\(peer) \(fault.words)", fields, fault.level)
    }
}

/// A connection as the gateway's table sees it.
protocol Guest: AnyObject {
    var id: Int { get }
    /// When `timeUp(now:)` has something to do.
    var deadline: Instant { get }
    var isHandshaking: Bool { get }
    var isClosing: Bool { get }
    /// How long it has been open and between two pushes; zero for any other.
    func idleTime(now: Instant) -> Duration
    func age(now: Instant) -> Duration
    func timeUp(now: Instant)
    /// Ends at once, with the words of its protocol.
    func abandon()
}
