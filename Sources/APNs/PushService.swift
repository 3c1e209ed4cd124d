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
        /// E.g. `rings`, `too-late`; for the record.
        package var word: String
        /// Advices; what they have of reasons does not count.
        package var findings: [Finding]
        /// The device could not make anything of it, as the first finding says: a door that can say so, does.
        package var isUnusable: Bool

        package init(_ word: String, findings: [Finding] = [], isUnusable: Bool = false) {
            self.word = word
            self.findings = findings
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
    package let log: PushLog
    package internal(set) var mailbox = Mailbox()
    /// Devices that are off.
    package internal(set) var offline: Set<String> = []
    /// How long pushes of priority 5 and 1 wait to be grouped; zero: they do not.
    package var powerSaving: Duration = .zero

    /// Brings a push to this desktop: what it came to. Called from inside `take`.
    package var deliver: (Delivery) -> Outcome = { _ in Outcome("delivered") }
    package var report: (Event) -> Void = { _ in }
    /// There is another record in `log`. Called once for each push, so it is to be cheap.
    package var onRecord: () -> Void = {}
    /// Runs something later on the same loop, once.
    package var later: (Duration, @escaping () -> Void) -> Void = { _, work in work() }
    /// The mailbox changed: for one who keeps it across runs.
    package var onStored: (StoredPush) -> Void = { _ in }
    package var onUnstored: (StoredPush) -> Void = { _ in }
    /// A token failed that feedback is to tell of; or the list was read.
    package var onFeedback: (DeviceToken, WallTime?) -> Void = { _, _ in }

    var underWay = UnderWay()
    /// Of tokens that failed, and when: what feedback is to tell.
    var failed: [DeviceToken: WallTime] = [:]
    private var faultRules = FaultRules()
    private var random = RandomText()
    var refusals: FaultGate
    var acceptances: FaultGate
    private var habits = ConnectionHabits()
    private var lastSender: UInt64 = 0

    package init(now: Instant = .now, log: PushLog = PushLog()) {
        self.log = log
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
    private lazy var busSandbox = Sender(number: 0, peer: "", environment: .sandbox, certificate: nil)
    private lazy var busProduction = Sender(number: 0, peer: "", environment: .production, certificate: nil)

    /// The bus's, as at the door of an environment.
    package func bus(_ environment: PushEnvironment) -> Sender {
        switch environment {
        case .sandbox: busSandbox
        case .production: busProduction
        case .unknown: bus
        }
    }

    /// A connection is over: some senders make one for every push, which Apple takes for an attack.
    package func left(_ sender: Sender, now: Instant = .now) {
        guard sender.pushes > 0 else { return }
        let isSingle = sender.pushes == 1 && now - sender.opened < .seconds(10)
        habits.left(sender.identity, isSingle: isSingle, now: now)
    }

    // MARK: Pushes

    /// Takes one push: judged, delivered and recorded when this returns.
    package func take(_ push: PushRequest, from sender: Sender, now: Instant = .now, wall: WallTime = .now) -> Answer {
        var judgement = rules.judge(
            push, from: sender, tokens: tokens, directory: directory, now: now, wall: wall)
        sender.pushes += 1
        if sender.pushes == 1 && push.transport.isOfAPNs && habits.isHabit(of: sender.identity, now: now) {
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
            if reason.httpStatus == 410, let registration, let since = registration.end?.at ?? registration.unbound {
                answer.timestamp = since.nanoseconds / 1_000_000
                noteFailure(registration)
            }
        }
        applyFaults(push, &judgement, &answer, wall)
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
        case .http2 where push.has(.id) && push[.id].count <= 64, .bus where push.has(.id) && push[.id].count <= 64:
            Array(push[.id])
        case .binary: push.identifier.map { Array(String($0).utf8) } ?? []
        default: random.uuid()
        }
    }

    private func applyFaults(
        _ push: PushRequest, _ judgement: inout Judgement, _ answer: inout Answer, _ wall: WallTime
    ) {
        guard !faultRules.isEmpty || push.body.contains(hyphenated: FaultRules.key) else { return }
        let registration = judgement.registration
        let token = faultRules.isEmpty ? "" : registration?.token.hex ?? ""
        do throws(FaultAction.Fault) {
            answer.faults = try faultRules.actions(token: token, app: registration?.app, body: push.body)
        } catch {
            return judgement.add("fault-words", nil, "ringd-fault in the payload: \(error.words)")
        }
        guard !answer.faults.isEmpty else { return }
        for case .answer(let status, let reason) in answer.faults {
            answer.status = status
            answer.reason = PushReason(rawValue: reason) ?? (status == 200 ? nil : .internalServerError)
            answer.reasonText = reason
            if status == 410 { answer.timestamp = answer.timestamp ?? wall.nanoseconds / 1_000_000 }
        }
        // Before all else, because it explains the rest.
        judgement.findings.insert(
            Finding(
                Self.faultCode, nil, "a fault was asked for: \(answer.faults.map(\.words).joined(separator: ", "))"),
            at: 0)
    }

    /// Of the finding that says that something went wrong on purpose.
    static let faultCode = "fault"
}
