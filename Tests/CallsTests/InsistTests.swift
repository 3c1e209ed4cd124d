import Base
import Calls
import CallsWalk
import Testing

/// Calls that ring again until somebody takes them (`insist`).
struct InsistTests {
    let a = Invite.sample("a")

    private func world(minutes: Int = 5) -> World {
        var world = World()
        var rules = AppRules()
        rules.insistence = .seconds(60 * minutes)
        world.send(.app(a.app, .rules(rules)))
        return world
    }

    private func ringing(_ world: World) -> Call? { world.center.calls.first { $0.state.isRinging } }

    @Test func itRingsAgainAsAnotherCallUntilItIsTaken() throws {
        var world = world()
        world.push(a)
        world.advance(.seconds(30))
        #expect(world.ending(a) == .unanswered && world.notices == [a.uuid])
        #expect(ringing(world) == nil && world.sound == nil)
        world.advance(.seconds(30))
        let second = try #require(ringing(world))
        #expect(second.uuid != a.uuid && second.invite.key == a.key && world.sound?.call == second.uuid)
        // What rings was not missed.
        #expect(world.withdrawn.contains(a.uuid))
        world.advance(.seconds(60))
        let third = try #require(ringing(world))
        #expect(third.uuid != second.uuid)
        world.send(.user(third.uuid, .decline))
        world.advance(.seconds(600))
        #expect(ringing(world) == nil && world.endings.count == 3)
        #expect(world.faults.isEmpty)
    }

    @Test func itGivesUpInTheEnd() {
        var world = world(minutes: 2)
        world.push(a)
        world.advance(.seconds(1000))
        // At 0 and 60 seconds; at 120 it is over.
        #expect(world.endings.count == 2 && ringing(world) == nil && world.center.nextDeadline == nil)
    }

    @Test(arguments: [
        Signal.cancel(CallKey(app: Invite.talk, key: "a")), .answeredElsewhere(CallKey(app: Invite.talk, key: "a")),
    ])
    func itsSenderEndsItBetweenTwoRings(_ end: Signal) {
        var world = world()
        world.push(a)
        world.advance(.seconds(40))
        #expect(world.push(end, app: a.app) == .alreadyOver)
        world.advance(.seconds(600))
        #expect(ringing(world) == nil && world.endings.count == 1 && world.center.nextDeadline == nil)
    }

    @Test func itsSenderEndsTheSecondRing() {
        var world = world()
        world.push(a)
        world.advance(.seconds(65))
        #expect(ringing(world) != nil)
        world.push(.cancel(a.callKey), app: a.app)
        world.advance(.seconds(600))
        #expect(ringing(world) == nil && world.endings.count == 2)
    }

    @Test func aRepeatDoesNotRingEarlierAndANewerOneDoes() {
        var world = world()
        var first = a
        first.serial = 1
        world.push(first)
        world.advance(.seconds(35))
        #expect(world.push(first) == .alreadyOver && ringing(world) == nil)
        var newer = a
        newer.serial = 2
        world.push(newer)
        #expect(ringing(world) != nil)
        world.advance(.seconds(26))
        // The older one does not ring beside it.
        #expect(world.center.calls.count == 1)
    }

    @Test func whoStopsIt() {
        for stop in 0..<4 {
            var world = world()
            var call = a
            if stop == 3 { call.expiresAt = world.now + .seconds(45) }
            world.push(call)
            world.advance(.seconds(40))
            switch stop {
            case 0: world.send(.app(a.app, .rules(AppRules())))
            case 1: world.send(.app(a.app, .unbound))
            case 2: world.send(.app(a.app, .provider(ProviderConfiguration())))
            default: break  // Its sender said how long.
            }
            world.advance(.seconds(600))
            #expect(world.endings.count == 1, "\(stop)")
        }
    }

    @Test func aCallThatItsSenderSaysWasMissedIsMissed() {
        var world = world()
        world.push(a)
        world.push(.end(Ending(app: a.app, key: a.callKey, .unanswered)), app: a.app)
        world.advance(.seconds(600))
        #expect(world.ending(a) == .unanswered && world.endings.count == 1)
    }

    @Test func whoeverInsistsIsScreenedEachTime() throws {
        var world = world()
        world.push(a)
        world.advance(.seconds(40))
        world.center.policy.screening.blocked = [try #require(try? HandlePattern("+49 151 12345"))]
        world.advance(.seconds(600))
        #expect(ringing(world) == nil && world.endings.count == 2)
    }

    @Test func noMoreWaitThanMay() {
        var world = world()
        for number in 0..<100 {
            world.push(Invite.sample("n\(number)"))
            world.advance(.milliseconds(100))
            if number % 8 == 7 { world.advance(.seconds(29)) }
        }
        world.advance(.seconds(10_000))
        #expect(world.center.calls.isEmpty && world.center.nextDeadline == nil && world.faults.isEmpty)
    }
}
