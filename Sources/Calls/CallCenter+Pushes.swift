import Base

/// What a push does (callkit.md 5.4, transitions 1–7 and 25–27).
extension CallCenter {
    mutating func push(_ id: PushID, _ signal: Signal, isBound: Bool, at now: Instant) {
        guard isBound else {
            // N15: no sound, no banner, no row.
            out.append(.completePush(id, .unknownApp))
            return
        }
        switch signal {
        case .unusable(let why): out.append(.completePush(id, .unusable(why)))
        case .invite(let invite): out.append(.completePush(id, receive(invite, at: now)))
        case .cancel(let key): out.append(.completePush(id, finish(key, .remoteEnded, at: now)))
        case .answeredElsewhere(let key): out.append(.completePush(id, finish(key, .answeredElsewhere, at: now)))
        case .declinedElsewhere(let key): out.append(.completePush(id, finish(key, .declinedElsewhere, at: now)))
        }
    }

    /// A cancel in any of its kinds. One that comes before its invite leaves a tombstone, and so wins.
    private mutating func finish(_ key: CallKey, _ reason: EndReason, at now: Instant) -> PushOutcome {
        if let call = calls.first(where: { $0.invite.callKey == key }) {
            switch call.state {
            case .ringing:
                end(call.uuid, reason, at: now)
                return .ended(call.uuid)
            case .answering, .active:
                // "Answered elsewhere" is the echo of our own answer; a remote end is an end.
                guard reason == .remoteEnded else {
                    note(.callIgnored, call.uuid, .info, "\(reason.word) ignored: the call was answered here")
                    return .updated(call.uuid)
                }
                end(call.uuid, reason, at: now)
                return .ended(call.uuid)
            case .ended: preconditionFailure("an ended call in the table of live ones")
            }
        }
        let known = tombstones[key, at: now]
        let stone = Tombstones.Stone(
            ended: known?.ended ?? now, until: now + policy.tombstoneTime, hadInvite: known?.hadInvite ?? false,
            serial: known?.serial, stamp: known?.stamp, generation: known?.generation ?? 0)
        tombstones.put(key, stone, at: now)
        if known?.hadInvite == true { return .alreadyOver }
        out.append(.remember(key))
        return .tombstone
    }

    /// What an earlier run knew to be over.
    mutating func recall(_ key: CallKey, hadInvite: Bool, ended: Instant, at now: Instant) {
        let until = ended + policy.tombstoneTime
        guard until > now, tombstones[key, at: now] == nil else { return }
        tombstones.put(
            key, .init(ended: ended, until: until, hadInvite: hadInvite, generation: 0), at: now)
    }

    private mutating func receive(_ arrived: Invite, at now: Instant) -> PushOutcome {
        var invite = arrived
        if let live = calls.first(where: { $0.invite.callKey == invite.callKey || $0.uuid == invite.uuid }) {
            return merge(invite, into: live, at: now)
        }
        if let stone = tombstones[invite.callKey, at: now] {
            guard stone.isOutdated(by: invite) else { return overBefore(invite, stone, at: now) }
            let generation = stone.generation + 1
            var next = stone
            next.generation = generation
            tombstones.put(invite.callKey, next, at: now)
            invite.uuid = CallUUID(high: invite.uuid.high, low: invite.uuid.low ^ generation)
        }
        let wanted = min(invite.ringTime ?? policy.ringTime, policy.longestRing)
        var deadline = now + wanted
        if let expires = invite.expiresAt { deadline = min(deadline, expires) }
        let isStale = invite.sentAt.map { now - $0 > policy.lifetime } ?? false
        let fresh = Call(invite: invite, state: .ringing(.queued), began: now, deadline: deadline)
        if isStale || deadline - now < min(policy.shortestRing, wanted) {
            stillborn(fresh, .expired, at: now)
            return .tooLate(invite.uuid)
        }
        if calls.count >= policy.mostCalls {
            stillborn(fresh, .busy, at: now)
            return .busy(invite.uuid)
        }
        begin(fresh, at: now)
        if case .ringing(.queued)? = self[invite.uuid]?.state { return .queued(invite.uuid) }
        return .rings(invite.uuid)
    }

    mutating func restore(
        _ invite: Invite, began: Instant, deadline: Instant, _ how: CallEvent.Restored, at now: Instant
    ) {
        guard self[invite.uuid] == nil else { return }
        // The rows of a database are outside values, too: no ring is longer than any may be.
        let deadline = min(deadline, began + policy.longestRing, now + policy.longestRing)
        let call = Call(invite: invite, state: .ringing(.queued), began: began, deadline: deadline)
        if how == .answered {
            stillborn(call, .failed(.reset), at: now)
        } else if deadline <= now {
            // Its time ran out while nobody was here: it is missed, and said so.
            stillborn(call, .unanswered, at: now)
        } else {
            begin(call, as: how == .silenced ? .silent : nil, at: now)
        }
    }

    private mutating func begin(_ call: Call, as given: CallState.Loudness? = nil, at now: Instant) {
        calls.append(call)
        out.append(.record(call))
        let loudness = given ?? entryLoudness(besides: call.uuid)
        update(call.uuid) { $0.state = .ringing(loudness) }
        if loudness == .silent {
            note(.callSilenced, call.uuid, .info, "silenced before the restart, and still", ringFields(call, now))
        } else if loudness == .queued {
            note(.callQueued, call.uuid, .info, "waits behind the call that is ringing", ringFields(call, now))
        } else {
            note(
                .callRinging, call.uuid, .notice,
                "ringing until +\((call.deadline - call.began).shortText)"
                    + (call.invite.isKeySynthetic
                        ? " (no call id in the payload: one was made; it cannot be cancelled by push)" : ""),
                ringFields(call, now))
        }
    }

    private func ringFields(_ call: Call, _ now: Instant) -> [Event.Field] {
        [
            .init("app", .text(call.invite.app)),
            .init("caller", .text(call.invite.caller.display)),
            .init("video", .flag(call.invite.isVideo)),
            .init("ring_ms", .number((call.deadline - now).nanoseconds / 1_000_000)),
            .init("cancelable", .flag(!call.invite.isKeySynthetic)),
        ]
    }

    /// A call that never rings, but is not lost: a row, and the notice its reason deserves.
    private mutating func stillborn(_ call: Call, _ reason: EndReason, at now: Instant) {
        calls.append(call)
        out.append(.record(call))
        end(call.uuid, reason, at: now)
    }

    /// A second push for a live call: newer text in place, never a new alert, never more time (transition 7).
    private mutating func merge(_ invite: Invite, into call: Call, at now: Instant) -> PushOutcome {
        if let old = call.invite.serial, let new = invite.serial, new <= old { return .updated(call.uuid) }
        // Another app's call that happens to have the same UUID is not this one (N16).
        guard call.invite.app == invite.app else { return .unusable("the call id is in use by another app") }
        var changed = false
        update(call.uuid) { call in
            let before = call.invite
            if let name = invite.caller.name { call.invite.caller.name = name }
            if let handle = invite.caller.handle { call.invite.caller.handle = handle }
            call.invite.isVideo = invite.isVideo
            if let serial = invite.serial { call.invite.serial = serial }
            changed = call.invite != before
        }
        if changed {
            note(.callUpdated, call.uuid, .info, "updated in place by a second push")
            if let updated = self[call.uuid], updated.isShown {
                out.append(.show(updated, isWaiting: updated.state == .ringing(.soft)))
            }
            if let updated = self[call.uuid] { out.append(.record(updated)) }
        } else {
            note(.callIgnored, call.uuid, .info, "duplicate push: the call is known and nothing is new")
        }
        return .updated(call.uuid)
    }

    /// An invite whose cancel came first, or a repeat of one that is over (transition 4).
    private mutating func overBefore(_ invite: Invite, _ stone: Tombstones.Stone, at now: Instant) -> PushOutcome {
        var stone = stone
        stone.until = now + policy.tombstoneTime
        if !stone.hadInvite {
            // The caller gave up before we heard of the call: missed, never rung (callkit.md I-01).
            stone.hadInvite = true
            stone.serial = invite.serial
            stone.stamp = invite.stamp
            tombstones.put(invite.callKey, stone, at: now)
            stillborn(
                Call(invite: invite, state: .ringing(.queued), began: now, deadline: now), .remoteEnded, at: now)
            return .alreadyOver
        }
        tombstones.put(invite.callKey, stone, at: now)
        return .alreadyOver
    }
}
