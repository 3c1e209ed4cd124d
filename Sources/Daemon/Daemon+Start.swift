internal import Base
internal import BusService
internal import Calls
internal import Config
internal import DBus
internal import Desktop
internal import EventLoop
internal import Gateway
internal import Glibc
internal import Ringtone
internal import Store

/// Bringing everything up.
extension Daemon {
    /// Brings everything up. Throws only for what makes a daemon pointless; whatever else fails is reported and
    /// tried again.
    package func start() throws(StartFailure) {
        do {
            try paths.make()
        } catch {
            throw StartFailure(message: "\(error) (check HOME and the XDG variables)", status: 73)
        }
        if let file = options.configFile, (try? Paths.read(file)) == .some(nil) {
            throw StartFailure(message: "there is no file \(file)", status: 66)
        }
        readConfiguration()
        do throws(LoopFailure) {
            // Blocked here, and in the worker from its birth: the loop reads them.
            for (signo, action) in [(SIGTERM, "stop"), (SIGINT, "stop"), (SIGHUP, "reload")] {
                signals.append(
                    try SignalSource(loop, signo) { [unowned self] in
                        self.assumeIsolated { $0.signalled(action) }
                    })
            }
            timer = try TimerSource(loop) { [unowned self] in self.assumeIsolated { $0.receive(.timeUp) } }
            daily = try TimerSource(loop, accuracy: .seconds(3600)) { [unowned self] in
                self.assumeIsolated { me in
                    me.renewCertificate()
                    me.edges.store.prune()
                }
            }
            agenda = try Agenda(loop)
            announcer = try TimerSource(loop) { [unowned self] in self.assumeIsolated { $0.announce() } }
            rest = try TimerSource(loop, accuracy: .seconds(1)) { [unowned self] in
                // Three milliseconds that no push is to wait for, nor the start.
                _ = dialects
                Memory.releaseCleanPages()
            }
            try makeEdges()
        } catch {
            throw StartFailure(message: "\(error)", status: 71)
        }
        applyAppRules()
        screeningChanged()
        snapshot = loadStore()
        for fault in faults { reportFault(fault) }
        edges.preload(configuration)
        // With a bus, the name comes first: a second daemon must neither ring for the first one's calls nor take its
        // port. A bus that is not there, or does not answer, is not waited for.
        guard let bus = edges.bus else { return ready() }
        bus.onUnavailable = { [unowned self] in
            // A bus that started us and is gone will not come back for us, and the next one starts another ringd, which
            // would find our ports taken: `dbus-run-session` is such a bus.
            if isReady && isStartedByBus { stop(status: 0) } else { ready() }
        }
        bus.connect()
    }

    /// By D-Bus activation (D-Bus specification, "Message Bus Starting Services"), and not through systemd.
    private var isStartedByBus: Bool {
        options.environment["DBUS_STARTER_ADDRESS"] != nil && options.environment["NOTIFY_SOCKET"] == nil
    }

    private func makeEdges() throws(LoopFailure) {
        let report: @Sendable (Event) -> Void = { [unowned self] event in self.assumeIsolated { $0.emit(event) } }
        var bus: SessionBus?
        if let address = SessionBus.defaultAddress(options.environment) {
            bus = try SessionBus(loop, address: address, report: report)
        }
        let store: Store
        do throws(StoreFailure) {
            store = try Store(path: paths.database, worker: worker, loop: loop, report: report)
        } catch {
            log("the database cannot be opened: \(error); history and apps are not kept this time")
            // In memory, so that calls ring all the same.
            store = try! Store(path: ":memory:", worker: worker, loop: loop, report: report)
        }
        edges = Edges(
            bus: bus, notifications: try NotificationClient(loop, desktopEntry: "org.ringd.Ringd1", report: report),
            haptics: Haptics(appID: "org.ringd.Ringd1", report: report),
            dnd: DoNotDisturb(loop, environment: options.environment, report: report),
            inhibitor: Inhibitor(appID: "org.ringd.Ringd1", reason: "A call", report: report),
            callAudio: try CallAudio(loop, report: report),
            handoffs: Handoffs(loop, environment: options.environment, report: report), store: store, worker: worker,
            catalog: SoundCatalog(themeName: configuration.sound.theme, ownFolder: options.soundsFolder))
        edges.player = makePlayer()
        edges.callAudio.join(edges.player)
        wirePushes()
        wire()
        if bus == nil {
            emit(
                Event(
                    .busLost, level: .error,
                    "no session bus: DBUS_SESSION_BUS_ADDRESS is unset and $XDG_RUNTIME_DIR/bus is not there; ringing by sound alone"
                ))
        }
    }

    func log(_ text: String) { journal.log(priority: 3, message: text, fields: []) }

    private func wire() {
        edges.notifications.onAction = { [unowned self] key, action, token in chosen(key, action, token) }
        edges.notifications.onClosed = { [unowned self] key, isDismissal in closed(key, isDismissal) }
        edges.notifications.onPlaced = { [unowned self] key, id, server in
            if case .call(let uuid) = key, center[uuid] != nil {
                edges.store.place(uuid, notification: id, server: server)
            }
        }
        edges.links.onGone = { [unowned self] app in lost(app) }
        edges.dnd.onChange = { [unowned self] in screeningChanged() }
        edges.service.handler = { [unowned self] call in handle(call) }
        edges.service.onName = { [unowned self] state in named(state) }
        guard let bus = edges.bus else { return }
        bus.join(edges.service)
        bus.join(edges.notifications)
        bus.join(edges.haptics)
        bus.join(edges.dnd)
        bus.join(edges.inhibitor)
        bus.join(edges.handoffs)
        bus.join(edges.links)
    }

    func makePlayer() -> RingPlayer? {
        let role = SoundOutput.Role(rawValue: configuration.sound.role.rawValue) ?? .phone
        do throws(LoopFailure) {
            return try RingPlayer(
                loop, worker: decoder, output: SoundOutput(role: role, device: configuration.sound.device)
            ) {
                [unowned self] event in
                soundSaid(event)
            }
        } catch {
            log("no sound: \(error)")
            return nil
        }
    }

    private func soundSaid(_ event: Event) {
        emit(event)
        switch event.kind {
        case .soundFallback: useServerSound(true, for: event.call)
        case .soundHeard: useServerSound(false, for: event.call)
        default: break
        }
    }

    /// While our own sound is not heard, the notification server may be able to make one.
    private func useServerSound(_ wanted: Bool, for uuid: CallUUID?) {
        guard edges.needsServerSound != wanted else { return }
        edges.needsServerSound = wanted
        guard let call = uuid.flatMap({ center[$0] }), call.isShown else { return }
        showAgain(call)
        if wanted { edges.notifications.raise(.call(call.uuid)) }
    }

    // MARK: Ready

    private func named(_ state: BusService.NameState) {
        switch state {
        case .owned: ready()
        case .taken:
            guard !isReady else {
                return emit(Event(.busLost, level: .error, "another program took the name \(BusService.name)"))
            }
            log("another ringd runs already in this session (its bus name is taken): ringctl status")
            stop(status: 78)
        case .refused(let why):
            emit(Event(.busLost, level: .error, "the bus refuses the name \(BusService.name): \(why)"))
        }
    }

    private func ready() {
        guard !isReady, !isStopping else { return }
        isReady = true
        startGateway()
        reloadWebhooks()
        if let snapshot { restore(snapshot) }
        snapshot = nil
        edges.store.setRetention(configuration.retention)
        daily.arm(after: .seconds(86_400))
        deliverLeftovers()
        let took = (Instant.now - started).shortText
        ServiceManager.notify("READY=1")
        _ = try? loop.enableWatchdog()
        rest.arm(after: .seconds(1))
        updateStatus()
        let doors = edges.gateway?.doorWords ?? ""
        emit(
            Event(
                .daemonReady, level: .notice,
                "ready in \(took)\(doors.isEmpty ? "" : " · APNs \(doors)")",
                [
                    .init("start_us", .number((Instant.now - started).nanoseconds / 1000)),
                    .init("pid", .number(Int64(getpid()))), .init("apns", .text(doors)),
                ]))
        let waiting = early
        early = []
        for call in waiting { handle(call) }
    }
}
