import Base

/// Sound, vibration and banners as functions of the calls' states.
extension CallCenter {
    /// How a call starts to ring beside the others (transitions 13–15).
    func entryLoudness(besides uuid: CallUUID) -> CallState.Loudness {
        let another = calls.contains { call in
            guard call.uuid != uuid, case .ringing(let loudness) = call.state else { return false }
            return loudness != .silent
        }
        if another { return .queued }
        return isTaken ? .soft : .loud
    }

    /// Somebody is spoken to: others only wait.
    var isTaken: Bool { calls.contains { $0.state.takesTheUser } }

    /// Promotes and demotes, then tells the edges whatever changed.
    mutating func settle(at now: Instant) {
        // The noise ends before an app is asked for anything: asking may take its time.
        settleRing(at: now)
        advance(at: now)
        settleRing(at: now)
        for call in calls {
            let wanted = wantsBanner(call)
            if wanted && !call.isShown {
                let raises = call.state != .ringing(.silent)
                let next = raises ? policy.raiseInterval.map { now + $0 } : nil
                update(call.uuid) {
                    $0.isShown = true
                    $0.nextRaise = next
                }
                show(call.uuid)
            } else if !wanted && call.isShown {
                update(call.uuid) {
                    $0.isShown = false
                    $0.nextRaise = nil
                }
                out.append(.withdraw(call.uuid))
            } else {
                if call.state == .ringing(.silent) { update(call.uuid) { $0.nextRaise = nil } }
                // What answering would do to the other call has changed.
                if wanted && call.offers != waiting(call) { show(call.uuid) }
            }
        }
        if staysAwake == calls.isEmpty {
            staysAwake = !calls.isEmpty
            out.append(.stayAwake(staysAwake))
        }
    }

    private func wantsBanner(_ call: Call) -> Bool {
        switch call.state {
        case .ringing(.loud), .ringing(.soft): true
        case .ringing(.silent): call.isSeenInSilence || call.isShown && policy.keepsBannerWhenSilenced
        default: false
        }
    }

    mutating func show(_ uuid: CallUUID) {
        guard let call = self[uuid] else { return }
        let offers = waiting(call)
        update(uuid) { $0.offers = offers }
        out.append(.show(call, offers))
    }

    /// What answering it would do to the call that is on.
    package func waiting(_ call: Call) -> CallAction.Waiting {
        guard call.state.isRinging else { return .no }
        if isTaken { return canHoldOthers(for: call) ? .mayHoldOther : .endsOther }
        return isProvided(call.app) && isFull(call.app, besides: call.uuid) ? .endsOther : .no
    }

    /// Who waits in the queue hears busy once somebody is spoken to, if its app wants that (transition 17).
    private mutating func refuseQueued(at now: Instant) {
        guard isTaken else { return }
        while let call = calls.first(where: {
            $0.state == .ringing(.queued) && isProvided($0.app) && apps[$0.app]?.rules.isBusyWhenTaken == true
        }) {
            end(call.uuid, .busy, at: now)
        }
    }

    /// Loudness of every waiting call, then the one sound and the one vibration.
    mutating func settleRing(at now: Instant) {
        refuseQueued(at: now)
        let taken = isTaken
        var front: CallUUID?
        for call in calls {
            guard case .ringing(let loudness) = call.state, loudness != .silent else { continue }
            let wanted: CallState.Loudness = front != nil ? .queued : taken ? .soft : .loud
            if front == nil { front = call.uuid }
            guard wanted != loudness else { continue }
            update(call.uuid) { $0.state = .ringing(wanted) }
            if loudness == .queued {
                note(.callRinging, call.uuid, .notice, "its turn to ring, \((call.deadline - now).shortText) left")
            } else if call.isShown {
                show(call.uuid)
            }
        }
        let heard = front.flatMap { self[$0] }.flatMap { $0.timers[.hush] == nil ? $0 : nil }
        let wish = heard.map { call in
            RingWish(
                call: call.uuid, app: call.app, sound: call.invite.sound, isSoft: call.state == .ringing(.soft))
        }
        if wish != ringing {
            ringing = wish
            out.append(.ring(wish))
        }
        let shaken = wish.flatMap { $0.isSoft ? nil : $0.call }
        if shaken != vibrating {
            vibrating = shaken
            out.append(.vibrate(shaken))
        }
    }
}
