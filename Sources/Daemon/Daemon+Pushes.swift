internal import APNs
internal import Base
internal import BusService
internal import Calls
internal import Config
internal import Crypto
internal import EventLoop
internal import Pushes
internal import Store

/// From a push that reaches this desktop to an event for the core.
extension Daemon {
    /// The service's edges: before any door is open.
    func wirePushes() {
        apns.deliver = { [unowned self] delivery in deliver(delivery) }
        apns.report = { [unowned self] event in emit(event) }
        apns.later = { [unowned self] delay, work in agenda.after(delay, work) }
        apns.onRecord = { [unowned self] in recorded() }
        apns.onStored = { [unowned self] push in edges.store.keep(MailRow(push)) }
        apns.onUnstored = { [unowned self] push in edges.store.forgetMail(MailRow.Slot(push)) }
        apns.onFeedback = { [unowned self] token, failed in edges.store.setFeedback(token.bytes, failed: failed) }
    }

    /// Where numbers without a calling code are at home.
    var region: PhoneRegion? { configuration.region }

    // MARK: Delivery

    /// What the service asks for a VoIP push to this desktop. The ring has begun when this returns.
    private func deliver(_ delivery: PushService.Delivery) -> PushService.Outcome {
        let push = delivery.push
        lastPush += 1
        let id = PushID(lastPush)
        let reading: DialectBook.Reading
        do {
            reading = try PayloadReader.read(push.payload, book: dialects, dialectChoice(push.app))
        } catch {
            // Its app may read what we cannot.
            keepPayload(of: push, as: id)
            receive(.push(id, app: push.app, .unusable(error.description), isBound: isBound(push.app)))
            if !center.keeps(id, for: push.app) { payloads[id] = nil }
            switch outcomes.removeValue(forKey: id) {
            case .toApp?: return PushService.Outcome(PushOutcome.toApp.word)
            case .suspended?: return PushService.Outcome(PushOutcome.suspended.word)
            default: return unusable(error.description)
            }
        }
        var signal = reading.signal
        // How long it may be on its way, not how long it may ring (apns.md 1.3): only what comes later than that is late.
        if let expiration = push.expiration, expiration > 0, expiration < 9_000_000_000 {
            let end = WallTime(nanoseconds: expiration * 1_000_000_000)
            if end.nanoseconds + Self.expirationGrace.nanoseconds < WallTime.now.nanoseconds {
                signal.expiresAt = signal.expiresAt.map { min($0, end) } ?? end
            }
        }
        let before = center.calls
        keepPayload(of: push, as: id)
        defer { if !center.keeps(id, for: push.app) { payloads[id] = nil } }
        guard let outcome = deliver(signal, app: push.app, payload: push.payload, id: id) else {
            return PushService.Outcome("accepted")
        }
        delivered = (push.number, outcome, reading)
        if case .unusable(let why) = outcome { return unusable(why) }
        if let uuid = outcome.call {
            emit(
                Event(
                    .pushAccepted, call: uuid, "push \(push.number): \(outcome.word)\(delivery.isLate ? ", late" : "")",
                    [
                        .init("push", .number(Int64(push.number))), .init("outcome", .text(outcome.word)),
                        .init("via", .text(push.via)), .init("late", .flag(delivery.isLate)),
                        .init("dialect", .text(reading.dialect)), .init("sureness", .text(reading.sureness.rawValue)),
                    ]))
        }
        return PushService.Outcome(
            outcome.word,
            findings: PushAdvice.findings(reading, outcome, before: before, after: center, via: push.via))
    }

    /// Senders that cannot say 0, "at once or never", say the second of now, which is past when it arrives (aioapns's
    /// time_to_live of 0).
    private static let expirationGrace: Duration = .seconds(10)

    private func unusable(_ why: String) -> PushService.Outcome {
        PushService.Outcome(
            "unusable", findings: [Finding("payload-no-call", nil, "the payload is no call: \(why)")], isUnusable: true)
    }

    /// Into the core and out again; the outcome is known when this returns.
    func deliver(_ signal: CallSignal, app: String, payload: [UInt8], id: PushID) -> PushOutcome? {
        receive(.push(id, app: app, coreSignal(signal, app: app, payload: payload), isBound: isBound(app)))
        return outcomes.removeValue(forKey: id)
    }

    /// Of the keys that are made for calls without one; no provider's id begins like that.
    static let syntheticPrefix = "ringd:payload:"

    /// For the app, should it take calls over the bus.
    private func keepPayload(of push: StoredPush, as id: PushID) {
        guard center.provider(of: push.app) != nil else { return }
        payloads[id] = KeptPayload(push: push.number, payload: push.payload, at: .now)
    }

    /// A call id as it is kept: what is too long for rows and events is cut, and told apart by a digest of all of it.
    static func kept(_ key: String) -> String {
        guard key.utf8.count > 512 else { return key }
        return String(decoding: key.utf8.prefix(64), as: UTF8.self) + " " + Hex.text(Digest.sha256(Array(key.utf8)))
    }

    func coreSignal(_ signal: CallSignal, app: String, payload: [UInt8]) -> Signal {
        // The same words again are the same push; they name no call, so nothing outlives the ring.
        let key = signal.key.map(Self.kept) ?? Self.syntheticPrefix + Hex.text(Digest.sha256(payload).prefix(16))
        func end(_ reason: EndReason) -> Signal {
            .end(
                Ending(
                    app: app, key: signal.meansOnlyCall ? nil : CallKey(app: app, key: key), reason,
                    isForRingingOnly: signal.endsRingingOnly || signal.kind == .missed, serial: signal.serial))
        }
        switch signal.kind {
        case .cancel: return end(.remoteEnded)
        case .answeredElsewhere: return end(.answeredElsewhere)
        case .declinedElsewhere: return end(.declinedElsewhere)
        case .missed: return end(.unanswered)
        case .other: return .unusable("the payload is no call's")
        case .invite, .update: break
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
        let invite = Invite(
            uuid: CallUUID(key).flatMap { isNamed ? $0 : nil }
                ?? (isNamed ? CallUUID.named(client: app, account: "", key: key.lowercased()) : .random()),
            app: app, key: key, isKeySynthetic: !isNamed,
            caller: Caller(
                name: signal.callerName,
                handle: signal.handle.map { Handle(kinds[signal.handleKind] ?? .generic, $0) }),
            isVideo: signal.isVideo, saysVideo: signal.video != nil, sound: signal.sound,
            ringTime: signal.ringTime, sentAt: instant(signal.sentAt), stamp: signal.sentAt?.nanoseconds,
            expiresAt: instant(signal.expiresAt), serial: signal.serial)
        return signal.kind == .update ? .update(invite) : .invite(invite)
    }

    // MARK: The record

    /// At most ten times a second, and only when there is something new: no timer runs while nothing happens.
    private func recorded() {
        guard !isAnnouncing else { return }
        isAnnouncing = true
        announcer.arm(at: max(.now, lastAnnounced + .milliseconds(100)))
    }

    func announce() {
        isAnnouncing = false
        lastAnnounced = .now
        edges.service.emitPushes(last: apns.log.next - 1)
    }
}
