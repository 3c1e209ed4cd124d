import Base
import Calls
import CallsWalk
import Testing

/// callkit.md section 4: what happened to other programs, as far as it is the core's to prevent. Each test bears its
/// row's number.
struct FieldReportTests {
    let a = Invite.sample("a")
    let b = Invite.sample("b", caller: "Bob", handle: "bob@example.com")

    private func registered(_ change: (inout ProviderConfiguration) -> Void = { _ in }) -> World {
        var world = World()
        world.register(a.app, change)
        return world
    }

    private func connected() -> World {
        var world = registered()
        world.connect(a)
        return world
    }

    // MARK: Cancels

    @Test func i01_aCancelThatOvertakesItsInvite() {
        var world = registered()
        world.push(a.cancel)
        #expect(world.push(a) == .alreadyOver && world.heard.isEmpty)
        #expect(world.ending(a) == .remoteEnded && world.notices == [a.uuid])
    }

    @Test func i02_theRingEndsWithoutAnyCancel() {
        var world = registered()
        world.push(a)
        world.advance(.seconds(31))
        #expect(world.ending(a) == .unanswered && world.sound == nil && world.banners.isEmpty)
    }

    @Test func i03_aCancelForAnotherIdChangesNothing() {
        var world = registered()
        world.push(a)
        #expect(world.push(b.cancel) == .tombstone && world.word(a) == "ringing")
    }

    @Test func i04_noRingIsLongerThanTheCapWhateverHappens() {
        var world = registered()
        world.push(.sample("a", ringTime: .seconds(100_000)))
        for _ in 0..<200 {
            world.push(.sample("a", ringTime: .seconds(100_000)))
            world.send(.bannerClosed(a.uuid, isDismissal: false))
            world.send(.app(a.app, .gone))
            world.send(.app(a.app, .attached))
            world.advance(.seconds(1))
        }
        #expect(world.heard[a.uuid] == .seconds(90))
    }

    @Test func i04c_anAppThatIsOpenedWhileItRings() {
        var world = World()
        world.known()
        world.push(a)
        world.advance(.seconds(10))
        world.send(.app(a.app, .attached))
        #expect(world.delivered.count == 1)
        world.report(a.uuid, .newIncoming(a, CallUpdate()))
        world.advance(.seconds(20))
        #expect(world.ending(a) == .unanswered)
    }

    @Test func i06_leavingTheRingStopsItThoughTheAppIsDead() {
        var world = registered()
        world.push(a)
        world.send(.user(a.uuid, .answer))
        #expect(world.sound == nil && world.vibration == nil && world.banners.isEmpty)
    }

    @Test func i07_answeredOnThePhone() {
        var world = registered()
        world.push(a)
        world.push(.answeredElsewhere(a.callKey))
        #expect(world.banners.isEmpty && world.sound == nil && world.notices.isEmpty)
    }

    @Test func i08_aCancelWithoutItsCall() {
        var world = registered()
        world.push(a.cancel)
        world.advance(.seconds(60))
        #expect(world.records.isEmpty && world.heard.isEmpty)
    }

    @Test func i09_aCancelPushIsNoStrike() {
        var rules = AppRules()
        rules.mustReport = true
        var world = World()
        world.register(rules: rules)
        world.push(a)
        world.report(a.uuid, .newIncoming(a, CallUpdate()))
        world.send(.user(a.uuid, .decline))
        world.push(a.cancel)
        for id in world.delivered { world.send(.delivered(id)) }
        #expect(world.strikes.isEmpty && world.endings[a.uuid] == [.declined])
    }

    @Test func i09b_aCancelOfADeclinedCall() {
        var world = registered()
        world.push(a)
        world.send(.user(a.uuid, .decline))
        #expect(world.push(a.cancel) == .alreadyOver && world.endings[a.uuid] == [.declined])
    }

    @Test func i10_whatIsNoCallMakesNoRow() {
        var world = registered()
        world.push(b)
        let before = world.center.calls
        world.push(.unusable("no uuid"))
        #expect(world.center.calls == before && world.records.count == 1)
    }

    @Test func i12_anotherPushForADeclinedCallDoesNotRing() {
        var world = registered()
        world.push(a)
        world.send(.user(a.uuid, .decline))
        #expect(world.push(a) == .alreadyOver && world.sound == nil)
    }

    @Test func i14_nobodyAnswersAndTheAppIsTold() {
        var world = registered()
        world.push(a)
        world.advance(.seconds(30))
        #expect(world.toldEnded[a.uuid] == [.unanswered])
    }

    @Test func i15_signallingThatNeverComes() {
        for isAnswered in [false, true] {
            var world = registered { $0.hasSignalling = true }
            world.push(a)
            if isAnswered { world.send(.user(a.uuid, .answer)) }
            world.advance(.seconds(15))
            #expect(world.ending(a) == (isAnswered ? .failed(.noInvite) : .unanswered))
        }
    }

    @Test func i16_ignoreIsNoReject() {
        var world = registered()
        world.push(a)
        world.send(.user(a.uuid, .ignore))
        #expect(world.asked.isEmpty && world.ending(a) == .ignored)
    }

    // MARK: Duplicates, ids, ghosts

    @Test func i17_twoPushesAreOneRing() {
        var world = registered()
        world.push(a)
        #expect(world.push(a) == .updated(a.uuid))
        #expect(world.center.calls.count == 1 && world.completed.count == 2)
    }

    @Test func i19_startingAnIncomingCall() {
        var world = registered()
        world.push(a)
        #expect(world.request(.start(a), app: a.app) == .request(.callUUIDAlreadyExists))
    }

    @Test func i20_i29_endingWhatIsOver() {
        var world = connected()
        world.report(a.uuid, .ended(.remoteEnded, at: nil, detail: ""))
        #expect(world.request(.end(a.uuid), app: a.app) == .request(.unknownCallUUID))
        #expect(world.send(.user(a.uuid, .hangUp)).isEmpty && world.endings[a.uuid] == [.remoteEnded])
    }

    @Test func i23_i24_i66_whatComesLateIsMissed() {
        var world = registered()
        for key in ["a", "b", "c"] {
            var late = Invite.sample(key)
            late.sentAt = Instant(nanoseconds: world.now.nanoseconds - 3_600_000_000_000)
            world.push(late)
        }
        #expect(world.heard.isEmpty && world.notices.count == 3)
        #expect(world.endings.values.allSatisfy { $0 == [.expired] })
    }

    @Test func i24_withoutAnyDateItWaitsForConfirmation() {
        var world = registered { $0.hasSignalling = true }
        world.send(.resumed)
        world.push(a)
        #expect(world.sound == nil)
        world.push(a.cancel)
        #expect(world.heard.isEmpty && world.ending(a) == .remoteEnded)
    }

    @Test func i28_theNameAndWhatIsCalledBackAreTwoThings() {
        var world = registered()
        world.push(a)
        var update = CallUpdate()
        update.callBack = Handle(.phoneNumber, "+4989")
        world.report(a.uuid, .updated(update))
        let call = world.center[a.uuid]!
        #expect(call.invite.caller.display == "Alice" && call.callBack?.value == "+4989")
    }

    // MARK: Answer, login, audio

    @Test func i30_i31_anAnswerBeforeTheAppIsThere() {
        var world = World()
        world.known()
        world.push(a)
        world.send(.user(a.uuid, .answer))
        world.send(.app(a.app, .session(.down)))
        world.send(.app(a.app, .attached))
        #expect(world.asked.isEmpty && world.sound == nil)
        world.send(.app(a.app, .session(.up)))
        #expect(world.asks("answer", a.uuid) != nil)
        world.fulfil("answer")
        #expect(world.word(a) == "active")
    }

    @Test func i33_connectedIsWhenItIsConnected() {
        var world = registered()
        world.push(a)
        world.send(.user(a.uuid, .answer))
        world.fulfil("answer", isConnecting: true)
        world.advance(.seconds(4))
        world.report(a.uuid, .connected(at: nil))
        #expect(world.center[a.uuid]?.connected == world.now)
    }

    @Test func i34_i35_mediaStartsWhenItIsActivated() {
        var world = registered()
        world.push(a)
        world.send(.user(a.uuid, .answer))
        #expect(world.audioOrder.isEmpty)
        world.fulfil("answer")
        #expect(world.audioLog[a.uuid] == [true])
        world.send(.user(a.uuid, .startAudio))
        #expect(world.audioLog[a.uuid] == [true, true])
    }

    @Test func i36_endAndAcceptHasAFreshActivation() {
        var world = connected()
        world.push(b)
        world.send(.user(b.uuid, .answer))
        world.fulfil("end")
        world.fulfil("answer")
        #expect(world.audioOrder.map(\.call) == [a.uuid, a.uuid, b.uuid])
        #expect(world.audioOrder.map(\.isOn) == [true, false, true])
    }

    @Test func i37_i42_aDeclineReachesAnAppThatIsDead() {
        var world = World()
        world.known()
        world.push(a)
        world.send(.user(a.uuid, .decline))
        #expect(world.ending(a) == .declined && world.wakes == [a.app])
        world.send(.app(a.app, .attached))
        // It dies over it, and is told once more.
        world.send(.app(a.app, .gone))
        world.send(.app(a.app, .attached))
        #expect(world.asked.map(\.kind) == [.end(.declined), .end(.declined)])
        world.fulfil("end")
        #expect(world.center.load == CallCenter.Load() || world.center.load.pushes > 0)
        #expect(world.endings[a.uuid] == [.declined])
    }

    @Test func i38_i40_theOtherUsersCalls() {
        var world = registered()
        world.push(a)
        world.send(.app(a.app, .unbound))
        #expect(world.push(.invite(b), isBound: false) == .unknownApp)
        #expect(world.center.calls.isEmpty && world.records[b.uuid] == nil && world.notices.isEmpty)
    }

    @Test func i43_anAnswerThatFailsIsSaid() {
        var world = registered()
        world.push(a)
        world.send(.user(a.uuid, .answer))
        #expect(world.isAwake)
        world.advance(.seconds(10))
        #expect(world.noticeKinds[a.uuid] == .failed && !world.isAwake)
    }

    @Test func i45_i54_oneMuteAndEachCallItsOwn() {
        var world = connected()
        world.connect(b, .holdAndAnswer)
        #expect(world.asked.allSatisfy { $0.kind.word != "mute" })
        world.request(.setMuted(b.uuid, true))
        world.fulfil("mute")
        #expect(world.center[a.uuid]?.isMuted == false && world.center[b.uuid]?.isMuted == true)
    }

    // MARK: Pushes that stop

    @Test func i46_i47_i48_strikesAndTheirEnd() {
        var rules = AppRules()
        rules.mustReport = true
        var world = World()
        world.register(rules: rules)
        for key in ["1", "2", "3"] {
            world.push(.sample(key))
            world.advance(.seconds(5))
        }
        #expect(world.push(a) == .suspended)
        world.send(.app(a.app, .suspended(false)))
        #expect(world.push(a) == .toApp)
    }

    @Test func i48b_aReportIsDecidedAtOnce() {
        var world = registered()
        let id = world.nextRequest()
        let actions = world.send(.report(id, app: a.app, a.uuid, .newIncoming(a, CallUpdate())))
        #expect(actions.contains { $0 == .complete(id, nil) })
    }

    @Test func i49_aRefusedCallMovesNoAudio() {
        for isDisturbing in [true, false] {
            var policy = CallPolicy()
            policy.screening.whenDisturbing = .refuse
            var world = World(policy: policy)
            world.register { $0.maximumCallGroups = 1 }
            world.connect(a)
            if isDisturbing { world.send(.disturbance(isForbidden: true)) }
            world.push(b)
            #expect(world.audioOrder.count == 1 && world.audio == [a.uuid] && world.word(b) == "")
        }
    }

    // MARK: Several calls, several devices

    @Test func i50_declineRevealsTheSecond() {
        var world = registered()
        world.push(a)
        world.push(b)
        #expect(world.banners == [a.uuid])
        world.send(.user(a.uuid, .decline))
        #expect(world.banners == [b.uuid] && world.sound?.call == b.uuid)
    }

    @Test func i50_answerLetsTheSecondWaitOrHearBusy() {
        for isBusy in [true, false] {
            var rules = AppRules()
            rules.isBusyWhenTaken = isBusy
            var world = World()
            world.register(rules: rules)
            world.push(a)
            world.push(b)
            world.send(.user(a.uuid, .answer))
            #expect(world.word(b) == (isBusy ? "" : "waiting") && world.ending(b) == (isBusy ? .busy : nil))
        }
    }

    @Test func i51_theWaitingCallOutlivesTheActiveOne() {
        var world = connected()
        world.push(b)
        world.report(a.uuid, .ended(.remoteEnded, at: nil, detail: ""))
        #expect(world.word(b) == "ringing" && world.sound?.isSoft == false && world.vibration == b.uuid)
    }

    @Test func i52_aDeclineIsADeclineAndAnEndIsAnEnd() {
        var world = connected()
        world.push(b)
        world.send(.user(b.uuid, .decline))
        #expect(world.ending(b) == .declined && world.asks("end", b.uuid) != nil && world.asks("end", a.uuid) == nil)
        world.send(.user(a.uuid, .hangUp))
        world.fulfil("end", a.uuid)
        #expect(world.ending(a) == .local)
    }

    @Test func i53_endAndAcceptNamesEachCallRightly() {
        var world = connected()
        world.push(b)
        world.send(.user(b.uuid, .answer))
        #expect(world.asks("end", a.uuid) != nil && world.asks("end", b.uuid) == nil)
        world.fulfil("end")
        #expect(world.asks("answer", b.uuid) != nil && world.asks("answer", a.uuid) == nil)
    }

    @Test func i55_holdAndAcceptBesideADialledCall() {
        var world = registered()
        world.request(.start(a))
        world.fulfil("start")
        world.report(a.uuid, .connected(at: nil))
        world.push(b)
        #expect(world.shown[b.uuid] == .mayHoldOther)
    }

    @Test func i57_busyByPolicy() {
        var rules = AppRules()
        rules.isBusyWhenTaken = true
        var world = World()
        world.register(rules: rules)
        world.connect(a)
        #expect(world.push(b) == .busy(b.uuid))
        #expect(world.banners.isEmpty && world.sound == nil && world.toldEnded[b.uuid] == [.busy])
    }

    @Test func i58_theOtherDeviceAnswers() {
        var world = registered()
        world.push(a)
        world.report(a.uuid, .ended(.answeredElsewhere, at: nil, detail: ""))
        #expect(world.ending(a) == .answeredElsewhere && world.notices.isEmpty)
    }

    @Test func i59_evidenceThatComesLaterTakesTheNoticeBack() {
        for isReport in [true, false] {
            var world = registered()
            world.push(a)
            world.push(a.cancel)
            #expect(world.notices == [a.uuid])
            if isReport {
                let error = world.report(a.uuid, .ended(.answeredElsewhere, at: nil, detail: ""))
                #expect(error == .request(.unknownCallUUID))
            } else {
                world.push(.answeredElsewhere(a.callKey))
            }
            #expect(world.withdrawn == [a.uuid] && world.annotated[a.uuid] == .answeredElsewhere)
        }
    }

    @Test func i60_bothCallEachOther() {
        var world = registered()
        world.request(.start(a))
        world.fulfil("start")
        var theirs = b
        theirs.caller.handle = a.caller.handle
        world.push(theirs)
        #expect(world.word(b) == "waiting" && world.word(a) == "dialing")
    }

    @Test func i62_doNotDisturb() {
        var world = registered()
        world.send(.disturbance(isForbidden: true))
        world.push(a)
        world.advance(.seconds(30))
        #expect(world.heard.isEmpty && world.noticeKinds[a.uuid] == .quietlyMissed)
    }

    @Test func i65_theWaitingCallGoesOnKnocking() {
        var world = connected()
        let other = Invite.sample("o", app: "com.example.other")
        world.push(other)
        world.advance(.seconds(29))
        #expect(world.word(other) == "waiting" && world.sound?.isSoft == true && world.raises[other.uuid] == 7)
    }
}
