import Base
import Calls
import CallsWalk
import Testing

/// callkit.md 5.7, N1–N16, as properties of random event sequences. A failing run names its seed and the fewest steps
/// that were found to break something.
struct InvariantTests {
    @Test func randomWalksKeepEveryInvariantAndGetEverywhere() {
        var coverage = Walk.Coverage()
        for seed in UInt64(1)...1500 {
            if let broken = Walk.run(seed: seed, steps: 80, &coverage) {
                Issue.record("\(broken)")
                return
            }
        }
        // A walk that got nowhere proves nothing.
        #expect(coverage.states == Self.states)
        #expect(coverage.actions == CallAction.names)
        #expect(Self.transitions.subtracting(coverage.transitions).isEmpty)
        #expect(Self.endings.subtracting(coverage.endings).isEmpty)
        #expect(coverage.mostCalls >= 5)
    }

    private static let states: Set<String> = [
        "ringing", "waiting", "silenced", "queued", "deferred", "answering", "connecting", "requested", "dialing",
        "active", "held", "ending",
    ]

    /// Each class of callkit.md 5.4.
    private static let transitions: Set<String> = [
        "new>ringing", "new>waiting", "new>silenced", "new>queued", "new>requested", "new>deferred", "queued>ringing",
        "queued>waiting", "waiting>ringing", "ringing>waiting", "ringing>silenced", "silenced>ringing",
        "ringing>answering", "ringing>deferred", "ringing>ended", "waiting>answering", "waiting>deferred",
        "queued>ended", "silenced>answering", "silenced>ended", "deferred>answering", "deferred>requested",
        "deferred>waiting", "deferred>ended", "answering>connecting", "answering>active", "answering>ending",
        "answering>ended", "connecting>active", "connecting>ending", "connecting>ended", "requested>dialing",
        "requested>active", "requested>ending", "requested>ended", "dialing>active", "dialing>ending",
        "dialing>ended", "active>held", "active>ending", "active>ended", "held>active", "held>ending", "held>ended",
        "ending>ended",
    ]

    private static let endings: Set<String> = [
        "answered", "answered-elsewhere", "busy", "cancelled", "declined", "declined-elsewhere", "failed-answer",
        "failed-audio", "failed-client-gone", "failed-client-unavailable", "failed-connect", "failed-login",
        "failed-no-invite", "failed-reported", "failed-reset", "failed-start", "failed-timeout", "failed-unbound",
        "hung-up", "ignored", "remote-ended", "unanswered",
    ]

    /// The same events give the same actions: nothing depends on the order of a hash table.
    @Test func theCoreIsAFunctionOfItsEvents() {
        for seed in UInt64(1)...40 {
            let tape = Walk.tape(seed: seed, steps: 150)
            var first = CallCenter(policy: tape.policy)
            var second = CallCenter(policy: tape.policy)
            for (event, instant) in tape.events {
                guard first.handle(event, at: instant) == second.handle(event, at: instant) else {
                    Issue.record("seed \(seed): \(event)")
                    return
                }
            }
        }
    }

    /// N10: any order of arrival of the push, the app's own invite and the cancel ends cancelled, after one ring at most.
    @Test func everyPermutationWithACancelEndsCancelled() {
        let invite = Invite.sample("42")
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            for gap in [Duration.zero, .seconds(1), .seconds(40)] {
                var world = World()
                world.register { $0.hasSignalling = true }
                var rings = 0
                for index in order {
                    let wasSilent = world.sound == nil
                    switch index {
                    case 0: world.push(invite)
                    case 1: world.report(invite.uuid, .newIncoming(invite, CallUpdate()))
                    default: world.push(invite.cancel)
                    }
                    if wasSilent && world.sound != nil { rings += 1 }
                    world.advance(gap)
                }
                #expect(rings <= 1, "\(order)")
                #expect(world.sound == nil && world.banners.isEmpty && world.faults.isEmpty)
                #expect(world.endings[invite.uuid]?.count == 1)
                if gap < .seconds(15) { #expect(world.endings[invite.uuid] == [.remoteEnded], "\(order)") }
            }
        }
    }

    @Test func tombstonesAreBounded() {
        var world = World()
        for number in 0..<10_000 { world.push(.cancel(CallKey(app: Invite.talk, key: "\(number)"))) }
        // The newest are remembered, the oldest made room.
        #expect(world.push(.invite(.sample("9999"))) == .alreadyOver)
        let first = Invite.sample("0")
        #expect(world.push(.invite(first)) == .rings(first.uuid))
    }

    /// An app that comes and goes over ends that it is told of is not told of more than a few.
    @Test func endsThatAreKeptAreBounded() {
        var world = World()
        world.register()
        for number in 0..<100 {
            let call = Invite.sample("\(number)")
            world.push(call)
            world.send(.user(call.uuid, .decline))
        }
        let told = world.asked.count
        world.send(.app(Invite.talk, .gone))
        world.send(.app(Invite.talk, .attached))
        #expect(told == 100 && world.asked.count - told == 16)
    }
}
