package import Base

/// A request to an app that has not been completed: CXAction (callkit.md 2.4).
struct OpenAction: Sendable {
    var call: Call
    var kind: ActionKind
    var deadline: Instant
    /// The app is making its audio ready; the action itself has not been sent.
    var isConfiguring = false
    /// A link or a program has the call: nobody will speak of it again.
    var isHandover = false
    /// The call is over already; the app is only told.
    var isGoodbye = false
    /// Done here already, because two connected calls must not be.
    var isForced = false
}

/// Actions: opened once, completed once (N3).
extension CallCenter {
    /// Whether this action of this app's is open.
    package func isOpen(_ id: ActionID, of app: String) -> Bool {
        openActions[id].map { $0.call.app == app && !$0.isConfiguring } ?? false
    }

    /// CXProvider.pendingTransactions: what an app has not completed.
    package func pendingActions(of app: String) -> [(id: ActionID, call: CallUUID, kind: ActionKind, by: Instant)] {
        openActions.filter { $0.value.call.app == app && !$0.value.isConfiguring }.sorted { $0.key < $1.key }
            .map { ($0.key, $0.value.call.uuid, $0.value.kind, $0.value.deadline) }
    }

    /// Opens an action and asks the app. For an answer or a start the call's state names it before the app is asked.
    @discardableResult
    mutating func perform(
        _ kind: ActionKind, on call: Call, isGoodbye: Bool = false, isForced: Bool = false, at now: Instant
    ) -> ActionID {
        lastAction += 1
        let id = ActionID(lastAction)
        var action = OpenAction(
            call: call, kind: kind, deadline: now + policy.actionTimeout, isGoodbye: isGoodbye, isForced: isForced)
        switch kind {
        case .answer: update(call.uuid) { $0.state = .answering(id) }
        case .start: update(call.uuid) { $0.state = .requested(id) }
        default: break
        }
        action.call = self[call.uuid] ?? call
        let startsAudio =
            [.answer, .start].contains(kind) || { if case .setHeld(false, _) = kind { true } else { false } }()
        if startsAudio, apps[call.app]?.provider?.configuresAudio == true {
            action.isConfiguring = true
            out.append(.configureAudio(id, action.call))
        } else {
            out.append(.perform(id, action.call, kind, by: action.deadline))
        }
        openActions[id] = action
        return id
    }

    mutating func handOver(_ call: Call, at now: Instant) {
        lastAction += 1
        let id = ActionID(lastAction)
        update(call.uuid) { $0.state = .answering(id) }
        let asked = self[call.uuid] ?? call
        openActions[id] = OpenAction(
            call: asked, kind: .answer, deadline: now + policy.actionTimeout, isHandover: true)
        out.append(.handOver(id, asked))
    }

    mutating func configured(_ id: ActionID, _ isReady: Bool, at now: Instant) {
        guard var action = openActions[id], action.isConfiguring else { return }
        action.isConfiguring = false
        openActions[id] = action
        guard isReady else { return failed(id, .unconfigured, at: now) }
        out.append(.perform(id, action.call, action.kind, by: action.deadline))
    }

    mutating func handedOver(_ id: ActionID, at now: Instant) {
        guard let action = openActions[id], action.isHandover else { return }
        close(id, isDone: true)
        end(action.call.uuid, .handedOver, isTold: true, at: now)
    }

    // MARK: Completion

    mutating func fulfilled(_ id: ActionID, stated: Instant?, isConnecting: Bool, at now: Instant) {
        guard let action = openActions[id], !action.isConfiguring, !action.isHandover else { return }
        close(id, isDone: true)
        guard !action.isGoodbye, let call = self[action.call.uuid] else { return }
        switch action.kind {
        case .start:
            guard call.state == .requested(id) else { return }
            dial(call.uuid, stated: stated, at: now)
        case .answer:
            guard call.state == .answering(id) else { return }
            guard isConnecting else { return connect(call.uuid, stated: stated, at: now) }
            let due = now + policy.connectTimeout
            update(call.uuid) {
                $0.state = .connecting
                $0.timers[.connect] = due
            }
            note(.callConnecting, call.uuid, .info, "the app took the answer and is connecting")
            record(call.uuid)
        case .end(let reason): end(call.uuid, reason, stated: stated, isTold: true, at: now)
        case .setHeld(true, let holder):
            guard call.state == .active else { return }
            hold(call.uuid, by: holder)
        case .setHeld(false, _):
            guard call.state.isHeld else { return }
            if let other = rival(of: call) { return holdAgain(call, for: other, at: now) }
            goOn(call.uuid, at: now)
        case .setMuted(let isMuted):
            update(call.uuid) { $0.isMuted = isMuted }
            note(.callMuted, call.uuid, .info, isMuted ? "muted" : "unmuted", [.init("muted", .flag(isMuted))])
            record(call.uuid)
        case .setGroup(let other): regroup(call.uuid, with: other, at: now)
        case .playDTMF(let digits, _):
            note(.callDTMF, call.uuid, .info, "\(digits.utf8.count) tones sent")
        }
    }

    /// Why an action did not come about.
    enum Fault { case failed, late, unconfigured }

    mutating func failed(_ id: ActionID, _ fault: Fault, at now: Instant) {
        guard let action = openActions[id] else { return }
        if action.isConfiguring && fault == .failed { return }
        // Ended is ended, whatever the app makes of it (transition 68).
        close(id, isDone: action.kind.lane == .life)
        guard !action.isGoodbye, let call = self[action.call.uuid] else { return }
        note(
            .actionFailed, call.uuid, fault == .late ? .warning : .info,
            "\(action.kind.word) \(fault == .late ? "was not completed in time" : fault == .unconfigured ? "had no audio" : "failed")",
            [.init("action", .text(action.kind.word)), .init("late", .flag(fault == .late))])
        switch action.kind {
        case .start:
            guard call.state == .requested(id) || call.state == .dialing && fault == .failed else { return }
            end(call.uuid, .failed(reason(fault, .start)), isTold: fault == .failed, at: now)
        case .answer:
            guard call.state == .answering(id) else { return }
            end(call.uuid, .failed(reason(fault, .answer)), isTold: fault == .failed, at: now)
        case .end(let reason): end(call.uuid, reason, isTold: true, at: now)
        case .setHeld(true, _):
            if action.isForced {
                _ = endByUser(call, .local, at: now)
            } else {
                refuseRoom(waitingFor: id, at: now)
            }
        case .setHeld(false, _):
            // It is not tried again by itself.
            if call.state.isHeld { update(call.uuid) { $0.state = .held(.user) } }
        case .setMuted, .setGroup, .playDTMF: break
        }
    }

    private func reason(_ fault: Fault, _ own: EndReason.Failure) -> EndReason.Failure {
        switch fault {
        case .failed: own
        case .late: .timeout
        case .unconfigured: .audio
        }
    }

    /// An action is no longer open: who waited for it goes on, or not.
    mutating func close(_ id: ActionID, isDone: Bool) {
        openActions[id] = nil
        for index in transactions.indices where transactions[index].wait == .action(id) {
            transactions[index].wait = nil
            if !isDone { transactions[index].steps = [] }
        }
        // A hold that failed makes no room: `refuseRoom` looks for its id.
        guard isDone else { return }
        for index in calls.indices where !calls[index].waitsFor.isEmpty { calls[index].waitsFor.remove(id) }
    }

    /// The call is over: nothing that was asked for it counts any more.
    mutating func dropActions(of uuid: CallUUID) {
        for (id, action) in openActions where action.call.uuid == uuid && !action.isGoodbye {
            close(id, isDone: true)
        }
    }

    /// Everything of the app's is void.
    mutating func dropActions(ofApp app: String) {
        for (id, action) in openActions where action.call.app == app && !action.isHandover { close(id, isDone: true) }
    }
}
