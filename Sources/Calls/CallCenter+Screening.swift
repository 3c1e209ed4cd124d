import Base

/// Whether a new call may ring, before anything is heard (callkit.md 2.9, 5.4 transitions 8–15, 5.6).
extension CallCenter {
    enum Verdict {
        case ring
        /// `isSeen`: with a banner.
        case silent(isSeen: Bool, why: String)
        case refuse(EndReason)
        /// The app shows it itself.
        case leaveToApp
    }

    func screen(_ call: Call, _ update: CallUpdate, at now: Instant) -> Verdict {
        // Nobody's name is written as no handle at all: `anonymous` matches it.
        let spellings = HandlePattern.spellings(call.invite.caller.handle?.value ?? "", in: policy.region)
        func isOn(_ list: [HandlePattern]) -> Bool {
            list.contains { pattern in spellings.contains { pattern.matches(normalised: $0) } }
        }
        let screening = policy.screening
        let isVIP = isOn(screening.vip)
        if !isVIP && isOn(screening.blocked) { return .refuse(.filtered(.blockList)) }
        let mayPass = isVIP || isRepeated(call, at: now)
        if isDisturbanceForbidden && !mayPass {
            switch screening.whenDisturbing {
            case .ring: break
            case .silent: return .silent(isSeen: true, why: "do not disturb")
            case .refuse: return .refuse(.filtered(.doNotDisturb))
            }
        }
        let isKnown = isOn(screening.known) || call.invite.caller.handle.map { acquaintances.contains($0) } ?? false
        if !isKnown && !mayPass {
            switch screening.unknownCallers {
            case .ring: break
            case .silent: return .silent(isSeen: true, why: "unknown caller")
            case .refuse: return .refuse(.filtered(.unknownCaller))
            }
        }
        if update.isSilent == true { return .silent(isSeen: false, why: "its conversation is muted") }
        let app = apps[call.app]
        if let app, app.provider != nil {
            let isFull = groups(of: call.app) >= maximumGroups(of: call.app)
            if isFull || app.rules.isBusyWhenTaken && isTaken { return .refuse(.busy) }
            if app.provider?.isForegroundHandled == true, app.isForeground, app.isAttached { return .leaveToApp }
        }
        return .ring
    }

    /// Somebody who calls again so soon means it.
    private func isRepeated(_ call: Call, at now: Instant) -> Bool {
        guard let time = policy.screening.repeatTime, let handle = call.invite.caller.handle,
            let last = acquaintances.lastScreened(handle)
        else { return false }
        return now - last <= time
    }

    // MARK: Calls that cross

    /// We dial the very caller (transition 56), or are still connected with a caller who has lost us (re-call).
    /// True: the new call is settled by that.
    mutating func cross(_ call: Call, at now: Instant) -> PushOutcome? {
        guard let handle = call.invite.caller.handle, let rules = apps[call.app]?.rules else { return nil }
        let same = calls.filter {
            $0.app == call.app && $0.uuid != call.uuid
                && $0.invite.caller.handle.map { $0.isSame(as: handle, in: policy.region) } ?? false
        }
        if rules.recalls, let lost = same.first(where: { $0.state.isConnected }) {
            note(.callIgnored, lost.uuid, .info, "the other side calls anew: this one is over")
            end(lost.uuid, .remoteEnded, at: now)
        }
        let isDialled: (Call) -> Bool = {
            switch $0.state {
            case .deferred, .requested, .dialing: $0.isOutgoing
            default: false
            }
        }
        guard rules.glare != .wait, let ours = same.first(where: isDialled) else { return nil }
        let theirsWins =
            switch (rules.glare, ours.state) {
            case (.lesserID, .dialing): call.invite.callKey.folded < ours.invite.callKey.folded
            default: true
            }
        note(
            .callIgnored, call.uuid, .info,
            "both sides called at once: \(theirsWins ? "theirs is taken" : "ours goes on")",
            [.init("other", .text("\(ours.uuid)"))])
        guard theirsWins else {
            // A repeat of it does not ring later on.
            bury(call, at: now)
            return .crossed(call.uuid)
        }
        end(ours.uuid, .remoteEnded, at: now)
        calls.append(call)
        out.append(.record(call))
        accept(call, holdsOthers: true, at: now)
        return .crossed(call.uuid)
    }
}
