import Base
import Calls
import CallsWalk
import Testing

/// callkit.md 2.4 and 2.6: transactions, and every error that the core can give.
struct TransactionTests {
    let a = Invite.sample("a")
    let b = Invite.sample("b", caller: "Bob", handle: "bob@example.com")
    let c = Invite.sample("c", caller: "Cem", handle: "cem@example.com")

    private func connected(_ change: (inout ProviderConfiguration) -> Void = { _ in }) -> World {
        var world = World()
        world.register(a.app, change)
        world.connect(a)
        return world
    }

    // MARK: Order

    @Test func stepsComeInOrder() {
        var world = connected()
        world.push(b)
        #expect(world.request(.setMuted(a.uuid, true), .setHeld(a.uuid, true), .answer(b.uuid), app: a.app) == nil)
        for word in ["mute", "hold", "answer"] {
            #expect(world.open.values.map(\.kind.word) == [word])
            world.fulfil(word)
        }
        #expect(world.word(b) == "active" && world.state(a) == .held(.user) && world.center.load.transactions == 0)
    }

    @Test func endAndAnswer() {
        var world = connected()
        world.push(b)
        world.request(.end(a.uuid), .answer(b.uuid))
        #expect(world.word(a) == "ending" && world.word(b) == "ringing" && world.asks("answer") == nil)
        world.fulfil("end")
        #expect(world.asks("answer", b.uuid) != nil)
    }

    @Test func aStepThatFailsEndsTheRest() {
        for isLate in [true, false] {
            var world = connected()
            world.request(.setMuted(a.uuid, true), .setHeld(a.uuid, true))
            if isLate { world.advance(.seconds(10)) } else { world.fail("mute") }
            #expect(world.open.isEmpty && world.word(a) == "active" && world.center.load.transactions == 0)
        }
    }

    @Test func anAnswerThatFailsEndsTheRest() {
        var world = connected()
        world.request(.setHeld(a.uuid, true))
        world.fulfil("hold")
        world.push(b)
        #expect(world.request(.answer(b.uuid), .end(a.uuid)) == nil)
        world.fail("answer")
        #expect(world.ending(b) == .failed(.answer) && world.word(a) == "held")
        // Handed over, it has come about.
        var link = connected()
        let other = Invite.sample("l", app: "com.example.link")
        link.push(other)
        link.request(.setHeld(a.uuid, true), .answer(other.uuid), .end(a.uuid))
        link.fulfil("hold")
        link.send(.handedOver(link.handed[0].id))
        #expect(link.word(a) == "ending")
    }

    @Test func anEndThatFailsEndsNothingElse() {
        var world = connected()
        world.push(b)
        world.request(.end(a.uuid), .answer(b.uuid))
        world.fail("end")
        #expect(world.ending(a) == .local && world.word(b) == "answering")
    }

    @Test func aCallThatIsOverStopsTheTransaction() {
        var world = connected()
        world.request(.setMuted(a.uuid, true), .setHeld(a.uuid, true), .end(a.uuid))
        world.report(a.uuid, .ended(.remoteEnded, at: nil, detail: ""))
        #expect(world.endings[a.uuid] == [.remoteEnded] && world.open.isEmpty && world.center.load.transactions == 0)
    }

    @Test func nothingIsAskedOfACallThatIsEnding() {
        var world = connected()
        world.request(.setMuted(a.uuid, true))
        world.request(.setMuted(a.uuid, true))
        world.request(.end(a.uuid))
        #expect(world.open.values.map(\.kind) == [.end(.local)] && world.faults.isEmpty)
    }

    @Test func swapsHoldsTheOneAndResumesTheOther() {
        var world = connected()
        world.connect(b, .holdAndAnswer)
        world.request(.setHeld(b.uuid, true), .setHeld(a.uuid, false))
        world.fulfil("hold")
        world.fulfil("resume")
        #expect(world.word(a) == "active" && world.state(b) == .held(.user) && world.faults.isEmpty)
    }

    @Test func aDialledCallMayBeSpokenOfInTheSameTransaction() {
        var world = World()
        world.register()
        #expect(world.request(.start(a), .setMuted(a.uuid, true)) == nil)
        world.fulfil("start")
        #expect(world.asks("mute", a.uuid) != nil)
    }

    @Test func whatRangMeanwhileIsNotDialled() {
        var world = connected()
        #expect(world.request(.end(a.uuid), .start(b)) == nil)
        world.push(b)
        world.send(.user(b.uuid, .decline))
        world.fulfil("end", a.uuid)
        #expect(world.endings[b.uuid] == [.declined] && world.center.calls.isEmpty && world.faults.isEmpty)
    }

    @Test func aLostAppCannotBeAskedAnything() {
        var world = World()
        world.known()
        world.push(a)
        world.send(.user(a.uuid, .answer))
        #expect(world.request(.setMuted(a.uuid, true)) == nil)
        #expect(world.open.isEmpty && world.center.load.transactions == 0)
    }

    // MARK: Errors

    @Test func requestErrors() {
        var world = connected()
        world.push(b)
        let other = "com.example.other"
        let rows: [(CallError.Request, [CallRequest], String?)] = [
            (.emptyTransaction, [], nil),
            (.unentitled, [.start(c)], other),
            (.unknownCallProvider, [.start(.sample("x", app: other))], nil),
            (.unknownCallUUID, [.end(c.uuid)], nil),
            (.unknownCallUUID, [.end(a.uuid)], other),
            (.unknownCallUUID, [.setGroup(a.uuid, with: c.uuid)], nil),
            (.callUUIDAlreadyExists, [.start(a)], nil),
            (.callUUIDAlreadyExists, [.end(a.uuid), .start(c), .start(c)], nil),
            (.invalidAction, [.setHeld(b.uuid, true)], nil),
            (.invalidAction, [.setMuted(b.uuid, true)], nil),
            (.invalidAction, [.setGroup(a.uuid, with: b.uuid)], nil),
            (.invalidAction, [.setGroup(a.uuid, with: nil)], nil),
            (.invalidAction, [.playDTMF(a.uuid, "?", .singleTone)], nil),
            (.invalidAction, [.playDTMF(b.uuid, "1", .singleTone)], nil),
            (.invalidAction, [.start(.sample("x", handle: nil))], nil),
            (.invalidAction, [CallRequest](repeating: .setMuted(a.uuid, true), count: 17), nil),
            (.maximumCallGroupsReached, [.end(a.uuid), .start(c), .start(.sample("d"))], nil),
        ]
        for (error, steps, app) in rows {
            let before = world.center.calls
            #expect(world.request(steps, app: app) == .request(error), "\(steps)")
            // Accepted as a whole or not at all.
            #expect(world.center.calls == before && world.open.isEmpty)
        }
        world.send(.user(a.uuid, .hangUp))
        #expect(world.request(.answer(a.uuid)) == .request(.invalidAction))
        var emails = World()
        emails.register { $0.supportedHandleTypes = [.emailAddress] }
        #expect(emails.request(.start(a)) == .request(.invalidAction))
    }

    @Test func anAppThatFloodsHasItsShare() {
        var world = connected()
        let tone = CallRequest.playDTMF(a.uuid, "1", .singleTone)
        for _ in 0..<64 { #expect(world.request(tone, app: a.app) == nil) }
        #expect(world.request(tone, app: a.app) == .request(.unknown))
        // The user has a share of their own, and an end takes all of that with it.
        #expect(world.request(.end(a.uuid)) == nil)
        world.fulfil("end")
        #expect(world.center.load.transactions == 0 && world.center.nextDeadline != nil)
    }

    @Test func incomingErrors() {
        var world = World(
            policy: IncomingTransitionTests.policy {
                $0.blocked = [IncomingTransitionTests.pattern("bob@*")]
                $0.whenDisturbing = .refuse
            })
        world.register { $0.maximumCallGroups = 1 }
        #expect(world.report(a.uuid, .newIncoming(a, CallUpdate())) == nil)
        #expect(world.report(a.uuid, .newIncoming(a, CallUpdate())) == .incoming(.callUUIDAlreadyExists))
        #expect(world.report(b.uuid, .newIncoming(b, CallUpdate())) == .incoming(.filteredByBlockList))
        world.send(.user(a.uuid, .answer))
        world.fulfil("answer")
        #expect(world.report(c.uuid, .newIncoming(c, CallUpdate())) == .incoming(.unknown))
        world.send(.disturbance(isForbidden: true))
        let d = Invite.sample("d", handle: "d@example.com")
        #expect(world.report(d.uuid, .newIncoming(d, CallUpdate())) == .incoming(.filteredByDoNotDisturb))
        var late = Invite.sample("late")
        late.expiresAt = world.now
        #expect(world.report(late.uuid, .newIncoming(late, CallUpdate())) == .incoming(.unknown))
    }

    @Test func reportErrors() {
        var world = World()
        world.register()
        world.push(a)
        #expect(world.report(b.uuid, .updated(CallUpdate())) == .request(.unknownCallUUID))
        #expect(world.report(a.uuid, .updated(CallUpdate()), app: "com.example.other") == .request(.unknownCallUUID))
        #expect(world.report(a.uuid, .connected(at: nil)) == .request(.invalidAction))
        #expect(world.report(a.uuid, .wantsAudio) == .request(.invalidAction))
        #expect(world.report(a.uuid, .startedConnecting(at: nil)) == .request(.invalidAction))
        #expect(world.report(a.uuid, .audioRuns) == nil)
        #expect(world.word(a) == "ringing" && world.audioOrder.isEmpty)
    }

    // MARK: Actions

    @Test func openActionsAreListedUntilTheyAreCompleted() {
        var world = connected()
        world.request(.setMuted(a.uuid, true))
        let pending = world.center.pendingActions(of: a.app)
        #expect(pending.map(\.kind) == [.setMuted(true)] && pending[0].call == a.uuid)
        #expect(pending[0].by == world.now + .seconds(10))
        #expect(world.center.isOpen(pending[0].id, of: a.app))
        #expect(!world.center.isOpen(pending[0].id, of: "com.example.other"))
        world.fulfil("mute")
        #expect(world.center.pendingActions(of: a.app).isEmpty)
    }

    @Test func audioThatDoesNotStartIsSaidAndCanBeAskedForAgain() {
        var world = World()
        world.register()
        world.push(a)
        world.send(.user(a.uuid, .answer))
        world.fulfil("answer")
        world.advance(.seconds(3))
        #expect(world.notes.contains { $0.kind == .audioPending } && world.center[a.uuid]?.audio == .pending)
        world.send(.user(a.uuid, .startAudio))
        #expect(world.report(a.uuid, .wantsAudio) == nil)
        #expect(world.audioLog[a.uuid] == [true, true, true])
        world.report(a.uuid, .audioRuns)
        #expect(world.center[a.uuid]?.audio == .on)
        world.advance(.seconds(60))
        #expect(world.notes.count { $0.kind == .audioPending } == 1)
    }
}
