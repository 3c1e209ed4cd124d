package import Base

/// Every rule of a call: events and instants in, actions out (callkit.md section 5).
///
/// A value without clock, I/O or Foundation. The driver calls `handle(_:at:)` for whatever happens, performs the
/// actions in order, and arms one timer for `nextDeadline`. After each event the wishes (sound, vibration, banners) are
/// derived anew from the states, so no path can forget one of them.
package struct CallCenter: Sendable {
    package var policy: CallPolicy
    /// Live calls, in order of arrival.
    package internal(set) var calls: [Call] = []

    var tombstones = Tombstones()
    var openActions: [ActionID: OpenAction] = [:]
    var lastAction: UInt64 = 0
    /// What the edges were last told.
    var ringing: RingWish?
    var vibrating: CallUUID?
    var out: [CallAction] = []

    /// A request to an app that has not been answered.
    struct OpenAction: Sendable {
        var call: CallUUID
        var isAnswer: Bool
        var deadline: Instant
    }

    package init(policy: CallPolicy = CallPolicy()) { self.policy = policy }

    /// When `timeUp` is due; nil when nothing waits for time.
    package var nextDeadline: Instant? {
        var next: Instant?
        func consider(_ candidate: Instant?) {
            guard let candidate else { return }
            next = next.map { min($0, candidate) } ?? candidate
        }
        for call in calls where call.state.isRinging {
            consider(call.deadline)
            consider(call.nextRaise)
        }
        for action in openActions.values { consider(action.deadline) }
        return next
    }

    /// The call with this id, if it is live.
    package subscript(_ uuid: CallUUID) -> Call? { calls.first { $0.uuid == uuid } }

    package mutating func handle(_ event: CallEvent, at now: Instant) -> [CallAction] {
        // What is due by now happens first: a call whose time ran out while the machine slept cannot be answered.
        expire(at: now)
        switch event {
        case .push(let id, let signal, let isBound): push(id, signal, isBound: isBound, at: now)
        case .restore(let invite, let began, let deadline, let how):
            restore(invite, began: began, deadline: deadline, how, at: now)
        case .recall(let key, let hadInvite, let ended): recall(key, hadInvite: hadInvite, ended: ended, at: now)
        case .user(let uuid, let intent): user(uuid, intent, at: now)
        case .bannerClosed(let uuid, let isDismissal): bannerClosed(uuid, isDismissal: isDismissal, at: now)
        case .fulfilled(let action, let tracks): fulfilled(action, tracks: tracks, at: now)
        case .failed(let action): failed(action, at: now)
        case .reportedEnded(let uuid, let reason): if self[uuid] != nil { end(uuid, reason, at: now) }
        case .clientGone(let app): clientGone(app, at: now)
        case .unbound(let app):
            for call in calls where call.invite.app == app { end(call.uuid, .failed(.unbound), at: now) }
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

    /// The only way out of life: once a call, with the first reason.
    mutating func end(_ uuid: CallUUID, _ reason: EndReason, at now: Instant) {
        guard let index = calls.firstIndex(where: { $0.uuid == uuid }) else { return }
        var call = calls.remove(at: index)
        let wasConnected = call.connected != nil
        if case .active = call.state { out.append(.audio(uuid, isOn: false)) }
        if case .answering(let action) = call.state { openActions[action] = nil }
        call.state = .ended(reason)
        call.ended = now
        call.nextRaise = nil
        bury(call, at: now)
        // Silence first: the sound, the vibration and the banner go before anything is written or told.
        settleRing(at: now)
        if call.isShown { out.append(.withdraw(uuid)) }
        call.isShown = false
        let lasted = call.connected.map { "connected \((now - $0).shortText)" }
        note(
            .callEnded, uuid, .notice,
            "\(reason.word), \(lasted ?? "rang \(((call.answered ?? now) - call.began).shortText)")",
            [
                .init("reason", .text(reason.word)),
                .init("category", .text(reason.category(wasConnected: wasConnected))),
                .init("rang_ms", .number(((call.answered ?? now) - call.began).nanoseconds / 1_000_000)),
            ])
        out.append(.record(call))
        if reason.leavesNotice(wasConnected: wasConnected) { out.append(.notice(call, reason)) }
    }

    private mutating func bury(_ call: Call, at now: Instant) {
        // A made-up key is nobody's: the next push with the same words is another call.
        if call.invite.isKeySynthetic { return }
        let generation = tombstones[call.invite.callKey, at: now]?.generation ?? 0
        let stone = Tombstones.Stone(
            ended: now, until: now + policy.tombstoneTime, hadInvite: true, serial: call.invite.serial,
            stamp: call.invite.stamp, generation: generation)
        tombstones.put(call.invite.callKey, stone, at: now)
    }

    mutating func open(_ call: CallUUID, isAnswer: Bool, at now: Instant) -> ActionID {
        lastAction += 1
        let id = ActionID(lastAction)
        openActions[id] = OpenAction(call: call, isAnswer: isAnswer, deadline: now + policy.actionTimeout)
        return id
    }

    mutating func note(
        _ kind: Event.Kind, _ call: CallUUID?, _ level: Event.Level, _ message: String, _ fields: [Event.Field] = []
    ) {
        out.append(.note(kind, call, level, message, fields))
    }
}
