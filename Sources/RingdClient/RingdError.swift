internal import Base
package import DBus
public import Foundation

/// Why ringd refused, or could not be reached: cause and cure are in its words.
public struct RingdError: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// The D-Bus error, e.g. `org.ringd.Error.RequestTransaction.UnknownCallUUID`.
    public let name: String
    /// What, why, and what now.
    public let message: String

    /// An error of that D-Bus name.
    public init(name: String, message: String) {
        self.name = name
        self.message = message
    }

    /// As `description`.
    public var errorDescription: String? { description }

    /// The message; the name, if there is none.
    public var description: String { message.isEmpty ? name : message }

    /// The last word of the name, e.g. `UnknownCallUUID`.
    public var code: String { String(name.split(separator: ".").last ?? "") }

    /// CallKit's family of the error, e.g. `RequestTransaction`; nil if it is of none.
    public var family: String? {
        let words = name.split(separator: ".")
        return words.count == 5 && name.hasPrefix("org.ringd.Error.") ? String(words[3]) : nil
    }

    package init(_ failure: DBusFailure) {
        switch failure.name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
            self.init(
                name: failure.name,
                message: "ringd is not installed in this session: Scripts/install, or start ringd by hand")
        case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected":
            self.init(
                name: failure.name,
                message: "ringd does not answer (systemctl --user status ringd): \(failure.message)")
        default: self.init(name: failure.name, message: failure.message)
        }
    }

    static let noBus = RingdError(
        name: "org.freedesktop.DBus.Error.NoServer",
        message:
            "no session bus: DBUS_SESSION_BUS_ADDRESS is unset (run the app in a desktop session, or with dbus-run-session)"
    )

    static let noIdentity = RingdError(
        name: "org.ringd.Error.InvalidAppID",
        message:
            "the app has no id: install a desktop file named after it (com.example.talk.desktop, with this program in Exec=), or set RINGD_APP_ID=com.example.talk"
    )

    static func taken(_ app: String) -> RingdError {
        RingdError(
            name: "org.ringd.Error.NotYours",
            message: "another program owns the bus name \(app): does the app run already?")
    }
}
