import Base
import Calls
import CallsWalk
import Testing

/// callkit.md 5.4, transitions 57–73: active, held, several at once, and over.
struct ConnectedTransitionTests {
    let a = Invite.sample("a")
    let b = Invite.sample("b", caller: "Bob", handle: "bob@example.com")
    let c = Invite.sample("c", caller: "Cem", handle: "cem@example.com")

    private func connected() -> World {
        var world = World()
        world.register()
        world.connect(a)
        return world
    }

    @Test func t57_holding() {
        var world = connected()
        #expect(world.request(.setHeld(a.uuid, true)) == nil)
        #expect(world.word(a) == "active")
        world.fulfil("hold")
        #expect(world.state(a) == .held(.user) && world.audio.isEmpty)
        // Refused by the app, or never done: unchanged.
        var refused = connected()
        refused.request(.setHeld(a.uuid, true))
        refused.fail("hold")
        #expect(refused.word(a) == "active" && refused.audio == [a.uuid])
        var update = CallUpdate()
        update.holding = false
        refused.report(a.uuid, .updated(update))
        #expect(refused.request(.setHeld(a.uuid, true)) == .request(.invalidAction))
    }

    @Test func t58_swapping() {
        var world = connected()
        world.connect(b, .holdAndAnswer)
        #expect(world.word(a) == "held" && world.word(b) == "active")
        world.request(.setHeld(a.uuid, false))
        #expect(world.asks("hold", b.uuid) != nil && world.asks("resume") == nil)
        world.fulfil("hold")
        #expect(world.audio.isEmpty && world.asks("resume", a.uuid) != nil)
        world.fulfil("resume")
        #expect(world.word(a) == "active" && world.word(b) == "held" && world.faults.isEmpty)
        // The other one cannot be held: nothing happens, and never two at once.
        world.request(.setHeld(b.uuid, false))
        world.fail("hold")
        #expect(world.word(a) == "active" && world.word(b) == "held" && world.asks("resume") == nil)
    }

    @Test func t59_goingOnHasAFreshActivation() {
        var world = connected()
        world.request(.setHeld(a.uuid, true))
        world.fulfil("hold")
        world.request(.setHeld(a.uuid, false))
        world.fulfil("resume")
        #expect(world.word(a) == "active" && world.audioLog[a.uuid] == [true, false, true])
        #expect(world.center[a.uuid]?.audio == .pending)
    }

    @Test func t60_whatAnotherCallHeldGoesOnWhenThatOneEnds() {
        for isAuto in [true, false] {
            var policy = CallPolicy()
            policy.resumesHeld = isAuto
            var world = World(policy: policy)
            world.register()
            world.connect(a)
            world.connect(b, .holdAndAnswer)
            world.report(b.uuid, .ended(.remoteEnded, at: nil, detail: ""))
            #expect((world.asks("resume", a.uuid) != nil) == isAuto)
            world.fulfil("resume")
            #expect(world.word(a) == (isAuto ? "active" : "held"))
        }
    }

    @Test func t60_whatTheUserHeldStaysHeld() {
        var world = connected()
        world.request(.setHeld(a.uuid, true))
        world.fulfil("hold")
        world.connect(b)
        world.report(b.uuid, .ended(.remoteEnded, at: nil, detail: ""))
        #expect(world.word(a) == "held" && world.asks("resume") == nil)
        // Also if the hold was another call's first, and then the user's.
        world.request(.setHeld(a.uuid, false))
        world.fulfil("resume")
        world.connect(c, .holdAndAnswer)
        world.request(.setHeld(a.uuid, true))
        #expect(world.state(a) == .held(.user))
    }

    @Test func t60_aConferenceGoesOnAsAWhole() {
        var world = World()
        world.register()
        world.conference(a, b)
        world.connect(c, .holdAndAnswer)
        #expect(world.word(a) == "held" && world.word(b) == "held" && world.word(c) == "active")
        world.report(c.uuid, .ended(.remoteEnded, at: nil, detail: ""))
        #expect(world.asks("resume", a.uuid) != nil && world.asks("resume", b.uuid) != nil)
        world.fulfil("resume", a.uuid)
        world.fulfil("resume", b.uuid)
        #expect(world.audio == [a.uuid, b.uuid] && world.faults.isEmpty)
    }

    @Test func t60_aResumeThatIsOvertakenHoldsAgain() {
        var world = connected()
        world.connect(b, .holdAndAnswer)
        world.report(b.uuid, .ended(.remoteEnded, at: nil, detail: ""))
        let resume = world.asks("resume", a.uuid)!
        // Before the app has done it the user takes another call.
        world.push(c)
        world.send(.user(c.uuid, .answer))
        world.fulfil("answer")
        world.send(.fulfilled(resume, at: nil, isConnecting: false))
        #expect(world.word(c) == "active" && world.audio == [c.uuid])
        #expect(world.word(a) == "held" && world.asks("hold", a.uuid) != nil)
    }

    @Test func t61_muting() {
        var world = connected()
        world.connect(b, .holdAndAnswer)
        #expect(world.request(.setMuted(a.uuid, true)) == nil)
        world.fulfil("mute")
        #expect(world.center[a.uuid]?.isMuted == true && world.center[b.uuid]?.isMuted == false)
        // The same value: no echo.
        #expect(world.request(.setMuted(a.uuid, true)) == nil && world.asks("mute") == nil)
        world.request(.setMuted(a.uuid, false))
        world.fail("unmute")
        #expect(world.center[a.uuid]?.isMuted == true)
        // Not another app's.
        #expect(world.request(.setMuted(a.uuid, false), app: "com.example.other") == .request(.unknownCallUUID))
    }

    @Test func t62_tonesComeOneAfterTheOther() {
        var world = connected()
        #expect(world.request(.playDTMF(a.uuid, "1", .singleTone)) == nil)
        #expect(world.request(.playDTMF(a.uuid, "2", .singleTone), .playDTMF(a.uuid, ",3", .softPause)) == nil)
        for digits in ["1", "2", ",3"] {
            #expect(world.open.count == 1)
            guard case .playDTMF(digits, _)? = world.open.values.first?.kind else {
                Issue.record("\(digits) is not the next")
                return
            }
            world.fulfil("dtmf")
        }
        #expect(world.open.isEmpty)
        for digits in ["", "x", String(repeating: "1", count: 65)] {
            #expect(world.request(.playDTMF(a.uuid, digits, .singleTone)) == .request(.invalidAction))
        }
        var update = CallUpdate()
        update.dtmf = false
        world.report(a.uuid, .updated(update))
        #expect(world.request(.playDTMF(a.uuid, "1", .singleTone)) == .request(.invalidAction))
    }

    @Test func t63_conferences() {
        var world = World()
        world.register { $0.maximumCallsPerCallGroup = 2 }
        world.conference(a, b)
        #expect(world.word(a) == "active" && world.word(b) == "active")
        #expect(world.center[a.uuid]?.group != nil && world.center[a.uuid]?.group == world.center[b.uuid]?.group)
        // Full.
        world.connect(c, .holdAndAnswer)
        #expect(world.request(.setGroup(c.uuid, with: a.uuid)) == .request(.maximumCallGroupsReached))
        // Leaving: two calls, and one of them is heard.
        #expect(world.request(.setGroup(c.uuid, with: nil)) == .request(.invalidAction))
        world.request(.end(c.uuid))
        while let id = world.open.keys.min() { world.send(.fulfilled(id, at: nil, isConnecting: false)) }
        #expect(world.audio == [a.uuid, b.uuid])
        world.request(.setGroup(a.uuid, with: nil))
        world.fulfil("ungroup")
        #expect(world.center[a.uuid]?.group == nil && world.center[b.uuid]?.group == nil)
        #expect(world.audio == [a.uuid] && world.state(b) == .held(.auto(a.uuid)) && world.faults.isEmpty)
    }

    @Test func t63_whoChangesConferencesLeavesNobodyActiveBehind() {
        var world = World()
        world.register { $0.maximumCallGroups = 3 }
        world.conference(a, b)
        world.connect(c, .holdAndAnswer)
        world.request(.setHeld(a.uuid, false), .setHeld(b.uuid, false))
        while let id = world.open.keys.min() { world.send(.fulfilled(id, at: nil, isConnecting: false)) }
        #expect(world.audio == [a.uuid, b.uuid])
        // c is held, the conference goes on; a moves over to c.
        world.request(.setGroup(a.uuid, with: c.uuid))
        world.fulfil("group")
        #expect(world.audio == [a.uuid, c.uuid])
        #expect(world.word(b) == "held" && world.center[b.uuid]?.group == nil && world.faults.isEmpty)
    }

    @Test func t63_leavingNeedsRoomForOneMore() {
        var world = World()
        world.register()
        world.conference(a, b)
        world.connect(c, .holdAndAnswer)
        #expect(world.request(.setGroup(a.uuid, with: nil)) == .request(.maximumCallGroupsReached))
    }

    @Test func t63_groupsNeedTheFeature() {
        var world = connected()
        world.connect(b, .holdAndAnswer)
        var update = CallUpdate()
        update.grouping = false
        world.report(b.uuid, .updated(update))
        #expect(world.request(.setGroup(a.uuid, with: b.uuid)) == .request(.invalidAction))
        #expect(world.request(.setGroup(a.uuid, with: a.uuid)) == .request(.invalidAction))
        #expect(world.request(.setGroup(a.uuid, with: c.uuid)) == .request(.unknownCallUUID))
    }

    @Test func t64_theOtherSideHangsUp() {
        var world = connected()
        world.push(b)
        world.advance(.seconds(3))
        world.push(a.cancel)
        #expect(world.ending(a) == .remoteEnded && world.notices.isEmpty && world.word(b) == "ringing")
        #expect(EndReason.remoteEnded.category(of: world.records[a.uuid]!) == "completed")
        #expect(world.audioLog[a.uuid] == [true, false])
    }

    @Test func t65_theUserHangsUp() {
        for isHeld in [false, true] {
            var world = connected()
            if isHeld {
                world.request(.setHeld(a.uuid, true))
                world.fulfil("hold")
            }
            world.advance(.seconds(20))
            let moment = world.now
            world.send(.user(a.uuid, .hangUp))
            #expect(world.word(a) == "ending" && world.audio.isEmpty)
            world.advance(.seconds(3))
            world.fulfil("end")
            #expect(world.ending(a) == .local && world.records[a.uuid]?.ended == moment)
        }
    }

    @Test func t66_aLostSessionEndsNothing() {
        var world = connected()
        world.send(.app(a.app, .session(.down)))
        world.advance(.seconds(60))
        #expect(world.word(a) == "active")
    }

    @Test func t67_anAppThatVanishesTakesItsCalls() {
        var world = connected()
        world.connect(b, .holdAndAnswer)
        world.advance(.seconds(9))
        world.send(.app(a.app, .gone))
        for call in [a, b] {
            #expect(world.ending(call) == .failed(.clientGone))
            #expect(EndReason.failed(.clientGone).category(of: world.records[call.uuid]!) == "interrupted")
        }
        #expect(world.audio.isEmpty && world.noticeKinds[a.uuid] == .failed && !world.isAwake)
    }

    @Test func t68_anEndEndsWhateverTheAppSays() {
        for way in ["fulfil", "fail", "late", "gone", "report", "cancel"] {
            var world = connected()
            world.send(.user(a.uuid, .hangUp))
            let id = world.asks("end")!
            switch way {
            case "fulfil": world.fulfil("end")
            case "fail": world.fail("end")
            case "late": world.advance(.seconds(10))
            case "gone": world.send(.app(a.app, .gone))
            case "report": world.report(a.uuid, .ended(.failed(.reported), at: nil, detail: ""))
            default: world.send(.cancelled(a.uuid))
            }
            #expect(world.endings[a.uuid] == [.local], "\(way)")
            #expect(world.send(.fulfilled(id, at: nil, isConnecting: false)).isEmpty)
        }
    }

    @Test func t69_aWithdrawnProviderEndsEverything() {
        var world = World()
        world.register { $0.maximumCallGroups = 3 }
        world.connect(a)
        world.connect(b, .holdAndAnswer)
        world.push(c)
        world.request(.setMuted(b.uuid, true))
        world.send(.app(a.app, .invalidated))
        for call in [a, b, c] { #expect(world.ending(call) == .failed(.reset)) }
        #expect(world.center.pendingActions(of: a.app).isEmpty && world.audio.isEmpty && world.sound == nil)
        #expect(world.notices.isEmpty && world.center.load.transactions == 0)
    }

    @Test func t69_whoWithdrawsKeepsItsAccountAndItsStanding() {
        var world = World()
        world.register(account: "anna")
        world.push(a)
        world.send(.app(a.app, .invalidated))
        world.send(.app(a.app, .provider(nil)))
        // From now on its calls are handed over, and nothing waits for it.
        world.push(b)
        world.send(.user(b.uuid, .answer))
        #expect(world.handed.count == 1 && world.center.load.transactions == 0)
        world.send(.handedOver(world.handed[0].id))
        world.known()
        world.send(.app(a.app, .attached))
        world.push(c)
        #expect(world.records[c.uuid]?.account == "anna" && world.faults.isEmpty)
    }

    @Test func t69_aRestartEndsWhatNobodyCanTakeUp() {
        var world = connected()
        world.advance(.seconds(60))
        world.push(b)
        world.restart()
        #expect(world.ending(a) == .failed(.reset) && world.word(b) == "ringing")
        #expect(EndReason.failed(.reset).category(of: world.records[a.uuid]!) == "interrupted")
        #expect(world.notices.isEmpty && world.audio.isEmpty)
    }

    @Test func t70_afterASleepEveryTimerCountsFirst() {
        var world = World()
        world.register()
        world.push(a)
        world.send(.user(a.uuid, .answer))
        world.push(b)
        // Nothing fired meanwhile.
        world.now = world.now + .seconds(300)
        world.send(.resumed)
        #expect(world.ending(a) == .failed(.timeout) && world.ending(b) == .unanswered && world.sound == nil)
        #expect(world.heard[b.uuid] != nil && world.faults.isEmpty)
    }

    @Test func t71_theFirstReasonWins() {
        var world = World()
        world.register()
        world.push(a)
        world.send(.user(a.uuid, .decline))
        world.push(a.cancel)
        world.push(.answeredElsewhere(a.callKey))
        #expect(world.report(a.uuid, .ended(.remoteEnded, at: nil, detail: "")) == .request(.unknownCallUUID))
        world.advance(.seconds(100))
        #expect(world.endings[a.uuid] == [.declined] && world.annotated.isEmpty)
    }

    @Test func t71_elsewhereIsAnnotatedForAWhile() {
        for (seconds, isCancelled, isKnown) in [(9, false, true), (11, false, false), (9, true, true)] {
            var world = World()
            world.push(a)
            if isCancelled { world.push(a.cancel) } else { world.advance(.seconds(30)) }
            #expect(world.notices == [a.uuid])
            world.advance(.seconds(seconds))
            #expect(world.push(.answeredElsewhere(a.callKey)) == .alreadyOver)
            #expect(world.withdrawn == (isKnown ? [a.uuid] : []))
            #expect(world.annotated[a.uuid] == (isKnown ? .answeredElsewhere : nil))
            #expect(world.endings[a.uuid]?.count == 1)
        }
    }

    @Test func t72_whatIsOverIsUnknown() {
        var world = connected()
        world.send(.app(a.app, .gone))
        for step in [
            CallRequest.answer(a.uuid), .end(a.uuid), .setHeld(a.uuid, true), .setMuted(a.uuid, true),
            .setGroup(a.uuid, with: nil), .playDTMF(a.uuid, "1", .singleTone),
        ] {
            #expect(world.request(step) == .request(.unknownCallUUID))
        }
        #expect(world.send(.user(a.uuid, .hangUp)).isEmpty)
    }

    @Test func t73_aCallBackIsACallOfItsOwn() {
        var world = World()
        world.register()
        var update = CallUpdate()
        update.callBack = Handle(.phoneNumber, "+4930")
        world.report(a.uuid, .newIncoming(a, update))
        world.advance(.seconds(30))
        #expect(world.records[a.uuid]?.callBack == Handle(.phoneNumber, "+4930"))
        #expect(world.request(.start(.sample("again", handle: "+4930"))) == nil)
        #expect(world.endings[a.uuid] == [.unanswered] && world.center.calls.count == 1)
    }
}

extension World {
    /// Two calls in one conference, both active.
    mutating func conference(_ a: Invite, _ b: Invite) {
        connect(a)
        connect(b, .holdAndAnswer)
        request(.setGroup(a.uuid, with: b.uuid))
        fulfil("group")
    }
}
