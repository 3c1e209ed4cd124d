internal import Base

/// A method call or signal to be sent.
package struct OutboundMessage: Sendable {
    package var destination: String?
    package var path: String
    package var interface: String
    package var member: String
    package var arguments: [DBusValue]
    /// Whether the bus may start the service for this call.
    package var startsService = true

    package init(
        to destination: String? = nil, path: String, interface: String, member: String, _ arguments: [DBusValue] = []
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }
}

/// A message that came in, as values: no C pointer outlives its arrival.
package struct InboundMessage: Sendable {
    package enum Kind: Sendable {
        case call
        case signal
    }

    package let kind: Kind
    /// Unique name of who sent it; set by the bus, so it can be trusted.
    package let sender: String
    package let path: String
    package let interface: String
    package let member: String
    /// The signature of its arguments.
    package let signature: String
    package let arguments: [DBusValue]
    package let serial: UInt32
    package let wantsReply: Bool
}

/// An error of the bus or of a peer, by its D-Bus name.
package struct DBusFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let name: String
    package let message: String

    package init(_ name: String, _ message: String) {
        self.name = name
        // A peer's words: they go to logs and terminals.
        self.message = Text.clean(message, limit: 400)
    }

    package var description: String { message.isEmpty ? name : "\(message) (\(name))" }

    package static let disconnected = DBusFailure(
        "org.freedesktop.DBus.Error.Disconnected", "the connection to the session bus is gone")
}
