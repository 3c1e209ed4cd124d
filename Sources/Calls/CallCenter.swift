package import Base

/// Every rule of a call: events and instants in, actions out (callkit.md section 5).
///
/// A value without clock, I/O or Foundation. The driver calls `handle(_:at:)` for whatever happens, performs the
/// actions in order, and arms one timer for `nextDeadline`. After each event the wishes (sound, vibration, banners) are
/// derived anew from the states, so no path can forget one of them.
package struct CallCenter: Sendable {
    package var policy: CallPolicy {
        didSet { acquaintances.region = policy.region }
    }
    /// Live calls, in order of arrival.
    package internal(set) var calls: [Call] = []

    var apps: [String: AppState] = [:]
    var tombstones = Tombstones()
    var acquaintances = Acquaintances()
    var openActions: [ActionID: OpenAction] = [:]
    var openPushes: [PushID: OpenPush] = [:]
    var transactions: [Transaction] = []
    /// Calls that rang out and ring again, in the order in which they did.
    var insisting: [Insistence] = []
    var lastAction: UInt64 = 0
    var lastGroup: UInt64 = 0
    var isDisturbanceForbidden = false
    /// When the machine last woke up.
    var resumed: Instant?
    /// Calls that went unanswered a moment ago: another device may have taken them.
    var lately: [Call] = []
    /// What the edges were last told.
    var ringing: RingWish?
    var vibrating: CallUUID?
    var staysAwake = false
    var out: [CallAction] = []

    package init(policy: CallPolicy = CallPolicy()) {
        self.policy = policy
        acquaintances.region = policy.region
    }

    /// When `timeUp` is due; nil when nothing waits for time.
    package var nextDeadline: Instant? {
        var next: Instant?
        func consider(_ candidate: Instant?) {
            guard let candidate else { return }
            next = next.map { min($0, candidate) } ?? candidate
        }
        for call in calls {
            if call.state.isRinging {
                consider(call.deadline)
                consider(call.nextRaise)
            }
            for due in call.timers.values { consider(due) }
        }
        for action in openActions.values { consider(action.deadline) }
        for push in openPushes.values { consider(push.deadline) }
        for one in insisting { consider(one.due) }
        return next
    }

    /// What waits for a reply of some app: nothing, once every call is over or connected.
    package struct Load: Sendable, Equatable {
        package var actions = 0
        package var pushes = 0
        package var transactions = 0

        package init() {}
    }

    package var load: Load {
        var load = Load()
        load.actions = openActions.count
        load.pushes = openPushes.count
        load.transactions = transactions.count
        return load
    }

    /// The call with this id, if it is live.
    package subscript(_ uuid: CallUUID) -> Call? { calls.first { $0.uuid == uuid } }

    /// The live call that this invite speaks of: by its key, or by its UUID alone (N8).
    func live(_ invite: Invite) -> Call? {
        calls.first { $0.uuid == invite.uuid || $0.invite.callKey == invite.callKey }
    }

    package mutating func handle(_ event: CallEvent, at now: Instant) -> [CallAction] {
        // What is due by now happens first: a call whose time ran out while the machine slept cannot be answered.
        expire(at: now)
        switch event {
        case .push(let id, let app, let signal, let isBound):
            push(id, for: app, signal, isBound: isBound, at: now)
        case .ring(let id, let invite):
            let outcome = take(invite, CallUpdate(), isConfirmed: true, at: now)
            out.append(.completePush(id, outcome))
        case .cancelled(let uuid): end(uuid, .remoteEnded, at: now)
        case .restore(let invite, let began, let deadline, let how):
            restore(invite, began: began, deadline: deadline, how, at: now)
        case .recall(let key, let hadInvite, let ended, let serial, let stamp):
            recall(
                key, .init(ended: ended, until: ended, hadInvite: hadInvite, serial: serial, stamp: stamp), at: now)
        case .user(let uuid, let intent): user(uuid, intent, at: now)
        case .bannerClosed(let uuid, let isDismissal): bannerClosed(uuid, isDismissal: isDismissal, at: now)
        case .app(let app, let what): happened(what, to: app, at: now)
        case .report(let id, let app, let uuid, let what):
            let refusal = report(what, of: uuid, by: app, at: now)
            out.append(.complete(id, refusal))
        case .request(let id, let app, let steps):
            let refusal = request(steps, by: app, at: now)
            out.append(.complete(id, refusal))
        case .fulfilled(let id, let at, let isConnecting):
            fulfilled(id, stated: at, isConnecting: isConnecting, at: now)
        case .failed(let id): failed(id, .failed, at: now)
        case .configured(let id, let isReady): configured(id, isReady, at: now)
        case .handedOver(let id): handedOver(id, at: now)
        case .delivered(let id): delivered(id, at: now)
        case .disturbance(let isForbidden): isDisturbanceForbidden = isForbidden
        case .acquaintance(let handle): acquaintances.add(handle)
        case .resumed: resumed = now
        case .timeUp: break
        }
        settle(at: now)
        defer { out = [] }
        return out
    }

    // MARK: One call

    mutating func update(_ uuid: CallUUID, _ change: (inout Call) -> Void) {
        guard let index = calls.firstIndex(where: { $0.uuid == uuid }) else { return }
        change(&calls[index])
    }

    /// The only way out of life: once a call, with the first reason. `isTold`: its app knows, or is told otherwise.
    mutating func end(
        _ uuid: CallUUID, _ reason: EndReason, stated: Instant? = nil, isTold: Bool = false, isQuiet: Bool = false,
        at now: Instant
    ) {
        guard let index = calls.firstIndex(where: { $0.uuid == uuid }) else { return }
        var call = calls.remove(at: index)
        // The user's own end came first.
        let reason = call.state.endingReason ?? reason
        dropActions(of: uuid)
        if call.audio != .off { out.append(.audio(call, isOn: false)) }
        call.audio = .off
        call.state = .ended(reason)
        // Nobody's clock ends a call before it was connected, or in the future.
        call.ended = min(now, max(stated ?? call.ended ?? now, call.connected ?? call.began))
        call.nextRaise = nil
        call.timers = [:]
        if isQuiet { call.isQuiet = true }
        bury(call, at: now)
        if reason == .handedOver { goOn(after: uuid) }
        dissolve(group: call.group)
        // Silence first: the sound, the vibration and the banner go before anything is written or told.
        settleRing(at: now)
        if call.isShown { out.append(.withdraw(uuid)) }
        call.isShown = false
        noteEnd(of: call, reason)
        if call.wasConnected, let handle = call.invite.caller.handle { acquaintances.add(handle) }
        out.append(.record(call))
        if !isTold && isProvided(call.app) { out.append(.tellEnded(call, reason)) }
        guard let notice = reason.notice(of: call) else { return }
        out.append(.notice(call, reason, notice))
        lately.removeAll { now - ($0.ended ?? now) > policy.annotateTime }
        if lately.count < 32 { lately.append(call) }
    }

    private mutating func noteEnd(of call: Call, _ reason: EndReason) {
        let ended = call.ended ?? call.began
        let rang = (call.answered ?? ended) - call.began
        let lasted = call.connected.map { "connected \((ended - $0).shortText)" }
        note(
            .callEnded, call.uuid, .notice,
            "\(reason.word), \(lasted ?? (call.isOutgoing ? "dialled" : "rang") + " \(rang.shortText)")",
            [
                .init("reason", .text(reason.word)), .init("category", .text(reason.category(of: call))),
                .init("rang_ms", .number(rang.nanoseconds / 1_000_000)),
            ])
    }

    mutating func bury(_ call: Call, at now: Instant) {
        // A made-up key is nobody's: the next push with the same words is another call.
        if call.invite.isKeySynthetic { return }
        let stone = Tombstones.Stone(
            ended: now, until: now + policy.tombstoneTime, hadInvite: true, serial: call.invite.serial,
            stamp: call.invite.stamp)
        tombstones.put(call.invite.callKey, stone, at: now)
    }

    /// Calls are handed to a provider on the bus, rather than to a link or a program.
    func isProvided(_ app: String) -> Bool { apps[app]?.provider != nil }

    mutating func note(
        _ kind: Event.Kind, _ call: CallUUID?, _ level: Event.Level, _ message: String, _ fields: [Event.Field] = []
    ) {
        out.append(.note(kind, call, level, message, fields))
    }
}
