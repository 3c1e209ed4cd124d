import Base

/// What users, banners and apps do to a call (callkit.md 5.4, transitions 18–47 and 64–68).
extension CallCenter {
    mutating func user(_ uuid: CallUUID, _ intent: CallEvent.Intent, at now: Instant) {
        guard let call = self[uuid] else { return }
        switch (call.state, intent) {
        case (.ringing, .answer): answer(call, at: now)
        case (.ringing, .decline), (.ringing, .hangUp): endByUser(call, .declined, at: now)
        case (.ringing, .ignore): end(uuid, .ignored, at: now)
        case (.ringing, .silence): silence(call, because: "silenced")
        case (.ringing, .open):
            out.append(.open(call))
            silence(call, because: "opened from the banner")
        case (.answering, .answer), (.active, .answer): break  // Answering twice is answering once.
        case (.answering, .decline), (.answering, .hangUp): endByUser(call, .declined, at: now)
        case (.active, .hangUp), (.active, .decline): endByUser(call, .local, at: now)
        case (.answering, .open), (.active, .open): out.append(.open(call))
        case (.answering, .ignore), (.answering, .silence), (.active, .ignore), (.active, .silence):
            note(.callIgnored, uuid, .info, "\(intent.rawValue) ignored: the call has been answered")
        case (.ended, _): preconditionFailure("an ended call in the table of live ones")
        }
    }

    private mutating func answer(_ call: Call, at now: Instant) {
        let action = open(call.uuid, isAnswer: true, at: now)
        update(call.uuid) {
            $0.state = .answering(action)
            $0.answered = now
        }
        // End & Accept, in this order: never two connected calls at once (N7).
        for other in calls where other.uuid != call.uuid {
            switch other.state {
            case .answering, .active: endByUser(other, other.connected == nil ? .declined : .local, at: now)
            case .ringing, .ended: break
            }
        }
        // The noise ends before the app is asked: asking may take its time.
        settle(at: now)
        note(
            .callAnswering, call.uuid, .notice, "answered after \((now - call.began).shortText)",
            [.init("rang_ms", .number((now - call.began).nanoseconds / 1_000_000))])
        if let call = self[call.uuid] { out.append(.performAnswer(action, call)) }
    }

    /// Local at once, whatever the app or the network does (N12); the app is told and nobody waits.
    private mutating func endByUser(_ call: Call, _ reason: EndReason, at now: Instant) {
        end(call.uuid, reason, at: now)
        let action = open(call.uuid, isAnswer: false, at: now)
        out.append(.performEnd(action, call, reason))
    }

    private mutating func silence(_ call: Call, because: String) {
        guard call.state != .ringing(.silent) else { return }
        update(call.uuid) { $0.state = .ringing(.silent) }
        note(.callSilenced, call.uuid, .info, "\(because): it can still be answered until its time is over")
    }

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
        update(call.uuid) { $0.isShown = false }
        out.append(.withdraw(call.uuid))
    }

    mutating func fulfilled(_ id: ActionID, tracks: Bool, at now: Instant) {
        guard let action = openActions.removeValue(forKey: id), action.isAnswer else { return }
        if tracks {
            update(action.call) {
                $0.state = .active
                $0.connected = now
            }
            note(.callActive, action.call, .notice, "connected")
            out.append(.audio(action.call, isOn: true))
            if let call = self[action.call] { out.append(.record(call)) }
        } else {
            end(action.call, .handedOver, at: now)
        }
    }

    mutating func failed(_ id: ActionID, at now: Instant) {
        guard let action = openActions.removeValue(forKey: id), action.isAnswer else { return }
        end(action.call, .failed(.answer), at: now)
    }

    mutating func clientGone(_ app: String, at now: Instant) {
        // A ringing call does not need its app (transition 32); one that is connected does (67).
        for call in calls where call.invite.app == app {
            switch call.state {
            case .active: end(call.uuid, .failed(.clientGone), at: now)
            case .ringing, .answering, .ended: break
            }
        }
    }

    // MARK: Time

    /// Everything that is due by `now`.
    mutating func expire(at now: Instant) {
        for (id, action) in openActions.sorted(by: { $0.key.number < $1.key.number }) where action.deadline <= now {
            openActions[id] = nil
            if action.isAnswer { end(action.call, .failed(.timeout), at: now) }
        }
        for call in calls where call.state.isRinging && call.deadline <= now { end(call.uuid, .unanswered, at: now) }
        for call in calls {
            guard let due = call.nextRaise, due <= now else { continue }
            let next = policy.raiseInterval.map { now + $0 }
            update(call.uuid) { $0.nextRaise = next }
            out.append(.raise(call.uuid))
        }
    }
}
