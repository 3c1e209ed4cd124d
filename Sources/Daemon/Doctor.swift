internal import APNs
internal import Base
internal import BusService
internal import Config
internal import Crypto
internal import DBus
internal import Desktop
internal import Gateway
internal import Glibc
internal import Ringtone
internal import Webhooks

/// Would a call ring now, and be heard and seen? Each check says what is, and if it is wrong, how to mend it.
extension Daemon {
    private enum Verdict: String {
        case good
        case warning
        case bad
        /// Not there, and nothing is wrong with that.
        case absent
    }

    private static func check(
        _ name: String, _ verdict: Verdict, _ text: String, cure: String = ""
    ) -> [DBusValue.Entry] {
        [
            .init("name", .string(name)), .init("verdict", .string(verdict.rawValue)), .init("text", .string(text)),
            .init("cure", .string(cure)),
        ]
    }

    /// Answers `call` with the checks in order; the sound server is asked anew first.
    func examine(for call: BusCall) {
        guard let player = edges.player else { return answer(call, SoundStatus()) }
        player.refreshStatus { [unowned self] sound in answer(call, sound) }
    }

    private func answer(_ call: BusCall, _ sound: SoundStatus) {
        edges.service.answer(call, .success([.array(of: "a{sv}", checks(sound).map(DBusValue.dict))]))
    }

    private func checks(_ sound: SoundStatus) -> [[DBusValue.Entry]] {
        let up = (Instant.now - started).components.seconds
        return [
            Self.check(
                "daemon", .good, "ringd \(Version.text), up \(up / 3600) h \(up % 3600 / 60) min, pid \(getpid())"),
            notificationCheck(), disturbanceCheck(), soundCheck(sound), ringtoneCheck(), gatewayCheck(), webhookCheck(),
            deviceCheck(),
            appsCheck(),
            configCheck(), vibrationCheck(),
        ]
    }

    private func notificationCheck() -> [DBusValue.Entry] {
        let client = edges.notifications
        guard edges.bus?.connection != nil else {
            return Self.check(
                "notifications", .bad, "no session bus", cure: "start a desktop session, or dbus-run-session")
        }
        guard !client.owner.isEmpty else {
            return Self.check(
                "notifications", .bad, "no notification server runs",
                cure: "install and start one, e.g. dunst or mako; ringctl answer works meanwhile")
        }
        let profile = client.profile
        var text = profile.title
        text += profile.drawsNoButtons ? ": actions by menu, no buttons" : ": shows buttons"
        text += profile.realert == .replace ? ", alerts anew on replacement" : ", closed and shown anew to alert"
        guard profile.capabilities.isEmpty || profile.capabilities.contains("actions") else {
            return Self.check(
                "notifications", .warning, text + "; it offers no actions now",
                cure: "do not disturb may be on; ringctl answer works")
        }
        return Self.check("notifications", .good, text)
    }

    private func disturbanceCheck() -> [DBusValue.Entry] {
        let name = "do-not-disturb"
        let desktop = edges.dnd.state
        guard isDisturbanceForbidden else {
            if desktop.isOn == true {
                return Self.check(name, .good, "off for calls (screening.switch), though \(desktop.source) says on")
            }
            return desktop.isOn == nil && configuration.screening.switch == .auto
                ? Self.check(name, .absent, "this desktop has no switch that is known (ringd has one: ringctl dnd on)")
                : Self.check(name, .good, desktop.isOn == nil ? "off" : "off, says \(desktop.source)")
        }
        let isOwn = configuration.screening.switch == .on
        let cure =
            isOwn ? "ringctl dnd auto" : "switch it off in \(desktop.source), or for calls alone: ringctl dnd off"
        var text = isOwn ? "on (ringctl dnd)" : "on, says \(desktop.source)"
        if desktop.hidesCritical { text += ", which hides banners of calls, too (ringctl answer works)" }
        switch configuration.screening.doNotDisturb {
        case .ignore: return Self.check(name, .good, text + ": calls ring all the same (screening.do-not-disturb)")
        case .silent: return Self.check(name, .warning, text + ": calls make no sound", cure: cure)
        case .refuse: return Self.check(name, .bad, text + ": calls are missed, with a quiet notice", cure: cure)
        }
    }

    private func soundCheck(_ sound: SoundStatus) -> [DBusValue.Entry] {
        guard configuration.sound.isOn else {
            return Self.check("sound", .warning, "switched off", cure: "ringctl config set sound.enabled yes")
        }
        guard sound.isConnected, let server = sound.server else {
            return Self.check(
                "sound", .bad, "no sound server\(sound.failure.map { " (\($0))" } ?? "")",
                cure: "systemctl --user start pipewire-pulse, or pulseaudio --start")
        }
        guard let sink = sound.sinkName else {
            return Self.check("sound", .bad, "\(server) has no output device", cure: "pactl list short sinks")
        }
        let device = configuration.sound.device ?? sound.sinkDescription ?? sink
        if sound.isMuted == true {
            return Self.check("sound", .bad, "\(server), \"\(device)\" is muted", cure: "pactl set-sink-mute \(sink) 0")
        }
        let percent = sound.volume.map { Int(($0 * 100).rounded()) } ?? 100
        if percent == 0 || configuration.sound.volume == 0 {
            return Self.check(
                "sound", .bad, "\(server), \"\(device)\" is at \(percent) %, ringd at \(configuration.sound.volume) %",
                cure: percent == 0 ? "pactl set-sink-volume \(sink) 60%" : "ringctl config set sound.volume 100")
        }
        if let chosen = configuration.sound.device {
            return Self.check(
                "sound", .good, "\(server), on \(chosen) while it is there, else on \(sink) at \(percent) %")
        }
        return Self.check("sound", .good, "\(server), \"\(device)\" at \(percent) %")
    }

    private func ringtoneCheck() -> [DBusValue.Entry] {
        let sound = edges.catalog.resolve(SoundRequest(user: configuration.sound.ringtone))
        if sound.isSilent {
            return Self.check(
                "ringtone", .bad, "silence, as chosen", cure: "ringctl config set sound.ringtone NAME (ringctl sounds)")
        }
        if let missing = sound.missing.first {
            return Self.check("ringtone", .warning, "\(missing); playing \(sound.name)", cure: "ringctl sounds")
        }
        return Self.check("ringtone", .good, "\(sound.name)\(sound.path.map { " (\($0))" } ?? "")")
    }

    private func gatewayCheck() -> [DBusValue.Entry] {
        if !configuration.apns.hasDoors { return Self.check("APNs", .absent, "no gateway is configured") }
        if let fault = edges.gatewayFault { return Self.check("APNs", .bad, fault, cure: "see the journal") }
        let doors = edges.gateway?.doorWords ?? ""
        guard !doors.isEmpty else {
            return Self.check(
                "APNs", .bad, "listening nowhere: the ports are taken",
                cure: "ss -ltnp, or ringctl config set apns.http2 127.0.0.1:PORT")
        }
        return Self.check("APNs", .good, "\(doors), trust \(edges.credentials?.authorityPath ?? "")")
    }

    private func webhookCheck() -> [DBusValue.Entry] {
        let wanted = configuration.webhook.listen.count
        if wanted == 0 { return Self.check("webhooks", .absent, "off (ringctl webhook tells how to turn them on)") }
        let places = webhookAddresses
        guard places.count == wanted, edges.webhookFault == nil else {
            let fault = edges.webhookFault ?? edges.webhooks?.fault ?? "not listening everywhere"
            return Self.check("webhooks", .bad, fault, cure: "mend that, then ringctl config reload")
        }
        return Self.check("webhooks", .good, "\(places.joined(separator: " ")), token in \(webhookTokenPath)")
    }

    private func deviceCheck() -> [DBusValue.Entry] {
        let desktop = TokenDirectory.desktop
        let others = apns.directory.devices.count - 1
        let emulated = others > 0 ? "; \(others) emulated \(others == 1 ? "device" : "devices") beside it" : ""
        guard apns.offline.contains(desktop) else {
            return Self.check("device", .good, "\(desktop), online\(emulated)")
        }
        let waiting = apns.mailbox.counts[desktop] ?? 0
        return Self.check(
            "device", .bad, "\(desktop) is offline: pushes do not ring, \(waiting) are kept\(emulated)",
            cure: "ringctl device online")
    }

    private func appsCheck() -> [DBusValue.Entry] {
        let apps = apns.directory.apps
        if apps.isEmpty {
            return Self.check(
                "apps", .absent, "none registered: pushes have no token to go to",
                cure: "ringctl apps add com.example.talk")
        }
        let mute = apps.filter { configuration.apps[$0]?.answer == nil }
        if let first = mute.first {
            return Self.check(
                "apps", .warning,
                "\(apps.count) registered; Answer does nothing for \(mute.count == 1 ? first : "\(mute.count) of them")",
                cure: "set answer = in [app \(first)] of \(configFile)")
        }
        return Self.check("apps", .good, "\(apps.count) registered")
    }

    private func configCheck() -> [DBusValue.Entry] {
        guard let first = faults.first else {
            if let wrong = dialectChecks.first {
                return Self.check(
                    "configuration", .warning, wrong, cure: "ringctl dialects; ringctl dialects check FILE")
            }
            return Self.check("configuration", .good, configFile)
        }
        return Self.check(
            "configuration", .warning, "\(faults.count) wrong lines in \(configFile); \(first)",
            cure: "ringctl config check")
    }

    private func vibrationCheck() -> [DBusValue.Entry] {
        configuration.vibration
            ? Self.check("vibration", .absent, "through feedbackd where it runs (fine without on a desktop)")
            : Self.check("vibration", .absent, "switched off")
    }
}
