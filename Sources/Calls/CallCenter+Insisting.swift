import Base

/// A call that nobody took and that is to ring again: an alert that waits for its user.
struct Insistence: Sendable {
    /// As it rang last.
    let call: Call
    /// When it rings again.
    let due: Instant
    /// When it gives up.
    let until: Instant
}

/// Apps whose calls insist (`AppRules.insistence`): one that rings out rings again after a pause, as another call with the
/// same key, until it is answered, declined or ended by its sender, or its time is over.
///
/// No call rings longer than any may be (callkit.md N13): each has its own deadline, and its own row.
extension CallCenter {
    /// More calls than ever wait, whatever their apps are.
    static let mostInsisting = 32

    mutating func insist(_ call: Call, at now: Instant) {
        guard !isProvided(call.app), let whole = apps[call.app]?.rules.insistence else { return }
        let until = call.insistsUntil ?? call.began + whole
        let due = now + policy.insistPause
        // What its sender says is over by then does not ring.
        guard due + policy.shortestRing < until, call.invite.expiresAt.map({ due < $0 }) ?? true else { return }
        insisting.removeAll { $0.call.invite.callKey == call.invite.callKey }
        if insisting.count >= Self.mostInsisting { insisting.removeFirst() }
        insisting.append(Insistence(call: call, due: due, until: until))
        note(
            .callAgain, call.uuid, .info, "rings again in \(policy.insistPause.shortText), unless it is over by then",
            [.init("app", .text(call.app))])
    }

    /// The same call, anew: screened again, and with a UUID of its own.
    mutating func ringAgain(at now: Instant) {
        for one in insisting where one.due <= now {
            insisting.removeAll { $0.call.uuid == one.call.uuid }
            guard !isProvided(one.call.app), apps[one.call.app]?.rules.insistence != nil,
                calls.count(where: { $0.app == one.call.app }) < policy.mostCalls, calls.count < policy.mostCallsOfAll
            else { continue }
            var invite = one.call.invite
            invite.uuid = another(invite, at: now)
            let wanted = min(invite.ringTime ?? policy.ringTime, policy.longestRing)
            var deadline = min(now + wanted, one.until)
            if let expires = invite.expiresAt { deadline = min(deadline, expires) }
            guard deadline - now >= min(policy.shortestRing, wanted) else { continue }
            var fresh = Call(invite: invite, state: .ringing(.queued), began: now, deadline: deadline)
            fresh.account = one.call.account
            fresh.insistsUntil = one.until
            // Its notice is of a call that rings.
            out.append(.withdrawNotice(one.call))
            _ = ring(fresh, CallUpdate(), at: now)
        }
    }

    /// It is over, is removed, or rings by a push of its own.
    mutating func stopInsisting(_ isMeant: (Call) -> Bool) { insisting.removeAll { isMeant($0.call) } }
}
