import Base
import Calls
import Testing

/// callkit.md 5.7, N1–N16, as properties of random event sequences. A failing run names its seed.
struct InvariantTests {
    /// SplitMix64 (Steele, Lea, Flood 2014): small, seedable, good enough to walk at random.
    struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var z = state
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            return z ^ (z >> 31)
        }
    }

    @Test func randomWalksKeepEveryInvariant() {
        for seed in UInt64(1)...1500 {
            if let broken = walk(seed: seed, steps: 120) {
                Issue.record("seed \(seed): \(broken)")
                return
            }
        }
    }

    /// The first broken invariant, in words.
    private func walk(seed: UInt64, steps: Int) -> String? {
        var random = Generator(state: seed)
        var policy = CallPolicy()
        policy.keepsBannerWhenSilenced = Bool.random(using: &random)
        policy.raiseInterval = Bool.random(using: &random) ? .seconds(4) : nil
        policy.mostCalls = Int.random(in: 2...8, using: &random)
        var world = World(policy: policy)
        let keys = ["a", "B", "c", "D"]
        let apps = ["com.example.one", "com.example.two"]
        var pushes: UInt64 = 1_000_000
        for step in 0..<steps {
            let before = world
            let app = apps.randomElement(using: &random)!
            var key = keys.randomElement(using: &random)!
            if Bool.random(using: &random) { key = key.lowercased() }
            let live = world.center.calls.map(\.uuid)
            let target = live.randomElement(using: &random) ?? Invite.sample(key, app: app).uuid
            let event: CallEvent
            switch Int.random(in: 0..<14, using: &random) {
            case 0...2:
                pushes += 1
                let invite = Invite.sample(
                    key, app: app, ringTime: [nil, .seconds(5), .seconds(200)].randomElement(using: &random)!,
                    expiresAt: [nil, nil, world.now + .seconds(20)].randomElement(using: &random)!)
                event = .push(PushID(pushes), .invite(invite), isBound: Int.random(in: 0..<8, using: &random) > 0)
            case 3:
                pushes += 1
                let callKey = CallKey(app: app, key: key)
                let signal: Signal = [
                    .cancel(callKey), .answeredElsewhere(callKey), .declinedElsewhere(callKey),
                ].randomElement(using: &random)!
                event = .push(PushID(pushes), signal, isBound: true)
            case 4:
                pushes += 1
                event = .push(PushID(pushes), .unusable("garbage"), isBound: true)
            case 5...7: event = .user(target, CallEvent.Intent.allCases.randomElement(using: &random)!)
            case 8: event = .bannerClosed(target, isDismissal: Bool.random(using: &random))
            case 9:
                let action = world.asked.randomElement(using: &random) ?? ActionID(99)
                event = .fulfilled(action, tracks: Bool.random(using: &random))
            case 10: event = .failed(world.asked.randomElement(using: &random) ?? ActionID(99))
            case 11: event = .reportedEnded(target, .remoteEnded)
            case 12: event = Bool.random(using: &random) ? .clientGone(app: app) : .unbound(app: app)
            default:
                world.advance(.milliseconds(Int.random(in: 0..<20_000, using: &random)))
                if let broken = broken(world) { return "after time, step \(step): \(broken)" }
                continue
            }
            let actions = world.send(event)
            if let broken = broken(world) ?? broken(event, actions, before, world) {
                return "step \(step), \(event): \(broken)"
            }
        }
        // Left alone, everything ends but connected calls.
        world.advance(.seconds(100))
        if world.center.calls.contains(where: { $0.state != .active }) { return "a call outlives its time" }
        if world.center.nextDeadline != nil { return "idle, and yet it wants to be woken" }
        return broken(world)
    }

    /// What holds at every moment.
    private func broken(_ world: World) -> String? {
        for (uuid, reasons) in world.endings where reasons.count > 1 { return "N1: \(uuid) ended \(reasons)" }
        let ringing = Set(world.center.calls.filter { $0.state.isRinging }.map(\.uuid))
        if let sound = world.sound, !ringing.contains(sound.call) { return "N2: sound without a ringing call" }
        if let shaken = world.vibration, !ringing.contains(shaken) { return "N2: vibration without a ringing call" }
        if !world.banners.isSubset(of: ringing) { return "N2: a banner without a ringing call" }
        for call in world.center.calls {
            switch call.state {
            case .ringing(.loud):
                if world.sound?.call != call.uuid || world.sound?.isSoft == true { return "a loud call is not heard" }
                if !world.banners.contains(call.uuid) { return "a loud call is not seen" }
            case .ringing(.soft): if world.sound?.isSoft != true { return "a waiting call is not heard softly" }
            case .ringing(.queued):
                if world.banners.contains(call.uuid) { return "a queued call is presented" }
            case .ringing(.silent): if world.sound?.call == call.uuid { return "a silenced call is heard" }
            case .answering, .active, .ended: break
            }
        }
        let active = Set(world.center.calls.filter { $0.state == .active }.map(\.uuid))
        if world.audio != active { return "N4, N5: audio for \(world.audio), active \(active)" }
        if active.count > 1 { return "N7: two connected calls" }
        for (push, outcomes) in world.completed where outcomes.count != 1 { return "N6: push \(push) \(outcomes)" }
        if Set(world.center.calls.map(\.uuid)).count != world.center.calls.count
            || Set(world.center.calls.map(\.invite.callKey)).count != world.center.calls.count
        {
            return "N8: one key, two calls"
        }
        if let again = world.rangAfterEnd.first { return "N9: \(again) rings after its end" }
        for call in world.records.values {
            if let connected = call.connected, let ended = call.ended, connected > ended { return "N11: \(call)" }
        }
        for call in world.center.calls where call.state.isRinging {
            if call.deadline <= world.now { return "N13: rings beyond its time" }
            if call.deadline - call.began > .seconds(90) { return "N13: more than 90 s" }
        }
        if let next = world.center.nextDeadline, next <= world.now { return "a deadline in the past" }
        return nil
    }

    /// What holds for one step.
    private func broken(_ event: CallEvent, _ actions: [CallAction], _ before: World, _ after: World) -> String? {
        switch event {
        case .push(let id, let signal, let isBound):
            guard after.completed[id]?.count == 1 else { return "N6: not completed" }
            let others = actions.filter { if case .completePush = $0 { false } else { true } }
            if !isBound && !others.isEmpty { return "N15: \(others)" }
            if case .unusable = signal, !others.isEmpty { return "N16: \(others)" }
        case .user(let uuid, let intent):
            guard let call = before.center[uuid] else { return actions.isEmpty ? nil : "a dead call acts" }
            if intent == .decline || intent == .hangUp, after.center[uuid] != nil { return "N12: still \(call.state)" }
        case .bannerClosed:
            if after.endings.count != before.endings.count { return "N14: a banner ended a call" }
            if after.asked.count != before.asked.count { return "N14: a banner answered" }
        case .fulfilled(let id, _), .failed(let id):
            if !before.open.contains(id), !actions.isEmpty { return "N3: an unknown action counts" }
            if case .answering(id)? = before.center.calls.first(where: { $0.state == .answering(id) })?.state {
                break
            }
            // Answered or timed out before: it must change nothing.
            if after.endings != before.endings || after.audio != before.audio { return "N3: a second reply counts" }
        case .restore, .recall, .reportedEnded, .clientGone, .unbound, .timeUp: break
        }
        return nil
    }

    /// N10: any order of arrival, as long as the sender cancelled last.
    @Test func everyPermutationWithACancelEndsCancelled() {
        let invite = Invite.sample("42")
        let signals: [Signal] = [.invite(invite), .invite(invite), invite.cancel]
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            for gap in [Duration.zero, .seconds(1), .seconds(40)] {
                var world = World()
                var rings = 0
                for index in order {
                    let wasSilent = world.sound == nil
                    world.push(signals[index])
                    if wasSilent && world.sound != nil { rings += 1 }
                    world.advance(gap)
                }
                #expect(rings <= 1, "\(order)")
                #expect(world.sound == nil && world.banners.isEmpty)
                #expect(world.endings[invite.uuid]?.count == 1)
                if gap < .seconds(30) { #expect(world.endings[invite.uuid] == [.remoteEnded], "\(order)") }
            }
        }
    }

    @Test func tombstonesAreBounded() {
        var world = World()
        for number in 0..<10_000 { world.push(.cancel(CallKey(app: "com.example.talk", key: "\(number)"))) }
        // The newest are remembered, the oldest made room.
        #expect(world.push(.invite(.sample("9999"))) == .alreadyOver)
        let first = Invite.sample("0")
        #expect(world.push(.invite(first)) == .rings(first.uuid))
    }
}
