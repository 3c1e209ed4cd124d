package import Base
package import Crypto

/// The service itself, whatever door a push comes through: rules, faults, delivery, and a record of each push. It holds no
/// socket and no clock, and belongs to one loop.
package final class PushService {
    /// A push that reaches its device.
    package struct Delivery {
        package let push: StoredPush
        /// It waited for its device, or was held back.
        package let isLate: Bool
        package let environment: PushEnvironment
    }

    /// What a push came to at its device.
    package struct Outcome: Sendable, Equatable {
        /// E.g. `rang`, `duplicate`; for the record.
        package var word: String
        package var finding: Finding?
        /// The device could not make anything of it: a door that must say so, does.
        package var isUnusable = false

        package init(_ word: String, finding: Finding? = nil, isUnusable: Bool = false) {
            self.word = word
            self.finding = finding
            self.isUnusable = isUnusable
        }
    }

    /// What a door tells its sender.
    package struct Answer {
        package var number: UInt64
        /// The HTTP status.
        package var status: Int
        package var reason: PushReason?
        /// As it stands in the answer: a fault may make up its own.
        package var reasonText: String
        /// The sender's or ours, 36 bytes of text.
        package var id: [UInt8]
        /// The sandbox's only; else empty.
        package var uniqueID: [UInt8]
        /// With 410 only: milliseconds since 1970.
        package var timestamp: Int64?
        /// What the door is to do besides.
        package var faults: [FaultAction]
    }

    package var rules = PushRules()
    package let directory = TokenDirectory()
    package let tokens = ProviderTokens()
    package let log = PushLog()
    package private(set) var mailbox = Mailbox()
    package private(set) var offline: Set<String> = []
    /// How long pushes of priority 5 and 1 wait to be grouped; zero: they do not.
    package var powerSaving: Duration = .zero

    /// Brings a push to this desktop: what it came to. Called from inside `take`.
    package var deliver: (Delivery) -> Outcome = { _ in Outcome("delivered") }
    package var report: (Event) -> Void = { _ in }
    /// Runs something later on the same loop.
    package var later: (Duration, @escaping () -> Void) -> Void = { _, work in work() }
    /// The mailbox changed: for one who keeps it across runs.
    package var onStored: (StoredPush) -> Void = { _ in }
    package var onUnstored: (StoredPush) -> Void = { _ in }
    /// A token failed that feedback is to tell of; or the list was read.
    package var onFeedback: (DeviceToken, WallTime?) -> Void = { _, _ in }

    private var faultRules = FaultRules()
    private var random = RandomText()
    private var refusals: FaultGate
    private var acceptances: FaultGate
    /// One push a device that `reorder` holds back.
    private var heldBack: [String: StoredPush] = [:]
    private var failed: [DeviceToken: WallTime] = [:]
    /// Connections in a row that carried one push and went.
    private var singles = 0
    private var lastSingle = Instant(nanoseconds: 0)
    private var lastSender: UInt64 = 0

    package init(now: Instant = .now) {
        refusals = FaultGate(now: now)
        acceptances = FaultGate(now: now, burst: 60, perSecond: 5)
    }

    package var faults: [FaultRule] {
        get { faultRules.rules }
        set { faultRules.rules = newValue }
    }

    // MARK: Senders

    /// A new connection's standing.
    package func sender(
        peer: String, environment: PushEnvironment, certificate: PeerCertificate?, now: Instant = .now
    ) -> Sender {
        lastSender += 1
        return Sender(number: lastSender, peer: peer, environment: environment, certificate: certificate, now: now)
    }

    /// The bus's, which has no connection.
    package lazy var bus = Sender(number: 0, peer: "", environment: .unknown, certificate: nil)

    /// A connection is over: some senders make one for every push, which Apple takes for an attack.
    package func left(_ sender: Sender, now: Instant = .now) {
        guard sender.pushes > 0 else { return }
        singles = sender.pushes == 1 && now - sender.opened < .seconds(10) ? singles + 1 : 0
        lastSingle = now
    }

    // MARK: Pushes

    /// Takes one push: judged, delivered and recorded when this returns.
    package func take(_ push: PushRequest, from sender: Sender, now: Instant = .now, wall: WallTime = .now) -> Answer {
        var judgement = rules.judge(
            push, from: sender, tokens: tokens, directory: directory, now: now, wall: wall)
        sender.pushes += 1
        if sender.pushes == 1 && singles >= 3 && now - lastSingle < .seconds(30) && push.transport != .bus {
            judgement.add(
                "connection-per-push", nil,
                "a new connection for every push: keep one and reuse it; Apple may take this for an attack and block it"
            )
        }
        var answer = Answer(
            number: log.next, status: 200, reason: judgement.refusal?.reason, reasonText: "", id: answerID(push),
            uniqueID: [], timestamp: nil, faults: [])
        let registration = judgement.registration
        if sender.environment == .sandbox || sender.environment == .unknown && registration?.environment == .sandbox {
            answer.uniqueID = random.uuid()
        }
        if let reason = answer.reason {
            answer.status = reason.httpStatus
            answer.reasonText = wireName(reason)
            if reason.httpStatus == 410, let registration, let end = registration.end {
                answer.timestamp = end.at.nanoseconds / 1_000_000
                noteFailure(registration, wall)
            }
        }
        applyFaults(push, &judgement, &answer)
        var outcome = ""
        if answer.reason == nil && answer.status == 200, let registration {
            outcome = forward(push, registration, &judgement, &answer, sender, wall)
        }
        record(push, sender, judgement, answer, outcome, wall)
        tell(push, sender, judgement, answer, outcome, now)
        return answer
    }

    private func wireName(_ reason: PushReason) -> String {
        reason == .badEnvironmentKeyIDInToken && rules.saysBadEnvironmentKeyInToken
            ? "BadEnvironmentKeyInToken" : reason.rawValue
    }

    private func answerID(_ push: PushRequest) -> [UInt8] {
        switch push.transport {
        // Byte for byte what came, if it can be an id at all: senders match answers by it (apns.md 1.3).
        case .http2 where push.has(.id) && push[.id].count <= 64: Array(push[.id])
        case .binary: push.identifier.map { Array(String($0).utf8) } ?? []
        default: random.uuid()
        }
    }

    private func applyFaults(_ push: PushRequest, _ judgement: inout Judgement, _ answer: inout Answer) {
        let registration = judgement.registration
        guard push.bodySize > 0, !faultRules.isEmpty || push.body.contains(hyphenated: FaultRules.key) else { return }
        let token = faultRules.isEmpty ? "" : registration?.token.hex ?? ""
        answer.faults = faultRules.actions(token: token, app: registration?.app, body: push.body)
        for case .answer(let status, let reason) in answer.faults {
            answer.status = status
            answer.reason = PushReason(rawValue: reason) ?? (status == 200 ? nil : .internalServerError)
            answer.reasonText = reason
            if status == 410 { answer.timestamp = answer.timestamp ?? WallTime.now.nanoseconds / 1_000_000 }
        }
        if !answer.faults.isEmpty {
            judgement.add("fault", nil, "a fault was asked for: \(answer.faults.map(\.words).joined(separator: ", "))")
        }
    }

    /// From an accepted push to its device, its mailbox, or nowhere: what became of it.
    private func forward(
        _ push: PushRequest, _ registration: Registration, _ judgement: inout Judgement, _ answer: inout Answer,
        _ sender: Sender, _ wall: WallTime
    ) -> String {
        if registration.end != nil { return "nowhere: the app was removed" }
        // Nothing rings for these, so nothing more of them is needed than their record.
        let isPlain = registration.device == TokenDirectory.desktop ? registration.kind == .alert : true
        if isPlain && offline.isEmpty && answer.faults.isEmpty && powerSaving == .zero {
            return registration.device == TokenDirectory.desktop ? "recorded" : "delivered"
        }
        let stored = StoredPush(
            number: log.next, token: registration.token, app: registration.app, device: registration.device,
            kind: registration.kind, payload: Array(push.body), collapseID: push.string(.collapseID) ?? "",
            priority: judgement.priority, expiration: judgement.expiration,
            until: Self.keptUntil(judgement.expiration, wall), via: push.transport.word, peer: sender.peer)
        if offline.contains(registration.device) { return store(stored) }
        if powerSaving > .zero && judgement.priority < 10 {
            later(powerSaving) { [weak self] in self?.deliverLate(stored) }
            return "held back: priority \(judgement.priority)"
        }
        for fault in answer.faults {
            switch fault {
            case .lose, .refuseStream, .reset: return "lost: a fault was asked for"
            case .late(let delay):
                later(delay) { [weak self] in self?.deliverLate(stored) }
                return "on its way for \(delay.shortText)"
            case .reorder where heldBack[stored.device] == nil:
                heldBack[stored.device] = stored
                return "held until the next"
            default: break
            }
        }
        let outcome = handOver(stored, isLate: false)
        if answer.faults.contains(.duplicate) { _ = handOver(stored, isLate: false) }
        if let finding = outcome.finding { judgement.add(finding) }
        if let behind = heldBack.removeValue(forKey: stored.device) { deliverLate(behind) }
        if outcome.isUnusable, case .binary = push.transport {
            // The legacy protocol has a word for it; the HTTP/2 API takes what it is given.
            answer.reason = .internalServerError
            answer.status = 500
            answer.reasonText = PushReason.internalServerError.rawValue
        }
        return outcome.word
    }

    private static func keptUntil(_ expiration: Int64?, _ wall: WallTime) -> WallTime {
        let latest = wall.seconds + Mailbox.longest.nanoseconds / 1_000_000_000
        return WallTime(nanoseconds: min(max(expiration ?? latest, 0), latest) * 1_000_000_000)
    }

    private func handOver(_ push: StoredPush, isLate: Bool) -> Outcome {
        guard push.device == TokenDirectory.desktop else { return Outcome("delivered") }
        guard push.kind == .voip else { return Outcome("recorded") }
        let environment = directory[push.token]?.environment ?? .unknown
        return deliver(Delivery(push: push, isLate: isLate, environment: environment))
    }

    private func deliverLate(_ push: StoredPush) {
        guard directory[push.token]?.end == nil else { return log.note(push.number, "the app was removed meanwhile") }
        if offline.contains(push.device) { return log.note(push.number, store(push)) }
        let outcome = handOver(push, isLate: true)
        log.note(push.number, "delivered later: \(outcome.word)")
    }

    // MARK: Devices that are off

    private func store(_ push: StoredPush) -> String {
        if push.expiration == 0 { return "dropped: \(push.device) is offline, and expiration 0 keeps nothing" }
        if let before = mailbox.put(push) {
            log.note(before.number, "replaced by push \(push.number): one is kept for an app and device, the newest")
            onUnstored(before)
        }
        onStored(push)
        return "stored: \(push.device) is offline"
    }

    /// Puts back what an earlier run kept.
    package func restore(_ push: StoredPush) { _ = mailbox.put(push) }
    package func restore(offline devices: Set<String>) { offline = devices }

    /// Takes a device from the network, or brings it back: what was kept for it is delivered then. How many.
    @discardableResult
    package func setOnline(_ isOnline: Bool, device: String, wall: WallTime = .now) -> Int {
        guard isOnline else {
            offline.insert(device)
            return 0
        }
        offline.remove(device)
        var count = 0
        for push in mailbox.take(device: device) {
            onUnstored(push)
            if push.until < wall {
                log.note(push.number, "expired while \(device) was offline")
                continue
            }
            deliverLate(push)
            count += 1
        }
        return count
    }

    /// What an app that goes leaves behind.
    package func forget(app: String) {
        for push in mailbox.forget(app: app) { onUnstored(push) }
    }

    // MARK: Feedback

    private func noteFailure(_ registration: Registration, _ wall: WallTime) {
        guard case .unregistered = registration.end, failed[registration.token] == nil,
            failed.count < TokenDirectory.mostDead
        else { return }
        failed[registration.token] = wall
        onFeedback(registration.token, wall)
    }

    package func restore(feedback token: DeviceToken, at wall: WallTime) { failed[token] = wall }

    /// The failures since the last time, of the apps that a certificate names (of all, if it names none): reading clears
    /// them (apns.md 2.3).
    package func takeFeedback(for certificate: PeerCertificate?) -> [(token: DeviceToken, at: WallTime)] {
        let topics = certificate?.topics ?? []
        let mine = failed.filter { token, _ in
            guard !topics.isEmpty, let app = directory[token]?.app else { return true }
            return topics.contains { $0 == app || $0 == app + PushType.voip.suffix }
        }
        for token in mine.keys {
            failed[token] = nil
            onFeedback(token, nil)
        }
        return mine.map { ($0.key, $0.value) }.sorted { $0.at < $1.at }
    }

    // MARK: The record, and what is said

    private func record(
        _ push: PushRequest, _ sender: Sender, _ judgement: Judgement, _ answer: Answer, _ outcome: String,
        _ wall: WallTime
    ) {
        let registration = judgement.registration
        PushText.with(sender.peer, registration?.app ?? "", registration?.device ?? "", answer.reasonText, outcome) {
            peer, app, device, reason, outcome in
            answer.id.withUnsafeBufferPointer { id in
                answer.uniqueID.withUnsafeBufferPointer { unique in
                    _ = log.append(
                        push, from: sender, judgement, status: answer.status,
                        texts: PushLog.Texts(
                            peer: peer, app: app, device: device, topic: push[.topic], pushType: push[.pushType],
                            collapseID: push[.collapseID], id: id, uniqueID: unique, reason: reason, outcome: outcome,
                            payload: push.body), arrived: wall)
                }
            }
        }
    }

    /// The log line carries the first finding; a flood makes few lines, and the records have the rest.
    private func tell(
        _ push: PushRequest, _ sender: Sender, _ judgement: Judgement, _ answer: Answer, _ outcome: String,
        _ now: Instant
    ) {
        let isRefused = answer.status != 200
        let withheld = isRefused ? refusals.admit(now: now) : acceptances.admit(now: now)
        guard let withheld else { return }
        let app = judgement.registration?.app ?? ""
        var fields: [Event.Field] = [
            .init("push", .number(Int64(answer.number))), .init("via", .text(push.transport.word)),
            .init("bytes", .number(Int64(push.bodySize))), .init("peer", .text(sender.peer)),
            .init("status", .number(Int64(answer.status))),
        ]
        if !app.isEmpty { fields.append(.init("app", .text(app))) }
        let first = judgement.findings.first
        if let first { fields.append(.init("finding", .text(first.code))) }
        let more = withheld > 0 ? " (\(withheld) before it were not logged: too many at once; ringctl pushes)" : ""
        if withheld > 0 { fields.append(.init("withheld", .number(Int64(withheld)))) }
        if isRefused {
            fields.append(.init("reason", .text(answer.reasonText)))
            let why = judgement.refusal?.text ?? first?.text ?? "a fault was asked for"
            report(
                Event(
                    .pushRefused, level: .warning,
                    "push \(answer.number) refused, \(answer.status) \(answer.reasonText): \(why)\(more)", fields))
        } else {
            let note = first.map { "; \($0.text)" } ?? ""
            let whose = app.isEmpty ? "" : ", \(app)"
            report(
                Event(
                    .pushReceived,
                    "push \(answer.number): \(push.transport.word), \(push.bodySize) bytes\(whose): \(outcome)\(note)\(more)",
                    fields))
        }
    }
}
