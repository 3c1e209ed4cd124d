package import Base
package import Calls

/// callkit.md 5.7, N1–N16, as properties of random event sequences: several calls at once, apps that come, go, log in,
/// lie and never reply, users who change their mind.
package struct Walk: Sendable {
    /// One step; a walk can be replayed from its steps.
    package enum Step: Sendable, CustomStringConvertible {
        case time(Duration)
        case event(CallEvent)
        /// The daemon ends and begins anew.
        case restart

        package var description: String {
            switch self {
            case .time(let duration): "time \(duration.shortText)"
            case .event(let event): "\(event)"
            case .restart: "restart"
            }
        }
    }

    /// A property that did not hold, and the fewest steps found that break one.
    package struct Broken: Sendable, CustomStringConvertible {
        package let seed: UInt64
        package let what: String
        package let steps: [Step]

        package var description: String {
            "seed \(seed): \(what)\n" + steps.map { "  \($0)" }.joined(separator: "\n")
        }
    }

    /// What a number of walks has reached.
    package struct Coverage: Sendable {
        package var states: Set<String> = []
        /// "ringing>answering": where a call stood before and after one step.
        package var transitions: Set<String> = []
        package var actions: Set<String> = []
        package var endings: Set<String> = []
        package var errors: Set<CallError> = []
        package var events = 0
        package var mostCalls = 0

        package init() {}
    }

    package let seed: UInt64
    private var random: Generator
    private var world: World
    private var steps: [Step] = []
    private var pushes: UInt64 = 1_000_000
    /// Actions that were completed: an app may do it again.
    private var completed: [ActionID] = []

    private var withdrawn: [String: ProviderConfiguration] = [:]

    private static let full = "com.example.full"
    private static let strict = "com.example.strict"
    private static let link = "com.example.link"
    private static let apps = [full, full, strict, link]
    private static let keys = ["a", "B", "c", "D", "e"]
    private static let handles = ["+4915112345", "+4930901820", "sip:bob@example.com", "anna@example.com"]

    private init(seed: UInt64) {
        self.seed = seed
        random = Generator(seed: seed)
        world = World(policy: Self.policy(&random))
        world.isForgetful = true
        var rules = AppRules()
        rules.isBusyWhenTaken = random.oneIn(5)
        rules.glare = random.one(of: [.wait, .wait, .lesserID, .accept])
        rules.recalls = random.oneIn(4)
        var full = ProviderConfiguration()
        full.maximumCallGroups = 1 + random.below(4)
        full.maximumCallsPerCallGroup = 1 + random.below(4)
        full.hasSignalling = random.oneIn(3)
        full.isForegroundHandled = random.oneIn(3)
        full.configuresAudio = random.oneIn(3)
        steps += [.event(.app(Self.full, .provider(full))), .event(.app(Self.full, .rules(rules)))]
        var strictly = AppRules()
        strictly.mustReport = true
        var provider = ProviderConfiguration()
        provider.hasSignalling = random.oneIn(2)
        provider.maximumCallGroups = 3
        steps += [.event(.app(Self.strict, .provider(provider))), .event(.app(Self.strict, .rules(strictly)))]
        for app in [Self.full, Self.strict] where !random.oneIn(4) { steps.append(.event(.app(app, .attached))) }
    }

    private static func policy(_ random: inout Generator) -> CallPolicy {
        var policy = CallPolicy()
        // Longer than any walk: what rings again is a fault.
        policy.tombstoneTime = .seconds(86_400)
        policy.keepsBannerWhenSilenced = random.oneIn(2)
        policy.raiseInterval = random.oneIn(2) ? .seconds(4) : nil
        policy.mostCalls = 2 + random.below(7)
        policy.mostCallsOfAll = 4 + random.below(8)
        policy.resumesHeld = !random.oneIn(3)
        policy.screening.whenDisturbing = random.one(of: [.ring, .silent, .refuse])
        policy.screening.unknownCallers = random.one(of: [.ring, .ring, .ring, .silent, .refuse])
        policy.screening.repeatTime = random.oneIn(2) ? .seconds(180) : nil
        if random.oneIn(3) { policy.screening.blocked = [try? HandlePattern("+4930901820")].compactMap { $0 } }
        if random.oneIn(3) { policy.screening.vip = [try? HandlePattern("sip:bob@example.com")].compactMap { $0 } }
        return policy
    }

    /// Walks so many steps at random; nil if every property held.
    package static func run(seed: UInt64, steps count: Int, _ coverage: inout Coverage) -> Broken? {
        var walk = Walk(seed: seed)
        let first = walk.steps
        walk.steps = []
        for step in first { _ = walk.take(step, &coverage) }
        for _ in 0..<count {
            if let what = walk.take(walk.choose(), &coverage) { return walk.shrink(what) }
        }
        if let what = walk.rest() { return walk.shrink(what) }
        coverage.actions.formUnion(walk.world.occurred)
        return nil
    }

    /// The events of a walk and when they came, to be given to a core once more.
    package static func tape(seed: UInt64, steps count: Int) -> (policy: CallPolicy, events: [(CallEvent, Instant)]) {
        var walk = Walk(seed: seed)
        let policy = walk.world.center.policy
        let first = walk.steps
        walk.steps = []
        var events: [(CallEvent, Instant)] = []
        var coverage = Coverage()
        func note(_ step: Step) {
            switch step {
            case .event(let event): events.append((event, walk.world.now))
            case .time(let duration):
                let end = walk.world.now + duration
                while let next = walk.world.center.nextDeadline, next <= end {
                    walk.world.advance(next - walk.world.now)
                    events.append((.timeUp, next))
                }
            case .restart: break
            }
        }
        for step in first + (0..<count).map({ _ in nil as Step? }) {
            let step = step ?? walk.choose()
            if case .restart = step { continue }
            note(step)
            _ = walk.take(step, &coverage)
        }
        return (policy, events)
    }

    // MARK: Choosing

    private mutating func choose() -> Step {
        switch random.below(40) {
        case 0..<7: .event(signal())
        case 7..<13: .event(.user(target(), random.one(of: CallEvent.Intent.allCases)))
        case 13..<20: .event(completion())
        case 20..<24: .event(report())
        case 24..<28: .event(request())
        case 28: .event(.bannerClosed(target(), isDismissal: random.oneIn(2)))
        case 29..<32: .event(app())
        case 32: random.oneIn(8) ? .restart : .event(rare())
        case 33: .event(delivery())
        case 34: .event(.user(ringing(), random.oneIn(3) ? .answer : .holdAndAnswer))
        case 35: .time(.seconds(10))
        case 36: .time(.seconds(30 + random.below(60)))
        default: .time(.milliseconds(random.below(3000)))
        }
    }

    private func uuid(_ key: String, _ app: String) -> CallUUID { Invite.sample(key, app: app).uuid }

    private mutating func target() -> CallUUID {
        let live = world.center.calls
        if live.isEmpty || random.oneIn(16) { return uuid(random.one(of: Self.keys), random.one(of: Self.apps)) }
        return live[random.below(live.count)].uuid
    }

    /// The call that rings or knocks, if one does.
    private mutating func ringing() -> CallUUID {
        world.center.calls.first { [.ringing(.loud), .ringing(.soft)].contains($0.state) }?.uuid ?? target()
    }

    private mutating func invite(_ app: String, _ key: String) -> Invite {
        var invite = Invite.sample(
            random.oneIn(2) ? key : key.lowercased(), app: app,
            caller: random.one(of: ["Alice", "Alice", "Bob", "Anna"]),
            handle: random.oneIn(8) ? nil : random.one(of: Self.handles))
        invite.ringTime = random.one(of: [nil, nil, nil, .seconds(5), .seconds(200), .seconds(1)])
        if random.oneIn(8) { invite.expiresAt = world.now + .seconds(random.below(40)) }
        if random.oneIn(8) {
            invite.sentAt = Instant(nanoseconds: world.now.nanoseconds - (Int64(random.below(70)) << 30))
        }
        if random.oneIn(6) { invite.serial = Int64(random.below(6)) }
        if random.oneIn(12) {
            // As the daemon makes them: the payload's hash as key, and a UUID of its own each time.
            invite.isKeySynthetic = true
            invite.uuid = CallUUID(high: random.next(), low: random.next())
        }
        return invite
    }

    private mutating func signal() -> CallEvent {
        pushes += 1
        let id = PushID(pushes)
        let app = random.one(of: Self.apps)
        let key = random.one(of: Self.keys)
        let isBound = !random.oneIn(20)
        switch random.below(12) {
        case 0: return .push(id, app: app, .unusable("garbage"), isBound: isBound)
        case 1: return .push(id, app: app, .cancel(CallKey(app: app, key: key)), isBound: isBound)
        case 2: return .push(id, app: app, .answeredElsewhere(CallKey(app: app, key: key)), isBound: isBound)
        case 3: return .push(id, app: app, .declinedElsewhere(CallKey(app: app, key: key)), isBound: isBound)
        case 4: return .ring(id, invite(app, key))
        default: return .push(id, app: app, .invite(invite(app, key)), isBound: isBound)
        }
    }

    private mutating func completion() -> CallEvent {
        let stated: Instant? = random.oneIn(4) ? world.now + .seconds(random.below(100) - 50) : nil
        let isLie = random.oneIn(10)
        var candidates = isLie ? completed : Array(world.open.keys).sorted()
        if candidates.isEmpty { candidates = Array(world.configuring.keys).sorted() }
        if let id = world.configuring.keys.min(), random.oneIn(2) { return .configured(id, !random.oneIn(6)) }
        if let handed = world.handed.last, random.oneIn(4) {
            return random.oneIn(4) ? .failed(handed.id) : .handedOver(handed.id)
        }
        if candidates.isEmpty { return .fulfilled(ActionID(99_999_999), at: nil, isConnecting: false) }
        let id = random.one(of: candidates)
        completed.append(id)
        if completed.count > 16 { completed.removeFirst() }
        return random.oneIn(5) ? .failed(id) : .fulfilled(id, at: stated, isConnecting: random.oneIn(4))
    }

    private mutating func report() -> CallEvent {
        let id = world.nextRequest()
        let stated: Instant? = random.oneIn(4) ? world.now + .seconds(random.below(100) - 50) : nil
        let call = target()
        var app = world.center[call]?.app ?? random.one(of: Self.apps)
        // An app that speaks of another's call.
        if random.oneIn(12) { app = random.one(of: Self.apps) }
        var update = CallUpdate()
        if random.oneIn(2) { update.name = random.one(of: ["Alice", "Bob"]) }
        if random.oneIn(3) { update.holding = !random.oneIn(4) }
        if random.oneIn(6) { update.isSilent = true }
        if random.oneIn(6) { update.dtmf = random.oneIn(2) }
        switch random.below(11) {
        case 0...2:
            let new = invite(
                random.oneIn(2) ? app : random.one(of: [Self.full, Self.strict]), random.one(of: Self.keys))
            return .report(id, app: new.app, new.uuid, .newIncoming(new, update))
        case 3: return .report(id, app: app, call, .updated(update))
        case 4:
            let reason = EndReason(callKit: Int64(1 + random.below(5)))!
            return .report(id, app: app, call, .ended(reason, at: stated, detail: "603"))
        case 5: return .report(id, app: app, call, .startedConnecting(at: stated))
        case 6, 7: return .report(id, app: app, call, .connected(at: stated))
        case 8: return .report(id, app: app, call, .audioRuns)
        case 9: return .report(id, app: app, call, .wantsAudio)
        default: return .report(id, app: app, call, .presented)
        }
    }

    private mutating func request() -> CallEvent {
        let id = world.nextRequest()
        let app: String? = random.oneIn(3) ? random.one(of: Self.apps) : nil
        let count = random.oneIn(3) ? random.below(4) : 1
        return .request(id, app: app, (0..<count).map { _ in oneRequest() })
    }

    private mutating func oneRequest() -> CallRequest {
        let connected = world.center.calls.filter { $0.state.isConnected }.map(\.uuid)
        let call = connected.isEmpty || random.oneIn(4) ? target() : random.one(of: connected)
        switch random.below(12) {
        case 0...2:
            pushes += 1
            let app = random.oneIn(5) ? Self.link : random.oneIn(2) ? Self.full : Self.strict
            return .start(
                .sample(
                    random.oneIn(8) ? random.one(of: Self.keys) : "out-\(pushes)", app: app,
                    handle: random.one(of: Self.handles)))
        case 3: return .answer(target())
        case 4: return .end(call)
        case 5, 6: return .setHeld(call, random.oneIn(2))
        case 7: return .setMuted(call, random.oneIn(2))
        case 8, 9:
            let other = connected.isEmpty ? target() : random.one(of: connected)
            return .setGroup(call, with: random.oneIn(4) ? nil : other)
        default: return .playDTMF(call, random.one(of: ["1", "0#*,;", "x", ""]), .singleTone)
        }
    }

    private mutating func app() -> CallEvent {
        let app = random.one(of: [Self.full, Self.strict])
        switch random.below(15) {
        case 0...4: return .app(app, .attached)
        case 5:
            // Withdrawn; comes back when it next registers.
            guard world.center.provider(of: app) != nil else { return .app(app, .provider(withdrawn[app]!)) }
            withdrawn[app] = world.center.provider(of: app)
            return .app(app, .provider(random.oneIn(3) ? nil : withdrawn[app]))
        case 6, 7: return .app(app, .gone)
        case 8: return .app(app, .wakeFailed)
        case 9...11: return .app(app, .session(random.one(of: [.up, .up] + Session.allCases)))
        case 12, 13: return .app(app, .foreground(random.oneIn(2)))
        default:
            return .app(
                app, random.one(of: [.invalidated, .unbound, .suspended(random.oneIn(2)), .account("anna")]))
        }
    }

    private mutating func rare() -> CallEvent {
        let app = random.one(of: Self.apps)
        let key = random.one(of: Self.keys)
        let earlier = Instant(nanoseconds: world.now.nanoseconds - (Int64(random.below(60)) << 30))
        switch random.below(7) {
        case 0, 1: return .disturbance(isForbidden: random.oneIn(2))
        case 2: return .resumed
        case 3: return .cancelled(target())
        case 4: return .recall(CallKey(app: app, key: key), hadInvite: random.oneIn(2), ended: earlier)
        case 5: return .acquaintance(Handle(.phoneNumber, random.one(of: Self.handles)))
        default:
            // A row of an earlier run, so none of a call that this run knows.
            pushes += 1
            return .restore(
                .sample("row-\(pushes)", app: app), began: earlier, deadline: earlier + .seconds(random.below(90)),
                random.one(of: [
                    .ringing, .ringing, .silenced, .answered, .dialled, .connected(earlier, isOutgoing: true),
                ]))
        }
    }

    private mutating func delivery() -> CallEvent {
        let latest = Array(world.delivered.suffix(4))
        return .delivered(latest.isEmpty ? PushID(1) : random.one(of: latest))
    }

    // MARK: Walking

    private mutating func take(_ step: Step, _ coverage: inout Coverage) -> String? {
        steps.append(step)
        let before = world.center.calls
        let what: String?
        switch step {
        case .time(let duration):
            world.advance(duration)
            what = nil
        case .restart:
            world.restart()
            what = nil
        case .event(let event):
            let isOpen = Self.isOpen(event, world)
            let actions = world.send(event)
            what = Self.broken(event, actions, before, world, wasOpen: isOpen)
        }
        coverage.events += 1
        coverage.mostCalls = max(coverage.mostCalls, world.center.calls.count)
        for call in world.center.calls {
            let word = call.state.word
            coverage.states.insert(word)
            let old = before.first { $0.uuid == call.uuid }?.state.word ?? "new"
            if old != word { coverage.transitions.insert("\(old)>\(word)") }
        }
        for call in before where world.center[call.uuid] == nil {
            coverage.transitions.insert("\(call.state.word)>ended")
            if let reason = world.endings[call.uuid]?.first { coverage.endings.insert(reason.word) }
        }
        if case .event(.request(let id, _, _)) = step, let error = world.answers[id]?.first ?? nil {
            coverage.errors.insert(error)
        }
        if case .event(.report(let id, _, _, _)) = step, let error = world.answers[id]?.first ?? nil {
            coverage.errors.insert(error)
        }
        let found = world.faults.first ?? what ?? Self.broken(world)
        if world.endings.count > 64 { world.forget() }
        return found
    }

    /// Left alone, everything ends but what only people or apps can end; nothing waits any more, and nothing is stuck.
    private mutating func rest() -> String? {
        world.advance(.seconds(100))
        if let fault = world.faults.first ?? Self.broken(world) { return "at rest: \(fault)" }
        for call in world.center.calls {
            switch call.state {
            case .active, .held, .dialing: break
            default: return "at rest: \(call.uuid) is still \(call.state)"
            }
        }
        if world.center.nextDeadline != nil { return "at rest: it wants to be woken" }
        let load = world.center.load
        if load != CallCenter.Load() { return "at rest: \(load)" }
        // Whatever went before, each connected call can still be asked for something, and ended.
        for call in world.center.calls where call.state.isConnected {
            guard world.center[call.uuid] != nil else { continue }
            let error = world.request(.setMuted(call.uuid, !call.isMuted))
            if error != nil || world.asks("mute", call.uuid) == nil && world.asks("unmute", call.uuid) == nil {
                return "at rest: \(call.uuid) cannot be muted (\(error as Any))"
            }
        }
        while let call = world.center.calls.first(where: { !$0.state.isEnding }) {
            world.send(.user(call.uuid, .hangUp))
            if let after = world.center[call.uuid], !after.state.isEnding {
                return "at rest: \(after.state) after its end"
            }
        }
        world.advance(.seconds(100))
        if !world.center.calls.isEmpty { return "at rest: calls that cannot be ended" }
        if world.isAwake || world.sound != nil || !world.shown.isEmpty || !world.audio.isEmpty { return "no peace" }
        return world.faults.first
    }

    private static func isOpen(_ event: CallEvent, _ world: World) -> Bool {
        switch event {
        case .fulfilled(let id, _, _): world.open[id] != nil
        case .failed(let id): world.open[id] != nil || world.handed.contains { $0.id == id }
        default: true
        }
    }

    // MARK: Properties

    /// What holds at every moment.
    private static func broken(_ world: World) -> String? {
        let calls = world.center.calls
        let ringing = calls.filter { $0.state.isRinging }
        if let sound = world.sound, !ringing.contains(where: { $0.uuid == sound.call }) { return "N2: sound" }
        if let shaken = world.vibration, !ringing.contains(where: { $0.uuid == shaken }) { return "N2: vibration" }
        for (uuid, waiting) in world.shown {
            guard let call = ringing.first(where: { $0.uuid == uuid }) else { return "N2: a banner" }
            if world.center.waiting(call) != waiting { return "the banner of \(uuid) says \(waiting)" }
        }
        var active: [Call] = []
        var isWaiting = false
        for (index, call) in calls.enumerated() {
            if calls[..<index].contains(where: { $0.uuid == call.uuid || $0.invite.callKey == call.invite.callKey }) {
                return "N8: one key, two calls"
            }
            if call.state.isRinging {
                if call.deadline <= world.now { return "N13: rings beyond its time" }
                if call.deadline - call.began > .seconds(90) { return "N13: more than 90 s" }
            }
            switch call.state {
            case .ringing(.loud):
                if world.sound?.isSoft == true { return "a loud call is heard softly" }
                if world.shown[call.uuid] == nil { return "a loud call is not seen" }
                if let other = calls.first(where: { $0.state.takesTheUser }) { return "loud beside \(other.state)" }
            case .ringing(.soft): if world.sound?.isSoft == false { return "a waiting call is heard loudly" }
            case .ringing(.queued): if world.shown[call.uuid] != nil { return "a queued call is presented" }
            case .ringing(.silent): if world.sound?.call == call.uuid { return "a silenced call is heard" }
            case .ended: return "an ended call is live"
            case .active: active.append(call)
            default: break
            }
            switch call.state {
            case .active:
                if call.audio == .off || !world.audio.contains(call.uuid) { return "N4: an active call without audio" }
                if call.connected == nil { return "N11: active and never connected" }
            case .held: if call.audio != .off || call.connected == nil { return "N4: audio on hold" }
            default: if call.audio != .off { return "N4: audio of a call that is \(call.state)" }
            }
            switch call.state {
            case .active, .held, .dialing: break
            default: isWaiting = true
            }
        }
        if world.audio.count != active.count { return "N4, N5: audio for \(world.audio), active \(active.map(\.uuid))" }
        if active.count > 1, active.contains(where: { $0.group == nil || $0.group != active[0].group }) {
            return "N7: \(active.count) connected calls at once"
        }
        let fronts = ringing.filter { $0.state == .ringing(.loud) || $0.state == .ringing(.soft) }
        if fronts.count > 1 { return "two calls ring" }
        if fronts.isEmpty, ringing.contains(where: { $0.state == .ringing(.queued) }) { return "queued behind nothing" }
        for (group, members) in Dictionary(grouping: calls.filter { $0.group != nil }, by: { $0.group! }) {
            if members.count == 1 { return "a conference of one: \(group)" }
            if Set(members.map(\.app)).count > 1 { return "a conference over two apps" }
            let most = world.center.provider(of: members[0].app)?.maximumCallsPerCallGroup ?? 1
            if members.count > most { return "a conference of \(members.count), at most \(most)" }
        }
        for app in [full, strict] {
            let groups = calls.filter { $0.app == app && $0.state.countsAsGroup }
            let count = groups.count { $0.group == nil } + Set(groups.compactMap(\.group)).count
            if let most = world.center.provider(of: app)?.maximumCallGroups, count > most {
                return "\(count) calls of \(most)"
            }
        }
        if world.isAwake == calls.isEmpty { return "awake: \(world.isAwake) with \(calls.count) calls" }
        if isWaiting && world.center.nextDeadline == nil { return "something waits, and no timer is wanted" }
        if let next = world.center.nextDeadline, next <= world.now { return "a deadline in the past" }
        return nil
    }

    /// What holds for one step.
    private static func broken(
        _ event: CallEvent, _ actions: [CallAction], _ before: [Call], _ world: World, wasOpen: Bool
    ) -> String? {
        let after = world.center.calls
        switch event {
        case .push(let id, let app, let signal, let isBound):
            guard world.completed[id]?.count == 1 else { return "N6: not completed" }
            if !isBound && actions.count != 1 { return "N15: \(actions)" }
            if case .unusable = signal, before != after { return "N16: a call changed" }
            for (old, new) in pairs(before, after) where old.app != app {
                if old.invite != new.invite || old.features != new.features { return "N16: another app's call changed" }
            }
            if case .invite(let invite) = signal, let old = before.first(where: { $0.invite.callKey == invite.callKey })
            {
                if actions.contains(where: { if case .ring = $0 { true } else { false } }) {
                    return "a duplicate alerts"
                }
                if world.center[old.uuid]?.deadline != old.deadline { return "N13: a duplicate bought time" }
            }
        case .user(let uuid, let intent):
            guard let call = before.first(where: { $0.uuid == uuid }) else {
                return actions.isEmpty ? nil : "a call that is over acts"
            }
            if intent == .decline || intent == .hangUp || intent == .ignore && call.state.isRinging {
                if let now = world.center[uuid], !now.state.isEnding { return "N12: still \(now.state)" }
                if world.sound?.call == uuid || world.shown[uuid] != nil || world.audio.contains(uuid) {
                    return "N12: not at once"
                }
            }
        case .bannerClosed:
            if before.map(\.uuid) != after.map(\.uuid) { return "N14: a banner ended a call" }
            for (old, new) in pairs(before, after)
            where old.state != new.state && !(old.state.isRinging && new.state.isRinging) {
                return "N14: a banner made of \(old.state) \(new.state)"
            }
            if actions.contains(where: { if case .perform = $0 { true } else { false } }) {
                return "N14: a banner acts"
            }
        case .fulfilled, .failed:
            if !wasOpen && (before != after || !actions.isEmpty) { return "N3: an action that is not open counts" }
        case .report(let id, let app, let uuid, let what):
            guard let error = world.answers[id]?.first else { return "a report without an answer" }
            if case .newIncoming = what { return nil }
            let call = before.first { $0.uuid == uuid }
            if call?.app != app && (error == nil || before != after) { return "an app spoke of another's call" }
            if error != nil && before != after { return "a refused report counts" }
        case .request(let id, let app, let steps):
            guard let error = world.answers[id]?.first else { return "a request without an answer" }
            if error != nil && (before != after || actions.count != 1) { return "a refused request counts" }
            if let app, error == nil {
                for step in steps {
                    guard let call = before.first(where: { $0.uuid == step.call }) else { continue }
                    if call.app != app { return "an app acted on another's call" }
                }
            }
        default: break
        }
        return nil
    }

    private static func pairs(_ before: [Call], _ after: [Call]) -> [(Call, Call)] {
        before.compactMap { old in after.first { $0.uuid == old.uuid }.map { (old, $0) } }
    }

    // MARK: Shrinking

    /// The same fault with fewer steps: leaves out ever smaller runs of them.
    private func shrink(_ what: String) -> Broken {
        var best = steps
        var found = what
        var length = max(1, best.count / 2)
        while length >= 1 {
            var start = 0
            while start < best.count {
                var fewer = best
                fewer.removeSubrange(start..<min(best.count, start + length))
                if let fault = Self.replay(seed, fewer), fault.prefix(2) == what.prefix(2) {
                    best = fewer
                    found = fault
                } else {
                    start += length
                }
            }
            length /= 2
        }
        return Broken(seed: seed, what: found, steps: best)
    }

    private static func replay(_ seed: UInt64, _ steps: [Step]) -> String? {
        var walk = Walk(seed: seed)
        walk.steps = []
        var coverage = Coverage()
        for step in steps {
            if let fault = walk.take(step, &coverage) { return fault }
        }
        return walk.rest()
    }
}

extension World {
    /// What has no bearing on the calls that are live.
    mutating func forget() {
        let live = Set(center.calls.map(\.uuid))
        // Those that may be heard of again: their keys are few.
        records = records.filter { live.contains($0.key) || $0.value.invite.key.utf8.count == 1 }
        endings = endings.filter { records[$0.key] != nil }
        past = past.filter { $0.key.folded.utf8.count == 1 }
        noticeKinds = [:]
        notices = []
        toldEnded = [:]
        saidEnded = [:]
        raises = [:]
        heard = [:]
        audioLog = [:]
        annotated = [:]
        withdrawn = []
        opened = []
        strikes = []
        completed = [:]
        answers = [:]
        mustReport = []
        if delivered.count > 256 { delivered.removeFirst(192) }
    }
}
