import Base

/// Actions one after the other: CXTransaction (callkit.md 2.4).
struct Transaction: Sendable {
    enum Step: Sendable {
        case request(CallRequest)
        /// Makes room for a call that goes on.
        case hold(CallUUID, for: CallUUID)
    }

    enum Wait: Sendable, Equatable {
        case action(ActionID)
        /// Until it has been answered or dialled, or is over.
        case call(CallUUID)
    }

    let app: String?
    var steps: [Step]
    var wait: Wait?
}

/// Requests of apps and users: CXCallController.request (callkit.md 5.4, transitions 36–37, 48–50, 57–63, 72).
extension CallCenter {
    private static let mostSteps = 16
    private static let mostTransactions = 64

    /// Accepts the transaction, or says why not; then nothing of it happens. `app` nil: the user, for any call.
    mutating func request(_ steps: [CallRequest], by app: String?, at now: Instant) -> CallError? {
        guard !steps.isEmpty else { return .request(.emptyTransaction) }
        guard steps.count <= Self.mostSteps else { return .request(.invalidAction) }
        // One app that floods has no more than its share.
        guard transactions.count(where: { $0.app == app }) < Self.mostTransactions else { return .request(.unknown) }
        var plan = Plan()
        for step in steps {
            if let refusal = refusal(of: step, by: app, &plan, at: now) { return refusal }
        }
        transactions.append(Transaction(app: app, steps: steps.map { .request($0) }))
        return nil
    }

    /// What earlier steps of a transaction change, as far as later ones depend on it.
    private struct Plan {
        var ended: Set<CallUUID> = []
        var held: Set<CallUUID> = []
        var started: CallUUID?
    }

    private func refusal(
        of step: CallRequest, by app: String?, _ plan: inout Plan, at now: Instant
    ) -> CallError? {
        if case .start(let invite) = step { return refusal(toStart: invite, by: app, &plan, at: now) }
        guard let call = self[step.call], app == nil || call.app == app else {
            // A call that this transaction starts may be spoken of by its later steps.
            return plan.started == step.call ? nil : .request(.unknownCallUUID)
        }
        let invalid = CallError.request(.invalidAction)
        switch step {
        case .start: return nil
        case .answer: return call.isOutgoing || call.state.isHeld || call.state.isEnding ? invalid : nil
        case .end:
            plan.ended.insert(call.uuid)
            return nil
        case .setHeld(_, let isHeld):
            guard call.state.isConnected else { return invalid }
            if isHeld { plan.held.insert(call.uuid) }
            return !isHeld || call.state.isHeld || call.features.holding && isProvided(call.app) ? nil : invalid
        case .setMuted: return call.state.isConnected || call.state.takesTheUser ? nil : invalid
        case .setGroup(_, nil): return refusalToLeave(call)
        case .setGroup(_, let other?):
            guard let target = self[other], app == nil || target.app == app else { return .request(.unknownCallUUID) }
            return refusalToGroup(call, with: target)
        case .playDTMF(_, let digits, _):
            guard call.state == .active, call.features.dtmf, Self.isDTMF(digits) else { return invalid }
            return nil
        }
    }

    private func refusal(
        toStart invite: Invite, by app: String?, _ plan: inout Plan, at now: Instant
    ) -> CallError? {
        guard app == nil || invite.app == app else { return .request(.unentitled) }
        guard let provider = apps[invite.app]?.provider else { return .request(.unknownCallProvider) }
        guard !isUsed(invite, at: now), plan.started != invite.uuid else {
            return .request(.callUUIDAlreadyExists)
        }
        guard let handle = invite.caller.handle, !handle.value.isEmpty,
            provider.supportedHandleTypes.isEmpty || provider.supportedHandleTypes.contains(handle.kind)
        else { return .request(.invalidAction) }
        let others = calls.filter {
            $0.state.takesTheUser && !plan.ended.contains($0.uuid) && !plan.held.contains($0.uuid)
        }
        // Two cannot be dialled in one go: neither can be held before it is connected.
        guard plan.started == nil, groups(of: invite.app, besides: plan.ended) < provider.maximumCallGroups,
            others.allSatisfy({ canHold($0) }), calls.count < policy.mostCallsOfAll
        else { return .request(.maximumCallGroupsReached) }
        plan.started = invite.uuid
        return nil
    }

    /// A call that is live, or over: its row is written.
    private func isUsed(_ invite: Invite, at now: Instant) -> Bool {
        live(invite) != nil || tombstones[invite.callKey, at: now] != nil
    }

    /// RFC 4733's telephone events 0–15, and CallKit's pauses: comma and semicolon.
    static func isDTMF(_ digits: String) -> Bool {
        (1...64).contains(digits.utf8.count) && digits.utf8.allSatisfy { "0123456789*#ABCDabcd,;".utf8.contains($0) }
    }

    // MARK: Going on

    /// Everything that waits for something that has come about.
    mutating func advance(at now: Instant) {
        // Each round opens an action, ends a call or takes a step, of which there is a bounded number.
        for _ in 0..<256 {
            let before = (lastAction, calls.count, transactions.reduce(0) { $0 + $1.steps.count + 1 })
            for call in calls where call.state == .deferred && call.waitsFor.isEmpty { askForAnswer(call, at: now) }
            advanceTransactions(at: now)
            resumeHeld(at: now)
            if before == (lastAction, calls.count, transactions.reduce(0) { $0 + $1.steps.count + 1 }) { return }
        }
    }

    /// Everyone has made room: the app can be asked, once it is there (transitions 34, 35, 38, 50).
    private mutating func askForAnswer(_ call: Call, at now: Instant) {
        guard let app = apps[call.app], let provider = app.provider else { return handOver(call, at: now) }
        guard app.isAttached, app.session == .up else {
            guard app.session != .failed else { return end(call.uuid, .failed(.login), at: now) }
            if call.timers[.attach] == nil {
                let due = now + policy.attachTimeout
                update(call.uuid) { $0.timers[.attach] = due }
                note(
                    .callDeferred, call.uuid, .info,
                    app.isAttached ? "waits for the app's log-in" : "waits for the app to start")
                record(call.uuid)
                wake(call.app, at: now)
            }
            return
        }
        guard call.isOutgoing || call.isConfirmed || !provider.hasSignalling else {
            if call.timers[.invite] == nil {
                let due = now + policy.inviteTimeout
                update(call.uuid) { $0.timers[.invite] = due }
            }
            return
        }
        update(call.uuid) {
            $0.timers[.attach] = nil
            $0.timers[.invite] = nil
        }
        perform(call.isOutgoing ? .start : .answer, on: self[call.uuid] ?? call, at: now)
        record(call.uuid)
    }

    private mutating func advanceTransactions(at now: Instant) {
        var index = 0
        while index < transactions.count {
            if case .call(let uuid)? = transactions[index].wait, let isThrough = isThrough(uuid) {
                transactions[index].wait = nil
                if !isThrough { transactions[index].steps = [] }
            }
            guard transactions[index].wait == nil else {
                index += 1
                continue
            }
            guard let step = transactions[index].steps.first else {
                transactions.remove(at: index)
                continue
            }
            // Another action of its kind is still open: tones come one after the other.
            guard !isBusy(step) else {
                index += 1
                continue
            }
            transactions[index].steps.removeFirst()
            switch run(step, at: now) {
            case .wait(let wait): transactions[index].wait = wait
            case .next: break
            case .first(let others): transactions[index].steps.insert(contentsOf: others + [step], at: 0)
            case .stop: transactions[index].steps = []
            }
        }
    }

    /// It was answered, by being handed over: transactions that wait for it go on.
    mutating func goOn(after uuid: CallUUID) {
        for index in transactions.indices where transactions[index].wait == .call(uuid) {
            transactions[index].wait = nil
        }
    }

    /// Whether an answer or a start has come about; nil while that is open.
    private func isThrough(_ uuid: CallUUID) -> Bool? {
        switch self[uuid]?.state {
        case .deferred, .answering, .connecting, .requested: nil
        case .dialing, .active, .held: true
        case nil, .ringing, .ending, .ended: false
        }
    }

    private func isBusy(_ step: Transaction.Step) -> Bool {
        switch step {
        case .hold(let call, _), .request(.setHeld(let call, _)): openAction(of: call, in: .hold) != nil
        case .request(.setMuted(let call, _)): openAction(of: call, in: .mute) != nil
        case .request(.setGroup(let call, _)): openAction(of: call, in: .group) != nil
        case .request(.playDTMF(let call, _, _)): openAction(of: call, in: .dtmf) != nil
        case .request(.start), .request(.answer), .request(.end): false
        }
    }

    private enum Progress {
        case wait(Transaction.Wait)
        case next
        /// These come before it.
        case first([Transaction.Step])
        /// The world has changed since it was accepted: the rest makes no sense.
        case stop
    }

    private mutating func run(_ step: Transaction.Step, at now: Instant) -> Progress {
        switch step {
        case .hold(let uuid, let next):
            guard let call = self[uuid], canHold(call) else { return self[uuid]?.state == .active ? .stop : .next }
            return .wait(.action(perform(.setHeld(true, .auto(next)), on: call, at: now)))
        case .request(let request):
            if case .start(let invite) = request { return start(invite, at: now) }
            guard let call = self[request.call] else {
                // Ending what is over is done; anything else has nothing to go on.
                if case .end = request { return .next }
                return .stop
            }
            if call.state.isEnding, request != .end(call.uuid) { return .stop }
            return run(request, on: call, at: now)
        }
    }

    private mutating func run(_ request: CallRequest, on call: Call, at now: Instant) -> Progress {
        switch request {
        case .start: return .stop
        case .answer:
            if call.state.isRinging { accept(call, holdsOthers: false, at: now) }
            return .wait(.call(call.uuid))
        case .end:
            let reason = call.state.isRinging ? EndReason.declined : endingReason(of: call)
            return endByUser(call, reason, at: now).map { .wait(.action($0)) } ?? .next
        case .setHeld(_, true):
            if call.state.isHeld {
                // Held by another call so far; from now on the user's own wish.
                update(call.uuid) { $0.state = .held(.user) }
                return .next
            }
            guard call.state == .active, apps[call.app]?.isAttached == true else { return .stop }
            return .wait(.action(perform(.setHeld(true, .user), on: call, at: now)))
        case .setHeld(_, false):
            if call.state == .active { return .next }
            guard call.state.isHeld, apps[call.app]?.isAttached == true else { return .stop }
            // Swap: the other one first, never a conference by accident (transition 58).
            let others = calls.filter {
                $0.uuid != call.uuid && $0.state.takesTheUser && (call.group == nil || $0.group != call.group)
            }
            guard others.allSatisfy({ canHold($0) }) else { return .stop }
            guard others.isEmpty else { return .first(others.map { .hold($0.uuid, for: call.uuid) }) }
            return .wait(.action(perform(.setHeld(false, .user), on: call, at: now)))
        case .setMuted(_, let isMuted):
            // What is so already needs no echo (callkit.md 2.10).
            guard call.isMuted != isMuted else { return .next }
            guard apps[call.app]?.isAttached == true else { return .stop }
            return .wait(.action(perform(.setMuted(isMuted), on: call, at: now)))
        case .setGroup(_, let other):
            guard apps[call.app]?.isAttached == true else { return .stop }
            if let other {
                guard let target = self[other], refusalToGroup(call, with: target) == nil else { return .stop }
            } else {
                guard call.group != nil else { return .next }
                guard refusalToLeave(call) == nil else { return .stop }
            }
            return .wait(.action(perform(.setGroup(other), on: call, at: now)))
        case .playDTMF(_, let digits, let kind):
            guard call.state == .active, apps[call.app]?.isAttached == true else { return .stop }
            return .wait(.action(perform(.playDTMF(digits, kind), on: call, at: now)))
        }
    }

    /// Dials (transition 50). A call that is on is held first.
    private mutating func start(_ invite: Invite, at now: Instant) -> Progress {
        let others = calls.filter { $0.state.takesTheUser }
        guard !isUsed(invite, at: now), let app = apps[invite.app], app.provider != nil,
            groups(of: invite.app) < maximumGroups(of: invite.app), others.allSatisfy({ canHold($0) })
        else { return .stop }
        var call = Call(invite: invite, state: .deferred, isOutgoing: true, began: now, deadline: now)
        call.account = app.account
        call.isConfirmed = true
        calls.append(call)
        if let handle = invite.caller.handle { acquaintances.add(handle) }
        note(
            .callRequested, call.uuid, .notice, "to be dialled",
            [.init("app", .text(invite.app)), .init("handle", .text(invite.caller.handle?.value ?? ""))])
        out.append(.record(call))
        makeRoom(for: call.uuid, holding: true, at: now)
        return .wait(.call(call.uuid))
    }
}
