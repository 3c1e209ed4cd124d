internal import CDBus

/// Names as the D-Bus specification wants them.
package enum DBusName {
    /// A well-known bus name such as `com.example.Talk`: at most 255 bytes, two elements or more.
    package static func isBusName(_ text: String) -> Bool {
        !text.contains("\0") && !text.hasPrefix(":") && dbus_validate_bus_name(text, nil) != 0
    }

    package static func isObjectPath(_ text: String) -> Bool {
        !text.contains("\0") && dbus_validate_path(text, nil) != 0
    }

    package static func isInterface(_ text: String) -> Bool {
        !text.contains("\0") && dbus_validate_interface(text, nil) != 0
    }

    package static func isMember(_ text: String) -> Bool {
        !text.contains("\0") && dbus_validate_member(text, nil) != 0
    }

    /// `com.example.my-app` → `/com/example/my_app`, as D-Bus activated desktop files have it.
    package static func path(for app: String) -> String {
        "/" + app.map { $0 == "." ? "/" : $0 == "-" ? "_" : $0 }
    }
}
