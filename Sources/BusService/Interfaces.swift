/// What ringd offers on the bus. `Docs/dbus.md` says it in prose.
extension BusInterface {
    package static let monitor = BusInterface(
        name: "org.ringd.Monitor1",
        methods: [
            method(
                "Push", "token_or_app:s payload:ay options:a{sv}", "result:a{sv}",
                "Send a push, as a gateway would deliver it."),
            method(
                "Pushes", "options:a{sv}", "page:a{sv} pushes:aa{sv}",
                "The record of pushes, without payloads (after, before, limit, app, device, refused)."),
            method("PushDetails", "push:s", "push:a{sv}", "All there is of one push, by its number or apns-id."),
            method("Ring", "call:a{sv}", "call:o", "Ring without any push."),
            method("Cancel", "call:s", "", "The caller gave up: stop ringing."),
            method("Status", "", "status:a{sv}", "What runs."),
            method("Doctor", "", "checks:aa{sv}", "Would a call ring now, and if not, why."),
            method(
                "History", "filter:a{sv}", "calls:aa{sv}",
                "Past calls, newest first (limit, missed, unseen, app, direction, handle, before, hidden, mark_seen)."),
            method("MarkSeen", "call:s", "count:u", "A missed call, or every one for an empty id, has been seen."),
            method(
                "ClearHistory", "filter:a{sv}", "count:u", "Forget past calls: all, one (call), or old ones (before)."),
            method("Report", "call:s", "report:a{sv} events:aa{sv}", "One call and everything that happened to it."),
            method("Sounds", "", "sounds:aa{sv}", "Installed sounds."),
            method("AddSound", "path:s", "name:s", "Install a sound file, in any format."),
            method("PlaySound", "name:s", "", "Play a sound once."),
            method("Configuration", "", "settings:aa{sv} faults:as", "The settings in force, and the file's faults."),
            method("Reload", "", "faults:as", "Read the configuration again."),
        ],
        signals: [
            Signal(
                name: "Event", carries: arguments("kind:s event:a{sv}"), summary: "Something happened."),
            Signal(
                name: "Pushes", carries: arguments("last:t"),
                summary: "Pushes were recorded, the last of them with this number; at most ten times a second."),
        ])

    package static let registry = BusInterface(
        name: "org.ringd.PushRegistry1",
        methods: [
            method("AddApp", "app:s", "app:a{sv}", "Register an app; its tokens come back, the same ones each time."),
            method("RemoveApp", "app:s", "", "Forget an app: its tokens are dead from now on."),
            method(
                "RenewApp", "app:s device:s", "app:a{sv}",
                "New tokens for an app on a device; the old ones are dead from now on."),
            method("Apps", "", "apps:aa{sv}", "Registered apps and their tokens on this desktop."),
            method("AppsOn", "device:s", "apps:aa{sv}", "The same of another device."),
            method("Devices", "", "devices:aa{sv}", "This desktop and the emulated devices."),
            method(
                "AddDevices", "name:s count:u", "added:a{sv}",
                "Emulate a device with every app on it, or with a count many: NAME-1, NAME-2 and so on."),
            method("RemoveDevices", "name:s count:u", "removed:u", "Remove what AddDevices added."),
            method(
                "SetOnline", "device:s online:b", "delivered:u",
                "Take a device from the network, or bring it back and deliver what was kept for it."),
            method(
                "Tokens", "filter:a{sv}", "page:a{sv} tokens:aa{sv}",
                "Living tokens of all devices (device, app, kind, environment, skip)."),
        ])

    package static let provider = BusInterface(
        name: "org.ringd.CallProvider1",
        methods: [
            method("ReportNewIncomingCall", "app:s uuid:s update:a{sv}", "call:o", "CXProvider.reportNewIncomingCall."),
            method(
                "ReportCallEnded", "uuid:s reason:u", "",
                "CXProvider.reportCall(with:endedAt:reason:); CXCallEndedReason."),
        ])

    package static let controller = BusInterface(
        name: "org.ringd.CallController1",
        methods: [
            method("Answer", "call:s", "", "Take the call. An id, a prefix of one, or empty for the only candidate."),
            method("Decline", "call:s", "", "Refuse the call."),
            method("Ignore", "call:s", "", "Stop it here and tell nobody."),
            method("Silence", "call:s", "", "Stop the noise; the call stays answerable."),
            method("HangUp", "call:s", "", "End a connected call."),
        ])

    package static let call = BusInterface(
        name: "org.ringd.Call1",
        methods: [
            method("Answer", "", "", "Take the call."),
            method("Decline", "", "", "Refuse the call."),
            method("Ignore", "", "", "Stop it here and tell nobody."),
            method("Silence", "", "", "Stop the noise."),
            method("HangUp", "", "", "End it."),
        ],
        properties: [
            Property(name: "UUID", type: "s"), Property(name: "App", type: "s"), Property(name: "State", type: "s"),
            Property(name: "Caller", type: "s"), Property(name: "Handle", type: "s"),
            Property(name: "Video", type: "b"), Property(name: "Key", type: "s"),
            Property(name: "Audio", type: "b"), Property(name: "Began", type: "x"),
            Property(name: "Deadline", type: "x"),
        ])

    static let standard = [
        BusInterface(
            name: "org.freedesktop.DBus.Introspectable", methods: [method("Introspect", "", "xml:s", "This text.")]),
        BusInterface(
            name: "org.freedesktop.DBus.Properties",
            methods: [
                method("Get", "interface:s property:s", "value:v", ""),
                method("GetAll", "interface:s", "properties:a{sv}", ""),
                method("Set", "interface:s property:s value:v", "", ""),
            ],
            signals: [
                Signal(
                    name: "PropertiesChanged", carries: arguments("interface:s changed:a{sv} invalidated:as"),
                    summary: "")
            ]),
    ]

    static let objectManager = BusInterface(
        name: "org.freedesktop.DBus.ObjectManager",
        methods: [method("GetManagedObjects", "", "objects:a{oa{sa{sv}}}", "Every live call.")],
        signals: [
            Signal(name: "InterfacesAdded", carries: arguments("object:o interfaces:a{sa{sv}}"), summary: ""),
            Signal(name: "InterfacesRemoved", carries: arguments("object:o interfaces:as"), summary: ""),
        ])

    package static let root = [monitor, registry, provider, controller]
}
