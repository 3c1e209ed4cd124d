import Base

/// What users and banners do to a call (callkit.md 5.4, transitions 21–24, 30, 34–41, 65).
extension CallCenter {
    mutating func user(_ uuid: CallUUID, _ intent: CallEvent.Intent, at now: Instant) {
        guard let call = self[uuid] else { return }
        switch call.state {
        case .ringing: ringing(call, intent, at: now)
        case .deferred, .answering, .connecting, .requested, .dialing, .active, .held: live(call, intent, at: now)
        case .ending: break  // It is over for the user already.
        case .ended: preconditionFailure("an ended call in the table of live ones")
        }
    }

    private mutating func ringing(_ call: Call, _ intent: CallEvent.Intent, at now: Instant) {
        switch intent {
        case .answer: accept(call, holdsOthers: false, at: now)
        case .holdAndAnswer: accept(call, holdsOthers: true, at: now)
        case .decline, .hangUp: _ = endByUser(call, .declined, at: now)
        case .ignore: end(call.uuid, .ignored, at: now)
        case .silence: silence(call, because: "silenced")
        case .open:
            out.append(.open(call))
            silence(call, because: "opened from the banner")
        case .startAudio: break
        }
    }

    private mutating func live(_ call: Call, _ intent: CallEvent.Intent, at now: Instant) {
        switch intent {
        case .answer, .holdAndAnswer: break  // Answering twice is answering once.
        case .decline, .hangUp: _ = endByUser(call, endingReason(of: call), at: now)
        case .open: out.append(.open(call))
        case .startAudio: if call.state == .active { activateAudio(call.uuid, at: now) }
        case .ignore, .silence:
            note(.callIgnored, call.uuid, .info, "\(intent.rawValue) ignored: the call does not ring")
        }
    }

    /// What an end by the user means for a call that stands so.
    func endingReason(of call: Call) -> EndReason {
        call.wasConnected ? .local : call.isOutgoing ? .cancelled : .declined
    }

    // MARK: Accepting

    /// The user takes the call. Others that are on make room first, in this order: never two connected ones (N7).
    mutating func accept(_ call: Call, holdsOthers: Bool, at now: Instant) {
        let holds = holdsOthers && canHoldOthers(for: call)
        update(call.uuid) {
            $0.state = .deferred
            $0.answered = now
            $0.isPresentedByApp = false
            $0.timers[.presented] = nil
            $0.timers[.hush] = nil
        }
        note(
            .callAnswering, call.uuid, .notice, "answered after \((now - call.began).shortText)",
            [.init("rang_ms", .number((now - call.began).nanoseconds / 1_000_000))])
        // The noise ends before any app is asked.
        settleRing(at: now)
        makeRoom(for: call.uuid, holding: holds, at: now)
        record(call.uuid)
    }

    /// Ends or holds whoever is on; the call waits until that is done.
    mutating func makeRoom(for uuid: CallUUID, holding: Bool, at now: Instant) {
        var waitsFor: Set<ActionID> = []
        for other in calls where other.uuid != uuid {
            switch other.state {
            case .active where holding:
                waitsFor.insert(perform(.setHeld(true, .auto(uuid)), on: other, at: now))
            case .deferred, .answering, .connecting, .requested, .dialing, .active:
                if let id = endByUser(other, endingReason(of: other), at: now) { waitsFor.insert(id) }
            case .ending(let id, _): waitsFor.insert(id)
            case .ringing, .held, .ended: break
            }
        }
        // Beyond what its app can do at once, those on hold go, too: it began to ring before they were.
        if let app = self[uuid]?.app {
            for other in calls where other.app == app && other.state.isHeld && isFull(app, besides: uuid) {
                if let id = endByUser(other, .local, at: now) { waitsFor.insert(id) }
            }
        }
        update(uuid) { $0.waitsFor = waitsFor }
    }

    /// Hold & Accept: every call that is on can be held, and there is room for another group.
    func canHoldOthers(for call: Call) -> Bool {
        let others = calls.filter { $0.uuid != call.uuid && $0.state.takesTheUser }
        guard others.allSatisfy({ canHold($0) }) else { return false }
        return !isFull(call.app, besides: call.uuid)
    }

    func canHold(_ call: Call) -> Bool {
        call.state == .active && call.features.holding && apps[call.app]?.isAttached == true
    }

    /// A hold that was to make room did not come about: the call rings again if time is left, else it ends.
    mutating func refuseRoom(waitingFor id: ActionID, at now: Instant) {
        for call in calls where call.waitsFor.contains(id) {
            guard !call.isOutgoing, call.deadline > now else {
                end(call.uuid, .failed(call.isOutgoing ? .start : .answer), at: now)
                continue
            }
            note(.callIgnored, call.uuid, .warning, "the other call could not be held: this one waits again")
            update(call.uuid) {
                $0.waitsFor = []
                $0.answered = nil
                $0.state = .ringing(.soft)
            }
            record(call.uuid)
        }
    }

    // MARK: Ending

    /// Local at once, whatever the app or the network does (N12). Returns the end action whose completion the call waits
    /// for; nil if it is over.
    mutating func endByUser(_ call: Call, _ reason: EndReason, at now: Instant) -> ActionID? {
        switch call.state {
        case .ending(let id, _): return id
        case .ended: return nil
        case .ringing, .deferred: break
        case .answering, .connecting, .requested, .dialing, .active, .held:
            guard apps[call.app]?.isAttached == true else { break }
            dropActions(of: call.uuid)
            stopAudio(call.uuid)
            let id = perform(.end(reason), on: self[call.uuid] ?? call, at: now)
            update(call.uuid) {
                $0.state = .ending(id, reason)
                $0.ended = now
                $0.timers = [:]
                $0.waitsFor = []
            }
            note(.callEnding, call.uuid, .info, "\(reason.word): the app is told")
            record(call.uuid)
            return id
        }
        // What it was never asked to dial, its app cannot end.
        let isUnheard = call.isOutgoing && call.state == .deferred
        end(call.uuid, reason, isTold: !isUnheard, at: now)
        if !isUnheard { sayGoodbye(call, reason, at: now) }
        return nil
    }

    mutating func silence(_ call: Call, because: String) {
        guard call.state != .ringing(.silent) else { return }
        update(call.uuid) { $0.state = .ringing(.silent) }
        note(.callSilenced, call.uuid, .info, "\(because): it can still be answered until its time is over")
    }

    // MARK: Banners

    /// A banner that is gone is never an answer and never a decline (N14).
    mutating func bannerClosed(_ uuid: CallUUID, isDismissal: Bool, at now: Instant) {
        guard let call = self[uuid], case .ringing(let loudness) = call.state else { return }
        switch loudness {
        case .silent, .queued: hideBanner(of: call)
        case .loud, .soft:
            if isDismissal {
                hideBanner(of: call)
                silence(call, because: "banner dismissed")
            } else {
                // Shown again soon, but not in a loop with a server that will not have it.
                let soon = now + .seconds(2)
                update(uuid) { $0.nextRaise = $0.nextRaise.map { min($0, soon) } ?? soon }
            }
        }
    }

    /// The wish goes with the banner: else a restarted server would be given it again.
    private mutating func hideBanner(of call: Call) {
        guard call.isShown else { return }
        update(call.uuid) {
            $0.isShown = false
            $0.isSeenInSilence = false
        }
        out.append(.withdraw(call.uuid))
    }
}
