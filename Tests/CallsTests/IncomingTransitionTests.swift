import Base
import Calls
import CallsWalk
import Testing

/// callkit.md 5.4, transitions 1–33: an incoming call before anyone answers it.
struct IncomingTransitionTests {
    let a = Invite.sample("a")
    let b = Invite.sample("b", caller: "Bob", handle: "bob@example.com")
    let c = Invite.sample("c", caller: "Cem", handle: "cem@example.com")
    static let none: [String] = []

    // MARK: Before it rings

    @Test func t01_whatIsNoCallLeavesNoTrace() {
        var world = World()
        world.register()
        #expect(world.push(.unusable("no JSON")) == .unusable("no JSON"))
        #expect(world.records.isEmpty && world.sound == nil && world.strikes.isEmpty)
        // A strict app owes nothing for it either.
        var strict = World()
        strict.register(rules: Self.strict)
        #expect(strict.push(.unusable("no JSON")) == .toApp)
        strict.send(.delivered(strict.delivered[0]))
        #expect(strict.strikes.isEmpty)
    }

    @Test func t02_anUnboundAccountLeavesNoTrace() {
        var world = World()
        world.register()
        #expect(world.push(.invite(a), isBound: false) == .unknownApp)
        #expect(world.records.isEmpty && world.delivered.isEmpty && world.sound == nil)
    }

    @Test func t03_aCancelWithoutACallIsRemembered() {
        for signal in [a.cancel, .answeredElsewhere(a.callKey), .declinedElsewhere(a.callKey)] {
            var world = World()
            #expect(world.push(signal) == .tombstone)
            #expect(world.remembered == [a.callKey] && world.records.isEmpty)
            #expect(world.push(a) == .alreadyOver)
        }
    }

    @Test func t04_whatIsOverDoesNotRing() {
        var world = World()
        world.register()
        world.push(a)
        world.send(.user(a.uuid, .decline))
        world.advance(.seconds(590))
        #expect(world.push(a) == .alreadyOver)
        // Refreshed: still known after its first ten minutes.
        world.advance(.seconds(590))
        #expect(world.report(a.uuid, .newIncoming(a, CallUpdate())) == .incoming(.callUUIDAlreadyExists))
        #expect(world.sound == nil && world.endings[a.uuid] == [.declined])
        // False: forgotten in the end.
        world.advance(.seconds(601))
        #expect(world.push(a) == .rings(a.uuid))
    }

    @Test func t04_aCancelBeforeTheAppsOwnInviteIsMissed() {
        var world = World()
        world.register()
        world.push(a.cancel)
        #expect(world.report(a.uuid, .newIncoming(a, CallUpdate())) == .incoming(.callUUIDAlreadyExists))
        #expect(world.ending(a) == .remoteEnded && world.notices == [a.uuid])
        world.push(a)
        #expect(world.notices == [a.uuid] && world.heard.isEmpty)
    }

    @Test func t05_staleOrLateIsMissed() {
        for (age, left, isLate) in [(61, 30, true), (59, 30, false), (0, 2, true), (0, 3, false), (0, -1, true)] {
            var world = World()
            var invite = a
            invite.sentAt = Instant(nanoseconds: world.now.nanoseconds - Int64(age) * 1_000_000_000)
            invite.expiresAt = world.now + .seconds(left)
            #expect(world.push(invite) == (isLate ? .tooLate(a.uuid) : .rings(a.uuid)), "\(age) \(left)")
            #expect(world.ending(a) == (isLate ? .expired : nil))
        }
    }

    @Test func t06_anInviteMakesARowAndStartsItsTime() {
        var world = World()
        world.register(account: "anna")
        world.push(a)
        #expect(world.center[a.uuid]?.deadline == world.now + .seconds(30))
        #expect(world.records[a.uuid]?.account == "anna" && world.center.nextDeadline != nil)
    }

    @Test func t07_aSecondInviteMergesAndNeverAlertsAgain() {
        var world = World()
        world.register { $0.hasSignalling = true }
        world.push(a)
        world.advance(.seconds(5))
        var better = a
        better.caller.name = "Alice Smith"
        better.isVideo = true
        let actions = world.send(.push(PushID(77), app: a.app, .invite(better), isBound: true))
        #expect(!actions.contains { $0.name == "ring" || $0.name == "raise" || $0.name == "audio" })
        #expect(
            world.center[a.uuid]?.invite.caller.name == "Alice Smith" && world.center[a.uuid]?.invite.isVideo == true)
        // The app's own invite stops T_invite.
        #expect(world.report(a.uuid, .newIncoming(a, CallUpdate())) == nil)
        world.advance(.seconds(20))
        #expect(world.word(a) == "ringing")
        #expect(world.report(a.uuid, .newIncoming(a, CallUpdate())) == .incoming(.callUUIDAlreadyExists))
    }

    @Test func t07_anotherAppsUUIDIsNotTouched() {
        var world = World()
        var foreign = Invite.sample("x", app: "com.example.other", caller: "Mallory")
        foreign.uuid = a.uuid
        foreign.serial = 1
        var first = a
        first.serial = 9
        world.push(first)
        guard case .unusable? = world.push(foreign) else {
            Issue.record("another app's call was taken for this one")
            return
        }
        #expect(world.center[a.uuid]?.invite == first)
    }

    @Test func t08_blockedIsHiddenAndSilent() {
        var world = World(policy: Self.policy { $0.blocked = [Self.pattern("+49*")] })
        world.register()
        #expect(world.push(a) == .filtered(a.uuid, .blockList))
        #expect(world.ending(a) == .filtered(.blockList) && world.notices.isEmpty && world.heard.isEmpty)
        #expect(world.report(c.uuid, .newIncoming(c, CallUpdate())) == nil)
        let d = Invite.sample("d", handle: "+49301")
        #expect(world.report(d.uuid, .newIncoming(d, CallUpdate())) == .incoming(.filteredByBlockList))
    }

    @Test func t09_doNotDisturbRefusesOrSilences() {
        for (answer, word) in [(Screening.Answer.ring, "ringing"), (.silent, "silenced"), (.refuse, "")] {
            var world = World(policy: Self.policy { $0.whenDisturbing = answer })
            world.register()
            world.send(.disturbance(isForbidden: true))
            let error = world.report(a.uuid, .newIncoming(a, CallUpdate()))
            #expect(error == (answer == .refuse ? .incoming(.filteredByDoNotDisturb) : nil))
            #expect(world.word(a) == word && (world.sound == nil) == (answer != .ring))
            #expect(world.banners.isEmpty == (answer == .refuse))
            if answer == .refuse { #expect(world.noticeKinds[a.uuid] == .quietlyMissed) }
        }
    }

    @Test func t10_unknownCallersAreRefusedOrSilenced() {
        for (answer, word) in [(Screening.Answer.ring, "ringing"), (.silent, "silenced"), (.refuse, "")] {
            var world = World(policy: Self.policy { $0.unknownCallers = answer })
            world.send(.acquaintance(b.caller.handle!))
            world.push(b)
            #expect(world.word(b) == "ringing")
            world.send(.user(b.uuid, .decline))
            world.push(a)
            #expect(world.word(a) == word)
            if answer == .refuse { #expect(world.ending(a) == .filtered(.unknownCaller)) }
        }
    }

    @Test func t11_aFullAppIsBusyAndNoAudioMoves() {
        var world = World()
        world.register { $0.maximumCallGroups = 1 }
        world.connect(a)
        let log = world.audioOrder.count
        #expect(world.push(b) == .busy(b.uuid))
        #expect(world.ending(b) == .busy && world.noticeKinds[b.uuid] == .quietlyMissed)
        #expect(world.audioOrder.count == log && world.word(a) == "active" && world.toldEnded[b.uuid] == [.busy])
        // False: with room it waits.
        var roomy = World()
        roomy.register()
        roomy.connect(a)
        roomy.push(b)
        #expect(roomy.word(b) == "waiting")
    }

    @Test func t12_anAppInFrontShowsItsCallsItself() {
        for isConfirmed in [true, false] {
            var world = World()
            world.register { $0.isForegroundHandled = true }
            world.send(.app(a.app, .foreground(true)))
            #expect(world.push(a) == .silent(a.uuid))
            #expect(world.sound == nil && world.banners.isEmpty)
            if isConfirmed { #expect(world.report(a.uuid, .presented) == nil) }
            world.advance(.seconds(1))
            #expect(world.word(a) == (isConfirmed ? "silenced" : "ringing"))
            #expect((world.sound == nil) == isConfirmed)
        }
        var world = World()
        world.register { $0.isForegroundHandled = true }
        world.push(a)
        #expect(world.word(a) == "ringing")
    }

    @Test func t13_behindACallThatRingsItWaits() {
        var world = World()
        world.push(a)
        #expect(world.push(b) == .queued(b.uuid))
        #expect(world.word(b) == "queued" && world.banners == [a.uuid])
        // False: what rings silently is in nobody's way.
        var quiet = World()
        quiet.push(a)
        quiet.send(.user(a.uuid, .silence))
        quiet.push(b)
        #expect(quiet.word(b) == "ringing")
    }

    @Test func t14_besideACallItKnocks() {
        for (holding, groups, waiting) in [
            (true, 2, CallAction.Waiting.mayHoldOther), (false, 2, .endsOther), (true, 3, .mayHoldOther),
        ] {
            var world = World()
            world.register { $0.maximumCallGroups = groups }
            world.connect(a)
            var update = CallUpdate()
            update.holding = holding
            world.report(a.uuid, .updated(update))
            world.push(b)
            #expect(world.word(b) == "waiting" && world.sound?.isSoft == true && world.vibration == nil)
            #expect(world.shown[b.uuid] == waiting)
        }
    }

    @Test func t14_whatItsBannerOffersFollowsTheOtherCall() {
        var world = World()
        world.register()
        world.push(a)
        world.send(.user(a.uuid, .answer))
        world.push(b)
        #expect(world.shown[b.uuid] == .endsOther)
        world.fulfil("answer")
        #expect(world.shown[b.uuid] == .mayHoldOther)
        var update = CallUpdate()
        update.holding = false
        world.report(a.uuid, .updated(update))
        #expect(world.shown[b.uuid] == .endsOther)
    }

    @Test func t14_anAppThatCanDoOnlyOneEndsWhatIsOnHold() {
        var world = World()
        world.register { $0.maximumCallGroups = 1 }
        world.push(a)
        world.push(b)
        world.send(.user(a.uuid, .answer))
        world.fulfil("answer")
        world.request(.setHeld(a.uuid, true))
        world.fulfil("hold")
        #expect(world.word(b) == "ringing" && world.shown[b.uuid] == .endsOther)
        world.send(.user(b.uuid, .answer))
        #expect(world.word(a) == "ending" && world.asks("answer") == nil)
        world.fulfil("end")
        #expect(world.asks("answer", b.uuid) != nil)
    }

    @Test func t15_elseItRingsAndTheAppIsStarted() {
        var world = World()
        world.known()
        #expect(world.push(a) == .rings(a.uuid))
        #expect(world.word(a) == "ringing" && world.wakes == [a.app] && world.delivered.isEmpty)
        world.send(.app(a.app, .attached))
        #expect(world.delivered.count == 1)
    }

    @Test func t16_theQueuedCallHasItsTurnWithTheTimeThatIsLeft() {
        var world = World()
        world.push(a)
        world.advance(.seconds(12))
        world.push(b)
        world.advance(.seconds(10))
        world.send(.user(a.uuid, .decline))
        #expect(world.word(b) == "ringing")
        world.advance(.seconds(20))
        #expect(world.ending(b) == .unanswered && world.heard[b.uuid] == .seconds(20))
    }

    @Test func t17_theQueuedCallKnocksOnceTheFrontIsAnswered() {
        for isBusy in [false, true] {
            var world = World()
            var rules = AppRules()
            rules.isBusyWhenTaken = isBusy
            world.register(rules: rules)
            world.push(a)
            world.push(b)
            world.send(.user(a.uuid, .answer))
            #expect(world.word(b) == (isBusy ? "" : "waiting"))
            #expect(world.ending(b) == (isBusy ? .busy : nil))
            #expect(world.heard[b.uuid] == nil)
        }
    }

    @Test func t18_theWaitingCallGetsLoud() {
        var world = World()
        world.register()
        world.connect(a)
        world.push(b)
        world.advance(.seconds(10))
        world.send(.user(a.uuid, .hangUp))
        #expect(world.word(b) == "ringing" && world.sound?.isSoft == false)
        world.advance(.seconds(20))
        #expect(world.ending(b) == .unanswered)
    }

    @Test func t19_anotherCallThatComesUpMakesItKnock() {
        var world = World()
        world.register()
        world.push(a)
        #expect(world.request(.start(b)) == nil)
        #expect(world.word(a) == "waiting" && world.sound?.isSoft == true)
    }

    // MARK: While it rings

    @Test func t20_anUpdateChangesTheTextInPlace() {
        var world = World()
        world.register()
        world.push(a)
        var update = CallUpdate()
        update.name = "Alice Smith"
        update.handle = Handle(.emailAddress, "alice@example.com")
        update.isVideo = true
        let id = world.nextRequest()
        let actions = world.send(.report(id, app: a.app, a.uuid, .updated(update)))
        #expect(actions.contains { $0.name == "show" } && !actions.contains { $0.name == "ring" || $0.name == "raise" })
        #expect(world.center[a.uuid]?.invite.caller.display == "Alice Smith")
        // The same again is nothing new.
        #expect(world.send(.report(world.nextRequest(), app: a.app, a.uuid, .updated(update))).count == 1)
    }

    @Test func t21_silenceIsNoDecline() {
        var world = World()
        world.register()
        world.push(a)
        world.send(.user(a.uuid, .silence))
        #expect(world.word(a) == "silenced" && world.sound == nil && world.vibration == nil)
        let other = World.ringing(b, .bannerClosed(b.uuid, isDismissal: true))
        #expect(other.word(b) == "silenced")
        world.send(.user(a.uuid, .answer))
        #expect(world.asks("answer") != nil)
    }

    @Test func t22_anExpiredBannerIsShownAgain() {
        var world = World.ringing(a, .bannerClosed(a.uuid, isDismissal: false))
        #expect(world.word(a) == "ringing")
        world.advance(.seconds(2))
        #expect(world.raises[a.uuid] == 1)
    }

    @Test func t23_aClickOpensTheAppAndStopsTheNoise() {
        let world = World.ringing(a, .user(a.uuid, .open))
        #expect(world.opened == [a.uuid] && world.word(a) == "silenced" && world.sound == nil)
    }

    @Test func t24_ignoringTellsNobodyOutside() {
        var world = World()
        world.register()
        world.push(a)
        world.send(.user(a.uuid, .ignore))
        #expect(world.ending(a) == .ignored && world.asks("end") == nil && world.notices.isEmpty)
        #expect(world.toldEnded[a.uuid] == [.ignored])
    }

    // MARK: Its end before an answer

    @Test func t25_aCancelEndsItInOneStep() {
        var world = World()
        world.register()
        world.push(a)
        let actions = world.send(.push(PushID(9), app: a.app, a.cancel, isBound: true)).map(\.name)
        #expect(world.ending(a) == .remoteEnded && world.notices == [a.uuid])
        // The noise ends before anything is written or told.
        #expect(actions.prefix(3) == ["ring", "vibrate", "withdraw"])
    }

    @Test func t26_t27_elsewhereIsNotMissed() {
        for (signal, reason) in [
            (Signal.answeredElsewhere(a.callKey), EndReason.answeredElsewhere),
            (.declinedElsewhere(a.callKey), .declinedElsewhere),
        ] {
            var world = World.ringing(a)
            world.push(signal)
            #expect(world.ending(a) == reason && world.notices.isEmpty && world.sound == nil)
        }
    }

    @Test func t28_itsTimeRunsOut() {
        var world = World()
        world.register()
        world.push(a)
        world.advance(.seconds(30))
        #expect(world.ending(a) == .unanswered && world.notices == [a.uuid] && world.toldEnded[a.uuid] == [.unanswered])
    }

    @Test func t29_thePushAloneRingsNoLongerThanItsInviteMayTake() {
        var world = World()
        world.register { $0.hasSignalling = true }
        world.push(a)
        world.advance(.seconds(15))
        #expect(world.ending(a) == .unanswered)
        // False: the app has spoken of it.
        let signalled = Invite.sample("s")
        world.report(signalled.uuid, .newIncoming(signalled, CallUpdate()))
        world.advance(.seconds(16))
        #expect(world.word(signalled) == "ringing")
    }

    @Test func t30_aDeclineIsLocalAtOnceAndTheAppIsTold() {
        var world = World()
        world.register()
        world.push(a)
        world.send(.user(a.uuid, .decline))
        #expect(world.ending(a) == .declined && world.sound == nil && world.asks("end", a.uuid) != nil)
        world.fail("end")
        #expect(world.endings[a.uuid] == [.declined] && world.toldEnded.isEmpty)
    }

    @Test func t30_anAbsentAppIsStartedToBeTold() {
        var world = World()
        world.known()
        world.push(a)
        world.send(.user(a.uuid, .decline))
        #expect(world.ending(a) == .declined && world.wakes == [a.app] && world.asks("end") == nil)
        // There, and not logged in yet.
        world.send(.app(a.app, .session(.connecting)))
        world.send(.app(a.app, .attached))
        #expect(world.asks("end") == nil)
        world.send(.app(a.app, .session(.up)))
        #expect(world.asks("end", a.uuid) != nil)
    }

    @Test func t31_theAppEndsIt() {
        var world = World()
        world.register()
        for (number, reason) in [
            (Int64(1), EndReason.failed(.reported)), (2, .remoteEnded), (3, .unanswered), (4, .answeredElsewhere),
            (5, .declinedElsewhere),
        ] {
            let call = Invite.sample("\(number)")
            world.push(call)
            #expect(world.report(call.uuid, .ended(EndReason(callKit: number)!, at: nil, detail: "487")) == nil)
            #expect(world.ending(call) == reason && world.records[call.uuid]?.detail == "487")
            #expect(world.toldEnded[call.uuid] == nil)
        }
        #expect(EndReason(callKit: 0) == nil && EndReason(callKit: 6) == nil)
    }

    @Test func t32_itRingsOnWithoutItsApp() {
        var world = World()
        world.register()
        world.push(a)
        world.send(.app(a.app, .gone))
        #expect(world.word(a) == "ringing" && world.sound != nil)
        world.send(.user(a.uuid, .answer))
        #expect(world.word(a) == "deferred" && world.wakes == [a.app])
    }

    @Test func t33_aLogOutEndsIt() {
        var world = World()
        world.register()
        world.push(a)
        world.send(.app(a.app, .unbound))
        #expect(world.ending(a) == .failed(.unbound) && world.notices.isEmpty && world.sound == nil)
    }
}

extension IncomingTransitionTests {
    static var strict: AppRules {
        var rules = AppRules()
        rules.mustReport = true
        return rules
    }

    static func policy(_ change: (inout Screening) -> Void) -> CallPolicy {
        var policy = CallPolicy()
        change(&policy.screening)
        return policy
    }

    static func pattern(_ text: String) -> HandlePattern {
        guard let pattern = try? HandlePattern(text) else { preconditionFailure("a pattern of a test: \(text)") }
        return pattern
    }
}

extension World {
    /// A call that rings, and one thing that happens to it.
    static func ringing(_ invite: Invite, _ event: CallEvent? = nil) -> World {
        var world = World()
        world.push(invite)
        if let event { world.send(event) }
        return world
    }
}
