internal import Base
internal import DBus
internal import EventLoop
internal import Foundation

/// The link's inside: confined to its thread.
final class LinkCore: BusListener, @unchecked Sendable {
    // Unchecked: every method runs on the loop's thread, which `ClientLink.on` and the bus's callbacks see to.
    private let loop: EventLoop
    private let app: String?
    private let bus: SessionBus
    private var connection: DBusConnection?

    private var providerWish: [DBusValue.Entry]?
    private var pushWish: [DBusValue.Entry]?
    private var onCalls: ClientLink.Handler?
    private var onPushes: ClientLink.Handler?
    private var observers: [@Sendable (CallChange) -> Void] = []
    private var listeners: [(rule: String, handler: @Sendable (InboundMessage) -> Void)] = []
    private var calls: [UUID: [DBusValue.Entry]] = [:]

    /// Whether what is wished is so; requests wait for it.
    private var standing = Standing.away
    private var waiting: [() -> Void] = []
    private var refusal: RingdError?
    /// Interfaces whose wish came, or changed, while the others were being registered.
    private var unsent: Set<String> = []
    /// Pushes that came before the app said what is to become of them, when it is a push that started it.
    private var early: [Inbound] = []
    /// Calls of other services that wait for the bus, as at the start of the app.
    private var waitingForBus: [(OutboundMessage, ClientLink.Answer)] = []
    /// Counts connections and daemons: an answer of an older one is void.
    private var generation = 0

    private enum Standing {
        case away
        case registering
        case registered
    }

    init(_ loop: EventLoop, app: String?) throws {
        self.loop = loop
        self.app = app
        guard let address = SessionBus.defaultAddress(ProcessInfo.processInfo.environment) else {
            throw RingdError.noBus
        }
        bus = try SessionBus(loop, address: address) { _ in
            // Where the bus is matters to requests, which say so themselves.
        }
    }

    func connect() {
        bus.join(self)
        bus.connect()
        bus.onUnavailable = { [unowned self] in failWaiting(.noBus) }
    }

    // MARK: Wishes

    func takeCalls(_ configuration: [DBusValue.Entry], _ handler: @escaping ClientLink.Handler) {
        let isNew = providerWish == nil
        providerWish = configuration
        onCalls = handler
        if standing == .registered {
            register("CallProvider1", isNew ? "Register" : "SetConfiguration")
        } else {
            wish("CallProvider1")
        }
    }

    func takeNoCalls() {
        guard providerWish != nil, let app else { return }
        providerWish = nil
        request("CallProvider1", "Invalidate", [.string(app)]) { _ in }
    }

    func takePushes(_ options: [DBusValue.Entry], _ handler: @escaping ClientLink.Handler) {
        pushWish = options
        onPushes = handler
        if standing == .registered { register("PushRegistry1", "Register") } else { wish("PushRegistry1") }
        let pushes = early
        early = []
        for push in pushes { handler(push) }
    }

    func takeNoPushes() {
        guard pushWish != nil, let app else { return }
        pushWish = nil
        request("PushRegistry1", "Unregister", [.string(app)]) { _ in }
    }

    func observe(_ handler: @escaping @Sendable (CallChange) -> Void) {
        observers.append(handler)
        for (call, properties) in calls { handler(CallChange(call: call, properties: properties)) }
        guard observers.count == 1 else { return }
        followCalls()
    }

    func listen(_ rule: String, _ handler: @escaping @Sendable (InboundMessage) -> Void) {
        listeners.append((rule, handler))
        connection?.addMatch(rule)
    }

    // MARK: Requests

    func request(
        _ interface: String, _ member: String, _ arguments: [DBusValue], _ answer: @escaping ClientLink.Answer
    ) {
        if let refusal { return answer(.failure(refusal)) }
        guard standing == .registered || providerWish == nil && pushWish == nil && connection != nil else {
            // A handful of things may be wanted before the daemon is there; a flood is the app's own fault.
            guard waiting.count < 1024 else { return answer(.failure(RingdError(.disconnected))) }
            waiting.append { [unowned self] in request(interface, member, arguments, answer) }
            return registerAll()
        }
        call(
            OutboundMessage(
                to: ClientLink.daemon, path: ClientLink.root, interface: "org.ringd." + interface, member: member,
                arguments), answer)
    }

    func call(_ message: OutboundMessage, _ answer: @escaping ClientLink.Answer) {
        guard let connection else {
            guard waitingForBus.count < 1024 else { return answer(.failure(.noBus)) }
            return waitingForBus.append((message, answer))
        }
        connection.call(message) { answer($0.mapError(RingdError.init)) }
    }

    private func failWaiting(_ error: RingdError) {
        let failed = waiting
        waiting = []
        if error == .noBus {
            let calls = waitingForBus
            waitingForBus = []
            for (_, answer) in calls { answer(.failure(error)) }
        }
        // Each asks again, and hears the refusal.
        refusal = error
        for body in failed { body() }
        if error == .noBus { refusal = nil }
    }

    // MARK: Registering

    private var hasWish: Bool { providerWish != nil || pushWish != nil }

    private func wish(_ interface: String) {
        unsent.insert(interface)
        registerAll()
    }

    private func registerAll() {
        guard standing == .away, let connection, hasWish else { return }
        guard let app else { return refuse(.noIdentity) }
        refusal = nil
        standing = .registering
        let mine = generation
        // 4: do not queue; two programs of one app would each get half of its calls.
        connection.callBus("RequestName", [.string(app), .uint32(4)]) { [weak self] result in
            guard let self, mine == generation else { return }
            guard case .success(let values) = result, [1, 4].contains(values.first?.integer ?? 0) else {
                standing = .away
                return refuse(.taken(app))
            }
            registerWishes(mine)
        }
    }

    private func registerWishes(_ mine: Int) {
        // Pushes first: a push that waited for the app comes with its registration as a provider.
        var steps: [(String, [DBusValue.Entry])] = []
        if let pushWish { steps.append(("PushRegistry1", pushWish)) }
        if let providerWish { steps.append(("CallProvider1", providerWish)) }
        let sent = Set(steps.map(\.0))
        unsent = []
        var left = steps.count
        for (interface, entries) in steps {
            send(interface, "Register", entries) { [weak self] failure in
                guard let self, mine == generation else { return }
                if let failure {
                    standing = .away
                    return refuse(failure)
                }
                left -= 1
                guard left == 0 else { return }
                standing = .registered
                for interface in unsent {
                    let isChange = interface == "CallProvider1" && sent.contains(interface)
                    register(interface, isChange ? "SetConfiguration" : "Register")
                }
                unsent = []
                let ready = waiting
                waiting = []
                for body in ready { body() }
            }
        }
    }

    /// One wish, while the others stand.
    private func register(_ target: String, _ member: String) {
        guard let entries = target == "CallProvider1" ? providerWish : pushWish else { return }
        let mine = generation
        send(target, member, entries) { [weak self] failure in
            guard let self, mine == generation, let failure else { return }
            (target == "CallProvider1" ? onCalls : onPushes)?(.refused(failure))
        }
    }

    private func send(
        _ interface: String, _ member: String, _ entries: [DBusValue.Entry],
        then: @escaping (RingdError?) -> Void
    ) {
        guard let connection, let app else { return then(.noIdentity) }
        var arguments: [DBusValue] = [.string(app)]
        var details = entries
        if member == "Register" {
            arguments.append(.objectPath(DBusName.path(for: app)))
            details.append(.init("version", .string(Version.minor)))
        } else {
            details.removeAll { $0.key == "session" }
        }
        arguments.append(.dict(details))
        connection.call(
            OutboundMessage(
                to: ClientLink.daemon, path: ClientLink.root, interface: "org.ringd." + interface, member: member,
                arguments)
        ) { result in
            if case .failure(let failure) = result { then(RingdError(failure)) } else { then(nil) }
        }
    }

    private func refuse(_ error: RingdError) {
        onCalls?(.refused(error))
        onPushes?(.refused(error))
        failWaiting(error)
        // What can pass is tried again with the next request; an app without an id stays one.
        if error != .noIdentity { refusal = nil }
    }

    // MARK: The bus

    func busUp(_ connection: DBusConnection) {
        self.connection = connection
        generation += 1
        connection.addMatch(
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(ClientLink.daemon)'")
        for listener in listeners { connection.addMatch(listener.rule) }
        if !observers.isEmpty { followCalls() }
        let calls = waitingForBus
        waitingForBus = []
        for (message, answer) in calls { call(message, answer) }
        registerAll()
        guard !hasWish else { return }
        let ready = waiting
        waiting = []
        for body in ready { body() }
    }

    func busDown() {
        connection = nil
        lost()
    }

    private func lost() {
        generation += 1
        standing = .away
        for call in calls.keys { tellObservers(CallChange(call: call, properties: nil)) }
        calls = [:]
        onCalls?(.lost)
        onPushes?(.lost)
    }

    func busMessage(_ message: InboundMessage) -> Bool {
        switch message.kind {
        case .signal:
            heard(message)
            return false
        case .call: return called(message)
        }
    }

    private func heard(_ message: InboundMessage) {
        if message.member == "NameOwnerChanged", message.sender == "org.freedesktop.DBus",
            message.arguments.first?.text == ClientLink.daemon
        {
            let isThere = message.arguments.last?.text?.isEmpty == false
            let was = message.arguments.dropFirst().first?.text?.isEmpty == false
            if was { lost() }
            if isThere {
                registerAll()
                if !observers.isEmpty { followCalls() }
            }
            return
        }
        if message.path.hasPrefix(ClientLink.root) { heardOfCalls(message) }
        for listener in listeners { listener.handler(message) }
    }

    // MARK: What ringd says

    private func called(_ message: InboundMessage) -> Bool {
        guard let app, message.path == DBusName.path(for: app) else { return false }
        let isPush = message.interface == "org.ringd.PushDelegate1"
        guard isPush || message.interface == "org.ringd.ProviderDelegate1" else {
            // org.freedesktop.Application: the desktop file says that the app can be started; it is.
            guard message.interface == "org.freedesktop.Application", message.member == "Activate" else { return false }
            connection?.reply(to: message, .success([]))
            return true
        }
        let reply = Reply { [weak self, loop, connection = generation] result in
            loop.post { [weak self] in
                guard let self, self.generation == connection else { return }
                self.connection?.reply(to: message, result)
            }
        }
        guard let inbound = Inbound(message, reply) else {
            connection?.reply(
                to: message,
                .failure(DBusFailure("org.freedesktop.DBus.Error.UnknownMethod", "no method \(message.member)")))
            return true
        }
        if !inbound.isAnsweredLater { connection?.reply(to: message, .success([])) }
        if isPush, onPushes == nil {
            if early.count < 32 { early.append(inbound) }
        } else {
            (isPush ? onPushes : onCalls)?(inbound)
        }
        return true
    }

    // MARK: Calls of everyone

    private func followCalls() {
        guard let connection else { return }
        connection.addMatch("type='signal',sender='\(ClientLink.daemon)',path_namespace='\(ClientLink.root)'")
        let mine = generation
        var message = OutboundMessage(
            to: ClientLink.daemon, path: ClientLink.root, interface: "org.freedesktop.DBus.ObjectManager",
            member: "GetManagedObjects")
        // Watching does not start it.
        message.startsService = false
        connection.call(message) { [weak self] result in
            guard let self, mine == generation, case .success(let values) = result else { return }
            for object in values.first?.elements ?? [] { added(object) }
        }
    }

    private func added(_ object: DBusValue) {
        guard case .entry(let path, let interfaces) = object, let call = Self.call(at: path.text ?? "") else { return }
        guard case .entry(_, let properties)? = interfaces.elements?.first else { return }
        changed(call, properties.entries ?? [])
    }

    private func heardOfCalls(_ message: InboundMessage) {
        switch message.member {
        case "InterfacesAdded" where message.arguments.count == 2:
            added(.entry(message.arguments[0], message.arguments[1]))
        case "InterfacesRemoved":
            guard let call = Self.call(at: message.arguments.first?.text ?? ""), calls.removeValue(forKey: call) != nil
            else { return }
            tellObservers(CallChange(call: call, properties: nil))
        case "PropertiesChanged" where message.arguments.count >= 2:
            guard let call = Self.call(at: message.path) else { return }
            changed(call, message.arguments[1].entries ?? [])
        default: break
        }
    }

    private func changed(_ call: UUID, _ properties: [DBusValue.Entry]) {
        var all = calls[call] ?? []
        for property in properties {
            all.removeAll { $0.key == property.key }
            all.append(property)
        }
        calls[call] = all
        tellObservers(CallChange(call: call, properties: all))
    }

    private func tellObservers(_ change: CallChange) { for observer in observers { observer(change) } }

    private static func call(at path: String) -> UUID? {
        let prefix = ClientLink.root + "/call/"
        guard path.hasPrefix(prefix) else { return nil }
        return UUID(uuidString: path.dropFirst(prefix.count).replacingOccurrences(of: "_", with: "-"))
    }
}

extension Inbound {
    /// Its reply is its outcome, rather than a receipt.
    var isAnsweredLater: Bool {
        switch self {
        case .push, .configureAudio, .audio(_, true, _), .remoteInfo: true
        default: false
        }
    }

    /// Nil: no method of the delegates'.
    init?(_ message: InboundMessage, _ reply: Reply) {
        let values = message.arguments
        func text(_ index: Int) -> String { index < values.count ? values[index].text ?? "" : "" }
        func uuid(_ index: Int) -> UUID { UUID(uuidString: text(index)) ?? UUID() }
        func dict(_ index: Int) -> DBusValue { index < values.count ? values[index] : .dict([]) }
        if let kind = Action.Kind(rawValue: message.member) {
            self = .perform(
                Action(
                    id: uuid(0), call: uuid(1), kind: kind, details: dict(2),
                    deadline: Date(timeIntervalSinceNow: dict(2)["timeout"]?.real ?? 10)))
            return
        }
        switch message.member {
        case "ProviderDidBegin": self = .begin
        case "ProviderDidReset": self = .reset
        case "TimedOutPerforming": self = .timedOut(action: uuid(0), call: uuid(1))
        case "DidEndCall":
            self = .ended(
                call: uuid(0), reason: dict(1)["reason"]?.text ?? "",
                callKitReason: Int(dict(1)["callkit-reason"]?.integer ?? 0))
        case "ConfigureAudioSession": self = .configureAudio(call: uuid(0), reply)
        case "DidActivateAudioSession": self = .audio(call: uuid(0), isOn: true, reply)
        case "DidDeactivateAudioSession": self = .audio(call: uuid(0), isOn: false, reply)
        case "ProvideRemoteInfo": self = .remoteInfo(call: uuid(0), details: dict(1), reply)
        case "DidUpdatePushCredentials":
            self = .token(type: text(0), bytes: values.count > 1 ? values[1].blob ?? [] : [], details: dict(2))
        case "DidInvalidatePushToken": self = .tokenInvalid(type: text(0))
        case "DidReceiveIncomingPush":
            self = .push(
                Push(
                    type: text(0), payload: values.count > 2 ? values[2].blob ?? [] : [],
                    call: UUID(uuidString: dict(3)["call"]?.text ?? ""), metadata: dict(3), complete: reply))
        default: return nil
        }
    }
}
