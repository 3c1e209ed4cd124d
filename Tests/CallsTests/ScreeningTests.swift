import Base
import Calls
import CallsWalk
import Testing

/// callkit.md 2.9: who may ring.
struct ScreeningTests {
    let a = Invite.sample("a")
    let b = Invite.sample("b", caller: "Bob", handle: "bob@example.com")

    private func world(_ change: (inout Screening) -> Void) -> World {
        World(policy: IncomingTransitionTests.policy(change))
    }

    private func pattern(_ text: String) -> HandlePattern { IncomingTransitionTests.pattern(text) }

    @Test func aBlockedCallerIsNeverHeardOf() {
        var world = world { $0.blocked = [pattern("+49 151 12345")] }
        world.push(a)
        #expect(world.ending(a) == .filtered(.blockList) && world.notices.isEmpty && world.banners.isEmpty)
        #expect(EndReason.filtered(.blockList).category(of: world.records[a.uuid]!) == "blocked")
        world.push(b)
        #expect(world.word(b) == "ringing")
    }

    @Test func vipsRingWhateverElseIsSaid() {
        var world = world {
            $0.blocked = [pattern("*")]
            $0.vip = [pattern("+49*")]
            $0.whenDisturbing = .refuse
            $0.unknownCallers = .refuse
        }
        world.send(.disturbance(isForbidden: true))
        world.push(a)
        #expect(world.word(a) == "ringing" && world.sound != nil)
        world.push(b)
        #expect(world.ending(b) == .filtered(.blockList))
    }

    @Test func aSilentCallIsSeenAndMissedQuietly() {
        var world = world { $0.whenDisturbing = .silent }
        world.send(.disturbance(isForbidden: true))
        #expect(world.push(a) == .silent(a.uuid))
        #expect(world.banners == [a.uuid] && world.sound == nil && world.vibration == nil)
        world.advance(.seconds(30))
        #expect(world.noticeKinds[a.uuid] == .quietlyMissed && world.raises.isEmpty)
        // Also if it fails without ever having been answered.
        world.register(b.app)
        world.push(b)
        world.report(b.uuid, .ended(.failed(.reported), at: nil, detail: ""))
        #expect(world.noticeKinds[b.uuid] == .quietlyMissed)
    }

    @Test func whoCallsAgainSoonMeansIt() {
        for (seconds, time, rings) in [(179, 180, true), (181, 180, false), (1, nil, false)] as [(Int, Int?, Bool)] {
            var world = world {
                $0.whenDisturbing = .refuse
                $0.repeatTime = time.map { .seconds($0) }
            }
            world.send(.disturbance(isForbidden: true))
            world.push(a)
            world.advance(.seconds(seconds))
            let again = Invite.sample("again", handle: "+49 (151) 12345")
            world.push(again)
            #expect((world.word(again) == "ringing") == rings, "\(seconds)")
        }
    }

    @Test func theSamePushAgainIsNoSecondCall() {
        var world = world { $0.whenDisturbing = .refuse }
        world.send(.disturbance(isForbidden: true))
        world.push(a)
        #expect(world.push(a) == .alreadyOver && world.sound == nil)
    }

    @Test func disturbanceAllowedAgainRings() {
        var world = world { $0.whenDisturbing = .refuse }
        world.send(.disturbance(isForbidden: true))
        world.send(.disturbance(isForbidden: false))
        world.push(a)
        #expect(world.sound != nil)
    }

    @Test func knownAreThoseOfTheListAndThoseSpokenTo() {
        var world = world {
            $0.unknownCallers = .silent
            $0.known = [pattern("*@example.com")]
        }
        world.register()
        world.push(b)
        #expect(world.word(b) == "ringing")
        world.send(.user(b.uuid, .decline))
        world.push(a)
        #expect(world.word(a) == "silenced" && world.banners == [a.uuid])
        world.send(.user(a.uuid, .answer))
        world.fulfil("answer")
        world.send(.user(a.uuid, .hangUp))
        world.fulfil("end", a.uuid)
        // Spoken to; without the repeat rule in play.
        world.advance(.seconds(200))
        let again = Invite.sample("again")
        world.push(again)
        #expect(world.word(again) == "ringing")
        // Whoever was dialled, and nobody at all.
        world.send(.user(again.uuid, .decline))
        let dialled = Invite.sample("dialled", handle: "+331")
        world.request(.start(dialled))
        world.fulfil("start")
        world.send(.user(dialled.uuid, .hangUp))
        while let id = world.open.keys.min() { world.send(.fulfilled(id, at: nil, isConnecting: false)) }
        let back = Invite.sample("back", handle: "+331")
        world.push(back)
        #expect(world.word(back) == "ringing")
        world.send(.user(back.uuid, .decline))
        let anonymous = Invite.sample("anonymous", handle: nil)
        world.push(anonymous)
        #expect(world.word(anonymous) == "silenced")
    }

    @Test func aMutedConversationIsNeitherHeardNorSeen() {
        var world = World()
        world.register()
        var update = CallUpdate()
        update.isSilent = true
        #expect(world.report(a.uuid, .newIncoming(a, update)) == nil)
        #expect(world.word(a) == "silenced" && world.banners.isEmpty && world.sound == nil)
        // It is in nobody's way.
        world.push(b)
        #expect(world.word(b) == "ringing")
        world.advance(.seconds(30))
        #expect(world.noticeKinds[a.uuid] == .quietlyMissed)
    }

    @Test func inFrontTheAppShowsItAndLeavingItRings() {
        var world = World()
        world.register { $0.isForegroundHandled = true }
        world.send(.app(a.app, .foreground(true)))
        world.push(a)
        world.report(a.uuid, .presented)
        world.advance(.seconds(5))
        #expect(world.word(a) == "silenced" && world.center[a.uuid]?.isPresentedByApp == true)
        world.send(.app(a.app, .gone))
        #expect(world.word(a) == "ringing" && world.sound != nil)
        #expect(world.report(a.uuid, .presented) == .request(.invalidAction))
    }

    @Test func aRegionsNumbersAreOneCallerHoweverWritten() throws {
        let germany = try #require(PhoneRegion("DE"))
        func regional(_ change: (inout Screening) -> Void) -> World {
            var policy = IncomingTransitionTests.policy(change)
            policy.region = germany
            return World(policy: policy)
        }
        let national = Invite.sample("n", handle: "0151 12345678")
        let abroad = Invite.sample("i", handle: "+4915112345678")
        for (written, calls) in [("+49 151 12345678", national), ("0151/12345678", abroad), ("0151*", abroad)] {
            var world = regional { $0.blocked = [pattern(written).resolved(in: germany)] }
            world.push(calls)
            #expect(world.ending(calls) == .filtered(.blockList), "\(written)")
        }
        // Known by one writing, known by the other, also when the region is set later.
        for isSetLater in [false, true] {
            var world = regional { $0.unknownCallers = .refuse }
            if isSetLater { world.center.policy.region = nil }
            world.send(.acquaintance(Handle(.phoneNumber, "0151 12345678")))
            world.center.policy.region = germany
            world.push(abroad)
            #expect(world.word(abroad) == "ringing")
        }
        // And whoever calls again so soon.
        var world = regional { $0.unknownCallers = .refuse }
        world.push(national)
        #expect(world.ending(national) == .filtered(.unknownCaller))
        world.push(abroad)
        #expect(world.word(abroad) == "ringing")
    }

    @Test func aNamelessCallerIsShownWithoutScheme() {
        let handle = Handle(.generic, "sip:alice@example.com;transport=tls")
        #expect(Caller(handle: handle).display == "alice@example.com")
        #expect(handle.value == "sip:alice@example.com;transport=tls" && handle.shown == "alice@example.com")
        #expect(Caller(name: "Alice", handle: handle).display == "Alice" && Caller().display == "Unknown caller")
    }
}
