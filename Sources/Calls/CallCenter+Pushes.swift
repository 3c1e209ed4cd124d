import Base

/// What a push does (callkit.md 5.4, transitions 1–7 and 25–27).
extension CallCenter {
    mutating func push(_ id: PushID, for app: String, _ signal: Signal, isBound: Bool, at now: Instant) {
        guard isBound else {
            // N15: no sound, no banner, no row.
            out.append(.completePush(id, .unknownApp))
            return
        }
        let state = apps[app]
        guard let state, state.provider != nil else {
            out.append(.completePush(id, outcome(of: signal, at: now)))
            return
        }
        guard !state.isSuspended else {
            out.append(.completePush(id, .suspended))
            return
        }
        // Whether the app owes a report is known before the push has changed anything (callkit.md 2.7, mustReport).
        let mustReport =
            state.rules.mustReport && !state.isForeground && isFresh(signal, at: now)
            && !calls.contains { $0.app == app }
        let outcome = state.rules.mustReport ? PushOutcome.toApp : outcome(of: signal, at: now)
        out.append(.completePush(id, outcome))
        keep(id, for: app, call: outcome.call, mustReport: mustReport, at: now)
    }

    /// It announces a call, and not too late: the end of one needs no report (callkit.md I-09).
    private func isFresh(_ signal: Signal, at now: Instant) -> Bool {
        guard case .invite(let invite) = signal else { return false }
        return !isStale(invite, at: now) && invite.expiresAt.map { $0 > now } ?? true
    }

    private func isStale(_ invite: Invite, at now: Instant) -> Bool {
        invite.sentAt.map { now - $0 > policy.lifetime } ?? false
    }

    private mutating func outcome(of signal: Signal, at now: Instant) -> PushOutcome {
        switch signal {
        case .unusable(let why): .unusable(why)
        case .invite(let invite): take(invite, CallUpdate(), isConfirmed: false, at: now)
        case .update(let invite): take(update: invite, at: now)
        case .end(let ending): finish(ending, at: now)
        }
    }

    /// Newer words for a live call. One that is not live is not begun by it, whatever it may still become.
    private mutating func take(update invite: Invite, at now: Instant) -> PushOutcome {
        if let live = live(invite) { return merge(invite, into: live, at: now) }
        guard tombstones[invite.callKey, at: now] == nil else { return .alreadyOver }
        return .unusable("it changes a call that is not live (update): nothing rings")
    }

    /// A cancel in any of its kinds. One that comes before its invite leaves a tombstone, and so wins.
    private mutating func finish(_ ending: Ending, at now: Instant) -> PushOutcome {
        guard let key = ending.key else { return finishOnly(ending, at: now) }
        // Whatever its counter says: the newest of an alert group's may have gone before the last.
        if let call = calls.first(where: { $0.invite.callKey == key }) { return finish(call, ending, at: now) }
        stopInsisting { $0.invite.callKey == key }
        annotate(key, ending.reason, at: now)
        let known = tombstones[key, at: now]
        let stone = Tombstones.Stone(
            ended: known?.ended ?? now, until: now + policy.tombstoneTime, hadInvite: known?.hadInvite ?? false,
            serial: [known?.serial, ending.serial].compactMap { $0 }.max(), stamp: known?.stamp)
        tombstones.put(key, stone, at: now)
        if known?.hadInvite == true { return .alreadyOver }
        out.append(.remember(key, serial: stone.serial))
        return .tombstone
    }

    /// The app's one call that rings, if no other of its calls is or lately was: with two, a guess would end the wrong one
    /// (callkit.md N16).
    private mutating func finishOnly(_ ending: Ending, at now: Instant) -> PushOutcome {
        let live = calls.filter { $0.app == ending.app && !$0.isOutgoing }
        guard let call = live.first, live.count == 1, call.state.isRinging,
            tombstones.lastEnd(of: ending.app).map({ now - $0 > policy.lifetime }) ?? true
        else {
            return .unusable("it ends a call and names none, and there is not exactly one that it can mean")
        }
        return finish(call, ending, at: now)
    }

    private mutating func finish(_ call: Call, _ ending: Ending, at now: Instant) -> PushOutcome {
        let reason = ending.reason
        switch call.state {
        case .ringing, .deferred: end(call.uuid, reason, at: now)
        case .answering, .connecting, .active, .held:
            // "Answered elsewhere" is the echo of our own answer, and so is a cancel while it is under way; once connected,
            // a remote end is an end (transitions 45, 46, 64).
            guard reason == .remoteEnded, !ending.isForRingingOnly, !call.state.isAnswering else {
                note(.callIgnored, call.uuid, .info, "\(reason.word) ignored: the call was answered here")
                return .updated(call.uuid)
            }
            end(call.uuid, reason, at: now)
        case .requested, .dialing: end(call.uuid, reason, at: now)
        case .ending: return .updated(call.uuid)
        case .ended: preconditionFailure("an ended call in the table of live ones")
        }
        return .ended(call.uuid)
    }

    /// It went unanswered here a moment ago, because another device had taken it (transition 71).
    mutating func annotate(_ key: CallKey, _ reason: EndReason, at now: Instant) {
        guard [.answeredElsewhere, .declinedElsewhere].contains(reason),
            let index = lately.firstIndex(where: { $0.invite.callKey == key })
        else { return }
        var call = lately.remove(at: index)
        // A cancel may have been all that its sender could say (callkit.md I-59).
        guard [.ended(.unanswered), .ended(.remoteEnded)].contains(call.state), let ended = call.ended,
            now - ended <= policy.annotateTime
        else { return }
        call.detail = call.detail.isEmpty ? reason.word : call.detail
        out.append(.withdrawNotice(call))
        out.append(.annotate(call, reason))
        note(.callUpdated, call.uuid, .info, "\(reason.word), as is known now: it was not missed")
    }

    /// What an earlier run knew to be over.
    mutating func recall(_ key: CallKey, _ old: Tombstones.Stone, at now: Instant) {
        var stone = old
        stone.until = stone.ended + policy.tombstoneTime
        guard stone.until > now else { return }
        // A key may have had several calls: the last of them counts, and what any of them knew.
        if let known = tombstones[key, at: now] {
            if known.ended > stone.ended {
                (stone.ended, stone.until, stone.stamp) = (known.ended, known.until, known.stamp)
            }
            stone.hadInvite = stone.hadInvite || known.hadInvite
            stone.serial = [known.serial, stone.serial].compactMap { $0 }.max()
        }
        tombstones.put(key, stone, at: now)
    }

    // MARK: A new call

    /// A call that a push or its app announces.
    mutating func take(
        _ arrived: Invite, _ update: CallUpdate, isConfirmed: Bool, at now: Instant
    ) -> PushOutcome {
        var invite = arrived
        if let live = live(invite) {
            return merge(invite, into: live, at: now)
        }
        if let stone = tombstones[invite.callKey, at: now] {
            guard stone.isOutdated(by: invite) else { return overBefore(invite, stone, at: now) }
            invite.uuid = another(arrived, at: now)
            stopInsisting { $0.invite.callKey == invite.callKey }
        }
        let wanted = min(invite.ringTime ?? policy.ringTime, policy.longestRing)
        var deadline = now + wanted
        if let expires = invite.expiresAt { deadline = min(deadline, expires) }
        var fresh = Call(invite: invite, state: .ringing(.queued), began: now, deadline: deadline)
        fresh.isConfirmed = isConfirmed
        fresh.account = apps[invite.app]?.account ?? ""
        _ = fresh.apply(update)
        if isStale(invite, at: now) || deadline - now < min(policy.shortestRing, wanted) {
            stillborn(fresh, .expired, at: now)
            return .tooLate(invite.uuid)
        }
        if calls.count(where: { $0.app == invite.app }) >= policy.mostCalls || calls.count >= policy.mostCallsOfAll {
            stillborn(fresh, .busy, at: now)
            return .busy(invite.uuid)
        }
        if let crossed = cross(fresh, at: now) { return crossed }
        return ring(fresh, update, at: now)
    }

    /// For the next call with a key that was used before: a UUID of its own, beside those of earlier runs, too. No two
    /// of them share the instant and what made the invite newer.
    func another(_ invite: Invite, at now: Instant) -> CallUUID {
        var salt = UInt64(bitPattern: now.nanoseconds)
        for part in [invite.serial ?? 0, invite.stamp ?? 0] {
            salt = salt &* 0x9e37_79b9_7f4a_7c15 &+ UInt64(bitPattern: part)
        }
        while true {
            salt = salt &* 0x9e37_79b9_7f4a_7c15 &+ 1
            // Its version and variant stay (RFC 9562); it begins otherwise, for people who type beginnings.
            let next = CallUUID(
                high: invite.uuid.high ^ (salt & 0xffff_ffff_0000_0000), low: invite.uuid.low ^ (salt >> 2 | 1))
            if self[next] == nil { return next }
        }
    }

    mutating func ring(_ call: Call, _ update: CallUpdate, at now: Instant) -> PushOutcome {
        var call = call
        switch screen(call, update, at: now) {
        case .refuse(let reason):
            if let handle = call.invite.caller.handle, reason != .filtered(.blockList) {
                acquaintances.screened(handle, at: now)
            }
            note(.callScreened, call.uuid, .notice, "does not ring: \(reason.word)", [.init("by", .text(reason.word))])
            stillborn(call, reason, at: now)
            if case .filtered(let by) = reason { return .filtered(call.uuid, by) }
            return .busy(call.uuid)
        case .silent(let isSeen, let why):
            if isSeen, let handle = call.invite.caller.handle { acquaintances.screened(handle, at: now) }
            call.isSeenInSilence = isSeen
            call.isQuiet = true
            note(.callScreened, call.uuid, .notice, "rings without a sound: \(why)", [.init("by", .text(why))])
            begin(call, as: .silent, at: now)
            return .silent(call.uuid)
        case .leaveToApp:
            call.isPresentedByApp = true
            call.timers[.presented] = now + policy.presentTimeout
            begin(call, as: .silent, at: now)
            return .silent(call.uuid)
        case .ring:
            // Just woken up, and nothing says how old the push is: it may all be over (callkit.md 5.6).
            if let resumed, now - resumed < policy.resumeTime, !call.isConfirmed, call.invite.sentAt == nil,
                call.invite.expiresAt == nil
            {
                call.timers[.hush] = now + policy.hushTime
            }
            begin(call, at: now)
            if case .ringing(.queued)? = self[call.uuid]?.state { return .queued(call.uuid) }
            return .rings(call.uuid)
        }
    }

    mutating func restore(
        _ invite: Invite, began: Instant, deadline: Instant, _ how: CallEvent.Restored, at now: Instant
    ) {
        guard live(invite) == nil else { return }
        // The rows of a database are outside values, too: no ring is longer than any may be.
        let deadline = min(deadline, began + policy.longestRing, now + policy.longestRing)
        var isOutgoing = how == .dialled
        if case .connected(_, true) = how { isOutgoing = true }
        var call = Call(
            invite: invite, state: .ringing(.queued), isOutgoing: isOutgoing, began: began, deadline: deadline)
        call.account = apps[invite.app]?.account ?? ""
        call.isConfirmed = true
        call.isRestored = true
        switch how {
        case .answered, .dialled:
            call.answered = how == .answered ? began : nil
            stillborn(call, .failed(.reset), at: now)
        case .connected(let since, _):
            call.connected = min(now, max(since, began))
            call.answered = isOutgoing ? nil : began
            stillborn(call, .failed(.reset), at: now)
        case .ringing, .silenced:
            if deadline <= now {
                // Its time ran out while nobody was here: it is missed, and said so.
                stillborn(call, .unanswered, at: now)
                insist(call, at: now)
            } else {
                begin(call, as: how == .silenced ? .silent : nil, at: now)
            }
        }
    }

    private mutating func begin(_ arrived: Call, as given: CallState.Loudness? = nil, at now: Instant) {
        var call = arrived
        if let provider = apps[call.app]?.provider, provider.hasSignalling, !call.isConfirmed {
            call.timers[.invite] = min(now + policy.inviteTimeout, call.deadline)
        }
        calls.append(call)
        out.append(.record(call))
        let loudness = given ?? entryLoudness(besides: call.uuid)
        update(call.uuid) { $0.state = .ringing(loudness) }
        let fields = ringFields(call, now)
        switch loudness {
        case .silent:
            note(
                .callSilenced, call.uuid, .info,
                call.isPresentedByApp ? "its app shows it" : "rings silently", fields)
        case .queued: note(.callQueued, call.uuid, .info, "waits behind the call that is ringing", fields)
        case .loud, .soft:
            note(
                .callRinging, call.uuid, .notice,
                "ringing until +\((call.deadline - call.began).shortText)"
                    + (call.invite.isKeySynthetic
                        ? " (no call id in the payload: one was made; it cannot be cancelled by push)" : ""),
                fields)
        }
    }

    private func ringFields(_ call: Call, _ now: Instant) -> [Event.Field] {
        [
            .init("app", .text(call.app)),
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
        // Another app's call that happens to have the same UUID is not this one (N16).
        guard call.app == invite.app else { return .unusable("the call id is in use by another app") }
        if let old = call.invite.serial, let new = invite.serial, new <= old { return .updated(call.uuid) }
        var changed = false
        update(call.uuid) { call in
            let before = call.invite
            if let name = invite.caller.name { call.invite.caller.name = name }
            if let handle = invite.caller.handle { call.invite.caller.handle = handle }
            if invite.saysVideo { call.invite.isVideo = invite.isVideo }
            if let serial = invite.serial { call.invite.serial = serial }
            changed = call.invite != before
        }
        if changed {
            note(.callUpdated, call.uuid, .info, "updated in place by a second push")
            if self[call.uuid]?.isShown == true { show(call.uuid) }
            record(call.uuid)
        } else {
            note(.callIgnored, call.uuid, .info, "duplicate push: the call is known and nothing is new")
        }
        return .updated(call.uuid)
    }

    /// An invite whose cancel came first, or a repeat of one that is over (transition 4).
    mutating func overBefore(_ invite: Invite, _ stone: Tombstones.Stone, at now: Instant) -> PushOutcome {
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
