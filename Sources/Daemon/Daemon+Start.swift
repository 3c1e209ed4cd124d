internal import Base
internal import BusService
internal import Calls
internal import Config
internal import Crypto
internal import DBus
internal import Desktop
internal import EventLoop
internal import Gateway
internal import Glibc
internal import Ringtone
internal import Store

/// Starting, reloading, stopping.
extension Daemon {
    /// Brings everything up. Throws only for what makes a daemon pointless; whatever else fails is reported and
    /// tried again.
    package func start() throws(StartFailure) {
        do {
            try paths.make()
        } catch {
            throw StartFailure(message: "\(error) (check HOME and the XDG variables)", status: 73)
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
                self.assumeIsolated { $0.renewCertificate() }
            }
            rest = try TimerSource(loop, accuracy: .seconds(1)) { Memory.releaseCleanPages() }
            try makeEdges()
        } catch {
            throw StartFailure(message: "\(error)", status: 71)
        }
        let live = loadStore()
        for fault in faults { reportFault(fault) }
        edges.bus?.connect()
        startGateway()
        edges.preload(configuration)
        restore(live)
        if edges.bus?.connection == nil { ready() }
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
            handoffs: Handoffs(loop, environment: options.environment, report: report), store: store, worker: worker,
            catalog: SoundCatalog(themeName: configuration.sound.theme, ownFolder: options.soundsFolder))
        edges.player = makePlayer()
        wire()
        if bus == nil {
            emit(
                Event(
                    .busLost, level: .error,
                    "no session bus: DBUS_SESSION_BUS_ADDRESS is unset and $XDG_RUNTIME_DIR/bus is not there; ringing by sound alone"
                ))
        }
    }

    private func log(_ text: String) { journal.log(priority: 3, message: text, fields: []) }

    private func wire() {
        edges.notifications.onAction = { [unowned self] key, action, token in chosen(key, action, token) }
        edges.notifications.onClosed = { [unowned self] key, isDismissal in closed(key, isDismissal) }
        edges.notifications.onPlaced = { [unowned self] key, id, server in
            if case .call(let uuid) = key, center[uuid] != nil {
                edges.store.place(uuid, notification: id, server: server)
            }
        }
        edges.handoffs.onGone = { [unowned self] app in receive(.clientGone(app: app)) }
        edges.service.handler = { [unowned self] call in handle(call) }
        edges.service.onName = { [unowned self] state in named(state) }
        guard let bus = edges.bus else { return }
        bus.join(edges.service)
        bus.join(edges.notifications)
        bus.join(edges.haptics)
        bus.join(edges.handoffs)
    }

    private func makePlayer() -> RingPlayer? {
        let role = SoundOutput.Role(rawValue: configuration.sound.role.rawValue) ?? .phone
        do throws(LoopFailure) {
            return try RingPlayer(
                loop, worker: worker, output: SoundOutput(role: role, device: configuration.sound.device)
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
        edges.notifications.show(.call(call.uuid), banner(call, isWaiting: call.state == .ringing(.soft)))
        if wanted { edges.notifications.raise(.call(call.uuid)) }
    }

    // MARK: What was

    private func loadStore() -> [LiveRow] {
        do throws(StoreFailure) {
            let snapshot = try edges.store.snapshot()
            registry = Registry(snapshot.apps)
            return snapshot.live
        } catch {
            emit(Event(.storeFault, level: .error, "apps could not be read: \(error)"))
            return []
        }
    }

    /// Calls that were live when the last run ended, by whatever end.
    private func restore(_ rows: [LiveRow]) {
        for row in rows {
            if let id = row.notification { edges.notifications.closeLeftover(id: id, server: row.server) }
            guard isKnown(row.app) else {
                edges.store.clearLive(row.uuid)
                continue
            }
            var began = row.began
            var deadline = row.deadline
            if row.bootID != Boot.id {
                // Another boot's clock: only the wall says how long ago that was.
                let age = Duration.nanoseconds(max(0, WallTime.now.nanoseconds - row.beganWall.nanoseconds))
                deadline = Instant.now + (row.deadline - row.began - age)
                began = Instant.now + (.zero - age)
            }
            let how: CallEvent.Restored =
                switch row.state {
                case CallState.active.word, CallState.answering(ActionID(0)).word: .answered
                case CallState.ringing(.silent).word: .silenced
                default: .ringing
                }
            receive(.restore(row.invite, began: began, deadline: deadline, how))
        }
    }

    private func isKnown(_ app: String) -> Bool { app == Self.manualApp || registry.apps[app] != nil }

    // MARK: The gateway

    private func startGateway() {
        guard !configuration.apns.binary.isEmpty else { return }
        do {
            let credentials = try Credentials(directory: paths.certificates)
            edges.credentials = credentials
            let gateway = try BinaryGateway(
                loop, gatewayConfiguration(), context: try .server(credentials.server),
                inheritedDescriptors: ServiceManager.takeSockets(),
                decide: { [unowned self] push in decide(push) },
                report: { [unowned self] event in emit(event) })
            edges.gateway = gateway
            edges.gatewayFault = nil
            gateway.start()
            daily.arm(after: .seconds(86_400))
        } catch {
            edges.gatewayFault = "\(error)"
            emit(Event(.gatewayFault, level: .error, "the APNs gateway cannot start: \(error)"))
        }
    }

    /// The server's certificate lives 13 months and a daemon may live longer: looked at once a day and on reload.
    private func renewCertificate() {
        daily.arm(after: .seconds(86_400))
        guard let credentials = edges.credentials, let gateway = edges.gateway else { return }
        do {
            guard try credentials.renewIfDue() else { return }
            gateway.reload(gatewayConfiguration(), context: try .server(credentials.server))
            emit(Event(.gatewayListening, "the gateway's certificate was about to end: a new one is in use"))
        } catch {
            emit(Event(.gatewayFault, level: .error, "the gateway's certificate cannot be renewed: \(error)"))
        }
    }

    private func gatewayConfiguration() -> BinaryGateway.Configuration {
        let listeners = configuration.apns.binary.compactMap { wanted -> BinaryGateway.Listener? in
            let host = wanted.host.contains(":") ? "[\(wanted.host)]" : wanted.host
            guard let address = ListenAddress("\(host):\(wanted.port)") else { return nil }
            return BinaryGateway.Listener(
                address, profile: BinaryGateway.Profile(rawValue: wanted.profile.rawValue) ?? .auto)
        }
        var made = BinaryGateway.Configuration(listeners: listeners)
        made.authorityPath = paths.certificates + "/ca.pem"
        made.pushesPerSecond = configuration.apns.rate
        made.pushBurst = 2 * configuration.apns.rate
        return made
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
        guard !isReady else { return }
        isReady = true
        let took = (Instant.now - started).shortText
        ServiceManager.notify("READY=1")
        _ = try? loop.enableWatchdog()
        rest.arm(after: .seconds(1))
        updateStatus()
        let doors = edges.gateway?.addresses.map { "\($0)" } ?? []
        emit(
            Event(
                .daemonReady, level: .notice,
                "ready in \(took)\(doors.isEmpty ? "" : " · APNs \(doors.joined(separator: " ")) (binary)")",
                [
                    .init("start_us", .number((Instant.now - started).nanoseconds / 1000)),
                    .init("pid", .number(Int64(getpid()))), .init("apns", .text(doors.joined(separator: " "))),
                ]))
    }

    // MARK: Configuration

    /// Reads the file; what is wrong with it is in `faults`, the rest is in force.
    private func readConfiguration() {
        var text = ""
        var unreadable: String?
        do {
            text = try Paths.read(configFile) ?? ""
        } catch {
            unreadable = error.description
        }
        (configuration, faults) = Configuration.read(text)
        center.policy = configuration.callPolicy
        if let unreadable { log(unreadable) }
    }

    private func reportFault(_ fault: ConfigFault) {
        emit(
            Event(
                .configFault, level: .warning, "\(configFile): \(fault)",
                [.init("line", .number(Int64(fault.line))), .init("key", .text(fault.key ?? ""))]))
    }

    func reload() -> [ConfigFault] {
        ServiceManager.notify(ServiceManager.reloading)
        let old = configuration
        readConfiguration()
        edges.catalog.themeName = configuration.sound.theme
        if old.sound.role != configuration.sound.role || old.sound.device != configuration.sound.device {
            let wish = edges.player?.wish
            edges.player?.wish = nil
            edges.player = makePlayer()
            edges.player?.wish = wish
        }
        if let gateway = edges.gateway {
            gateway.reload(gatewayConfiguration())
            renewCertificate()
        } else {
            startGateway()
        }
        edges.preload(configuration)
        for fault in faults { reportFault(fault) }
        emit(
            Event(
                .configLoaded, level: .notice,
                "configuration read again: \(faults.isEmpty ? "no faults" : "\(faults.count) wrong lines, the rest is in force")"
            ))
        ServiceManager.notify("READY=1")
        updateStatus()
        return faults
    }

    private func signalled(_ action: String) {
        if action == "reload" {
            _ = reload()
        } else {
            stop(status: 0)
        }
    }

    // MARK: Stopping

    /// Silence and no banner at once; then what is unsaved goes to disk, and out. Calls that were ringing stay in the
    /// store: a successor rings on with the time that is left, or counts them as missed.
    private func stop(status: Int32) {
        guard !isStopping else { return }
        isStopping = true
        ServiceManager.notify("STOPPING=1")
        timer.disarm()
        edges.player?.wish = nil
        edges.player?.stopPlaying()
        edges.haptics.wish = nil
        for call in center.calls { edges.notifications.withdraw(.call(call.uuid)) }
        edges.gateway?.stop()
        emit(Event(.daemonStopping, level: .notice, "stopping"))
        save()
        // What the loop still does in 20 ms: the sound server hears "cork", the bus hears "close". A disk that hangs is
        // waited for two seconds.
        leave(status: status, after: .seconds(2))
        edges.store.flush { [unowned self] in
            self.assumeIsolated { $0.leave(status: status, after: .milliseconds(20)) }
        }
    }

    private func leave(status: Int32, after delay: Duration) {
        do throws(LoopFailure) {
            timer = try TimerSource(loop) { [unowned self] in
                self.assumeIsolated { me in
                    me.edges.bus?.close()
                    me.loop.exit(status)
                }
            }
            timer.arm(after: delay)
        } catch {
            loop.exit(status)
        }
    }
}

extension Configuration {
    var callPolicy: CallPolicy {
        var policy = CallPolicy()
        policy.ringTime = ring.time
        policy.longestRing = ring.longest
        policy.raiseInterval = ring.raise
        policy.keepsBannerWhenSilenced = ring.keepsBannerWhenSilenced
        return policy
    }
}
