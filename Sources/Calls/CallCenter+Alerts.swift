import Base

/// Sound, vibration and banners as functions of the calls' states.
extension CallCenter {
    /// How a call starts to ring beside the others (transitions 13–15).
    func entryLoudness(besides uuid: CallUUID) -> CallState.Loudness {
        var another = false
        for call in calls where call.uuid != uuid {
            switch call.state {
            case .ringing(.loud), .ringing(.soft), .ringing(.queued): another = true
            case .answering, .active: break
            case .ringing(.silent), .ended: break
            }
        }
        if another { return .queued }
        return isTaken ? .soft : .loud
    }

    /// Some call is being answered or active: others only wait.
    private var isTaken: Bool {
        calls.contains { call in
            switch call.state {
            case .answering, .active: true
            case .ringing, .ended: false
            }
        }
    }

    /// Promotes and demotes, then tells the edges whatever changed.
    mutating func settle(at now: Instant) {
        settleRing(at: now)
        for call in calls {
            let wanted: Bool
            switch call.state {
            case .ringing(.loud), .ringing(.soft): wanted = true
            case .ringing(.silent): wanted = call.isShown && policy.keepsBannerWhenSilenced
            case .ringing(.queued), .answering, .active, .ended: wanted = false
            }
            if wanted && !call.isShown {
                let next = policy.raiseInterval.map { now + $0 }
                update(call.uuid) {
                    $0.isShown = true
                    $0.nextRaise = next
                }
                if let call = self[call.uuid] { out.append(.show(call, isWaiting: call.state == .ringing(.soft))) }
            } else if !wanted && call.isShown {
                update(call.uuid) {
                    $0.isShown = false
                    $0.nextRaise = nil
                }
                out.append(.withdraw(call.uuid))
            } else if call.state == .ringing(.silent) {
                update(call.uuid) { $0.nextRaise = nil }
            }
        }
    }

    /// Loudness of every waiting call, then the one sound and the one vibration.
    mutating func settleRing(at now: Instant) {
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
            } else if let call = self[call.uuid], call.isShown {
                out.append(.show(call, isWaiting: wanted == .soft))
            }
        }
        let wish = front.flatMap { self[$0] }.map { call in
            RingWish(
                call: call.uuid, app: call.invite.app, sound: call.invite.sound,
                isSoft: call.state == .ringing(.soft))
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
