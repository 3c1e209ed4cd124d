internal import Base
internal import Calls
internal import Config
internal import EventLoop
internal import Gateway
internal import Ringtone

/// Reading the configuration, at start and again.
extension Daemon {
    /// Reads the file; what is wrong with it is in `faults`, the rest is in force. A file that cannot be read changes
    /// nothing.
    func readConfiguration() {
        do {
            let text = try Paths.read(configFile) ?? ""
            (configuration, faults) = Configuration.read(text)
            authoritiesLine = Configuration.line(of: "apns.authorities", in: text) ?? 1
            applyRules()
        } catch {
            log("\(error); what was in force stays so")
        }
        center.policy = configuration.callPolicy
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
        if old.sound.role != configuration.sound.role || old.sound.device != configuration.sound.device {
            let wish = edges.player?.wish
            edges.player?.wish = nil
            edges.player?.stopPlaying()
            edges.player = makePlayer()
            edges.player?.wish = wish
            edges.callAudio.join(edges.player)
        }
        reloadGateway()
        edges.preload(configuration)
        for fault in faults { reportFault(fault) }
        emit(
            Event(
                .configLoaded, level: .notice,
                "configuration read again: \(faults.isEmpty ? "no faults" : "\(faults.count) wrong lines, the rest is in force")"
            ))
        ServiceManager.notify("READY=1")
        screeningChanged()
        return faults
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
        return policy
    }
}
