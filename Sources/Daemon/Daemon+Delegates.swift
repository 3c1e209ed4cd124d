internal import Base
internal import Calls
internal import DBus
internal import EventLoop
internal import Store

/// What is asked of apps on the bus, and told to them.
extension Daemon {
    // MARK: Actions

    /// Asks the app to do it. The reply says that it was received; an error that it will not be done.
    func askApp(_ id: ActionID, _ call: Call, _ kind: ActionKind, by deadline: Instant) {
        var details = entries(call)
        details.append(.init("timeout", .double((deadline - .now).seconds)))
        if let token = tokens[call.uuid] { details.append(.init("activation-token", .string(token))) }
        let member: String
        switch kind {
        case .start: member = "PerformStartCall"
        case .answer: member = "PerformAnswerCall"
        case .end(let reason):
            member = "PerformEndCall"
            details.append(.init("reason", .string(reason.word)))
        case .setHeld(let isHeld, _):
            member = "PerformSetHeldCall"
            details.append(.init("on-hold", .bool(isHeld)))
        case .setMuted(let isMuted):
            member = "PerformSetMutedCall"
            details.append(.init("muted", .bool(isMuted)))
        case .setGroup(let other):
            member = "PerformSetGroupCall"
            details.append(.init("with", .string(other?.description ?? "")))
        case .playDTMF(let digits, let type):
            member = "PerformPlayDTMFCall"
            details.append(.init("digits", .string(digits)))
            details.append(.init("type", .uint32(UInt32(type.rawValue))))
        }
        if case .answer = kind { emit(Event(.appAnswer, call: call.uuid, "the app is asked to answer")) }
        edges.links.call(
            call.app, .provider, member, [.string(text(of: id)), .string(call.uuid.description), .dict(details)],
            timeout: .seconds(30)
        ) { [unowned self] result in
            guard case .failure(let failure) = result, !failure.isSilence, center.isOpen(id, of: call.app) else {
                return
            }
            emit(
                Event(
                    .appFault, call: call.uuid, level: .error,
                    "the app would not \(kind.word): \(failure)", [.init("action", .text(kind.word))]))
            receive(.failed(id))
        }
    }

    func tellTimedOut(_ id: ActionID, _ call: Call) {
        edges.links.tell(
            call.app, .provider, "TimedOutPerforming", [.string(text(of: id)), .string(call.uuid.description)])
    }

    func tellEnded(_ call: Call, _ reason: EndReason) {
        edges.links.tell(
            call.app, .provider, "DidEndCall",
            [
                .string(call.uuid.description),
                .dict(
                    ("reason", .string(reason.word)), ("callkit-reason", .uint32(reason.callKitReason ?? 0)),
                    ("key", .string(call.invite.key))),
            ])
    }

    /// The call, as an app is told of it.
    func entries(_ call: Call) -> [DBusValue.Entry] {
        [
            .init("app", .string(call.app)), .init("account", .string(call.account)),
            .init("key", .string(call.invite.key)), .init("caller", .string(call.invite.caller.display)),
            .init("handle", .string(call.invite.caller.handle?.value ?? "")),
            .init("handle-type", .string(call.invite.caller.handle?.kind.callKit ?? "")),
            .init("video", .bool(call.invite.isVideo)), .init("outgoing", .bool(call.isOutgoing)),
        ]
    }

    // MARK: Audio

    func configureAudio(_ id: ActionID, _ call: Call) {
        edges.links.call(
            call.app, .provider, "ConfigureAudioSession", [.string(call.uuid.description)], timeout: .seconds(15)
        ) { [unowned self] result in
            var isReady = true
            if case .failure(let failure) = result {
                // An app that says it configures and then does not know the method has nothing to configure.
                isReady = failure.isUnknownMethod
                if !isReady {
                    emit(
                        Event(
                            .appFault, call: call.uuid, level: .error,
                            "the app could not make its audio ready: \(failure)"))
                }
            }
            receive(.configured(id, isReady))
        }
    }

    func audio(_ call: Call, isOn: Bool) {
        let id = DBusValue.string(call.uuid.description)
        guard isOn else {
            edges.links.tell(call.app, .provider, "DidDeactivateAudioSession", [id])
            return emit(Event(.audioOff, call: call.uuid, "audio is to stop"))
        }
        emit(Event(.audioPending, call: call.uuid, level: .debug, "audio may run"))
        edges.links.call(
            call.app, .provider, "DidActivateAudioSession", [id], timeout: .seconds(30)
        ) { [unowned self] result in
            switch result {
            case .success: _ = ask { .report($0, app: call.app, call.uuid, .audioRuns) }
            // One that does not know the method starts its audio as it likes.
            case .failure(let failure) where failure.isUnknownMethod:
                _ = ask { .report($0, app: call.app, call.uuid, .audioRuns) }
            case .failure(let failure) where !failure.isSilence:
                emit(
                    Event(
                        .appFault, call: call.uuid, level: .warning,
                        "the app did not start its audio: \(failure)"))
            case .failure: break
            }
        }
    }

    // MARK: Starting

    func wake(_ app: String) {
        edges.links.start(app) { [unowned self] why in
            guard let why else {
                return emit(Event(.appWoken, "\(app) was started", [.init("app", .text(app))]))
            }
            emit(
                Event(
                    .appFault, level: .warning,
                    "\(app) cannot be started: \(why) (it needs a D-Bus service file, see Docs/dbus.md)",
                    [.init("app", .text(app))]))
            receive(.app(app, .wakeFailed))
        }
    }

    func lost(_ app: String) {
        latePushes[app] = nil
        emit(Event(.appGone, "\(app) left the bus", [.init("app", .text(app))]))
        receive(.app(app, .gone))
    }

    // MARK: Pushes

    func deliverToApp(_ id: PushID, _ app: String, _ call: CallUUID?, mustReport: Bool) {
        guard let kept = payloads.removeValue(forKey: id) else { return receive(.delivered(id)) }
        guard edges.links.path(.pushes, of: app) != nil else {
            // It wants pushes and has said so in an earlier run: it is about to say where.
            let push = LatePush(
                id: id, call: call, mustReport: mustReport, kept: kept, until: .now + center.policy.pushTimeout)
            guard registered[app]?.types.isEmpty == false, waits(app, push) else { return receive(.delivered(id)) }
            return
        }
        give(kept, id, app, call, mustReport: mustReport)
    }

    private func waits(_ app: String, _ push: LatePush) -> Bool {
        guard latePushes[app, default: []].count < Self.mostLate else { return false }
        latePushes[app, default: []].append(push)
        return true
    }

    private static let mostLate = 16
    /// Pushes that an app has been given and has not answered.
    private static let mostOpen = 256

    /// It has said where pushes go: it is given those that have waited for that, and are still open.
    func deliverLate(_ app: String) {
        for push in latePushes.removeValue(forKey: app) ?? [] where push.until > .now {
            give(push.kept, push.id, app, push.call, mustReport: push.mustReport)
        }
    }

    private func give(_ kept: KeptPayload, _ id: PushID, _ app: String, _ call: CallUUID?, mustReport: Bool) {
        // It answers none: what it does not take costs nobody memory.
        guard openPushes[app, default: 0] < Self.mostOpen else { return receive(.delivered(id)) }
        openPushes[app, default: 0] += 1
        let isLate = Instant.now - kept.at > .seconds(1)
        emit(
            Event(
                .appPush, call: call, "push \(kept.push) given to \(app)\(isLate ? ", which has just started" : "")",
                [.init("push", .number(Int64(kept.push))), .init("must_report", .flag(mustReport))]))
        edges.links.call(
            app, .pushes, "DidReceiveIncomingPush",
            [
                .string("voip"), .uint64(kept.push), .bytes(kept.payload),
                .dict(
                    ("call", .string(call?.description ?? "")),
                    ("state", .string(call.flatMap { center[$0]?.state.word } ?? "")),
                    ("must-report", .bool(mustReport)), ("redelivered", .bool(isLate))),
            ], timeout: center.policy.pushTimeout + .seconds(1)
        ) { [unowned self] result in
            let others = openPushes[app, default: 1] - 1
            openPushes[app] = others > 0 ? others : nil
            // An error is a completion, too; silence is not.
            if case .failure(let failure) = result, failure.isSilence { return }
            receive(.delivered(id))
        }
    }

    func struck(_ app: String, _ count: Int, isSuspended: Bool) {
        if count > 0 {
            emit(
                Event(
                    .appStrike, level: .warning,
                    "\(app) did not report or complete a push: strike \(count)"
                        + (isSuspended
                            ? "; it gets no pushes until it is started by hand (ringctl apps reset \(app))" : ""),
                    [
                        .init("app", .text(app)), .init("strikes", .number(Int64(count))),
                        .init("suspended", .flag(isSuspended)),
                    ]
                ))
        }
        guard var row = registered[app] else { return }
        row.strikes = ProviderRow.words(strikes: center.strikes(of: app))
        row.isSuspended = isSuspended
        remember(row)
    }

    /// Who is this? Asked when it begins to ring, with a limit; the ring does not wait (callkit.md Z08).
    func askForName(_ call: Call) {
        guard center.provider(of: call.app)?.providesRemoteInfo == true, edges.links.isLinked(call.app) else { return }
        edges.links.call(
            call.app, .provider, "ProvideRemoteInfo", [.string(call.uuid.description), .dict(entries(call))],
            timeout: .seconds(2)
        ) { [unowned self] result in
            guard case .success(let values) = result, let details = values.first, details.entries != nil,
                CallUpdate.fault(in: details, isNew: false) == nil
            else { return }
            _ = ask { .report($0, app: call.app, call.uuid, .updated(CallUpdate(details))) }
        }
    }
}

/// The payload of a push that waits for its app.
struct KeptPayload {
    let push: UInt64
    let payload: [UInt8]
    let at: Instant
}

extension ProviderRow {
    /// Wall times, as the boot's clock ends with the boot.
    static func words(strikes: [Instant]) -> String {
        let (now, wall) = (Instant.now, WallTime.now.nanoseconds)
        return strikes.map { String(wall.subtractingClamped((now - $0).nanoseconds)) }.joined(separator: " ")
    }

    /// No more than cost an app its pushes, whatever the file says.
    func strikes(most: Int) -> [Instant] {
        let (now, wall) = (Instant.now, WallTime.now.nanoseconds)
        return strikes.split(separator: " ").suffix(most).compactMap { word in
            Int64(word).map { now + .nanoseconds(min(0, $0.subtractingClamped(wall))) }
        }
    }
}

/// One whose app takes calls already and has not registered for pushes again.
struct LatePush {
    let id: PushID
    let call: CallUUID?
    let mustReport: Bool
    let kept: KeptPayload
    /// After this the core has completed it.
    let until: Instant
}

extension DBusFailure {
    var isUnknownMethod: Bool { name == "org.freedesktop.DBus.Error.UnknownMethod" }

    /// Nobody said anything: the time was over, or the app went; that is told otherwise.
    var isSilence: Bool {
        name == "org.freedesktop.DBus.Error.NoReply" || name == "org.freedesktop.DBus.Error.Disconnected"
            || name == "org.freedesktop.DBus.Error.Timeout"
    }
}
