import Base
import DBus
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import Desktop

@Suite(.serialized)
struct InhibitorTests {
    private static let power = "org.freedesktop.PowerManagement"
    private static let gnome = "org.gnome.SessionManager"

    private final class Rig {
        let base: BusRig
        var client: Inhibitor!
        var events: [Event] = []

        init(starts: Bool = true) throws {
            base = try BusRig()
            client = Inhibitor(appID: "org.ringd.Ringd1", reason: "A call") { [unowned self] in events.append($0) }
            base.bus.join(client)
            if starts { start() }
        }

        func start() {
            base.bus.connect()
            base.wait { base.bus.connection != nil }
        }

        func power(_ cookie: UInt32) throws -> FakeService {
            let service = try base.service(InhibitorTests.power)
            service.answers["org.freedesktop.PowerManagement.Inhibit.Inhibit"] = .success([.uint32(cookie)])
            service.answers["org.freedesktop.PowerManagement.Inhibit.UnInhibit"] = .success([])
            return service
        }

        func gnome(_ cookie: UInt32) throws -> FakeService {
            let service = try base.service(InhibitorTests.gnome)
            service.answers["org.gnome.SessionManager.Inhibit"] = .success([.uint32(cookie)])
            service.answers["org.gnome.SessionManager.Uninhibit"] = .success([])
            return service
        }

        func kinds(_ kind: Event.Kind) -> Int { events.count { $0.kind == kind } }
    }

    @Test func powerManagementHoldsFirst() throws {
        let rig = try Rig()
        let power = try rig.power(7)
        let gnome = try rig.gnome(9)
        rig.base.settle()
        rig.client.isWanted = true
        #expect(rig.base.wait { rig.kinds(.inhibitorHeld) == 1 })
        let asked = try #require(power.asked.first { $0.member == "Inhibit" })
        #expect(asked.arguments == [.string("org.ringd.Ringd1"), .string("A call")])
        #expect(asked.path == "/org/freedesktop/PowerManagement/Inhibit")
        rig.client.isWanted = false
        #expect(rig.base.wait { power.count("UnInhibit") == 1 })
        #expect(power.asked.last?.arguments == [.uint32(7)] && gnome.asked.isEmpty)
    }

    @Test func elseGnomesSessionManager() throws {
        let rig = try Rig()
        let gnome = try rig.gnome(9)
        rig.base.settle()
        rig.client.isWanted = true
        #expect(rig.base.wait { rig.kinds(.inhibitorHeld) == 1 })
        let asked = try #require(gnome.asked.first { $0.member == "Inhibit" })
        #expect(asked.arguments == [.string("org.ringd.Ringd1"), .uint32(0), .string("A call"), .uint32(4)])
        rig.client.isWanted = false
        #expect(rig.base.wait { gnome.count("Uninhibit") == 1 })
        #expect(gnome.asked.last?.arguments == [.uint32(9)])
    }

    @Test func aRestartedServiceIsAskedAnew() throws {
        let rig = try Rig()
        let first = try rig.power(7)
        rig.base.settle()
        rig.client.isWanted = true
        #expect(rig.base.wait { rig.kinds(.inhibitorHeld) == 1 })
        first.connection.close()
        #expect(rig.base.wait { rig.kinds(.inhibitorReleased) == 1 })
        let second = try rig.power(8)
        #expect(rig.base.wait { rig.kinds(.inhibitorHeld) == 2 })
        rig.client.isWanted = false
        #expect(rig.base.wait { second.count("UnInhibit") == 1 })
        #expect(second.asked.last?.arguments == [.uint32(8)])
    }

    @Test func absenceIsSaidOnceAndWhoComesIsAsked() throws {
        let rig = try Rig()
        rig.client.isWanted = true
        #expect(rig.base.wait { rig.events.count == 1 })
        #expect(rig.events[0].level == .debug)
        rig.client.isWanted = false
        rig.client.isWanted = true
        rig.base.settle()
        #expect(rig.events.count == 1)
        let gnome = try rig.gnome(3)
        #expect(rig.base.wait { rig.kinds(.inhibitorHeld) == 1 })
        #expect(gnome.count("Inhibit") == 1)
    }

    @Test func aCookieThatComesTooLateIsGivenBack() throws {
        let rig = try Rig()
        let power = try rig.power(7)
        rig.base.settle()
        rig.client.isWanted = true
        rig.client.isWanted = false
        #expect(rig.base.wait { power.count("UnInhibit") == 1 })
        rig.base.settle()
        #expect(rig.kinds(.inhibitorHeld) == 0 && power.count("Inhibit") == 1)
        for _ in 0..<9 {
            rig.client.isWanted = true
            rig.client.isWanted = false
        }
        rig.client.isWanted = true
        #expect(rig.base.wait { rig.kinds(.inhibitorHeld) == 1 })
        rig.base.settle()
        #expect(power.count("Inhibit") == power.count("UnInhibit") + 1)
    }

    @Test func aWishBeforeTheBusIsKept() throws {
        let rig = try Rig(starts: false)
        rig.client.isWanted = true
        let power = try rig.power(7)
        rig.base.settle()
        rig.start()
        #expect(rig.base.wait { rig.kinds(.inhibitorHeld) == 1 })
        #expect(power.count("Inhibit") == 1)
    }

    @Test func nothingIsStartedForIt() throws {
        let rig = try Rig()
        try rig.base.desk.scratch.make(
            "services/power.service",
            Data(
                "[D-BUS Service]\nName=\(Self.power)\nExec=/bin/sh -c 'touch \(rig.base.desk.scratch.at("started"))'\n"
                    .utf8))
        rig.client.isWanted = true
        #expect(rig.base.wait { rig.events.count == 1 })
        rig.base.settle(.milliseconds(200))
        #expect(!FileManager.default.fileExists(atPath: rig.base.desk.scratch.at("started")))
    }
}
