/// Names as desktop programs have them on the bus.
package enum DBusName {
    /// `com.example.my-app` → `/com/example/my_app`, as D-Bus activated desktop files have it.
    package static func path(for app: String) -> String {
        "/" + app.map { $0 == "." ? "/" : $0 == "-" ? "_" : $0 }
    }
}
