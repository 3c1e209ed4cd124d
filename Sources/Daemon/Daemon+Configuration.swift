internal import Base
internal import Calls
internal import Config
internal import DBus
internal import EventLoop
internal import Gateway
internal import Ringtone
internal import Store

/// Reading the configuration, at start and again.
extension Daemon {
    /// Reads the file; what is wrong with it is in `faults`, the rest is in force. A file that cannot be read changes
    /// nothing.
    func readConfiguration() {
        let before = configuration.apps
        do {
            let text = try Paths.read(configFile) ?? ""
            (configuration, faults) = Configuration.read(text)
            authoritiesLine = Configuration.line(of: "apns.authorities", in: text) ?? 1
            applyRules()
        } catch {
            log("\(error); what was in force stays so")
        }
        // Read again when the next payload needs them.
        areDialectsOld = true
        center.policy = configuration.callPolicy
        applyAppRules(before)
    }

    /// What ringd.conf says of single apps, for the core and the bus. `before`: what it said until now.
    func applyAppRules(_ before: [String: Configuration.App] = [:]) {
        // Before the edges there are no apps; `start` comes back here.
        guard edges != nil else { return }
        edges.links.busNames = [:]
        for (id, app) in configuration.apps.sorted(by: { $0.key < $1.key }) {
            receive(.app(id, .rules(app.rules)))
            if case .dbus(let name, _, nil, nil)? = app.answer {
                edges.links.busNames[id] = name
                // A D-Bus app, before it has ever registered.
                if center.provider(of: id) == nil { receive(.app(id, .provider(ProviderConfiguration()))) }
            } else if let answer = app.answer, answer.isForeign, center.provider(of: id) != nil {
                receive(.app(id, .provider(nil)))
            }
        }
        for id in before.keys.sorted() {
            if configuration.apps[id] == nil { receive(.app(id, .rules(AppRules()))) }
            if before[id]?.answer != nil, configuration.apps[id]?.answer == nil { followRegistration(id) }
        }
    }

    /// Nothing but its own registration says how the app takes calls.
    private func followRegistration(_ app: String) {
        guard let stored = registered[app]?.configuration, !stored.isEmpty else {
            return receive(.app(app, .provider(nil)))
        }
        guard center.provider(of: app) == nil else { return }
        receive(.app(app, .provider(ProviderConfiguration(stored: stored))))
        if edges.links.path(.provider, of: app) != nil { receive(.app(app, .attached)) }
    }

    func reportFault(_ fault: ConfigFault) {
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
        if old.history != configuration.history { edges.store.setRetention(configuration.retention) }
        if old.sound.role != configuration.sound.role || old.sound.device != configuration.sound.device {
            let wish = edges.player?.wish
            edges.player?.wish = nil
            edges.player?.stopPlaying()
            edges.player = makePlayer()
            edges.player?.wish = wish
            edges.callAudio.join(edges.player)
        }
        reloadGateway()
        reloadWebhooks()
        edges.preload(configuration)
        // Of apps' dialects and the user's own files; they tell of themselves.
        let others = dialectChecks.map { ConfigFault(0, nil, $0) }
        for fault in faults { reportFault(fault) }
        emit(
            Event(
                .configLoaded, level: .notice,
                "configuration read again: \(faults.isEmpty ? "no faults" : "\(faults.count) wrong lines, the rest is in force")"
            ))
        ServiceManager.notify("READY=1")
        screeningChanged()
        return faults + others
    }

    func signalled(_ action: String) {
        if action == "reload" {
            _ = reload()
        } else {
            stop(status: 0)
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
        policy.region = region
        policy.screening = screening.forCalls(in: region)
        return policy
    }
}

extension Configuration.Screening {
    func forCalls(in region: PhoneRegion?) -> Calls.Screening {
        var out = Calls.Screening()
        out.whenDisturbing =
            switch doNotDisturb {
            case .silent: .silent
            case .refuse: .refuse
            case .ignore: .ring
            }
        out.unknownCallers =
            switch unknown {
            case .ring: .ring
            case .silent: .silent
            case .refuse: .refuse
            }
        out.vip = vip.map { $0.resolved(in: region) }
        out.blocked = block.map { $0.resolved(in: region) }
        out.known = known.map { $0.resolved(in: region) }
        out.repeatTime = `repeat` > .zero ? `repeat` : nil
        return out
    }
}

extension Configuration.App {
    var rules: AppRules {
        var rules = AppRules()
        rules.insistence = insistence
        rules.isBusyWhenTaken = busy == .busy
        rules.glare =
            switch glare {
            case .wait: .wait
            case .lesserID: .lesserID
            case .accept: .accept
            }
        rules.recalls = recall
        rules.mustReport = mustReport == .strict
        return rules
    }
}
