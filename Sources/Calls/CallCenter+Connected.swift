import Base

/// Dialling, connecting, holding, conferences and audio (callkit.md 5.4, transitions 42–63).
extension CallCenter {
    /// An instant that an app states is no later than now and no earlier than the call.
    private func sane(_ stated: Instant?, _ call: Call, _ now: Instant) -> Instant {
        min(now, max(stated ?? now, call.began))
    }

    mutating func record(_ uuid: CallUUID) {
        if let call = self[uuid] { out.append(.record(call)) }
    }

    // MARK: Coming up

    mutating func dial(_ uuid: CallUUID, stated: Instant?, at now: Instant) {
        guard let call = self[uuid] else { return }
        let since = sane(stated, call, now)
        update(uuid) {
            $0.state = .dialing
            $0.startedConnecting = $0.startedConnecting ?? since
        }
        note(.callDialing, uuid, .notice, "dialling")
        record(uuid)
    }

    mutating func connect(_ uuid: CallUUID, stated: Instant?, at now: Instant) {
        guard let call = self[uuid] else { return }
        let since = sane(stated, call, now)
        for (id, action) in openActions where action.call.uuid == uuid && action.kind == .answer {
            close(id, isDone: true)
        }
        update(uuid) {
            $0.state = .active
            $0.connected = since
            $0.isConfirmed = true
            $0.timers = [:]
        }
        note(.callActive, uuid, .notice, "connected")
        yieldOthers(to: uuid, at: now)
        record(uuid)
        activateAudio(uuid, at: now)
    }

    /// From hold to active.
    mutating func goOn(_ uuid: CallUUID, at now: Instant) {
        update(uuid) { $0.state = .active }
        note(.callResumed, uuid, .info, "goes on")
        yieldOthers(to: uuid, at: now)
        record(uuid)
        activateAudio(uuid, at: now)
    }

    /// Another call, in no conference with this one, that the user is speaking or about to speak on.
    func rival(of call: Call) -> Call? {
        calls.first {
            $0.uuid != call.uuid && $0.state.takesTheUser && (call.group == nil || $0.group != call.group)
        }
    }

    /// The app let it go on, and the user has taken another one meanwhile: that is the later word.
    mutating func holdAgain(_ call: Call, for other: Call, at now: Instant) {
        let holder = CallState.Holder.auto(other.uuid)
        update(call.uuid) { $0.state = .held(holder) }
        perform(.setHeld(true, holder), on: self[call.uuid] ?? call, isForced: true, at: now)
        record(call.uuid)
    }

    mutating func hold(_ uuid: CallUUID, by holder: CallState.Holder) {
        stopAudio(uuid)
        update(uuid) { $0.state = .held(holder) }
        note(.callHeld, uuid, .info, holder == .user ? "on hold" : "on hold for another call")
        record(uuid)
    }

    /// N7: whatever came about at the same moment, only one call or conference goes on un-held.
    private mutating func yieldOthers(to uuid: CallUUID, at now: Instant) {
        guard let call = self[uuid] else { return }
        for other in calls where other.uuid != uuid && other.state == .active {
            if let group = call.group, other.group == group { continue }
            if canHold(other) {
                hold(other.uuid, by: .auto(uuid))
                perform(.setHeld(true, .auto(uuid)), on: self[other.uuid] ?? other, isForced: true, at: now)
            } else {
                _ = endByUser(other, .local, at: now)
            }
        }
    }

    /// Calls that another one put on hold go on when that one is gone (transition 60).
    mutating func resumeHeld(at now: Instant) {
        guard policy.resumesHeld, !calls.contains(where: { $0.state.isEnding }) else { return }
        for call in calls {
            guard case .held(.auto(let cause)) = call.state, self[cause]?.state.isRinging ?? true,
                rival(of: call) == nil
            else { continue }
            // One try is under way, or the app is not there to be asked.
            guard apps[call.app]?.isAttached == true, openAction(of: call.uuid, in: .hold) == nil else { continue }
            perform(.setHeld(false, .user), on: call, at: now)
            return
        }
    }

    func openAction(of uuid: CallUUID, in lane: ActionKind.Lane) -> ActionID? {
        openActions.first { $0.value.call.uuid == uuid && $0.value.kind.lane == lane && !$0.value.isGoodbye }?.key
    }

    // MARK: Audio

    /// Always told, and again whenever asked for: a lost activation is a silent call (callkit.md 2.8).
    mutating func activateAudio(_ uuid: CallUUID, at now: Instant) {
        let due = now + policy.audioTimeout
        update(uuid) {
            $0.audio = .pending
            $0.timers[.audio] = due
        }
        if let call = self[uuid] { out.append(.audio(call, isOn: true)) }
    }

    mutating func stopAudio(_ uuid: CallUUID) {
        guard let call = self[uuid], call.audio != .off else { return }
        update(uuid) {
            $0.audio = .off
            $0.timers[.audio] = nil
        }
        if let call = self[uuid] { out.append(.audio(call, isOn: false)) }
    }

    // MARK: Groups

    func maximumGroups(of app: String) -> Int { apps[app]?.provider?.maximumCallGroups ?? 1 }

    /// Independent calls of an app: conferences count once.
    func groups(of app: String, besides others: Set<CallUUID> = []) -> Int {
        var conferences: Set<UInt64> = []
        var single = 0
        for call in calls where call.app == app && !others.contains(call.uuid) && call.state.countsAsGroup {
            if let group = call.group { conferences.insert(group) } else { single += 1 }
        }
        return conferences.count + single
    }

    /// Another call would be more than the app can do at once.
    func isFull(_ app: String, besides uuid: CallUUID) -> Bool {
        groups(of: app, besides: [uuid]) >= maximumGroups(of: app)
    }

    /// Why it cannot leave its conference, and be one more call; nil if it can.
    func refusalToLeave(_ call: Call) -> CallError? {
        guard call.group != nil, call.features.ungrouping else { return .request(.invalidAction) }
        return groups(of: call.app) < maximumGroups(of: call.app) ? nil : .request(.maximumCallGroupsReached)
    }

    /// Why these two cannot be one conference; nil if they can.
    func refusalToGroup(_ call: Call, with other: Call) -> CallError? {
        guard call.uuid != other.uuid, call.app == other.app, call.state.isConnected, other.state.isConnected,
            call.features.grouping, other.features.grouping
        else { return .request(.invalidAction) }
        let size = other.group.map { group in calls.filter { $0.group == group }.count } ?? 1
        let most = apps[call.app]?.provider?.maximumCallsPerCallGroup ?? 1
        return size < most ? nil : .request(.maximumCallGroupsReached)
    }

    mutating func regroup(_ uuid: CallUUID, with other: CallUUID?, at now: Instant) {
        guard let call = self[uuid] else { return }
        guard let other else { return leaveGroup(call, at: now) }
        guard let target = self[other], refusalToGroup(call, with: target) == nil else { return }
        let old = call.group
        lastGroup += target.group == nil ? 1 : 0
        let group = target.group ?? lastGroup
        update(uuid) { $0.group = group }
        update(other) { $0.group = group }
        if old != group { dissolve(group: old) }
        note(.callGrouped, uuid, .info, "in one conference with \(other.short)", [.init("with", .text("\(other)"))])
        // A conference is heard as a whole.
        let wasOn = calls.contains { $0.group == group && $0.state == .active }
        for member in calls where member.group == group {
            if wasOn, member.state.isHeld {
                update(member.uuid) { $0.state = .active }
                activateAudio(member.uuid, at: now)
            }
            record(member.uuid)
        }
        // Whom it has left, if it came from another conference.
        if wasOn { yieldOthers(to: uuid, at: now) }
    }

    private mutating func leaveGroup(_ call: Call, at now: Instant) {
        guard let group = call.group else { return }
        update(call.uuid) { $0.group = nil }
        dissolve(group: group)
        note(.callGrouped, call.uuid, .info, "left the conference", [.init("with", .text(""))])
        if call.state == .active { yieldOthers(to: call.uuid, at: now) }
        record(call.uuid)
    }

    /// One call is no conference.
    mutating func dissolve(group: UInt64?) {
        guard let group else { return }
        let members = calls.filter { $0.group == group }
        guard members.count == 1 else { return }
        update(members[0].uuid) { $0.group = nil }
        record(members[0].uuid)
    }
}
