import Base
import Calls
import CallsWalk
import Testing

/// callkit.md 5.4, transitions 34–56: answering and dialling.
struct AnsweringTransitionTests {
    let a = Invite.sample("a")
    let b = Invite.sample("b", caller: "Bob", handle: "bob@example.com")
    let c = Invite.sample("c", caller: "Cem", handle: "cem@example.com")

    // MARK: Answering

    @Test func t34_anAppThatIsThereIsAskedToAnswer() {
        var world = World()
        world.register { $0.configuresAudio = true }
        world.push(a)
        world.send(.user(a.uuid, .answer))
        // The audio is configured and not started.
        #expect(world.word(a) == "answering" && world.sound == nil && world.audioOrder.isEmpty)
        guard let id = world.configuring.keys.first else {
            Issue.record("the audio is not configured")
            return
        }
        #expect(world.asks("answer") == nil)
        world.send(.fulfilled(id, at: nil, isConnecting: false))
        #expect(world.word(a) == "answering")
        world.send(.configured(id, true))
        #expect(world.asks("answer", a.uuid) == id)
    }

    @Test func t34_audioThatCannotBeMadeReadyFailsTheAnswer() {
        var world = World()
        world.register { $0.configuresAudio = true }
        world.push(a)
        world.send(.user(a.uuid, .answer))
        world.send(.configured(world.configuring.keys.first!, false))
        #expect(world.ending(a) == .failed(.audio) && world.noticeKinds[a.uuid] == .failed)
    }

    @Test func t35_t38_anAnswerWaitsForItsApp() {
        var world = World()
        world.known { $0.hasSignalling = true }
        world.push(a)
        world.send(.user(a.uuid, .answer))
        #expect(world.word(a) == "deferred" && world.sound == nil && world.wakes == [a.app])
        world.send(.app(a.app, .session(.connecting)))
        world.send(.app(a.app, .attached))
        #expect(world.word(a) == "deferred")
        world.send(.app(a.app, .session(.up)))
        #expect(world.word(a) == "deferred")
        world.report(a.uuid, .newIncoming(a, CallUpdate()))
        #expect(world.word(a) == "answering" && world.asked.count == 1)
        // Run once.
        world.send(.app(a.app, .session(.connecting)))
        world.send(.app(a.app, .session(.up)))
        #expect(world.asked.count == 1)
    }

    @Test func t36_endAndAcceptEndsTheOldOneFirst() {
        for isKind in [true, false] {
            var world = World()
            world.register()
            world.connect(a)
            world.push(b)
            world.send(.user(b.uuid, .answer))
            #expect(world.word(a) == "ending" && world.word(b) == "deferred")
            #expect(world.audioLog[a.uuid] == [true, false] && world.asks("answer") == nil)
            // An end that fails, or comes too late, ends it all the same.
            if isKind { world.fulfil("end") } else { world.advance(.seconds(10)) }
            #expect(world.ending(a) == .local && world.word(b) == "answering")
        }
    }

    @Test func t37_holdAndAcceptHoldsTheOldOneFirst() {
        var world = World()
        world.register()
        world.connect(a)
        world.push(b)
        world.send(.user(b.uuid, .holdAndAnswer))
        #expect(world.word(a) == "active" && world.word(b) == "deferred" && world.asks("answer") == nil)
        world.fulfil("hold")
        #expect(world.state(a) == .held(.auto(b.uuid)) && world.word(b) == "answering")
        #expect(world.audioLog[a.uuid] == [true, false])
        world.fulfil("answer")
        #expect(world.word(b) == "active" && world.word(a) == "held")
    }

    @Test func t37_aHoldThatFailsLetsItWaitAgain() {
        var world = World()
        world.register()
        world.connect(a)
        world.push(b)
        world.advance(.seconds(3))
        world.send(.user(b.uuid, .holdAndAnswer))
        world.fail("hold")
        #expect(world.word(a) == "active" && world.word(b) == "waiting" && world.sound?.isSoft == true)
        #expect(world.center[b.uuid]?.answered == nil)
        world.advance(.seconds(27))
        #expect(world.ending(b) == .unanswered)
    }

    @Test func t37_aHoldThatFailsTooLateEndsIt() {
        var world = World()
        world.register()
        world.connect(a)
        world.push(b)
        world.advance(.seconds(25))
        world.send(.user(b.uuid, .holdAndAnswer))
        // T_action: its time to ring is over by now.
        world.advance(.seconds(10))
        #expect(world.ending(b) == .failed(.answer) && world.heard[b.uuid] == .seconds(25) && world.faults.isEmpty)
        #expect(world.noticeKinds[b.uuid] == .failed)
    }

    @Test func t37_withoutHoldingItEndsTheOther() {
        var world = World()
        world.register()
        world.connect(a)
        var update = CallUpdate()
        update.holding = false
        world.report(a.uuid, .updated(update))
        world.push(b)
        world.send(.user(b.uuid, .holdAndAnswer))
        #expect(world.word(a) == "ending")
    }

    @Test func t39_anEndReplacesTheAnswer() {
        var world = World()
        world.known()
        world.push(a)
        world.send(.user(a.uuid, .answer))
        world.send(.user(a.uuid, .hangUp))
        #expect(world.ending(a) == .declined)
        world.send(.app(a.app, .attached))
        #expect(world.asked.map(\.kind) == [.end(.declined)])
    }

    @Test func t40_aCallThatIsOverWhileTheAppStarts() {
        for (signal, reason) in [
            (a.cancel, EndReason.remoteEnded), (Signal.answeredElsewhere(a.callKey), .answeredElsewhere),
            (.declinedElsewhere(a.callKey), .declinedElsewhere),
        ] {
            var world = World()
            world.known()
            world.push(a)
            world.send(.user(a.uuid, .answer))
            world.push(signal)
            #expect(world.ending(a) == reason)
            #expect(world.noticeKinds[a.uuid] == (reason == .remoteEnded ? .missed : nil))
            world.send(.app(a.app, .attached))
            #expect(world.asked.isEmpty)
        }
    }

    @Test func t41_theAppNeverComesOrNeverLogsInOrNeverHearsOfIt() {
        for (event, seconds, reason) in [
            (nil, 10, EndReason.Failure.clientUnavailable), (CallEvent.AppEvent.wakeFailed, 0, .clientUnavailable),
            (.session(.failed), 0, .login),
        ] {
            var world = World()
            world.known()
            world.push(a)
            world.send(.user(a.uuid, .answer))
            if let event { world.send(.app(a.app, event)) }
            world.advance(.seconds(seconds))
            #expect(world.ending(a) == .failed(reason) && world.noticeKinds[a.uuid] == .failed)
            #expect(EndReason.failed(reason).category(of: world.records[a.uuid]!) == "failed")
        }
        var there = World()
        there.register(session: .connecting)
        there.push(a)
        there.send(.user(a.uuid, .answer))
        there.advance(.seconds(10))
        #expect(there.ending(a) == .failed(.login))
        var silent = World()
        silent.register { $0.hasSignalling = true }
        silent.push(a)
        silent.advance(.seconds(1))
        silent.send(.user(a.uuid, .answer))
        silent.advance(.seconds(14))
        #expect(silent.ending(a) == .failed(.noInvite))
    }

    @Test func t42_fulfilledItIsActive() {
        var world = World()
        world.register()
        world.push(a)
        world.advance(.seconds(5))
        world.send(.user(a.uuid, .answer))
        let answered = world.now
        world.advance(.seconds(2))
        world.fulfil("answer", at: answered + .seconds(1))
        #expect(world.word(a) == "active" && world.center[a.uuid]?.connected == answered + .seconds(1))
        #expect(world.center[a.uuid]?.audio == .pending)
        world.report(a.uuid, .audioRuns)
        #expect(world.center[a.uuid]?.audio == .on && world.audioLog[a.uuid] == [true])
    }

    @Test func t42_nobodysClockGoesAheadOrBehind() {
        for offset in [-1000, 1000] {
            var world = World()
            world.register()
            world.push(a)
            world.advance(.seconds(5))
            world.send(.user(a.uuid, .answer))
            world.fulfil("answer", at: world.now + .seconds(offset))
            let call = world.center[a.uuid]!
            #expect(call.connected == (offset < 0 ? call.began : world.now))
        }
    }

    @Test func t43_refusedItHasFailed() {
        var world = World()
        world.register()
        world.push(a)
        world.send(.user(a.uuid, .answer))
        world.fail("answer")
        #expect(world.ending(a) == .failed(.answer) && world.noticeKinds[a.uuid] == .failed)
        world.push(b)
        world.send(.user(b.uuid, .answer))
        world.report(b.uuid, .ended(.answeredElsewhere, at: nil, detail: ""))
        #expect(world.ending(b) == .answeredElsewhere && world.notices == [a.uuid])
    }

    @Test func t44_aLateAnswerIsTimedOutAndCountsNoMore() {
        var world = World()
        world.register()
        world.push(a)
        world.send(.user(a.uuid, .answer))
        let id = world.asks("answer")!
        world.advance(.seconds(10))
        #expect(world.timedOut == [id] && world.ending(a) == .failed(.timeout))
        #expect(world.send(.fulfilled(id, at: nil, isConnecting: false)).isEmpty)
        #expect(world.send(.failed(id)).isEmpty)
    }

    @Test func t45_theEchoOfOurAnswerIsIgnored() {
        var world = World()
        world.register()
        world.push(a)
        world.send(.user(a.uuid, .answer))
        for signal in [a.cancel, .answeredElsewhere(a.callKey), .declinedElsewhere(a.callKey)] {
            #expect(world.push(signal) == .updated(a.uuid))
        }
        #expect(world.word(a) == "answering")
        world.fulfil("answer", isConnecting: true)
        #expect(world.push(a.cancel) == .updated(a.uuid) && world.word(a) == "connecting")
    }

    @Test func t46_theOtherSideEndsItWhileItIsAnswered() {
        var world = World()
        world.register()
        world.push(a)
        world.send(.user(a.uuid, .answer))
        let id = world.asks("answer")!
        world.report(a.uuid, .ended(.remoteEnded, at: nil, detail: ""))
        #expect(world.ending(a) == .remoteEnded && world.noticeKinds[a.uuid] == .missed)
        #expect(!world.center.isOpen(id, of: a.app))
    }

    @Test func t47_answeringTwiceIsAnsweringOnce() {
        var world = World()
        world.register()
        world.push(a)
        world.send(.user(a.uuid, .answer))
        world.send(.user(a.uuid, .holdAndAnswer))
        #expect(world.request(.answer(a.uuid)) == nil && world.asked.count == 1)
        world.fulfil("answer")
        world.send(.user(a.uuid, .answer))
        #expect(world.asked.count == 1 && world.word(a) == "active")
    }

    @Test func anAnswerInTwoStepsIsActiveOnceConnected() {
        var world = World()
        world.register()
        world.push(a)
        world.send(.user(a.uuid, .answer))
        world.fulfil("answer", isConnecting: true)
        #expect(world.word(a) == "connecting" && world.audio.isEmpty)
        #expect(world.report(a.uuid, .connected(at: nil)) == nil)
        #expect(world.word(a) == "active")
        world.push(b)
        world.send(.user(b.uuid, .holdAndAnswer))
        world.fulfil("hold")
        world.fulfil("answer", isConnecting: true)
        world.advance(.seconds(10))
        #expect(world.ending(b) == .failed(.connect))
    }

    @Test func aLostSessionHasItsGrace() {
        var policy = CallPolicy()
        policy.connectTimeout = .seconds(60)
        for isBack in [true, false] {
            var world = World(policy: policy)
            world.register()
            world.push(a)
            world.send(.user(a.uuid, .answer))
            world.fulfil("answer", isConnecting: true)
            world.send(.app(a.app, .session(.down)))
            world.advance(.seconds(14))
            if isBack { world.send(.app(a.app, .session(.up))) }
            world.advance(.seconds(1))
            #expect(world.ending(a) == (isBack ? nil : .failed(.network)))
        }
    }

    // MARK: Dialling

    @Test func t48_aLiveCallIsNotDialled() {
        var world = World()
        world.register()
        world.push(a)
        #expect(world.request(.start(a)) == .request(.callUUIDAlreadyExists))
        // Nor one that is over: its row is written.
        world.send(.user(a.uuid, .decline))
        #expect(world.request(.start(a)) == .request(.callUUIDAlreadyExists))
    }

    @Test func t49_noMoreThanTheAppCanDo() {
        var world = World()
        world.register { $0.maximumCallGroups = 1 }
        world.connect(a)
        #expect(world.request(.start(b)) == .request(.maximumCallGroupsReached))
        // On hold it is a call all the same; over it is none.
        #expect(world.request(.setHeld(a.uuid, true), .start(b)) == .request(.maximumCallGroupsReached))
        #expect(world.request(.end(a.uuid), .start(b)) == nil)
        world.fulfil("end")
        #expect(world.word(b) == "requested")
    }

    @Test func t49_aConferenceIsOneUntilAllHaveLeft() {
        var world = World()
        world.register()
        world.conference(a, b)
        world.request(.start(c))
        while let id = world.asks("hold") { world.send(.fulfilled(id, at: nil, isConnecting: false)) }
        world.fulfil("start")
        world.report(c.uuid, .connected(at: nil))
        let d = Invite.sample("d")
        #expect(world.request(.end(a.uuid), .start(d)) == .request(.maximumCallGroupsReached))
        #expect(world.request(.end(a.uuid), .end(b.uuid), .start(d)) == nil)
    }

    @Test func t50_dialling() {
        var world = World()
        world.register()
        world.connect(a)
        #expect(world.request(.start(b)) == nil)
        #expect(world.word(b) == "deferred" && world.asks("start") == nil)
        world.fulfil("hold")
        #expect(world.state(a) == .held(.auto(b.uuid)) && world.word(b) == "requested")
        #expect(world.records[b.uuid]?.isOutgoing == true)
        // Not while another is being answered: it cannot be held.
        #expect(world.request(.start(c)) == .request(.maximumCallGroupsReached))
    }

    @Test func t50_anAbsentAppIsStartedToDial() {
        var world = World()
        world.known()
        #expect(world.request(.start(a)) == nil)
        #expect(world.word(a) == "deferred" && world.wakes == [a.app])
        world.send(.app(a.app, .attached))
        #expect(world.word(a) == "requested")
        var gone = World()
        gone.known()
        gone.request(.start(a))
        gone.send(.user(a.uuid, .hangUp))
        gone.send(.app(a.app, .attached))
        // It never heard of it, and is asked for nothing.
        #expect(gone.ending(a) == .cancelled && gone.asked.isEmpty)
    }

    @Test func t51_onItsWay() {
        for byReport in [true, false] {
            var world = World()
            world.register()
            world.request(.start(a))
            if byReport {
                #expect(world.report(a.uuid, .startedConnecting(at: nil)) == nil)
            } else {
                world.fulfil("start")
            }
            #expect(world.word(a) == "dialing" && world.center[a.uuid]?.startedConnecting == world.now)
            world.fulfil("start")
            #expect(world.word(a) == "dialing")
        }
        var world = World()
        world.register()
        world.push(a)
        #expect(world.report(a.uuid, .startedConnecting(at: nil)) == .request(.invalidAction))
    }

    @Test func t52_refusedOrLateItHasFailed() {
        for isLate in [true, false] {
            var world = World()
            world.register()
            world.request(.start(a))
            if isLate { world.advance(.seconds(10)) } else { world.fail("start") }
            #expect(world.ending(a) == .failed(isLate ? .timeout : .start))
            #expect(world.noticeKinds[a.uuid] == .failed && world.timedOut.isEmpty != isLate)
        }
    }

    @Test func t53_answeredByTheOtherSide() {
        var world = World()
        world.register()
        world.request(.start(a))
        world.fulfil("start")
        world.advance(.seconds(7))
        #expect(world.report(a.uuid, .connected(at: nil)) == nil)
        #expect(world.word(a) == "active" && world.center[a.uuid]?.connected == world.now)
        #expect(world.audioLog[a.uuid] == [true])
    }

    @Test func t54_endsOfADialledCall() {
        for (reason, category) in [
            (EndReason.unanswered, "no answer"), (.remoteEnded, "declined"), (.failed(.reported), "failed"),
        ] {
            var world = World()
            world.register()
            world.request(.start(a))
            world.fulfil("start")
            world.report(a.uuid, .ended(reason, at: nil, detail: ""))
            #expect(world.ending(a) == reason && reason.category(of: world.records[a.uuid]!) == category)
        }
    }

    @Test func t55_givenUp() {
        var world = World()
        world.register()
        world.request(.start(a))
        world.fulfil("start")
        world.send(.user(a.uuid, .hangUp))
        #expect(world.word(a) == "ending" && world.records[a.uuid]?.ended == world.now)
        world.fulfil("end")
        #expect(world.ending(a) == .cancelled && world.notices.isEmpty)
        #expect(EndReason.cancelled.category(of: world.records[a.uuid]!) == "cancelled")
    }

    @Test func t56_bothCallEachOther() {
        var theirs = b
        theirs.caller.handle = a.caller.handle
        var world = World()
        world.register()
        world.request(.start(a))
        world.fulfil("start")
        #expect(world.push(theirs) == .rings(b.uuid))
        #expect(world.word(b) == "waiting" && world.word(a) == "dialing")
    }
}
