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
        do {
            if let reply = try respond(call) { edges.service.answer(call, .success(reply)) }
        } catch {
            edges.service.answer(call, .failure(error))
        }
    }

    /// nil: the answer comes later.
    private func respond(_ call: BusCall) throws(DBusFailure) -> [DBusValue]? {
        let first = call.arguments.first?.text ?? ""
        switch call.member {
        case "Answer": return try act(.answer, on: call.call, first)
        case "Decline": return try act(.decline, on: call.call, first)
        case "Ignore": return try act(.ignore, on: call.call, first)
        case "Silence": return try act(.silence, on: call.call, first)
        case "HangUp": return try act(.hangUp, on: call.call, first)
        case "Push": return try push(call)
        case "Pushes": return pushes(call.arguments.first ?? .dict([]))
        case "PushDetails": return try pushDetails(first)
        case "Ring": return try ring(call.arguments.first ?? .dict([]))
        case "ReportNewIncomingCall": return try report(call)
        case "Cancel":
            receive(.reportedEnded(try find(first, for: "cancel", among: \.isRinging), .remoteEnded))
            return []
        case "ReportCallEnded": return try reportEnded(call)
        case "AddApp", "RemoveApp", "RenewApp", "Apps", "AppsOn", "Devices", "AddDevices", "RemoveDevices", "SetOnline",
            "Tokens":
            return try registry(call, first)
        case "Status": return [.dict(status())]
        case "Doctor":
            examine(for: call)
            return nil
        case "History": return history(call)
        case "ClearHistory":
            edges.store.clearHistory { [unowned self] count in
                self.assumeIsolated { $0.edges.service.answer(call, .success([.uint32(UInt32(clamping: count))])) }
            }
            return nil
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

    private func act(
        _ intent: CallEvent.Intent, on object: CallUUID?, _ text: String
    ) throws(DBusFailure) -> [DBusValue] {
        let uuid: CallUUID
        if let object {
            uuid = object
        } else {
            switch intent {
            case .answer, .decline, .ignore, .silence, .open:
                uuid = try find(
                    text, for: intent.rawValue, among: { $0.isRinging || intent == .decline && !$0.isEnded })
            case .hangUp: uuid = try find(text, for: "hang up", among: { !$0.isEnded })
            }
        }
        receive(.user(uuid, intent))
        return []
    }

    /// The call that is meant: by UUID, the beginning of one, or the provider's id; the only candidate, if nothing is said.
    private func find(
        _ text: String, for verb: String, among isCandidate: (CallState) -> Bool
    ) throws(DBusFailure) -> CallUUID {
        let candidates = center.calls.filter { isCandidate($0.state) }
        if text.isEmpty {
            if candidates.count == 1 { return candidates[0].uuid }
            // Of several the one that is heard is meant.
            let presented = candidates.filter { $0.state != .ringing(.queued) }
            if presented.count == 1 { return presented[0].uuid }
            guard candidates.isEmpty else {
                throw refusal(
                    "Ambiguous",
                    "several calls could be meant: \(list(candidates)); name one, e.g. ringctl \(verb.filter { $0 != " " }) \(candidates[0].uuid.short)"
                )
            }
            throw refusal("UnknownCall", "no call is \(verb == "hang up" ? "live" : "ringing")\(lastWords())")
        }
        let folded = text.lowercased()
        let found = center.calls.filter {
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

    private func report(_ call: BusCall) throws(DBusFailure) -> [DBusValue] {
        let app = call.arguments[0].text ?? ""
        guard apns.directory.has(app: app) else { throw unknownApp(app) }
        guard let uuid = CallUUID(call.arguments[1].text ?? "") else {
            throw refusal("InvalidArgument", "a call's UUID has 32 hex digits")
        }
        guard center[uuid] == nil else {
            throw refusal("IncomingCall.CallUUIDAlreadyExists", "the call \(uuid) is there already")
        }
        var signal = CallSignal()
        signal.key = uuid.description
        return try present(signal, call.arguments[2], app: app)
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
        signal.isVideo = details["video"]?.flag ?? false
        signal.sound = details["sound"]?.text.flatMap { $0.isEmpty ? nil : $0 }
        if let seconds = details["time"]?.real, seconds > 0, seconds < 1e6 { signal.ringTime = .seconds(seconds) }
        lastPush += 1
        let outcome = deliver(signal, app: app, payload: [], id: PushID(lastPush))
        switch outcome {
        case .rings(let uuid)?, .queued(let uuid)?, .updated(let uuid)?:
            return [.objectPath(BusService.path(of: uuid))]
        case .busy?: throw refusal("Busy", "\(center.calls.count) calls are live, as many as may be")
        case .alreadyOver?, .tombstone?, .ended?:
            throw refusal(
                "CallIsOver", "a call with this id is over, and an id rings once in ten minutes: give another --id")
        case .tooLate?:
            throw refusal("TooLate", "less than \(center.policy.shortestRing.shortText) would be left to ring")
        case .unknownApp?, .unusable?, nil: throw refusal("Failed", "the call was not taken")
        }
    }

    private func reportEnded(_ call: BusCall) throws(DBusFailure) -> [DBusValue] {
        let uuid = try find(call.arguments[0].text ?? "", for: "end", among: { !$0.isEnded })
        let reasons: [Int64: EndReason] = [
            1: .failed(.reported), 2: .remoteEnded, 3: .unanswered, 4: .answeredElsewhere, 5: .declinedElsewhere,
        ]
        guard let reason = reasons[call.arguments[1].integer ?? 0] else {
            throw refusal(
                "InvalidArgument",
                "CXCallEndedReason is 1 failed, 2 remoteEnded, 3 unanswered, 4 answeredElsewhere or 5 declinedElsewhere"
            )
        }
        receive(.reportedEnded(uuid, reason))
        return []
    }

    // MARK: Past calls

    private func history(_ call: BusCall) -> [DBusValue]? {
        let limit = max(1, min(10_000, call.arguments[0]["limit"]?.integer ?? 20))
        let missedOnly = call.arguments[0]["missed"]?.flag ?? false
        edges.store.history(limit: Int(limit), missedOnly: missedOnly) { [unowned self] rows in
            self.assumeIsolated {
                $0.edges.service.answer(call, .success([.array(of: "a{sv}", rows.map { .dict($0.busEntries) })]))
            }
        }
        return nil
    }

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
