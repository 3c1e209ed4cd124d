package import APNs
package import Base
package import Crypto
package import EventLoop

/// The legacy binary APNs gateway (apns.md 2) on the loop: TLS with client certificates, on loopback only.
///
/// It knows nothing of calls or tokens: each push goes to `decide`, at once and in order, and the answer to the sender
/// follows the verdict. What happens is told through `report`: `gateway.listening`, `gateway.fault`, and `push.refused`
/// for what a verdict or a broken frame refused; what is accepted is for the one who decides to report. Both closures
/// are called on the loop's thread, from inside its handlers, and may call `stop()`.
package final class BinaryGateway {
    let loop: EventLoop
    package private(set) var configuration: Configuration
    let decide: (InboundPush) -> PushVerdict
    let scratch = Scratch()
    private let tell: (Event) -> Void
    private var context: TLSContext
    private var listeners: [BinaryListener] = []
    private var inherited: [Socket] = []
    private var connections: [Int: BinaryConnection] = [:]
    private var nextID = 0
    private var gate: FaultGate
    private var timer: TimerSource?
    private var isStopped = false

    /// Listens from `start()` on. `context`: a server's; see `TLSContext.server`. `inheritedDescriptors`: listening
    /// sockets from systemd, which become this object's; one that is bound to a configured address serves as that
    /// listener, others are added with the profile `auto`.
    package init(
        _ loop: EventLoop, _ configuration: Configuration, context: TLSContext, inheritedDescriptors: [Int32] = [],
        decide: @escaping (InboundPush) -> PushVerdict, report: @escaping (Event) -> Void
    ) throws(LoopFailure) {
        self.loop = loop
        self.configuration = configuration
        self.context = context
        self.decide = decide
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
        for listener in configuration.listeners {
            let match = spare.firstIndex { $0.localAddress == listener.address }
            listeners.append(
                BinaryListener(
                    listener.address, profile: listener.profile, gateway: self,
                    inherited: match.map { spare.remove(at: $0) }))
        }
        for socket in spare {
            guard let address = socket.localAddress else { continue }
            listeners.append(BinaryListener(address, profile: .auto, gateway: self, inherited: socket))
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
        listeners.removeAll { held in !wanted.contains { $0.address == held.wish && $0.profile == held.profile } }
        for listener in wanted
        where !listeners.contains(where: { $0.wish == listener.address && $0.profile == listener.profile }) {
            listeners.append(BinaryListener(listener.address, profile: listener.profile, gateway: self))
        }
        for listener in listeners { listener.open(afresh: true) }
        arm()
    }

    /// Stops listening and ends every connection, telling senders that use identifiers what was accepted last.
    package func stop() {
        isStopped = true
        listeners = []
        for connection in connections.values { connection.abandon() }
        connections = [:]
        timer?.disarm()
    }

    /// Where it listens now, with real port numbers, in the order of the configuration.
    package var addresses: [ListenAddress] { listeners.compactMap(\.address) }

    /// Connections at this moment, in whatever phase.
    package var connectionCount: Int { connections.count }

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

    func admit(_ socket: Socket, profile: Profile) {
        let now = Instant.now
        if connections.count >= configuration.connections { makeRoom(now) }
        guard connections.count < configuration.connections else {
            return report(
                fault: .gatewayFault,
                "turned a connection away: \(connections.count) are open already; a sender is to keep one and reuse it",
                [Event.Field("cause", .text("too-many-connections"))], .warning)
        }
        nextID += 1
        do {
            let session = try TLSSession.server(context)
            let made = try BinaryConnection(
                id: nextID, socket: socket, session: session, profile: profile, gateway: self, now: now)
            connections[made.id] = made
            expect(made.deadline)
        } catch {
            report(
                fault: .gatewayFault, "cannot serve a connection: \(error)",
                [Event.Field("cause", .text("out-of-resources"))], .error)
        }
    }

    /// Those who have nothing to say do not keep others out: one that is being closed goes first, then the oldest
    /// handshake that has had a second, then the one that has been idle longest, if that is half a minute.
    private func makeRoom(_ now: Instant) {
        let all = connections.values
        let stalled = all.filter { $0.isHandshaking && $0.age(now: now) > .seconds(1) }
        let idle = all.filter { $0.idleTime(now: now) > .seconds(30) }
        let spare =
            all.filter(\.isClosing).min { $0.id < $1.id } ?? stalled.min { $0.id < $1.id }
            ?? idle.max { $0.idleTime(now: now) < $1.idleTime(now: now) }
        spare?.abandon()
    }

    func forget(_ connection: BinaryConnection) {
        connections[connection.id] = nil
        if connections.isEmpty { arm() }
    }

    // MARK: Time: one timer for all

    /// Something is due at `instant`: arms the timer if nothing is due earlier. Deadlines that moved away are found out
    /// when it fires.
    func expect(_ instant: Instant) {
        if let timer, timer.deadline.map({ instant < $0 }) ?? true { timer.arm(at: instant) }
    }

    private func timeUp() {
        let now = Instant.now
        for connection in Array(connections.values) { connection.timeUp(now: now) }
        for listener in listeners { listener.timeUp(now: now) }
        arm()
    }

    private func arm() {
        let all = connections.values.map(\.deadline) + listeners.compactMap(\.deadline)
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
}
