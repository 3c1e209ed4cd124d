package import Base
package import Calls

/// The outside of `CallCenter`: performs its actions on a pretend desktop and for pretend apps, and remembers everything
/// that invariants speak of. What no action may do, whatever came before, is a fault at once. Time is whatever the test
/// says.
package struct World: Sendable {
    package var center = CallCenter()
    package var now = Instant(nanoseconds: 1_000_000_000_000)

    // What the edges would be doing now.
    package var sound: RingWish?
    package var vibration: CallUUID?
    package var shown: [CallUUID: CallAction.Waiting] = [:]
    package var audio: Set<CallUUID> = []
    package var isAwake = false

    // What has happened.
    package var completed: [PushID: [PushOutcome]] = [:]
    package var answers: [RequestID: [CallError?]] = [:]
    package var endings: [CallUUID: [EndReason]] = [:]
    package var raises: [CallUUID: Int] = [:]
    package var notices: [CallUUID] = []
    package var noticeKinds: [CallUUID: EndReason.Notice] = [:]
    package var withdrawn: [CallUUID] = []
    package var annotated: [CallUUID: EndReason] = [:]
    package var records: [CallUUID: Call] = [:]
    package var opened: [CallUUID] = []
    package var remembered: Set<CallKey> = []
    package var heard: [CallUUID: Duration] = [:]
    /// On and off, in order.
    package var audioLog: [CallUUID: [Bool]] = [:]
    /// Every audio message, in order.
    package var audioOrder: [(call: CallUUID, isOn: Bool)] = []
    package var wakes: [String] = []
    package var delivered: [PushID] = []
    package var mustReport: Set<PushID> = []
    package var dropped: [PushID] = []
    package var toldEnded: [CallUUID: [EndReason]] = [:]
    package var saidEnded: [CallUUID: [EndReason]] = [:]
    package var strikes: [(app: String, count: Int, isSuspended: Bool)] = []
    package var notes: [(kind: Event.Kind, call: CallUUID?)] = []

    /// What apps were asked to do and have not completed.
    package var open: [ActionID: Asked] = [:]
    /// Everything that apps were asked to do, in order.
    package var asked: [Asked] = []
    /// Actions that wait for an app's audio.
    package var configuring: [ActionID: Asked] = [:]
    /// Calls that were handed over to a link or program, in order.
    package var handed: [Asked] = []
    package var timedOut: [ActionID] = []
    package var attached: Set<String> = []
    private var providers: [String: ProviderConfiguration] = [:]
    private var rules: [String: AppRules] = [:]
    /// The names of actions that occurred.
    package var occurred: Set<String> = []
    /// What must never be, in words.
    package var faults: [String] = []
    /// Soaks forget what has no bearing on the present, so that a long walk costs no memory.
    package var isForgetful = false

    /// What the history knows to be over.
    package var past: [CallKey: Instant] = [:]
    private var soundSince: Instant?
    private var pushes: UInt64 = 0
    private var requests: UInt64 = 0

    /// A request to an app.
    package struct Asked: Sendable {
        package let id: ActionID
        package let call: Call
        package let kind: ActionKind
        package let deadline: Instant
    }

    package init(policy: CallPolicy = CallPolicy()) { center.policy = policy }

    package var banners: Set<CallUUID> { Set(shown.keys) }

    @discardableResult
    package mutating func send(_ event: CallEvent) -> [CallAction] {
        switch event {
        case .app(let app, .attached): if center.provider(of: app) != nil { attached.insert(app) }
        case .app(let app, .gone): attached.remove(app)
        case .app(let app, .provider(let provider)):
            providers[app] = provider
            if provider == nil, !center.calls.contains(where: { $0.app == app }) { attached.remove(app) }
        case .app(let app, .rules(let rules)): self.rules[app] = rules
        default: break
        }
        let actions = center.handle(event, at: now)
        // Whoever completed it, it is no longer open afterwards, and nor is what the core has given up.
        switch event {
        case .fulfilled(let id, _, _), .failed(let id), .handedOver(let id): open[id] = nil
        case .configured(let id, _): configuring[id] = nil
        default: break
        }
        for action in actions { perform(action) }
        for (id, asked) in open where !center.isOpen(id, of: asked.call.app) { open[id] = nil }
        return actions
    }

    @discardableResult
    package mutating func push(_ signal: Signal, app: String = Invite.talk, isBound: Bool = true) -> PushOutcome? {
        pushes += 1
        let id = PushID(pushes)
        send(.push(id, app: app, signal, isBound: isBound))
        return completed[id]?.first
    }

    @discardableResult
    package mutating func push(_ invite: Invite) -> PushOutcome? { push(.invite(invite), app: invite.app) }

    /// A report of an app; the error it got.
    @discardableResult
    package mutating func report(
        _ uuid: CallUUID, _ report: CallEvent.Report, app: String = Invite.talk
    ) -> CallError? {
        let id = nextRequest()
        send(.report(id, app: app, uuid, report))
        return answer(id)
    }

    /// A transaction of an app, or of the user; the error it got.
    @discardableResult
    package mutating func request(_ steps: CallRequest..., app: String? = nil) -> CallError? {
        request(steps, app: app)
    }

    @discardableResult
    package mutating func request(_ steps: [CallRequest], app: String? = nil) -> CallError? {
        let id = nextRequest()
        send(.request(id, app: app, steps))
        return answer(id)
    }

    package mutating func nextRequest() -> RequestID {
        requests += 1
        return RequestID(requests)
    }

    private mutating func answer(_ id: RequestID) -> CallError? {
        guard let given = answers[id], given.count == 1 else {
            faults.append("a question has \(answers[id]?.count ?? 0) answers")
            return nil
        }
        return given[0]
    }

    /// Lets time pass, waking the core whenever it asked for it.
    package mutating func advance(_ duration: Duration) {
        let end = now + duration
        var wakes = 0
        while let next = center.nextDeadline, next <= end {
            if next <= now { faults.append("a deadline in the past") }
            now = max(now, next)
            send(.timeUp)
            wakes += 1
            guard wakes < 10_000 else { return faults.append("the core asks to be woken for ever") }
        }
        now = end
    }

    /// The daemon ends and begins anew: the next one knows what the history and the configuration say. Banners and
    /// sounds of the first are gone with it.
    package mutating func restart() {
        let old = center
        center = CallCenter(policy: old.policy)
        (sound, vibration, shown, audio, isAwake) = (nil, nil, [:], [], false)
        (open, asked, configuring, handed, attached) = ([:], [], [:], [], [])
        for (app, provider) in providers.sorted(by: { $0.key < $1.key }) { send(.app(app, .provider(provider))) }
        for (app, rules) in rules.sorted(by: { $0.key < $1.key }) { send(.app(app, .rules(rules))) }
        records = [:]
        for (key, ended) in past { send(.recall(key, hadInvite: true, ended: ended)) }
        for key in remembered { send(.recall(key, hadInvite: false, ended: now)) }
        for call in old.calls {
            let how: CallEvent.Restored =
                switch call.state {
                case .ringing(.silent): .silenced
                case .ringing: .ringing
                case _ where call.wasConnected: .connected(call.connected!, isOutgoing: call.isOutgoing)
                case _ where call.isOutgoing: .dialled
                default: .answered
                }
            send(.restore(call.invite, began: call.began, deadline: call.deadline, how))
        }
    }

    private mutating func perform(_ action: CallAction) {
        occurred.insert(action.name)
        switch action {
        case .completePush(let id, let outcome):
            if completed[id] != nil { faults.append("N6: push \(id) completed twice") }
            completed[id, default: []].append(outcome)
        case .complete(let id, let error):
            if answers[id] != nil { faults.append("a question is answered twice") }
            answers[id, default: []].append(error)
        case .ring(let wish):
            if wish == sound { faults.append("the same sound twice") }
            if let sound, let soundSince { heard[sound.call, default: .zero] += now - soundSince }
            sound = wish
            soundSince = wish == nil ? nil : now
            if let wish, endings[wish.call] != nil { faults.append("N9: \(wish.call) rings after its end") }
        case .vibrate(let call):
            if call == vibration { faults.append("the same vibration twice") }
            vibration = call
        case .show(let call, let waiting):
            if endings[call.uuid] != nil { faults.append("N2: a banner for a call that is over") }
            shown[call.uuid] = waiting
        case .raise(let uuid):
            if shown[uuid] == nil { faults.append("N2: raises a banner that is not there") }
            raises[uuid, default: 0] += 1
        case .withdraw(let uuid):
            if shown.removeValue(forKey: uuid) == nil { faults.append("withdraws a banner that is not there") }
        case .perform(let id, let call, let kind, let deadline):
            performed(Asked(id: id, call: call, kind: kind, deadline: deadline))
        case .timedOut(let id, _):
            if (open.removeValue(forKey: id) ?? configuring.removeValue(forKey: id)) == nil {
                faults.append("N3: \(id) timed out and was not open")
            }
            if !isForgetful { timedOut.append(id) }
        case .configureAudio(let id, let call):
            configuring[id] = Asked(id: id, call: call, kind: .answer, deadline: now)
        case .handOver(let id, let call):
            if center.provider(of: call.app) != nil { faults.append("handed over past the app's provider") }
            let asked = Asked(id: id, call: call, kind: .answer, deadline: now)
            handed.append(asked)
            if isForgetful && handed.count > 16 { handed.removeFirst(8) }
        case .sayEnded(let call, let reason): saidEnded[call.uuid, default: []].append(reason)
        case .tellEnded(let call, let reason):
            if toldEnded[call.uuid] != nil { faults.append("\(call.uuid) is told ended twice") }
            if !call.state.isEnded { faults.append("told ended and is \(call.state)") }
            toldEnded[call.uuid, default: []].append(reason)
        case .wake(let app):
            if attached.contains(app) { faults.append("wakes an app that is there") }
            if !isForgetful { wakes.append(app) }
        case .deliver(let id, let app, _, let duty):
            if !attached.contains(app) { faults.append("gives a push to an app that is not there") }
            if duty { mustReport.insert(id) }
            if delivered.suffix(64).contains(id) { faults.append("N6: push \(id) delivered twice") }
            delivered.append(id)
        case .drop(let id):
            if delivered.suffix(64).contains(id) { faults.append("drops a push that was given") }
            if !isForgetful { dropped.append(id) }
        case .open(let call): opened.append(call.uuid)
        case .audio(let call, let isOn):
            if isOn {
                if call.state != .active { faults.append("N4: audio for a call that is \(call.state)") }
                audio.insert(call.uuid)
            } else if audio.remove(call.uuid) == nil {
                faults.append("N4: audio off twice")
            }
            audioLog[call.uuid, default: []].append(isOn)
            if !isForgetful { audioOrder.append((call.uuid, isOn)) }
        case .stayAwake(let on):
            if on == isAwake { faults.append("stays awake twice") }
            isAwake = on
        case .notice(let call, let reason, let kind):
            if noticeKinds[call.uuid] != nil { faults.append("two notices for \(call.uuid)") }
            if case .ended(reason) = call.state {} else { faults.append("a notice of a call that is \(call.state)") }
            notices.append(call.uuid)
            noticeKinds[call.uuid] = kind
        case .withdrawNotice(let call):
            if noticeKinds[call.uuid] == nil && !isForgetful { faults.append("takes back a notice that never was") }
            withdrawn.append(call.uuid)
        case .annotate(let call, let reason): annotated[call.uuid] = reason
        case .record(let call): recorded(call)
        case .remember(let key, _): remembered.insert(key)
        case .strike(let app, let count, let isSuspended): strikes.append((app, count, isSuspended))
        case .note(let kind, let call, _, _, _): if !isForgetful { notes.append((kind, call)) }
        }
    }

    private mutating func performed(_ new: Asked) {
        if let last = asked.last, last.id >= new.id, configuring[new.id] == nil, !wasConfigured(new.id) {
            faults.append("N3: an action's id is used again")
        }
        if !attached.contains(new.call.app) { faults.append("asks an app that is not there to \(new.kind.word)") }
        if new.deadline <= now { faults.append("no time for an action") }
        if case .end = new.kind {
        } else if new.call.state.isEnding || new.call.state.isEnded {
            faults.append("asks to \(new.kind.word) a call that is \(new.call.state)")
        }
        let rivals = open.values.filter {
            $0.call.uuid == new.call.uuid && $0.kind.word == new.kind.word && center.isOpen($0.id, of: $0.call.app)
        }
        if !rivals.isEmpty, new.kind.word != "hold" { faults.append("two open actions to \(new.kind.word)") }
        open[new.id] = new
        asked.append(new)
        if isForgetful && asked.count > 64 { asked.removeFirst(32) }
    }

    /// Actions that waited for audio are performed later than younger ones.
    private func wasConfigured(_ id: ActionID) -> Bool { !asked.contains { $0.id == id } }

    private mutating func recorded(_ call: Call) {
        if let before = records[call.uuid] {
            if before.state.isEnded { faults.append("N1: \(call.uuid) goes on after its end: \(call.state)") }
            if before.wasConnected && !call.wasConnected { faults.append("N11: \(call.uuid) was connected") }
            if before.began != call.began || before.deadline != call.deadline { faults.append("N13: time was bought") }
            if before.wasConnected && (call.state.isRinging || call.state == .deferred) {
                faults.append("\(call.uuid) was connected and is \(call.state)")
            }
        }
        if let connected = call.connected, connected < call.began { faults.append("N11: connected before it began") }
        if let ended = call.ended, ended > now { faults.append("N11: ended in the future") }
        if let ended = call.ended, call.state.isEnded, ended < call.connected ?? call.began {
            faults.append("N11: ended before it was connected")
        }
        records[call.uuid] = call
        guard case .ended(let reason) = call.state else { return }
        if !call.invite.isKeySynthetic { past[call.invite.callKey] = now }
        endings[call.uuid, default: []].append(reason)
        if endings[call.uuid]!.count > 1 { faults.append("N1: \(call.uuid) ended \(endings[call.uuid]!)") }
    }
}

// MARK: Pretend apps

extension World {
    /// An app on the bus: registered, logged in.
    package mutating func register(
        _ app: String = Invite.talk, rules: AppRules = AppRules(), session: Session = .up, account: String = "",
        _ change: (inout ProviderConfiguration) -> Void = { _ in }
    ) {
        known(app, rules: rules, account: account, change)
        send(.app(app, .session(session)))
        send(.app(app, .attached))
    }

    /// An app that takes calls over the bus and does not run.
    package mutating func known(
        _ app: String = Invite.talk, rules: AppRules = AppRules(), account: String = "",
        _ change: (inout ProviderConfiguration) -> Void = { _ in }
    ) {
        var provider = ProviderConfiguration()
        change(&provider)
        send(.app(app, .provider(provider)))
        send(.app(app, .rules(rules)))
        if !account.isEmpty { send(.app(app, .account(account))) }
    }

    /// The open action with this word, of this call if one is named.
    package func asks(_ word: String, _ call: CallUUID? = nil) -> ActionID? {
        open.values.filter { $0.kind.word == word && (call == nil || $0.call.uuid == call) }.map(\.id).min()
    }

    /// The app does what it was asked. False if it was not asked.
    @discardableResult
    package mutating func fulfil(
        _ word: String, _ call: CallUUID? = nil, at stated: Instant? = nil, isConnecting: Bool = false
    ) -> Bool {
        guard let id = asks(word, call) else { return false }
        send(.fulfilled(id, at: stated, isConnecting: isConnecting))
        return true
    }

    @discardableResult
    package mutating func fail(_ word: String, _ call: CallUUID? = nil) -> Bool {
        guard let id = asks(word, call) else { return false }
        send(.failed(id))
        return true
    }

    package func state(_ call: Invite) -> CallState? { center[call.uuid]?.state }

    /// Its state's word; "" if it is not there.
    package func word(_ call: Invite) -> String { center[call.uuid]?.state.word ?? "" }

    package func ending(_ call: Invite) -> EndReason? { endings[call.uuid]?.first }

    /// Pushed, answered and connected.
    package mutating func connect(_ invite: Invite, _ intent: CallEvent.Intent = .answer) {
        push(invite)
        send(.user(invite.uuid, intent))
        while let hold = asks("hold") { send(.fulfilled(hold, at: nil, isConnecting: false)) }
        while let end = asks("end") { send(.fulfilled(end, at: nil, isConnecting: false)) }
        fulfil("answer", invite.uuid)
        report(invite.uuid, .audioRuns, app: invite.app)
    }
}

extension Invite {
    package static let talk = "com.example.talk"

    package static func sample(
        _ key: String, app: String = talk, caller: String = "Alice", handle: String? = "+4915112345",
        ringTime: Duration? = nil, sentAt: Instant? = nil, expiresAt: Instant? = nil, serial: Int64? = nil,
        isSynthetic: Bool = false
    ) -> Invite {
        // Any fixed function of app and key will do here; the daemon uses a name-based UUID.
        let digits = (app + "/" + key.lowercased()).utf8.reduce(into: UInt64(14_695_981_039_346_656_037)) {
            hash, byte in
            hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211
        }
        return Invite(
            uuid: CallUUID(high: digits, low: digits &* 31), app: app, key: key, isKeySynthetic: isSynthetic,
            caller: Caller(name: caller, handle: handle.map { Handle(.phoneNumber, $0) }), ringTime: ringTime,
            sentAt: sentAt, expiresAt: expiresAt, serial: serial)
    }

    package var cancel: Signal { .cancel(callKey) }
}

extension CallAction {
    /// Its case.
    package var name: String {
        switch self {
        case .completePush: "completePush"
        case .complete: "complete"
        case .ring: "ring"
        case .vibrate: "vibrate"
        case .show: "show"
        case .raise: "raise"
        case .withdraw: "withdraw"
        case .perform: "perform"
        case .timedOut: "timedOut"
        case .configureAudio: "configureAudio"
        case .handOver: "handOver"
        case .sayEnded: "sayEnded"
        case .tellEnded: "tellEnded"
        case .wake: "wake"
        case .deliver: "deliver"
        case .drop: "drop"
        case .open: "open"
        case .audio: "audio"
        case .stayAwake: "stayAwake"
        case .notice: "notice"
        case .withdrawNotice: "withdrawNotice"
        case .annotate: "annotate"
        case .record: "record"
        case .remember: "remember"
        case .strike: "strike"
        case .note: "note"
        }
    }

    package static let names: Set<String> = [
        "completePush", "complete", "ring", "vibrate", "show", "raise", "withdraw", "perform", "timedOut",
        "configureAudio", "handOver", "sayEnded", "tellEnded", "wake", "deliver", "drop", "open", "audio", "stayAwake",
        "notice", "withdrawNotice", "annotate", "record", "remember", "strike", "note",
    ]
}
