import Base

/// Everything that is due (callkit.md 5.2).
extension CallCenter {
    mutating func expire(at now: Instant) {
        expireActions(at: now)
        expirePushes(at: now)
        for call in calls where call.state.isRinging && call.deadline <= now {
            end(call.uuid, .unanswered, at: now)
            insist(call, at: now)
        }
        ringAgain(at: now)
        for call in calls {
            // In the order in which they were due, should several be.
            for (timer, due) in call.timers.sorted(by: { ($0.value, $0.key.rawValue) < ($1.value, $1.key.rawValue) })
            where due <= now {
                fire(timer, call.uuid, at: now)
            }
        }
        for call in calls {
            guard let due = call.nextRaise, due <= now else { continue }
            let next = policy.raiseInterval.map { now + $0 }
            update(call.uuid) { $0.nextRaise = next }
            out.append(.raise(call.uuid))
        }
    }

    private mutating func expireActions(at now: Instant) {
        for (id, action) in openActions.sorted(by: { $0.key < $1.key }) where action.deadline <= now {
            // One that an earlier one took with it.
            guard openActions[id] != nil else { continue }
            if !action.isHandover { out.append(.timedOut(id, action.call)) }
            failed(id, .late, at: now)
        }
    }

    private mutating func expirePushes(at now: Instant) {
        for (id, push) in openPushes.sorted(by: { $0.key < $1.key }) where push.deadline <= now {
            openPushes[id] = nil
            note(
                .appFault, nil, .warning, "the app did not complete a push in time: it was completed for it",
                [.init("app", .text(push.app))])
            judge(push, isLate: true, at: now)
        }
    }

    private mutating func fire(_ timer: CallTimer, _ uuid: CallUUID, at now: Instant) {
        guard let call = self[uuid], call.timers[timer] != nil else { return }
        update(uuid) { $0.timers[timer] = nil }
        switch timer {
        case .invite: end(uuid, call.state.isRinging ? .unanswered : .failed(.noInvite), at: now)
        case .attach:
            end(uuid, .failed(isAttached(call.app) ? .login : .clientUnavailable), at: now)
        case .connect: end(uuid, .failed(.connect), at: now)
        case .grace: end(uuid, .failed(.network), at: now)
        case .presented: present(call, at: now)
        case .hush: break  // `settleRing` lets it be heard.
        case .audio:
            note(
                .audioPending, uuid, .warning,
                "the app has not started its audio (ringctl audio \(uuid.short) asks it once more)")
            record(uuid)
        }
    }
}
