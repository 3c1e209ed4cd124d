internal import APNs
internal import Base
internal import Calls
internal import Config
internal import Crypto
internal import Gateway
internal import Pushes
internal import Store

/// From a push at some door to an event for the core.
extension Daemon {
    /// What the doors ask: take it or say why not. The ring has begun when this returns.
    func decide(_ push: InboundPush) -> PushVerdict { take(push).verdict }

    func take(_ push: InboundPush) -> (verdict: PushVerdict, outcome: PushOutcome?) {
        lastPush += 1
        let number = lastPush
        let about: [Event.Field] = [
            .init("push", .number(Int64(number))), .init("via", .text(push.transport.word)),
            .init("bytes", .number(Int64(push.payload.count))), .init("peer", .text(push.peer)),
        ]
        func refuse(_ reason: PushReason, _ why: String) -> (PushVerdict, PushOutcome?) {
            // The gateway tells of its own pushes, and bounds how many such lines a flood can make.
            if push.transport == .bus {
                emit(
                    Event(
                        .pushRefused, level: .warning, "push \(number) refused, \(reason.rawValue): \(why)",
                        about + [.init("reason", .text(reason.rawValue))]))
            }
            return (.refused(PushRefusal(reason, why)), nil)
        }
        guard let owner = registry.owner(of: push.token) else {
            return refuse(
                .badDeviceToken,
                "no app has the token \(Hex.text(push.token.prefix(4)))… (ringctl apps lists them; ringctl apps add APP-ID makes one)"
            )
        }
        let token = owner.token
        if push.environment != .unknown && push.environment.rawValue != token.environment.rawValue {
            return refuse(
                .badDeviceToken,
                "a \(token.environment.rawValue) token of \(owner.app) at the \(push.environment.rawValue) door")
        }
        if token.kind == .alert {
            return refuse(
                .deviceTokenNotForTopic,
                "this is the alert token of \(owner.app); a call needs its VoIP token (ringctl apps \(owner.app))")
        }
        var signal: CallSignal
        do {
            signal = try PayloadReader.read(push.payload)
        } catch {
            receive(.push(PushID(number), .unusable(error.description), isBound: true))
            outcomes[PushID(number)] = nil
            return refuse(.internalServerError, error.description)
        }
        // The frame's own word on how long it may be kept; 0 is "do not keep", which is what happens anyway.
        if let expiration = push.expiration, expiration > 0, expiration < 9_000_000_000 {
            let frame = WallTime(nanoseconds: expiration * 1_000_000_000)
            signal.expiresAt = signal.expiresAt.map { min($0, frame) } ?? frame
        }
        emit(
            Event(
                .pushReceived,
                "push \(number): \(push.transport.word), \(push.payload.count) bytes, \(owner.app), \(signal.kind.rawValue)",
                about + [.init("app", .text(owner.app)), .init("kind", .text(signal.kind.rawValue))]))
        let outcome = deliver(signal, app: owner.app, payload: push.payload, id: PushID(number))
        if case .unusable(let why)? = outcome { return refuse(.internalServerError, why) }
        return (.accepted, outcome)
    }

    /// Into the core and out again; the outcome is known when this returns.
    func deliver(_ signal: CallSignal, app: String, payload: [UInt8], id: PushID) -> PushOutcome? {
        receive(.push(id, coreSignal(signal, app: app, payload: payload), isBound: isBound(app)))
        guard let outcome = outcomes.removeValue(forKey: id) else { return nil }
        // `ringctl ring` and an app's own report are no pushes.
        if payload.isEmpty { return outcome }
        emit(
            Event(
                .pushAccepted, call: outcome.call, "push \(id.number): \(outcome.word)",
                [.init("push", .number(Int64(id.number))), .init("outcome", .text(outcome.word))]))
        return outcome
    }

    private func isBound(_ app: String) -> Bool { app == Self.manualApp || registry.apps[app] != nil }

    /// Of the keys that are made for calls without one; no provider's id begins like that.
    static let syntheticPrefix = "ringd:payload:"

    private func coreSignal(_ signal: CallSignal, app: String, payload: [UInt8]) -> Signal {
        // The same words again are the same push; they name no call, so nothing outlives the ring.
        let key = signal.key ?? Self.syntheticPrefix + Hex.text(Digest.sha256(payload).prefix(16))
        let callKey = CallKey(app: app, key: key)
        switch signal.kind {
        case .cancel: return .cancel(callKey)
        case .answeredElsewhere: return .answeredElsewhere(callKey)
        case .declinedElsewhere: return .declinedElsewhere(callKey)
        case .invite: break
        }
        let now = Instant.now
        let wall = WallTime.now
        func instant(_ time: WallTime?) -> Instant? {
            time.map { now + .nanoseconds($0.nanoseconds.subtractingClamped(wall.nanoseconds)) }
        }
        let kinds: [CallSignal.HandleKind: Handle.Kind] = [
            .generic: .generic, .phoneNumber: .phoneNumber, .emailAddress: .emailAddress,
        ]
        let isNamed = signal.key != nil
        return .invite(
            Invite(
                uuid: CallUUID(key).flatMap { isNamed ? $0 : nil }
                    ?? (isNamed ? CallUUID.named(client: app, account: "", key: key.lowercased()) : .random()),
                app: app, key: key, isKeySynthetic: !isNamed,
                caller: Caller(
                    name: signal.callerName,
                    handle: signal.handle.map { Handle(kinds[signal.handleKind] ?? .generic, $0) }),
                isVideo: signal.isVideo, sound: signal.sound, ringTime: signal.ringTime,
                sentAt: instant(signal.sentAt), stamp: signal.sentAt?.nanoseconds,
                expiresAt: instant(signal.expiresAt), serial: signal.serial))
    }

    // MARK: Apps

    func addApp(_ id: String) -> AppRow? {
        guard AppID.isValid(id), id != Self.manualApp, registry.apps.count < Registry.mostApps else { return nil }
        let (row, isNew) = registry.add(id)
        if isNew {
            edges.store.add(row)
            // The certificate that its push backend may present.
            if let credentials = edges.credentials {
                do {
                    _ = try credentials.voipClient(app: id)
                } catch {
                    emit(Event(.gatewayFault, level: .warning, "no client certificate for \(id): \(error)"))
                }
            }
        }
        return row
    }

    func removeApp(_ id: String) -> Bool {
        guard registry.remove(id) else { return false }
        edges.store.removeApp(id)
        edges.credentials?.forgetClient(app: id)
        receive(.unbound(app: id))
        return true
    }
}

extension InboundPush.Transport {
    var word: String {
        switch self {
        case .binary(let command): "binary, command \(command)"
        case .http2: "HTTP/2"
        case .bus: "D-Bus"
        }
    }
}
