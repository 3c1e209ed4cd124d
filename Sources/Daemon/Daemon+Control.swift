internal import APNs
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
internal import Pushes
internal import Ringtone
internal import Store

/// What is asked of us over the bus.
extension Daemon {
    func handle(_ call: BusCall) {
        // The call that started us comes before the bus's word that the name is ours. Few can wait: they are one bus's.
        guard isReady else {
            if early.count < 256 { early.append(call) }
            return
        }
        // An app is asked for its name, and not who it is besides: one word of the bus's less until it takes calls.
        guard !isOfApps(call) else { return serve(call, isUser: false) }
        edges.links.look(at: call.sender) { [unowned self] isUser in serve(call, isUser: isUser) }
    }

    private func isOfApps(_ call: BusCall) -> Bool {
        call.interface == BusInterface.provider.name
            || call.interface == BusInterface.registry.name && Self.registryOfApps.contains(call.member)
    }

    private func serve(_ call: BusCall, isUser: Bool) {
        do throws(DBusFailure) {
            if let reply = try respond(call, isUser: isUser) { edges.service.answer(call, .success(reply)) }
        } catch {
            edges.service.answer(call, .failure(error))
        }
    }

    /// nil: the answer comes later.
    private func respond(_ call: BusCall, isUser: Bool) throws(DBusFailure) -> [DBusValue]? {
        let first = call.arguments.first?.text ?? ""
        switch call.interface {
        case BusInterface.controller.name, BusInterface.call.name: return try controller(call, isUser: isUser)
        case BusInterface.provider.name: return try provider(call, first)
        case BusInterface.registry.name where Self.registryOfApps.contains(call.member):
            owned(first, call)
            return nil
        default: break
        }
        // No app sees another's payloads or tokens.
        guard isUser else { throw CallError.general(.unentitled).failure }
        switch call.member {
        case "Push": return try push(call)
        case "Pushes": return pushes(call.arguments.first ?? .dict([]))
        case "PushDetails": return try pushDetails(first)
        case "Ring": return try ring(call.arguments.first ?? .dict([]))
        case "Cancel":
            try cancel(first)
            return []
        case "AddApp", "RemoveApp", "ResetApp", "RenewApp", "Apps", "AppsOn", "Devices", "AddDevices", "RemoveDevices",
            "SetOnline",
            "Tokens":
            return try registry(call, first)
        case "Status": return [.dict(status())]
        case "Doctor":
            examine(for: call)
            return nil
        case "History": return try history(call)
        case "MarkSeen": return markSeen(call, first)
        case "ClearHistory": return try clearHistory(call)
        case "Report": return reportOf(call, first)
        case "Sounds": return [.array(of: "a{sv}", sounds())]
        case "AddSound": return try addSound(call, path: first)
        case "PlaySound": return try playSound(call, name: first)
        case "Configuration":
            return [
                .array(of: "a{sv}", Setting.all.map { .dict(entries($0)) }), .strings(faults.map(\.description)),
            ]
        case "Reload": return [.strings(reload().map(\.description))]
        default: throw refusal("UnknownMethod", "\(call.member) is not known")
        }
    }

    func refusal(_ name: String, _ message: String) -> DBusFailure {
        DBusFailure("org.ringd.Error.\(name)", message)
    }

    func unknownApp(_ id: String) -> DBusFailure {
        let hint = Text.nearest(to: id, in: apns.directory.apps).map { "; did you mean \($0)?" } ?? ""
        return refusal("UnknownApp", "no app \"\(Text.clean(id))\" is registered\(hint) (ringctl apps add APP-ID)")
    }

    // MARK: Calls

    private func cancel(_ text: String) throws(DBusFailure) {
        receive(.cancelled(try find(text, for: "cancel", among: \.isRinging)))
    }

    /// The call that is meant: by UUID, the beginning of one, or the provider's id; the only candidate, if nothing is said.
    /// Of `apps`, if they are given; never `other`.
    func find(
        _ text: String, for verb: String, among isCandidate: (CallState) -> Bool, of apps: [String]? = nil,
        except other: CallUUID? = nil
    ) throws(DBusFailure) -> CallUUID {
        let known = center.calls.filter { call in call.uuid != other && apps?.contains(call.app) ?? true }
        let candidates = known.filter { isCandidate($0.state) }
        if text.isEmpty {
            if candidates.count == 1 { return candidates[0].uuid }
            // Of several the one that is heard is meant.
            let presented = candidates.filter { $0.state != .ringing(.queued) }
            if presented.count == 1 { return presented[0].uuid }
            // The one that is spoken in, rather than those on hold.
            let spoken = candidates.filter { $0.state.takesTheUser && $0.state != .deferred }
            if verb == "hang up", spoken.count == 1 { return spoken[0].uuid }
            guard candidates.isEmpty else {
                throw refusal(
                    "Ambiguous",
                    "several calls could be meant: \(list(candidates)); name one, e.g. ringctl \(verb.filter { $0 != " " }) \(candidates[0].uuid.short)"
                )
            }
            throw refusal("UnknownCall", "no call is \(Self.standing(for: verb))\(lastWords())")
        }
        let folded = text.lowercased()
        let found = known.filter {
            $0.uuid.description.hasPrefix(folded) || $0.uuid == CallUUID(text) || $0.invite.key.lowercased() == folded
        }
        guard found.count < 2 else { throw refusal("Ambiguous", "\"\(Text.clean(text))\" fits \(list(found))") }
        guard let call = found.first else {
            throw refusal("UnknownCall", "no live call is called \"\(Text.clean(text))\"\(lastWords())")
        }
        guard isCandidate(call.state) else {
            throw refusal(
                "InvalidState", "cannot \(verb): the call of \(call.invite.caller.display) is \(call.state.word)")
        }
        return call.uuid
    }

    /// How a call has to stand for a verb.
    private static func standing(for verb: String) -> String {
        switch verb {
        case "hang up": "live"
        case "unhold": "on hold"
        case "hold", "dtmf", "start-audio", "mute", "unmute": "active"
        case "group", "ungroup": "connected"
        default: "ringing"
        }
    }

    private func list(_ calls: [Call]) -> String {
        calls.map { "\($0.uuid.short) (\($0.invite.caller.display))" }.joined(separator: ", ")
    }

    private func lastWords() -> String {
        guard let lastEnded else { return "" }
        return " (the last one, \(lastEnded.call.invite.caller.display): \(lastEnded.reason.word) at "
            + "\(lastEnded.at.formatted("%H:%M")); see ringctl history)"
    }

    /// `ringctl ring`: like a push with these words, for no app or a registered one.
    private func ring(_ details: DBusValue) throws(DBusFailure) -> [DBusValue] {
        let app = details["app"]?.text.flatMap { $0.isEmpty ? nil : $0 } ?? Self.manualApp
        guard has(app: app) else { throw unknownApp(app) }
        var signal = CallSignal()
        let key = details["key"]?.text ?? ""
        guard key.utf8.count <= PayloadReader.longestKey else {
            throw refusal("InvalidArgument", "a call id has at most \(PayloadReader.longestKey) bytes")
        }
        signal.key = key.isEmpty ? CallUUID.random().description : key
        return try present(signal, details, app: app)
    }

    private func present(
        _ base: CallSignal, _ details: DBusValue, app: String
    ) throws(DBusFailure) -> [DBusValue] {
        var signal = base
        func words(_ key: String) -> String? {
            let text = Text.clean(details[key]?.text ?? "")
            return text.isEmpty ? nil : text
        }
        signal.callerName = words("caller")
        signal.handle = words("handle")
        if let handle = signal.handle, handle.hasPrefix("+") || handle.allSatisfy(\.isNumber) {
            signal.handleKind = .phoneNumber
        }
        signal.settleNumber(in: region)
        signal.video = details["video"]?.flag ?? false
        signal.sound = details["sound"]?.text.flatMap { $0.isEmpty ? nil : $0 }
        if let seconds = details["time"]?.real, seconds > 0, seconds < 1e6 { signal.ringTime = .seconds(seconds) }
        lastPush += 1
        let id = PushID(lastPush)
        guard case .invite(let invite) = coreSignal(signal, app: app, payload: []) else { return [] }
        receive(.ring(id, invite))
        let outcome = outcomes.removeValue(forKey: id)
        switch outcome {
        case .rings(let uuid)?, .queued(let uuid)?, .updated(let uuid)?, .silent(let uuid)?, .crossed(let uuid)?:
            return [.objectPath(BusService.path(of: uuid))]
        case .busy?: throw refusal("Busy", "\(center.calls.count) calls are live, as many as may be")
        case .alreadyOver?, .tombstone?, .ended?:
            throw refusal(
                "CallIsOver", "a call with this id is over, and an id rings once in ten minutes: give another --id")
        case .tooLate?:
            throw refusal("TooLate", "less than \(center.policy.shortestRing.shortText) would be left to ring")
        case .filtered(_, let by)?:
            throw refusal(
                "Filtered", "the call was screened (\(by.rawValue)): it is a missed one (ringctl config show screening)"
            )
        case .toApp?: throw refusal("InvalidState", "the app reports its calls itself (must-report = strict)")
        case .suspended?: throw refusal("InvalidState", "the app gets no calls: ringctl apps reset \(app)")
        case .unknownApp?, .unusable?, nil: throw refusal("Failed", "the call was not taken")
        }
    }

    // MARK: Past calls

    private func reportOf(_ call: BusCall, _ prefix: String) -> [DBusValue]? {
        save()
        edges.store.report(prefix) { [unowned self] found in
            self.assumeIsolated { me in
                guard let (row, events) = found else {
                    let which =
                        prefix.isEmpty ? "there has been no call yet" : "no call is called \"\(Text.clean(prefix))\""
                    return me.edges.service.answer(
                        call, .failure(me.refusal("UnknownCall", "\(which) (ringctl history)")))
                }
                let list = events.map { event in
                    DBusValue.dict(
                        ("kind", .string(event.kind)), ("message", .string(event.message)),
                        ("at_ns", .int64(event.at.nanoseconds)), ("wall_ns", .int64(event.wall.nanoseconds)),
                        ("level", .int32(Int32(clamping: event.level))), ("fields", .string(event.fields)))
                }
                me.edges.service.answer(call, .success([.dict(row.busEntries), .array(of: "a{sv}", list)]))
            }
        }
        return nil
    }

    // MARK: Sounds

    private func sounds() -> [DBusValue] {
        let current = edges.catalog.resolve(SoundRequest(user: configuration.sound.ringtone))
        func entry(_ name: String, _ path: String, _ origin: String) -> DBusValue {
            .dict(
                ("name", .string(name)), ("path", .string(path)), ("origin", .string(origin)),
                ("current", .bool(path == current.path)))
        }
        let named = edges.catalog.list().map { entry($0.name, $0.path, $0.origin.rawValue) }
        // What rings may be one that no name leads to: the theme's, behind ours of the same name.
        guard let path = current.path, !named.contains(where: { $0["current"]?.flag == true }) else { return named }
        return [entry(current.name, path, current.step.rawValue)] + named
    }

    /// On a thread of its own, for as long as it takes: a long conversion must not hold up the store or a ring.
    private func addSound(_ call: BusCall, path: String) throws(DBusFailure) -> [DBusValue]? {
        guard installer == nil else { throw refusal("Busy", "another sound is being installed: try again in a moment") }
        let catalog = edges.catalog
        let decoder = options.decoder
        let installer = Worker(name: "ringd-install", isOccasional: true)
        self.installer = installer
        installer.post { [unowned self, loop] in
            let result: Result<[DBusValue], DBusFailure>
            do throws(SoundFailure) {
                result = .success([.string(try catalog.install(file: path, converter: decoder).name)])
            } catch {
                result = .failure(DBusFailure("org.ringd.Error.Sound", error.description))
            }
            loop.post {
                self.assumeIsolated { me in
                    me.edges.service.answer(call, result)
                    me.installer = nil
                }
            }
        }
        return nil
    }

    private func playSound(_ call: BusCall, name: String) throws(DBusFailure) -> [DBusValue]? {
        guard let player = edges.player else { throw refusal("Sound", "there is no sound (ringctl doctor)") }
        let request = name.isEmpty ? SoundRequest(user: configuration.sound.ringtone) : SoundRequest(pushed: name)
        let sound = edges.catalog.resolve(request)
        if let missing = sound.missing.first { throw refusal("Sound", missing) }
        if sound.isSilent { throw refusal("Sound", "the ringtone is silence (ringctl config set sound.ringtone NAME)") }
        player.stopPlaying()
        player.play(sound, volume: Double(configuration.sound.volume) / 100) { [unowned self] result in
            edges.service.answer(
                call, result.map { [] }.mapError { DBusFailure("org.ringd.Error.Sound", $0.description) })
        }
        return nil
    }

    // MARK: Values

    private func entries(_ setting: Setting) -> [DBusValue.Entry] {
        [
            .init("key", .string(setting.name)), .init("value", .string(setting.text(configuration))),
            .init("shown", .string(setting.words(configuration))),
            .init("default", .string(setting.text(Configuration()))), .init("expects", .string(setting.expects)),
            .init("help", .string(setting.help)),
        ]
    }

    private func status() -> [DBusValue.Entry] {
        [
            .init("version", .string(Version.text)), .init("pid", .int64(Int64(getpid()))),
            .init("uptime_s", .int64((Instant.now - started).components.seconds)),
            .init("apns", .strings(edges.gateway?.addresses.map { "\($0)" } ?? [])),
            .init(
                "doors",
                .array(
                    of: "a{sv}",
                    (edges.gateway?.doors ?? []).map { door in
                        .dict(
                            ("address", .string("\(door.address)")), ("service", .string(door.service.door)),
                            ("environment", .string(door.profile.rawValue)))
                    })),
            .init("webhooks", .strings(webhookAddresses)),
            .init("notifications", .string(edges.notifications.owner.isEmpty ? "" : edges.notifications.profile.title)),
            .init("sound", .string(edges.player?.status.server ?? "")),
            .init("dnd", .bool(isDisturbanceForbidden)),
            .init("dnd_switch", .string(configuration.screening.switch.rawValue)),
            .init("dnd_desktop", .string(edges.dnd.state.word)), .init("dnd_source", .string(edges.dnd.state.source)),
            .init("dnd_calls", .string(configuration.screening.doNotDisturb.rawValue)),
            .init("apps", .int64(Int64(apns.directory.apps.count))),
            .init("devices", .int64(Int64(apns.directory.devices.count))),
            .init("online", .bool(!apns.offline.contains(TokenDirectory.desktop))),
            .init("pushes", .uint64(apns.log.next - 1)), .init("calls", .int64(Int64(center.calls.count))),
            .init("config", .string(configFile)), .init("faults", .int64(Int64(faults.count))),
        ]
    }
}
