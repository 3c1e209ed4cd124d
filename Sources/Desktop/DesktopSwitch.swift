internal import Base
internal import DBus

/// Where a desktop keeps its do-not-disturb (desktop.md 2.2, 2.4), as data: whom to ask, and which signals say that it is
/// time to ask again.
struct DesktopSwitch: Sendable {
    /// Its name for people.
    let word: String
    let place: Place

    enum Place: Sendable {
        case bus(OnBus)
        case settings(InSettings)
    }

    /// What was read.
    struct Reading: Sendable, Equatable {
        var isOn: Bool
        /// Critical banners are hidden as well.
        var hidesCritical = false
    }

    struct OnBus: Sendable {
        let service: String
        let path: String
        /// In turn, until one is answered: versions differ.
        let asks: [Ask]
        /// Signals of that path.
        let interface: String
        /// Their first argument, where it tells which are meant.
        var firstArgument: String?
        /// Of PropertiesChanged: those that matter. Servers tell of every banner by others.
        var names: [String] = []
        /// What a signal itself says, if it does: whose signals come with every banner need not be asked.
        var told: (@Sendable (InboundMessage) -> Reading?)?
        /// An error with this beginning means "off": the switch was never touched.
        var errorOfOff: String?
    }

    struct Ask: Sendable {
        let interface: String
        let member: String
        var arguments: [DBusValue] = []
        let read: @Sendable ([DBusValue]) -> Reading?

        static func property(
            _ interface: String, _ name: String, _ read: @escaping @Sendable (DBusValue) -> Reading?
        ) -> Ask {
            Ask(
                interface: properties, member: "Get", arguments: [.string(interface), .string(name)],
                read: { $0.first.flatMap(read) })
        }
    }

    /// A boolean of GSettings; it has no bus interface of its own, but dconf says what is written.
    struct InSettings: Sendable {
        let schema: String
        let key: String
        /// The value that means "do not disturb".
        let onIs: Bool
        /// The schema's path in dconf.
        let path: String
        var hidesCritical = false
    }

    static let properties = "org.freedesktop.DBus.Properties"
    static let notifications = "org.freedesktop.Notifications"
    private static let notificationsPath = "/org/freedesktop/Notifications"

    // MARK: The table

    static let plasma = DesktopSwitch(
        word: "Plasma",
        place: .bus(
            OnBus(
                service: notifications, path: notificationsPath,
                asks: [.property(notifications, "Inhibited") { flag($0) }], interface: properties,
                firstArgument: notifications, names: ["Inhibited"])))

    static let dunst = DesktopSwitch(
        word: "dunst",
        place: .bus(
            OnBus(
                service: notifications, path: notificationsPath,
                asks: [
                    Ask(
                        interface: properties, member: "GetAll", arguments: [.string("org.dunstproject.cmd0")],
                        read: { dunst($0.first) })
                ], interface: properties, firstArgument: "org.dunstproject.cmd0",
                names: ["paused", "pauseLevel"])))

    private static func dunst(_ all: DBusValue?) -> Reading? {
        guard let paused = all?["paused"]?.flag else { return nil }
        // From 1.9 on there are levels; critical ones pass up to 60 with the configuration that comes with it.
        let level = all?["pauseLevel"]?.integer ?? (paused ? 100 : 0)
        return Reading(isOn: level > 0, hidesCritical: level > 60)
    }

    static let swaync = DesktopSwitch(
        word: "SwayNC",
        place: .bus(
            OnBus(
                service: "org.erikreider.swaync.cc", path: "/org/erikreider/swaync/cc",
                asks: [Ask(interface: "org.erikreider.swaync.cc", member: "GetDnd", read: { flag($0.first) })],
                interface: "org.erikreider.swaync.cc",
                // `Subscribe(u count, b dnd, b isOpen)`, and from 0.8 on `SubscribeV2` with a fourth.
                told: { $0.signature.hasPrefix("ubb") ? flag($0.arguments[1]) : nil })))

    static let mako = DesktopSwitch(
        word: "mako",
        place: .bus(
            OnBus(
                service: notifications, path: "/fr/emersion/Mako",
                asks: [
                    .property("fr.emersion.Mako", "Modes") { modes($0) },
                    Ask(interface: "fr.emersion.Mako", member: "ListModes", read: { modes($0.first) }),
                ], interface: properties, firstArgument: "fr.emersion.Mako", names: ["Modes"])))

    /// mako(5) has no do-not-disturb, but a mode of that name as its example, which hides everything.
    private static func modes(_ value: DBusValue?) -> Reading? {
        guard let modes = value?.elements?.compactMap(\.text) else { return nil }
        let isOn = modes.contains("do-not-disturb")
        return Reading(isOn: isOn, hidesCritical: isOn)
    }

    static let xfce = DesktopSwitch(
        word: "Xfce",
        place: .bus(
            OnBus(
                service: "org.xfce.Xfconf", path: "/org/xfce/Xfconf",
                asks: [
                    Ask(
                        interface: "org.xfce.Xfconf", member: "GetProperty",
                        arguments: [.string("xfce4-notifyd"), .string("/do-not-disturb")], read: { flag($0.first) })
                ], interface: "org.xfce.Xfconf", firstArgument: "xfce4-notifyd",
                errorOfOff: "org.xfce.Xfconf.Error.PropertyNotFound")))

    static let budgie = DesktopSwitch(
        word: "Budgie",
        place: .bus(
            OnBus(
                service: "org.budgie_desktop.Notifications", path: "/org/budgie_desktop/Notifications",
                asks: [
                    Ask(
                        interface: "org.buddiesofbudgie.budgie.Dispatcher", member: "GetDoNotDisturbState",
                        read: { flag($0.first, hidesCritical: true) }),
                    .property("org.buddiesofbudgie.budgie.Dispatcher", "DoNotDisturb") {
                        flag($0, hidesCritical: true)
                    },
                ], interface: "org.buddiesofbudgie.budgie.Dispatcher")))

    static let gnome = DesktopSwitch(
        word: "GNOME",
        place: .settings(
            InSettings(
                schema: "org.gnome.desktop.notifications", key: "show-banners", onIs: false,
                path: "/org/gnome/desktop/notifications/")))

    static let cinnamon = DesktopSwitch(
        word: "Cinnamon",
        place: .settings(
            InSettings(
                schema: "org.cinnamon.desktop.notifications", key: "display-notifications", onIs: false,
                path: "/org/cinnamon/desktop/notifications/", hidesCritical: true)))

    static let mate = DesktopSwitch(
        word: "MATE",
        place: .settings(
            InSettings(
                schema: "org.mate.NotificationDaemon", key: "do-not-disturb", onIs: true,
                path: "/org/mate/notification-daemon/", hidesCritical: true)))

    static let elementary = DesktopSwitch(
        word: "elementary",
        place: .settings(
            InSettings(
                schema: "io.elementary.notifications", key: "do-not-disturb", onIs: true,
                path: "/io/elementary/notifications/")))

    private static func flag(_ value: DBusValue?, hidesCritical: Bool = false) -> Reading? {
        value?.flag.map { Reading(isOn: $0, hidesCritical: $0 && hidesCritical) }
    }

    // MARK: Which one

    /// The one of that server; of a server that has none (or where none runs), the desktop's own. `desktop` is what
    /// XDG_CURRENT_DESKTOP has between its colons.
    static func of(_ server: ServerProfile, desktop: [String]) -> DesktopSwitch? {
        switch server.name.lowercased() {
        case "plasma": return plasma
        case "dunst": return dunst
        case "swaynotificationcenter": return swaync
        case "mako": return mako
        case "xfce notify daemon": return xfce
        case "budgie notification server": return budgie
        case "gnome-shell": return gnome
        case "cinnamon": return cinnamon
        case "io.elementary.notifications": return elementary
        case "notification daemon" where Text.offset(of: "mate", in: server.vendor.lowercased()) != nil: return mate
        default: break
        }
        for word in desktop.map({ $0.lowercased() }) {
            switch word {
            case "gnome": return gnome
            case "x-cinnamon", "cinnamon": return cinnamon
            case "mate": return mate
            case "pantheon": return elementary
            default: break
            }
        }
        // The property is of nobody's name: others may have it as well.
        return server.isKnown ? plasma : nil
    }
}
