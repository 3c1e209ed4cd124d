import Base
import DBus
import EventLoop
import Foundation

/// A notification server under a test's thumb, on a real bus: it replies, signals, dies and comes back when told to.
/// Real servers are in the end-to-end tests; this one does on command what they do by chance (desktop.md 2.1, 2.2).
final class FakeServer {
    struct Notify {
        let call: InboundMessage
        var replaces: UInt32 { UInt32(call.arguments[1].integer ?? 0) }
        var icon: String { call.arguments[2].text ?? "" }
        var summary: String { call.arguments[3].text ?? "" }
        var body: String { call.arguments[4].text ?? "" }
        var actions: [String] { call.arguments[5].elements?.compactMap(\.text) ?? [] }
        var hints: DBusValue { call.arguments[6] }
        var expires: Int64 { call.arguments[7].integer ?? 99 }
    }

    static let name = "org.freedesktop.Notifications"
    static let path = "/org/freedesktop/Notifications"

    let connection: DBusConnection
    var notifies: [Notify] = []
    var closes: [UInt32] = []
    var lastID: UInt32 = 40
    /// Answer Notify at once with the next id.
    var answersAtOnce = true
    var serverName = "dunst"
    var capabilities = ["actions", "body", "body-markup"]
    /// Emit Closed(3) for CloseNotification, as most do.
    var confirmsClose = true

    init(_ loop: EventLoop, _ address: String, named: String = "dunst") throws {
        connection = try DBusConnection(loop, address: address)
        serverName = named
        connection.onMessage = { [unowned self] message in
            guard message.kind == .call, message.path == Self.path else { return false }
            switch message.member {
            case "Notify":
                notifies.append(Notify(call: message))
                if answersAtOnce { answer(notifies.count - 1) }
            case "CloseNotification":
                let id = UInt32(message.arguments[0].integer ?? 0)
                closes.append(id)
                connection.reply(to: message, .success([]))
                if confirmsClose { closed(id, 3) }
            case "GetServerInformation":
                connection.reply(
                    to: message, .success([.string(serverName), .string("test"), .string("1"), .string("1.2")]))
            case "GetCapabilities": connection.reply(to: message, .success([.strings(capabilities)]))
            default: return false
            }
            return true
        }
        connection.callBus("RequestName", [.string(Self.name), .uint32(4)]) { _ in }
    }

    func answer(_ index: Int, id: UInt32? = nil) {
        if let id { lastID = id } else { lastID += 1 }
        connection.reply(to: notifies[index].call, .success([.uint32(lastID)]))
    }

    func refuse(_ index: Int, _ error: String) {
        connection.reply(to: notifies[index].call, .failure(DBusFailure(error, "no")))
    }

    func closed(_ id: UInt32, _ reason: UInt32) { emit("NotificationClosed", [.uint32(id), .uint32(reason)]) }
    func invoked(_ id: UInt32, _ action: String) { emit("ActionInvoked", [.uint32(id), .string(action)]) }

    func emit(_ member: String, _ arguments: [DBusValue]) {
        connection.emit(path: Self.path, interface: Self.name, member: member, arguments)
    }
}
