import Base
import Calls
import CallsWalk
import Testing

/// A whole ring and every way to stop it, in virtual time.
struct RingTests {
    let invite = Invite.sample("42")

    @Test func aCallRingsItsTimeAndIsMissed() {
        var world = World()
        #expect(world.push(.invite(invite)) == .rings(invite.uuid))
        #expect(world.sound == RingWish(call: invite.uuid, app: invite.app, sound: nil, isSoft: false))
        #expect(world.vibration == invite.uuid)
        #expect(world.banners == [invite.uuid])
        world.advance(.milliseconds(29_999))
        #expect(world.sound != nil)
        #expect(world.raises[invite.uuid] == 7)
        world.advance(.milliseconds(1))
        #expect(world.sound == nil && world.vibration == nil && world.banners.isEmpty)
        #expect(world.endings[invite.uuid] == [.unanswered])
        #expect(world.notices == [invite.uuid])
        #expect(world.heard[invite.uuid] == .seconds(30))
        #expect(world.center.nextDeadline == nil)
    }

    @Test func thePushSaysHowLong() {
        for (asked, rings) in [(5, 5), (30, 30), (89, 89), (90, 90), (91, 90), (100_000, 90)] {
            var world = World()
            world.push(.invite(.sample("x", ringTime: .seconds(asked))))
            world.advance(.seconds(200))
            #expect(world.heard.values.first == .seconds(rings))
        }
    }

    @Test func anExpiryEndsTheRingEarly() {
        var world = World()
        world.push(.invite(.sample("x", expiresAt: world.now + .seconds(12))))
        world.advance(.seconds(60))
        #expect(world.heard.values.first == .seconds(12))
    }

    @Test(arguments: [CallEvent.Intent.decline, .ignore, .silence, .open, .answer, .hangUp])
    func everyIntentStopsEverythingInOneStep(_ intent: CallEvent.Intent) {
        var world = World()
        world.push(.invite(invite))
        world.advance(.seconds(5))
        world.send(.user(invite.uuid, intent))
        #expect(world.sound == nil && world.vibration == nil && world.banners.isEmpty)
        let raises = world.raises[invite.uuid]
        world.advance(.seconds(120))
        #expect(world.raises[invite.uuid] == raises)
        #expect(world.sound == nil && world.banners.isEmpty)
    }

    @Test func silencedAndOpenedCallsStayAnswerable() {
        for intent in [CallEvent.Intent.silence, .open] {
            var world = World()
            world.push(.invite(invite))
            world.send(.user(invite.uuid, intent))
            #expect(world.center[invite.uuid]?.state == .ringing(.silent))
            #expect(world.opened == (intent == .open ? [invite.uuid] : []))
            world.advance(.seconds(10))
            world.send(.user(invite.uuid, .answer))
            #expect(world.handed.count == 1)
            world.send(.handedOver(world.handed[0].id))
            #expect(world.endings[invite.uuid] == [.handedOver])
            #expect(world.notices.isEmpty)
        }
    }

    @Test func aSilencedCallMayKeepItsBanner() {
        var policy = CallPolicy()
        policy.keepsBannerWhenSilenced = true
        var world = World(policy: policy)
        world.push(.invite(invite))
        world.send(.user(invite.uuid, .silence))
        #expect(world.sound == nil && world.banners == [invite.uuid])
        world.advance(.seconds(10))
        #expect(world.raises[invite.uuid] == nil)
        world.advance(.seconds(30))
        #expect(world.banners.isEmpty)
    }

    @Test(arguments: [EndReason.remoteEnded, .answeredElsewhere, .declinedElsewhere])
    func aPushEndsIt(_ reason: EndReason) {
        var world = World()
        world.push(.invite(invite))
        let signal: Signal =
            switch reason {
            case .answeredElsewhere: .answeredElsewhere(invite.callKey)
            case .declinedElsewhere: .declinedElsewhere(invite.callKey)
            default: invite.cancel
            }
        #expect(world.push(signal) == .ended(invite.uuid))
        #expect(world.endings[invite.uuid] == [reason])
        #expect(world.notices == (reason == .remoteEnded ? [invite.uuid] : []))
        // Whatever comes later changes nothing, and does not ring.
        #expect(world.push(.invite(invite)) == .alreadyOver)
        #expect(world.push(invite.cancel) == .alreadyOver)
        #expect(world.endings[invite.uuid] == [reason])
        #expect(world.sound == nil)
    }

    @Test func aCancelBeforeItsInviteWins() {
        var world = World()
        #expect(world.push(invite.cancel) == .tombstone)
        #expect(world.push(.invite(invite)) == .alreadyOver)
        #expect(world.heard.isEmpty && world.banners.isEmpty)
        #expect(world.endings[invite.uuid] == [.remoteEnded])
        #expect(world.notices == [invite.uuid])
        #expect(world.push(.invite(invite)) == .alreadyOver)
        #expect(world.notices == [invite.uuid])
    }

    @Test func aSecondPushUpdatesInPlaceAndBuysNoTime() {
        var world = World()
        world.push(.invite(.sample("42", caller: "Unknown")))
        world.advance(.seconds(20))
        #expect(world.push(.invite(.sample("42", caller: "Alice", ringTime: .seconds(90)))) == .updated(invite.uuid))
        #expect(world.center[invite.uuid]?.invite.caller.name == "Alice")
        world.advance(.seconds(10))
        #expect(world.endings[invite.uuid] == [.unanswered])
        #expect(world.heard[invite.uuid] == .seconds(30))
    }

    @Test func anOlderSerialIsADuplicate() {
        var world = World()
        world.push(.invite(.sample("42", caller: "New", serial: 5)))
        world.push(.invite(.sample("42", caller: "Old", serial: 4)))
        #expect(world.center[invite.uuid]?.invite.caller.name == "New")
    }

    @Test func idsCompareWithoutCase() {
        var world = World()
        world.push(.invite(.sample("ABCdef")))
        #expect(
            world.push(.cancel(CallKey(app: "com.example.talk", key: "abcDEF"))) == .ended(Invite.sample("ABCdef").uuid)
        )
        #expect(world.records.values.first?.invite.key == "ABCdef")
    }

    @Test func aUUIDIsOneInAnySpelling() {
        let dashed = "7F3C0000-0000-4000-8000-00000000ABCD"
        var world = World()
        world.push(.invite(.sample(dashed)))
        #expect(
            world.push(.cancel(CallKey(app: "com.example.talk", key: dashed.filter { $0 != "-" }.lowercased())))
                != .tombstone)
        #expect(world.sound == nil)
        #expect(world.push(.invite(.sample(dashed.filter { $0 != "-" }))) == .alreadyOver)
    }

    @Test func whatIsOverStaysOverAfterARestart() {
        var first = World()
        first.push(invite.cancel)
        #expect(first.remembered == [invite.callKey])
        var world = World()
        world.send(.recall(invite.callKey, hadInvite: false, ended: world.now))
        #expect(world.push(.invite(invite)) == .alreadyOver)
        #expect(world.heard.isEmpty && world.endings[invite.uuid] == [.remoteEnded])
        let other = Invite.sample("43")
        world.send(.recall(other.callKey, hadInvite: true, ended: world.now))
        #expect(world.push(.invite(other)) == .alreadyOver && world.endings[other.uuid] == nil)
        world.now = world.now + .seconds(601)
        #expect(world.push(.invite(other)) == .rings(other.uuid))
    }

    /// An alert that fires again after a restart rings; the notification that is known does not.
    @Test func whatIsNewerByItsCounterRingsAfterARestartToo() {
        for hadInvite in [true, false] {
            var world = World()
            let now = world.now
            // Two calls of one id, in whatever order they are read.
            world.send(.recall(invite.callKey, hadInvite: hadInvite, ended: now + .seconds(-5), serial: 7))
            world.send(.recall(invite.callKey, hadInvite: hadInvite, ended: now + .seconds(-50), serial: 6))
            var known = invite
            known.serial = 7
            var newer = invite
            newer.serial = 8
            if hadInvite { #expect(world.push(.invite(known)) == .alreadyOver) }
            guard case .rings? = world.push(.invite(newer)) else {
                Issue.record("a newer call does not ring (\(hadInvite))")
                continue
            }
        }
    }

    @Test func aResentPushWithAFastClockIsKnownAfterARestart() {
        var world = World()
        var ahead = Invite.sample("42", sentAt: world.now + .seconds(3600))
        ahead.stamp = 1_764_486_702_000_000_000
        world.send(.recall(ahead.callKey, hadInvite: true, ended: world.now, stamp: ahead.stamp))
        #expect(world.push(.invite(ahead)) == .alreadyOver)
    }

    @Test func aRestoredRingIsNoLongerThanAny() {
        var world = World()
        let far = Instant(nanoseconds: .max)
        world.send(.restore(invite, began: Instant(nanoseconds: .min), deadline: far, .ringing))
        #expect(world.endings[invite.uuid] == [.unanswered])
        let other = Invite.sample("43")
        world.send(.restore(other, began: world.now, deadline: far, .ringing))
        world.advance(.seconds(91))
        #expect(world.endings[other.uuid] == [.unanswered])
    }

    @Test func tooLateNeverRings() {
        var world = World()
        let now = world.now
        let late: [Invite] = [
            .sample("a", sentAt: Instant(nanoseconds: now.nanoseconds - 61_000_000_000)),
            .sample("b", expiresAt: now + .seconds(2)),
            .sample("c", expiresAt: Instant(nanoseconds: now.nanoseconds - 1)),
        ]
        for invite in late {
            #expect(world.push(.invite(invite)) == .tooLate(invite.uuid))
            #expect(world.endings[invite.uuid] == [.expired])
        }
        #expect(world.heard.isEmpty && world.banners.isEmpty && world.notices.count == 3)
    }

    @Test func aShortRingThatIsAskedForIsNotTooLate() {
        var world = World()
        world.push(.invite(.sample("a", ringTime: .seconds(1))))
        #expect(world.sound != nil)
        world.advance(.seconds(2))
        #expect(world.heard.values.first == .seconds(1))
    }

    @Test func anUnknownAppLeavesNoTrace() {
        var world = World()
        let actions = world.send(.push(PushID(7), app: invite.app, .invite(invite), isBound: false))
        #expect(actions == [.completePush(PushID(7), .unknownApp)])
    }

    @Test func aCallWithoutAnIdRingsAgainWhenItComesAgain() {
        var world = World()
        let demo = Invite.sample("payload-1", isSynthetic: true)
        world.push(.invite(demo))
        #expect(world.push(.invite(demo)) == .updated(demo.uuid))
        world.send(.user(demo.uuid, .decline))
        #expect(world.push(.invite(demo)) == .rings(demo.uuid))
    }

    @Test func theSameIdMayCallAgainIfTheSenderCountsOn() {
        var world = World()
        world.push(.invite(.sample("42", serial: 1)))
        world.send(.user(invite.uuid, .decline))
        #expect(world.push(.invite(.sample("42", serial: 1))) == .alreadyOver)
        guard case .rings(let second)? = world.push(.invite(.sample("42", serial: 2))) else {
            Issue.record("the newer call does not ring")
            return
        }
        #expect(second != invite.uuid)
        // After a restart, too: each has a row of its own.
        world.send(.user(second, .decline))
        world.restart()
        world.send(.recall(invite.callKey, hadInvite: true, ended: world.now))
        world.advance(.seconds(1))
        var anew = Invite.sample("42", sentAt: world.now)
        anew.stamp = 1_764_486_702_000_000_000
        guard case .rings(let third)? = world.push(anew) else {
            Issue.record("the call of the next run does not ring")
            return
        }
        #expect(Set([invite.uuid, second, third]).count == 3)
    }

    @Test func aResentPushWithAFastClockDoesNotRingAgain() {
        var world = World()
        // The sender's clock is an hour ahead: its own time looks newer than the end of the call.
        var ahead = Invite.sample("42", sentAt: world.now + .seconds(3600))
        ahead.stamp = 1_764_486_702_000_000_000
        world.push(.invite(ahead))
        world.send(.user(invite.uuid, .decline))
        // Read anew, its time on our clock is never the same twice.
        ahead.sentAt = ahead.sentAt! + .microseconds(1)
        #expect(world.push(.invite(ahead)) == .alreadyOver)
    }

    // MARK: Banners

    @Test func aDismissedBannerSilences() {
        var world = World()
        world.push(.invite(invite))
        world.send(.bannerClosed(invite.uuid, isDismissal: true))
        #expect(world.sound == nil)
        #expect(world.center[invite.uuid]?.state == .ringing(.silent))
    }

    @Test func anExpiredBannerComesBack() {
        var policy = CallPolicy()
        policy.raiseInterval = nil
        var world = World(policy: policy)
        world.push(.invite(invite))
        world.advance(.seconds(5))
        world.send(.bannerClosed(invite.uuid, isDismissal: false))
        #expect(world.sound != nil)
        world.advance(.seconds(2))
        #expect(world.raises[invite.uuid] == 1)
        world.advance(.seconds(20))
        #expect(world.raises[invite.uuid] == 1)
    }

    // MARK: Answering

    @Test func anAppThatTracksMakesTheCallActive() {
        var world = World()
        world.register()
        world.push(.invite(invite))
        world.advance(.seconds(3))
        world.send(.user(invite.uuid, .answer))
        world.send(.user(invite.uuid, .answer))
        #expect(world.asked.count == 1)
        world.advance(.seconds(1))
        world.fulfil("answer")
        #expect(world.center[invite.uuid]?.state == .active)
        #expect(world.audio == [invite.uuid])
        world.advance(.seconds(60))
        world.send(.user(invite.uuid, .hangUp))
        #expect(world.audio.isEmpty && world.word(invite) == "ending")
        world.fulfil("end")
        #expect(world.endings[invite.uuid] == [.local])
        #expect(world.records[invite.uuid]?.connected != nil)
        #expect(world.notices.isEmpty && world.faults.isEmpty)
    }

    @Test func aLinkThatFailsOrStallsEndsTheCall() {
        var world = World()
        world.push(.invite(invite))
        world.send(.user(invite.uuid, .answer))
        world.send(.failed(world.handed[0].id))
        #expect(world.endings[invite.uuid] == [.failed(.answer)])

        let other = Invite.sample("43")
        world.push(.invite(other))
        world.send(.user(other.uuid, .answer))
        world.advance(.seconds(10))
        #expect(world.endings[other.uuid] == [.failed(.timeout)])
        // Too late: neither counts.
        world.send(.handedOver(world.handed[1].id))
        #expect(world.endings[other.uuid] == [.failed(.timeout)] && world.audio.isEmpty)
    }

    @Test func theEchoOfOurOwnAnswerIsIgnored() {
        var world = World()
        world.push(.invite(invite))
        world.send(.user(invite.uuid, .answer))
        #expect(world.push(.answeredElsewhere(invite.callKey)) == .updated(invite.uuid))
        // Some backends stop all devices by the same word, the one that answered included.
        #expect(world.push(invite.cancel) == .updated(invite.uuid))
        #expect(world.endings.isEmpty)
        world.send(.handedOver(world.handed[0].id))
        #expect(world.endings[invite.uuid] == [.handedOver])
    }

    @Test func anAppThatVanishesTakesOnlyItsConnectedCall() {
        var world = World()
        world.register()
        world.push(.invite(invite))
        world.send(.app(invite.app, .gone))
        #expect(world.sound != nil)
        world.send(.app(invite.app, .attached))
        world.send(.user(invite.uuid, .answer))
        world.fulfil("answer")
        world.send(.app(invite.app, .gone))
        #expect(world.endings[invite.uuid] == [.failed(.clientGone)])
    }

    // MARK: Several calls

    @Test func theSecondCallWaitsAndGetsItsTurn() {
        var world = World()
        let second = Invite.sample("43", caller: "Bob")
        world.push(.invite(invite))
        world.advance(.seconds(10))
        #expect(world.push(.invite(second)) == .queued(second.uuid))
        #expect(world.banners == [invite.uuid] && world.sound?.call == invite.uuid)
        world.send(.user(invite.uuid, .decline))
        #expect(world.sound?.call == second.uuid && world.banners == [second.uuid])
        world.advance(.seconds(30))
        // Its time ran while it waited.
        #expect(world.endings[second.uuid] == [.unanswered])
    }

    @Test func besideAnActiveCallItRingsSoftAndEndAndAcceptEndsTheOld() {
        var world = World()
        world.register()
        let second = Invite.sample("43", caller: "Bob")
        world.connect(invite)
        world.push(.invite(second))
        #expect(world.sound?.isSoft == true && world.vibration == nil && world.banners == [second.uuid])
        world.send(.user(second.uuid, .answer))
        #expect(world.word(invite) == "ending" && world.audio.isEmpty && world.asks("answer") == nil)
        world.fulfil("end")
        #expect(world.endings[invite.uuid] == [.local])
        world.fulfil("answer")
        #expect(world.audio == [second.uuid])
    }

    @Test func aWaitingCallGetsLoudWhenTheActiveOneEnds() {
        var world = World()
        world.register()
        let second = Invite.sample("43")
        world.connect(invite)
        world.push(.invite(second))
        world.report(invite.uuid, .ended(.remoteEnded, at: nil, detail: ""))
        #expect(world.sound == RingWish(call: second.uuid, app: second.app, sound: nil, isSoft: false))
    }

    @Test func moreCallsThanMayBeAreBusy() {
        var world = World()
        for number in 0..<8 { world.push(.invite(.sample("k\(number)"))) }
        let ninth = Invite.sample("k8")
        #expect(world.push(.invite(ninth)) == .busy(ninth.uuid))
        #expect(world.endings[ninth.uuid] == [.busy])
    }

    // MARK: Restarts

    @Test func aRestoredCallRingsWithTheTimeThatIsLeft() {
        var world = World()
        let began = Instant(nanoseconds: world.now.nanoseconds - 12_000_000_000)
        world.send(.restore(invite, began: began, deadline: began + .seconds(30), .ringing))
        #expect(world.sound != nil)
        world.advance(.seconds(18))
        #expect(world.endings[invite.uuid] == [.unanswered])
    }

    @Test func aRestoredCallWhoseTimeIsOverIsMissed() {
        var world = World()
        let began = Instant(nanoseconds: world.now.nanoseconds - 31_000_000_000)
        world.send(.restore(invite, began: began, deadline: began + .seconds(30), .ringing))
        #expect(world.heard.isEmpty && world.sound == nil)
        #expect(world.endings[invite.uuid] == [.unanswered] && world.notices == [invite.uuid])
    }

    @Test func aSilencedCallStaysSilentOverARestart() {
        var world = World()
        world.send(.restore(invite, began: world.now, deadline: world.now + .seconds(30), .silenced))
        #expect(world.sound == nil && world.vibration == nil && world.banners.isEmpty)
        world.send(.user(invite.uuid, .answer))
        #expect(world.handed.count == 1)
    }

    @Test func aCallThatWasBeingAnsweredIsOverAfterARestart() {
        var world = World()
        world.send(.restore(invite, began: world.now, deadline: world.now + .seconds(30), .answered))
        #expect(world.endings[invite.uuid] == [.failed(.reset)] && world.heard.isEmpty && world.notices.isEmpty)
    }

    @Test func sleepCountsAsTime() {
        var world = World()
        world.push(.invite(invite))
        // The machine slept: no timer fired, and the user clicks first.
        world.now = world.now + .seconds(300)
        world.send(.user(invite.uuid, .answer))
        #expect(world.endings[invite.uuid] == [.unanswered])
        #expect(world.handed.isEmpty)
    }
}
