/// What is known of the notification server that runs now (desktop.md 2.2).
package struct ServerProfile: Sendable, Equatable {
    package var name: String
    package var vendor: String
    package var version: String
    package var capabilities: [String]

    /// How a banner is brought back into sight.
    package enum Realert: Sendable {
        /// The same id again: the server shows and sounds anew.
        case replace
        /// The same id would be a silent update: close ours, then notify afresh.
        case closeThenNew
    }

    package init(name: String = "", vendor: String = "", version: String = "", capabilities: [String] = []) {
        self.name = name
        self.vendor = vendor
        self.version = version
        self.capabilities = capabilities
    }

    package var isKnown: Bool { !name.isEmpty }

    package var title: String { isKnown ? "\(name) \(version)" : "unknown server" }

    private var folded: String { name.lowercased() }

    /// GNOME, Cinnamon, SwayNC and elementary alert anew on a replacement; nobody else does.
    package var realert: Realert {
        switch folded {
        case "gnome-shell", "cinnamon", "swaynotificationcenter", "io.elementary.notifications": .replace
        default: .closeThenNew
        }
    }

    /// dunst and mako choose an action by menu, notify-osd by a dialog: the body says how to answer by keyboard.
    package var drawsNoButtons: Bool {
        switch folded {
        case "dunst", "mako", "notify-osd": true
        default: false
        }
    }

    /// elementary maps `call.incoming` to a sound of its own and ignores `suppress-sound`.
    package var dropsCategory: Bool { folded == "io.elementary.notifications" }

    /// notify-osd answers 0 to any notification with actions.
    package var refusesActions: Bool { folded == "notify-osd" }

    /// Escape unless the server is known to take plain text.
    package var readsMarkup: Bool { !isKnown || capabilities.contains("body-markup") }
}
