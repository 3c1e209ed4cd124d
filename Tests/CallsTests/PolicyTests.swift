import Base
import Calls
import CallsWalk
import Testing

/// callkit.md 5.6: glare, re-call, must-report, unconfirmed pushes, completion.
struct PolicyTests {
    let a = Invite.sample("a")
    let m = Invite.sample("m")
    let b = Invite.sample("b", caller: "Bob", handle: "bob@example.com")

    // MARK: Glare

    /// We dial the very caller; theirs is `z` or `a`, ours `m`.
    private func crossed(_ glare: AppRules.Glare, theirs key: String, isDialing: Bool = true) -> (World, Invite) {
        var rules = AppRules()
        rules.glare = glare
        var world = World()
        world.register(rules: rules)
        world.request(.start(m))
        if isDialing { world.fulfil("start") }
        let theirs = Invite.sample(key)
        world.push(theirs)
        return (world, theirs)
    }

    @Test func glareWaitLetsItKnock() {
        let (world, theirs) = crossed(.wait, theirs: "a")
        #expect(world.word(theirs) == "waiting" && world.word(m) == "dialing")
    }

    @Test func glareLesserIDKeepsTheSmallerOne() {
        let (won, smaller) = crossed(.lesserID, theirs: "a")
        #expect(won.ending(m) == .remoteEnded && won.word(smaller) == "answering" && won.notices.isEmpty)
        #expect(won.toldEnded[m.uuid] == [.remoteEnded] && won.heard.isEmpty)
        let (lost, larger) = crossed(.lesserID, theirs: "z")
        #expect(lost.word(m) == "dialing" && lost.word(larger) == "" && lost.records[larger.uuid] == nil)
        #expect(lost.completed.values.contains([.crossed(larger.uuid)]))
        // While still preparing, theirs is taken whatever its id.
        let (early, other) = crossed(.lesserID, theirs: "z", isDialing: false)
        #expect(early.ending(m) == .remoteEnded && early.word(other) == "answering")
    }

    @Test func glareLostDoesNotRingLaterOn() {
        var (world, theirs) = crossed(.lesserID, theirs: "z")
        world.send(.user(m.uuid, .hangUp))
        world.fulfil("end")
        #expect(world.push(theirs) == .alreadyOver && world.sound == nil)
    }

    @Test func glareAcceptTakesTheirs() {
        let (world, theirs) = crossed(.accept, theirs: "z")
        #expect(world.ending(m) == .remoteEnded && world.word(theirs) == "answering" && world.faults.isEmpty)
    }

    @Test func glareIsAboutOneCaller() {
        var rules = AppRules()
        rules.glare = .accept
        var world = World()
        world.register(rules: rules)
        world.request(.start(m))
        world.fulfil("start")
        world.push(b)
        #expect(world.word(m) == "dialing" && world.word(b) == "waiting")
    }

    @Test func recallEndsWhatTheOtherSideHasLost() {
        for recalls in [true, false] {
            var rules = AppRules()
            rules.recalls = recalls
            var world = World()
            world.register(rules: rules)
            world.connect(a)
            world.push(m)
            #expect(world.ending(a) == (recalls ? .remoteEnded : nil) && world.notices.isEmpty)
            #expect(world.word(m) == (recalls ? "ringing" : "waiting"))
        }
    }

    // MARK: Must-report

    private func strict() -> World {
        var rules = AppRules()
        rules.mustReport = true
        var world = World()
        world.register(rules: rules)
        return world
    }

    /// A push that the app completes, or not, after it has reported the call, or not.
    private func push(_ world: inout World, _ invite: Invite, isReported: Bool, isCompleted: Bool = true) {
        #expect(world.push(invite) == .toApp)
        if isReported { world.report(invite.uuid, .newIncoming(invite, CallUpdate())) }
        if isCompleted { world.send(.delivered(world.delivered.last!)) } else { world.advance(.seconds(5)) }
    }

    @Test func strictRingsOnlyWhatIsReported() {
        var world = strict()
        push(&world, a, isReported: true)
        #expect(world.word(a) == "ringing" && world.strikes.isEmpty)
        #expect(world.mustReport == [world.delivered[0]])
        var silent = strict()
        push(&silent, a, isReported: false)
        #expect(silent.records.isEmpty && silent.strikes.count == 1)
    }

    @Test func threeStrikesStopThePushes() {
        var world = strict()
        for (number, isReported, isCompleted) in [(1, false, true), (2, true, false), (3, false, false)] {
            let call = Invite.sample("\(number)")
            push(&world, call, isReported: isReported, isCompleted: isCompleted)
            world.send(.user(call.uuid, .ignore))
        }
        #expect(world.strikes.map(\.count) == [1, 2, 3] && world.strikes.map(\.isSuspended) == [false, false, true])
        #expect(world.center.standing(of: a.app).isSuspended)
        #expect(world.push(a) == .suspended && world.delivered.count == 3)
        // The user lets it go on.
        world.send(.app(a.app, .suspended(false)))
        #expect(world.center.standing(of: a.app).strikes == 0 && world.push(a) == .toApp)
    }

    @Test func theUserStartingItIsANewChance() {
        var world = strict()
        world.send(.app(a.app, .gone))
        world.send(.app(a.app, .suspended(true)))
        world.send(.app(a.app, .attached))
        #expect(!world.center.standing(of: a.app).isSuspended)
        // Not when ringd had it started.
        var woken = strict()
        woken.send(.app(a.app, .gone))
        woken.push(a)
        woken.send(.app(a.app, .suspended(true)))
        woken.send(.app(a.app, .attached))
        #expect(woken.center.standing(of: a.app).isSuspended)
        // It did not come then; whoever starts it a day later is the user.
        var later = strict()
        later.send(.app(a.app, .gone))
        later.push(a)
        later.send(.app(a.app, .suspended(true)))
        later.advance(.seconds(86_400))
        later.send(.app(a.app, .attached))
        #expect(!later.center.standing(of: a.app).isSuspended)
    }

    @Test func strikesAreForgottenAfterADay() {
        var world = strict()
        for number in 0..<6 {
            push(&world, .sample("\(number)"), isReported: false)
            world.advance(.seconds(50_000))
        }
        #expect(!world.center.standing(of: a.app).isSuspended && world.strikes.map(\.count).max() == 2)
    }

    @Test func nothingIsOwedInFrontDuringACallOrForStalePushes() {
        var front = strict()
        front.send(.app(a.app, .foreground(true)))
        var busy = strict()
        busy.report(b.uuid, .newIncoming(b, CallUpdate()))
        var late = a
        late.sentAt = Instant(nanoseconds: front.now.nanoseconds - 61_000_000_000)
        let cases = [(front, Signal.invite(a)), (busy, .invite(a)), (strict(), .invite(late)), (strict(), a.cancel)]
        for (start, signal) in cases {
            var world = start
            world.push(signal)
            #expect(world.mustReport.isEmpty)
            world.advance(.seconds(6))
            #expect(world.strikes.isEmpty)
        }
    }

    @Test func theReportBelongsToThePushThatOwesIt() {
        var world = strict()
        world.push(b.cancel)
        world.push(a)
        world.report(a.uuid, .newIncoming(a, CallUpdate()))
        for id in world.delivered { world.send(.delivered(id)) }
        #expect(world.strikes.isEmpty)
    }

    @Test func anAppThatDiesOverItsPushHasFailed() {
        var world = strict()
        world.push(a)
        world.send(.app(a.app, .gone))
        #expect(world.strikes.count == 1)
    }

    @Test func lenientAppsOweNothing() {
        var world = World()
        world.register()
        for number in 0..<5 {
            world.push(.sample("\(number)"))
            world.advance(.seconds(40))
        }
        #expect(world.strikes.isEmpty && world.mustReport.isEmpty && world.delivered.count == 5)
    }

    // MARK: Unconfirmed

    @Test func afterAResumeTheSoundWaitsForAWord() {
        var world = World()
        world.register { $0.hasSignalling = true }
        world.send(.resumed)
        world.push(a)
        #expect(world.word(a) == "ringing" && world.sound == nil && world.vibration == nil && world.banners == [a.uuid])
        world.report(a.uuid, .newIncoming(a, CallUpdate()))
        #expect(world.sound?.call == a.uuid)
        world.send(.user(a.uuid, .decline))
        // No word: after two seconds all the same.
        world.push(b)
        world.advance(.milliseconds(1999))
        #expect(world.sound == nil)
        world.advance(.milliseconds(1))
        #expect(world.sound?.call == b.uuid)
    }

    @Test func whatHasADateOrComesLaterIsHeardAtOnce() {
        for (wait, isDated) in [(0, true), (11, false)] {
            var world = World()
            world.send(.resumed)
            world.advance(.seconds(wait))
            var invite = a
            if isDated { invite.sentAt = world.now }
            world.push(invite)
            #expect(world.sound != nil)
        }
    }

    // MARK: Completion

    @Test func everyPushIsCompletedOnceAtOnce() {
        var world = World()
        world.register()
        var synthetic = b
        synthetic.isKeySynthetic = true
        for signal in [
            Signal.invite(a), .invite(a), .invite(synthetic), .unusable("x"), a.cancel, a.cancel, .invite(a),
            .answeredElsewhere(a.callKey), .declinedElsewhere(CallKey(app: a.app, key: "never")),
        ] {
            let outcome = world.push(signal)
            #expect(outcome != nil)
        }
        #expect(world.completed.count == 9 && world.completed.values.allSatisfy { $0.count == 1 })
        #expect(world.faults.isEmpty)
    }

    @Test func anAbsentAppGetsItsPushesLaterAndNoMoreThanAFew() {
        var world = World()
        world.known()
        for number in 0..<20 { world.push(.unusable("\(number)")) }
        #expect(world.wakes == [a.app] && world.dropped == [1, 2, 3, 4].map { PushID($0) })
        #expect(world.center.keeps(PushID(20), for: a.app) && !world.center.keeps(PushID(4), for: a.app))
        world.send(.app(a.app, .attached))
        #expect(world.delivered == (5...20).map { PushID($0) })
        var failed = World()
        failed.known()
        failed.push(a)
        failed.send(.app(a.app, .wakeFailed))
        #expect(failed.dropped == [PushID(1)] && failed.word(a) == "ringing")
    }

    @Test func moreThanEnoughStrikesAreNotCounted() {
        var world = strict()
        for number in 0..<9 { world.push(Invite.sample("k\(number)")) }
        for id in world.delivered { world.send(.delivered(id)) }
        #expect(world.strikes.count == 3 && world.center.strikes(of: a.app).count == 3)
        // It is there already: that it registers again is no start by the user.
        world.send(.app(a.app, .attached))
        #expect(world.center.standing(of: a.app).isSuspended)
    }

    @Test func pushesDoNotStartAgainWhatHasJustFailedToStart() {
        var world = World()
        world.known()
        world.push(.unusable("1"))
        world.send(.app(a.app, .wakeFailed))
        for number in 2...9 { world.push(.unusable("\(number)")) }
        #expect(world.wakes == [a.app] && world.dropped.count == 9)
        world.advance(.seconds(10))
        world.push(.unusable("10"))
        #expect(world.wakes == [a.app, a.app] && world.dropped.count == 9)
        // The user's answer does not wait for that.
        var answered = World()
        answered.known()
        answered.push(a)
        answered.send(.app(a.app, .wakeFailed))
        answered.send(.user(a.uuid, .answer))
        #expect(answered.wakes == [a.app, a.app] && answered.word(a) == "deferred")
    }

    @Test func aPushThatIsNotCompletedIsNotWaitedForForEver() {
        var world = World()
        world.register()
        world.push(a)
        world.advance(.seconds(5))
        #expect(world.center.load.pushes == 0)
        #expect(world.send(.delivered(world.delivered[0])).isEmpty)
    }
}
