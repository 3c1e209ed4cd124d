import Base

/// What an app says of its own calls: CXProvider's reports (callkit.md 2.1, 5.4 transitions 15, 20, 31, 51, 53, 54).
extension CallCenter {
    mutating func report(
        _ what: CallEvent.Report, of uuid: CallUUID, by app: String, at now: Instant
    ) -> CallError? {
        if case .newIncoming(let invite, let update) = what { return reportNew(invite, update, by: app, at: now) }
        guard let call = self[uuid], call.app == app else {
            if case .ended(let reason, _, _) = what,
                let over = lately.first(where: { $0.uuid == uuid && $0.app == app })
            {
                annotate(over.invite.callKey, reason, at: now)
            }
            return .request(.unknownCallUUID)
        }
        switch what {
        case .newIncoming: return nil
        case .updated(let update): change(call, update)
        case .ended(let reason, let stated, let detail):
            update(uuid) { $0.detail = detail }
            end(uuid, reason, stated: stated, isTold: true, at: now)
        case .startedConnecting(let stated):
            guard call.isOutgoing else { return .request(.invalidAction) }
            if case .requested = call.state { dial(uuid, stated: stated, at: now) }
        case .connected(let stated):
            switch call.state {
            case .requested, .dialing, .connecting: connect(uuid, stated: stated, at: now)
            case .active, .held: break
            case .ringing, .deferred, .answering, .ending, .ended: return .request(.invalidAction)
            }
        case .audioRuns:
            guard call.audio == .pending else { return nil }
            update(uuid) {
                $0.audio = .on
                $0.timers[.audio] = nil
            }
            note(.audioOn, uuid, .info, "audio runs")
            record(uuid)
        case .wantsAudio:
            guard call.state == .active else { return .request(.invalidAction) }
            activateAudio(uuid, at: now)
        case .presented:
            guard call.isPresentedByApp else { return .request(.invalidAction) }
            update(uuid) { $0.timers[.presented] = nil }
        }
        return nil
    }

    private mutating func change(_ call: Call, _ update: CallUpdate) {
        var changed = call
        guard changed.apply(update) else { return }
        self.update(call.uuid) { $0 = changed }
        note(.callUpdated, call.uuid, .info, "updated in place by its app")
        if call.isShown { show(call.uuid) }
        record(call.uuid)
    }

    private mutating func reportNew(
        _ invite: Invite, _ update: CallUpdate, by app: String, at now: Instant
    ) -> CallError? {
        pushReported(by: app)
        if let live = live(invite) {
            guard live.app == app, !live.isConfirmed || live.isRestored else {
                return .incoming(.callUUIDAlreadyExists)
            }
            // The push rang it; now its app's own connection knows it, too (transition 7).
            self.update(live.uuid) {
                $0.isConfirmed = true
                $0.isRestored = false
                $0.timers[.invite] = nil
                $0.timers[.hush] = nil
            }
            if let call = self[live.uuid] { change(call, update) }
            return nil
        }
        if let stone = tombstones[invite.callKey, at: now] {
            _ = overBefore(invite, stone, at: now)
            return .incoming(.callUUIDAlreadyExists)
        }
        switch take(invite, update, isConfirmed: true, at: now) {
        case .filtered(_, .blockList): return .incoming(.filteredByBlockList)
        case .filtered: return .incoming(.filteredByDoNotDisturb)
        case .busy, .crossed, .tooLate: return .incoming(.unknown)
        default: return nil
        }
    }
}
