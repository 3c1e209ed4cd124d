package import Base

/// A push that an app was given and has not completed.
struct OpenPush: Sendable {
    let app: String
    let deadline: Instant
    let mustReport: Bool
    var isReported = false
}

/// Apps that come, go, log in and fail (callkit.md 2.7, 5.4 transitions 32, 33, 38, 41, 66, 67, 69).
extension CallCenter {
    /// Pushes kept for an app that is being started.
    static let mostUndelivered = 16

    /// What is known of an app's duties: failures within the last day, and whether they cost it its pushes.
    package func standing(of app: String) -> (strikes: Int, isSuspended: Bool) {
        (apps[app]?.strikes.count ?? 0, apps[app]?.isSuspended ?? false)
    }

    /// When it failed its duties, oldest first: no more of them than cost an app its pushes.
    package func strikes(of app: String) -> [Instant] { apps[app]?.strikes ?? [] }

    package func provider(of app: String) -> ProviderConfiguration? { apps[app]?.provider }

    package func isAttached(_ app: String) -> Bool { apps[app]?.isAttached ?? false }

    package func session(of app: String) -> Session { apps[app]?.session ?? .down }

    /// A push waits for its app to start.
    package func keeps(_ id: PushID, for app: String) -> Bool {
        apps[app]?.undelivered.contains { $0.id == id } ?? false
    }

    mutating func happened(_ what: CallEvent.AppEvent, to app: String, at now: Instant) {
        switch what {
        case .provider(let provider?): apps[app, default: AppState()].provider = provider
        case .provider(nil): leave(app)
        case .rules(let rules):
            if rules != AppRules() || apps[app] != nil { apps[app, default: AppState()].rules = rules }
        case .attached: attached(app, at: now)
        case .gone: gone(app, at: now)
        case .wakeFailed: wakeFailed(app, at: now)
        case .session(let session): set(session, of: app, at: now)
        case .foreground(let isForeground): apps[app]?.isForeground = isForeground
        case .account(let account): apps[app, default: AppState()].account = account
        case .invalidated: void(app, .failed(.reset), at: now)
        case .unbound:
            void(app, .failed(.unbound), at: now)
            dropUndelivered(app)
            apps[app]?.account = ""
        case .suspended(let isSuspended):
            apps[app]?.isSuspended = isSuspended
            if !isSuspended { apps[app]?.strikes = [] }
        }
    }

    /// It takes calls no longer. One that is on goes on as it was, and can be ended.
    private mutating func leave(_ app: String) {
        guard apps[app] != nil else { return }
        apps[app]?.provider = nil
        apps[app]?.unsaid = []
        dropUndelivered(app)
        guard !calls.contains(where: { $0.app == app }) else { return }
        apps[app]?.isAttached = false
        apps[app]?.isForeground = false
        apps[app]?.wakeUntil = nil
        apps[app]?.session = .up
        // If nothing else is known of it: there may be thousands in the life of a daemon.
        if let state = apps[app], state.rules == AppRules(), state.account.isEmpty, state.strikes.isEmpty,
            !state.isSuspended
        {
            apps[app] = nil
        }
    }

    // MARK: Presence

    mutating func wake(_ app: String, at now: Instant) {
        guard let state = apps[app], state.provider != nil, !state.isAttached else { return }
        if let until = state.wakeUntil, until > now { return }
        apps[app]?.wakeUntil = now + policy.attachTimeout
        out.append(.wake(app: app))
    }

    private mutating func attached(_ app: String, at now: Instant) {
        guard var state = apps[app], state.provider != nil else { return }
        // Started by the user and not by us: a new chance (callkit.md 5.6).
        if state.isSuspended, !state.isAttached, state.wakeUntil.map({ $0 <= now }) ?? true {
            state.isSuspended = false
            state.strikes = []
            out.append(.strike(app: app, count: 0, isSuspended: false))
        }
        state.wakeUntil = nil
        state.restsUntil = nil
        state.isAttached = true
        let waiting = state.undelivered
        state.undelivered = []
        apps[app] = state
        for kept in waiting { give(kept, to: app, at: now) }
        sayUnsaid(app, at: now)
    }

    private mutating func gone(_ app: String, at now: Instant) {
        guard apps[app]?.isAttached == true else { return }
        apps[app]?.isAttached = false
        apps[app]?.isForeground = false
        apps[app]?.session = .up
        for (id, push) in openPushes.sorted(by: { $0.key < $1.key }) where push.app == app {
            openPushes[id] = nil
            judge(push, isLate: false, at: now)
        }
        // Ends that it was being told of when it went: once more when it is back.
        let unheard = openActions.filter { $0.value.isGoodbye && $0.value.call.app == app }.sorted { $0.key < $1.key }
        dropActions(ofApp: app)
        for (_, action) in unheard {
            if case .end(let reason) = action.kind { keepUnsaid(action.call, reason) }
        }
        for call in calls where call.app == app {
            switch call.state {
            case .ringing:
                // A ringing call does not need its app (transition 32).
                guard call.isPresentedByApp else { continue }
                present(call, at: now)
            case .deferred: update(call.uuid) { $0.timers[.attach] = nil }
            case .answering, .connecting, .requested, .dialing, .active, .held, .ending:
                end(call.uuid, .failed(.clientGone), isTold: true, at: now)
            case .ended: break
            }
        }
    }

    /// Its app does not show it after all (transition 12).
    mutating func present(_ call: Call, at now: Instant) {
        let loudness = entryLoudness(besides: call.uuid)
        update(call.uuid) {
            $0.isPresentedByApp = false
            $0.timers[.presented] = nil
            $0.state = .ringing(loudness)
        }
        note(.callRinging, call.uuid, .notice, "its app does not show it: ringing here")
    }

    private mutating func wakeFailed(_ app: String, at now: Instant) {
        guard apps[app]?.isAttached == false else { return }
        apps[app]?.wakeUntil = nil
        apps[app]?.restsUntil = now + policy.attachTimeout
        apps[app]?.unsaid = []
        dropUndelivered(app)
        for call in calls where call.app == app && call.state == .deferred {
            end(call.uuid, .failed(.clientUnavailable), isTold: true, at: now)
        }
    }

    private mutating func set(_ session: Session, of app: String, at now: Instant) {
        guard let old = apps[app]?.session, old != session else { return }
        apps[app]?.session = session
        let grace = now + policy.graceTime
        for call in calls where call.app == app {
            switch (call.state, session) {
            case (.deferred, .failed): end(call.uuid, .failed(.login), at: now)
            case (.answering, .down), (.answering, .failed), (.connecting, .down), (.connecting, .failed):
                update(call.uuid) { $0.timers[.grace] = grace }
            case (_, .up): update(call.uuid) { $0.timers[.grace] = nil }
            default: break
            }
        }
        if session == .up { sayUnsaid(app, at: now) }
    }

    /// Every call of the app's is over, whoever wanted it.
    private mutating func void(_ app: String, _ reason: EndReason, at now: Instant) {
        dropActions(ofApp: app)
        for call in calls where call.app == app {
            end(call.uuid, reason, isTold: call.state.isEnding, at: now)
        }
        transactions.removeAll { $0.app == app }
        stopInsisting { $0.app == app }
        apps[app]?.unsaid = []
    }

    // MARK: Ends that are told later

    /// The user ended a call that does not wait for its app. An app that is not there is started and told (I-37).
    mutating func sayGoodbye(_ call: Call, _ reason: EndReason, at now: Instant) {
        guard let app = apps[call.app], app.provider != nil else {
            out.append(.sayEnded(call, reason))
            return
        }
        guard app.isAttached, app.session == .up else {
            keepUnsaid(call, reason)
            return wake(call.app, at: now)
        }
        perform(.end(reason), on: call, isGoodbye: true, at: now)
    }

    private mutating func keepUnsaid(_ call: Call, _ reason: EndReason) {
        guard let count = apps[call.app]?.unsaid.count, count < Self.mostUndelivered else { return }
        apps[call.app]?.unsaid.append((call, reason))
    }

    private mutating func sayUnsaid(_ app: String, at now: Instant) {
        guard let state = apps[app], state.isAttached, state.session == .up, !state.unsaid.isEmpty else { return }
        apps[app]?.unsaid = []
        for (call, reason) in state.unsaid { perform(.end(reason), on: call, isGoodbye: true, at: now) }
    }

    // MARK: Pushes

    /// Gives the push to its app, or keeps it until that has started.
    mutating func keep(_ id: PushID, for app: String, call: CallUUID?, mustReport: Bool, at now: Instant) {
        let kept = KeptPush(id: id, call: call, mustReport: mustReport)
        guard apps[app]?.isAttached == true else {
            if let until = apps[app]?.restsUntil, until > now { return out.append(.drop(id)) }
            apps[app]?.undelivered.append(kept)
            if let count = apps[app]?.undelivered.count, count > Self.mostUndelivered,
                let oldest = apps[app]?.undelivered.removeFirst()
            {
                out.append(.drop(oldest.id))
            }
            return wake(app, at: now)
        }
        give(kept, to: app, at: now)
    }

    private mutating func give(_ kept: KeptPush, to app: String, at now: Instant) {
        openPushes[kept.id] = OpenPush(app: app, deadline: now + policy.pushTimeout, mustReport: kept.mustReport)
        out.append(.deliver(kept.id, app: app, call: kept.call, mustReport: kept.mustReport))
    }

    private mutating func dropUndelivered(_ app: String) {
        for kept in apps[app]?.undelivered ?? [] { out.append(.drop(kept.id)) }
        apps[app]?.undelivered = []
    }

    mutating func delivered(_ id: PushID, at now: Instant) {
        guard let push = openPushes.removeValue(forKey: id) else { return }
        judge(push, isLate: false, at: now)
    }

    /// The app reports a call: its oldest push that waits for that is answered.
    mutating func pushReported(by app: String) {
        guard
            let id = openPushes.filter({ $0.value.app == app && $0.value.mustReport && !$0.value.isReported }).keys
                .min()
        else { return }
        openPushes[id]?.isReported = true
    }

    /// A strike for a push that led to no call or was never completed (callkit.md 5.6).
    mutating func judge(_ push: OpenPush, isLate: Bool, at now: Instant) {
        // What it owes beside that costs it nothing more.
        guard push.mustReport, isLate || !push.isReported, var state = apps[push.app], !state.isSuspended else {
            return
        }
        state.strikes.removeAll { now - $0 > .seconds(86_400) }
        state.strikes.append(now)
        state.isSuspended = state.strikes.count >= policy.mostStrikes
        apps[push.app] = state
        out.append(.strike(app: push.app, count: state.strikes.count, isSuspended: state.isSuspended))
    }
}
