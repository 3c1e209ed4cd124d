import Base
import DBus
import EventLoop
import Foundation
import TestSupport

@testable import Desktop

/// A service of the session under a test's thumb: it answers what it was told to, and says what it was asked.
final class FakeService {
    let connection: DBusConnection
    private(set) var asked: [InboundMessage] = []
    /// By `interface.member`, or `interface.property` for what is read by Get.
    var answers: [String: Result<[DBusValue], DBusFailure>] = [:]

    init(_ loop: EventLoop, _ address: String, _ name: String) throws {
        connection = try DBusConnection(loop, address: address)
        connection.onMessage = { [unowned self] message in
            guard message.kind == .call else { return false }
            asked.append(message)
            var key = "\(message.interface).\(message.member)"
            if message.interface == DesktopSwitch.properties {
                key = message.arguments.compactMap(\.text).joined(separator: ".")
            }
            guard let answer = answers[key] else { return false }
            connection.reply(to: message, answer)
            return true
        }
        connection.callBus("RequestName", [.string(name), .uint32(4)]) { _ in }
    }

    /// Also by another name.
    func own(_ name: String) { connection.callBus("RequestName", [.string(name), .uint32(4)]) { _ in } }

    /// Says that it is a notification server, so named.
    func be(_ server: String, vendor: String = "test") {
        answers["org.freedesktop.Notifications.GetServerInformation"] = .success([
            .string(server), .string(vendor), .string("1"), .string("1.2"),
        ])
    }

    func changed(_ path: String, _ interface: String, _ properties: [DBusValue.Entry]) {
        connection.emit(
            path: path, interface: DesktopSwitch.properties, member: "PropertiesChanged",
            [.string(interface), .dict(properties), .strings([])])
    }

    func count(_ member: String) -> Int { asked.count { $0.member == member } }
}

/// A bus and a listener on it.
final class BusRig {
    let desk: Desk
    let loop = try! EventLoop()
    let bus: SessionBus
    var events: [Event] = []

    init() throws {
        desk = try Desk(["bus"])
        bus = try SessionBus(loop, address: desk.bus) { _ in }
    }

    func service(_ name: String) throws -> FakeService { try FakeService(loop, desk.bus, name) }

    /// Turns the loop until `condition`, ten seconds at most.
    @discardableResult
    func wait(_ condition: () -> Bool) -> Bool {
        let end = Instant.now + .seconds(10)
        while !condition() && .now < end { _ = try? loop.turn(timeout: .milliseconds(20)) }
        return condition()
    }

    /// Lets everything that is under way arrive.
    func settle(_ time: Duration = .milliseconds(120)) {
        let end = Instant.now + time
        while .now < end { _ = try? loop.turn(timeout: .milliseconds(10)) }
    }
}
