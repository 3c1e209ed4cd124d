import Base
import Calls
import CallsWalk
import Testing

/// Cancels that name no call (callkit.md 3.4): they end the only one that can be meant, or none.
struct OnlyCallTests {
    private let a = Invite.sample("a")
    private let b = Invite.sample("b", caller: "Bob", handle: "bob@example.com")
    private let end = Signal.end(Ending(app: Invite.talk, key: nil, .unanswered, isForRingingOnly: true))

    @Test func theOnlyOneEnds() {
        var world = World()
        world.push(a)
        #expect(world.push(end) == .ended(a.uuid))
        #expect(world.ending(a) == .unanswered)
    }

    /// However the one before ended: what comes late may be about that.
    @Test(arguments: [CallEvent.Intent.decline, .ignore])
    func notWhereAnotherWasAMomentAgo(_ intent: CallEvent.Intent) {
        var world = World()
        world.push(a)
        world.send(.user(a.uuid, intent))
        world.push(b)
        guard case .unusable? = world.push(end) else {
            Issue.record("it was taken for \(b.key)")
            return
        }
        #expect(world.word(b) == "ringing")
        world.send(.user(b.uuid, .decline))
        // Long after, there is nobody else.
        world.advance(.seconds(61))
        let c = Invite.sample("c")
        world.push(c)
        #expect(world.push(end) == .ended(c.uuid))
    }

    @Test func notOneOfTwoNorOneThatWasAnswered() {
        var world = World()
        world.push(a)
        world.push(b)
        guard case .unusable? = world.push(end) else {
            Issue.record("it was taken for one of two")
            return
        }
        #expect(world.word(a) == "ringing" && world.endings.isEmpty)
    }
}
