import Base
import DBus
import Desktop
import EventLoop
import Foundation
import TestSupport
import Testing

/// What servers do at bad moments, one by one.
@Suite(.serialized)
struct NotificationTests {
    private final class Rig {
        let desk: Desk
        let loop = try! EventLoop()
        let client: NotificationClient
        let bus: SessionBus
        var server: FakeServer!
        var actions: [String] = []
        var closings: [Bool] = []
        var events: [Event] = []
        let key = BannerKey.call(CallUUID(high: 1, low: 2))
        let banner = Wording.incoming(
            caller: "Alice <b>", handle: "+49 & 1", isVideo: true, app: "Talk", isWaiting: false, canOpen: true,
            soundName: nil)

        init(server name: String? = "dunst") throws {
            desk = try Desk(["bus"])
            var report: (Event) -> Void = { _ in }
            client = try NotificationClient(loop, desktopEntry: "org.ringd.Ringd1") { report($0) }
            bus = try SessionBus(loop, address: desk.bus) { report($0) }
            report = { [unowned self] in events.append($0) }
            client.onAction = { [unowned self] _, action, _ in actions.append(action) }
            client.onClosed = { [unowned self] _, isDismissal in closings.append(isDismissal) }
            if let name { try start(name) }
            bus.join(client)
            bus.connect()
            if name != nil { wait { client.profile.isKnown && !client.profile.capabilities.isEmpty } }
        }

        func start(_ name: String = "dunst") throws { server = try FakeServer(loop, desk.bus, named: name) }

        /// Turns the loop until `condition`, ten seconds at most.
        func wait(_ condition: () -> Bool) {
            let end = Instant.now + .seconds(10)
            while !condition() && .now < end { _ = try? loop.turn(timeout: .milliseconds(20)) }
        }

        /// Lets everything that is under way arrive.
        func settle(_ time: Duration = .milliseconds(120)) {
            let end = Instant.now + time
            while .now < end { _ = try? loop.turn(timeout: .milliseconds(10)) }
        }

        func kinds(_ kind: Event.Kind) -> Int { events.filter { $0.kind == kind }.count }
    }

    @Test func aCallIsNotifiedByTheBook() throws {
        let rig = try Rig()
        rig.client.show(rig.key, rig.banner)
        rig.wait { !rig.server.notifies.isEmpty }
        let notify = rig.server.notifies[0]
        #expect(notify.replaces == 0 && notify.summary == "Alice <b>" && notify.expires == 0)
        #expect(notify.body == "Video call · +49 &amp; 1 · Talk\nringctl answer · ringctl decline")
        #expect(notify.actions == ["default", "Open", "answer", "Answer", "decline", "Decline"])
        #expect(notify.hints["urgency"] == .byte(2))
        #expect(notify.hints["category"]?.text == "call.incoming")
        #expect(notify.hints["suppress-sound"]?.flag == true && notify.hints["resident"]?.flag == true)
        #expect(notify.hints["desktop-entry"]?.text == "org.ringd.Ringd1")
        #expect(notify.hints["sound-name"] == nil)
    }

    @Test func withoutMarkupNothingIsEscaped() throws {
        let rig = try Rig(server: nil)
        try rig.start("Xfce Notify Daemon")
        rig.server.capabilities = ["actions", "body"]
        rig.wait { !rig.client.profile.capabilities.isEmpty }
        rig.client.show(rig.key, rig.banner)
        rig.wait { !rig.server.notifies.isEmpty }
        #expect(rig.server.notifies[0].body == "Video call · +49 & 1 · Talk")
    }

    @Test func mostServersAreRaisedByClosingAndShowingAnew() throws {
        let rig = try Rig()
        rig.client.show(rig.key, rig.banner)
        rig.wait { rig.kinds(.notificationShown) == 1 }
        rig.client.raise(rig.key)
        rig.wait { rig.kinds(.notificationRaised) == 1 }
        #expect(rig.server.closes == [41] && rig.server.notifies.map(\.replaces) == [0, 0])
        rig.settle()
        // Our own close is no one's wish.
        #expect(rig.closings.isEmpty)
    }

    @Test func gnomeIsRaisedByReplacing() throws {
        let rig = try Rig(server: "gnome-shell")
        rig.client.show(rig.key, rig.banner)
        rig.wait { rig.kinds(.notificationShown) == 1 }
        rig.client.raise(rig.key)
        rig.wait { rig.kinds(.notificationRaised) == 1 }
        #expect(rig.server.closes.isEmpty && rig.server.notifies.map(\.replaces) == [0, 41])
    }

    @Test func aReplyAfterTheEndIsClosedOnArrival() throws {
        let rig = try Rig()
        rig.server.answersAtOnce = false
        rig.client.show(rig.key, rig.banner)
        rig.wait { !rig.server.notifies.isEmpty }
        rig.client.withdraw(rig.key)
        rig.settle()
        #expect(rig.server.closes.isEmpty)
        rig.server.answer(0, id: 77)
        rig.wait { !rig.server.closes.isEmpty }
        #expect(rig.server.closes == [77])
    }

    @Test func aSlowServerGetsTheNewestWishNotAQueue() throws {
        let rig = try Rig()
        rig.server.answersAtOnce = false
        rig.client.show(rig.key, rig.banner)
        rig.wait { !rig.server.notifies.isEmpty }
        for _ in 0..<20 { rig.client.raise(rig.key) }
        rig.settle()
        #expect(rig.server.notifies.count == 1)
        rig.server.answer(0)
        rig.wait { rig.server.notifies.count == 2 }
        rig.server.answer(1)
        rig.settle()
        #expect(rig.server.notifies.count == 2)
    }

    @Test func closedBeforeTheReplyIsSuppressionNotDismissal() throws {
        let rig = try Rig()
        rig.server.answersAtOnce = false
        rig.client.show(rig.key, rig.banner)
        rig.wait { !rig.server.notifies.isEmpty }
        // Budgie in do-not-disturb; Cinnamon says 2.
        rig.server.closed(55, 2)
        rig.server.answer(0, id: 55)
        rig.wait { !rig.closings.isEmpty }
        #expect(rig.closings == [false])
    }

    @Test func aDismissalIsOneAndComesOnce() throws {
        let rig = try Rig()
        rig.client.show(rig.key, rig.banner)
        rig.wait { rig.kinds(.notificationShown) == 1 }
        // Sooner than 0.3 s after it was shown, it would be the server's doing.
        rig.settle(.milliseconds(350))
        rig.server.closed(41, 2)
        rig.server.closed(41, 2)
        rig.settle()
        #expect(rig.closings == [true])
    }

    @Test func ourCloseConfirmedTwiceIsNobodysWish() throws {
        let rig = try Rig(server: "SwayNotificationCenter")
        rig.client.show(rig.key, rig.banner)
        rig.wait { rig.kinds(.notificationShown) == 1 }
        rig.client.withdraw(rig.key)
        rig.settle()
        rig.server.closed(41, 2)
        rig.settle()
        #expect(rig.closings.isEmpty && rig.server.closes == [41])
    }

    @Test func anActionCountsOnceAndOnlyFromTheServer() throws {
        let rig = try Rig()
        rig.client.show(rig.key, rig.banner)
        rig.wait { rig.kinds(.notificationShown) == 1 }
        // Another program on the bus, and other ids.
        let stranger = try DBusConnection(rig.loop, address: rig.desk.bus)
        stranger.emit(
            path: FakeServer.path, interface: FakeServer.name, member: "ActionInvoked",
            [.uint32(41), .string("answer")])
        rig.server.invoked(4711, "answer")
        rig.settle()
        #expect(rig.actions.isEmpty)
        rig.server.invoked(41, "answer")
        rig.server.invoked(41, "answer")
        rig.settle()
        #expect(rig.actions == ["answer"])
    }

    @Test func aRestartedServerIsGivenTheBannerAnew() throws {
        let rig = try Rig()
        rig.client.show(rig.key, rig.banner)
        rig.wait { rig.kinds(.notificationShown) == 1 }
        rig.server.connection.close()
        rig.wait { rig.kinds(.notificationLost) == 1 }
        try rig.start()
        rig.wait { rig.kinds(.notificationShown) == 2 }
        #expect(rig.server.notifies.map(\.replaces) == [0])
        // The old id may be a stranger's now.
        rig.client.withdraw(rig.key)
        rig.settle()
        #expect(rig.server.closes == [41] && rig.client.owner == rig.server.connection.uniqueName)
    }

    @Test func aWithdrawnBannerDoesNotComeBackWithTheServer() throws {
        let rig = try Rig()
        rig.client.show(rig.key, rig.banner)
        rig.wait { rig.kinds(.notificationShown) == 1 }
        rig.client.withdraw(rig.key)
        rig.settle()
        rig.server.connection.close()
        rig.settle()
        try rig.start()
        rig.settle()
        #expect(rig.server.notifies.isEmpty)
    }

    @Test func plasmasFloodErrorMeansItIsThere() throws {
        let rig = try Rig(server: "Plasma")
        rig.client.show(rig.key, rig.banner)
        rig.wait { rig.kinds(.notificationShown) == 1 }
        rig.server.answersAtOnce = false
        var changed = rig.banner
        changed.body = "New"
        rig.client.show(rig.key, changed)
        rig.wait { rig.server.notifies.count == 2 }
        rig.server.refuse(1, "org.freedesktop.Notifications.Error.ExcessNotificationGeneration")
        rig.settle()
        #expect(rig.kinds(.notificationFault) == 0)
        rig.client.withdraw(rig.key)
        rig.wait { !rig.server.closes.isEmpty }
        #expect(rig.server.closes == [41])
    }

    @Test func noServerIsSaidOnceAndMendsItself() throws {
        let rig = try Rig(server: nil)
        rig.client.show(rig.key, rig.banner)
        rig.wait { rig.kinds(.notificationFault) == 1 }
        rig.client.raise(rig.key)
        rig.settle()
        #expect(rig.kinds(.notificationFault) == 1)
        try rig.start()
        rig.wait { rig.server.notifies.count == 1 }
        #expect(rig.server.notifies.count == 1)
    }

    @Test func anIdOfZeroIsNoBanner() throws {
        let rig = try Rig(server: nil)
        try rig.start("notify-osd")
        rig.wait { !rig.client.profile.capabilities.isEmpty }
        rig.server.answersAtOnce = false
        rig.client.show(rig.key, rig.banner)
        rig.wait { !rig.server.notifies.isEmpty }
        #expect(rig.server.notifies[0].actions.isEmpty)
        rig.server.answersAtOnce = true
        rig.server.lastID = .max
        rig.server.answer(0, id: 0)
        rig.settle()
        // Not shown is not asked again at once: that would be a loop with a server that never shows anything.
        #expect(rig.server.notifies.count == 1)
        rig.client.withdraw(rig.key)
        rig.settle()
        #expect(rig.server.closes.isEmpty)
    }

    @Test func theBusMayGoAndComeBack() throws {
        let rig = try Rig()
        rig.client.show(rig.key, rig.banner)
        rig.wait { rig.kinds(.notificationShown) == 1 }
        try rig.desk.kill("bus")
        rig.wait { rig.kinds(.busLost) == 1 }
        try rig.desk.up(["bus"])
        rig.wait { rig.kinds(.busReturned) == 1 }
        try rig.start()
        rig.wait { rig.kinds(.notificationShown) == 2 }
        #expect(rig.server.notifies.count == 1)
    }
}
