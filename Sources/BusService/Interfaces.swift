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
            // For apps, about themselves: the caller has to own the app's bus name.
            method(
                "Register", "app:s delegate:o options:a{sv}", "registration:a{sv}",
                "PKPushRegistry.desiredPushTypes: want pushes at the PushDelegate1 of this path (types, environment, account)."
            ),
            method("Unregister", "app:s", "", "Want no more pushes; the tokens are dead from now on."),
            method("Token", "app:s type:s", "token:ay", "PKPushRegistry.pushToken(for:); empty if there is none."),
            method(
                "BindAccount", "app:s account:s", "", "This account is logged in: pushes are for it from now on."),
            method("UnbindAccount", "app:s", "", "Nobody is logged in: nothing rings until somebody is."),
            method(
                "MarkUploaded", "app:s type:s server_device:s", "",
                "The app's server has the token: it is not asked to upload it again."),
            // For users and their tools.
            method("AddApp", "app:s", "app:a{sv}", "Register an app; its tokens come back, the same ones each time."),
            method("RemoveApp", "app:s", "", "Forget an app: its tokens are dead from now on."),
            method("ResetApp", "app:s", "", "Forget an app's failed duties: it gets pushes again."),
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

    /// For apps, about their own calls: the caller has to own the app's bus name.
    package static let provider = BusInterface(
        name: "org.ringd.CallProvider1",
        methods: [
            method(
                "Register", "app:s delegate:o configuration:a{sv}", "",
                "CXProvider.init(configuration:) and setDelegate: take calls at the ProviderDelegate1 of this path."),
            method(
                "SetConfiguration", "app:s configuration:a{sv}", "", "CXProvider.configuration; what is left out stays."
            ),
            method("Invalidate", "app:s", "", "CXProvider.invalidate: every call of the app ends."),
            method("ReportNewIncomingCall", "app:s uuid:s update:a{sv}", "call:o", "CXProvider.reportNewIncomingCall."),
            method("ReportCallUpdated", "uuid:s update:a{sv}", "", "CXProvider.reportCall(with:updated:)."),
            method(
                "ReportCallEnded", "uuid:s reason:u details:a{sv}", "",
                "CXProvider.reportCall(with:endedAt:reason:); CXCallEndedReason (date, detail)."),
            method(
                "ReportCallStartedConnecting", "uuid:s details:a{sv}", "",
                "CXProvider.reportOutgoingCall(with:startedConnectingAt:) (date)."),
            method(
                "ReportCallConnected", "uuid:s details:a{sv}", "",
                "CXProvider.reportOutgoingCall(with:connectedAt:), or the end of a two-step answer (date)."),
            method("FulfillAction", "action:s details:a{sv}", "", "CXAction.fulfill (date, connecting)."),
            method("FailAction", "action:s", "", "CXAction.fail."),
            method(
                "PendingActions", "app:s", "actions:aa{sv}", "CXProvider.pendingTransactions: what is not completed."),
            method("SetSession", "app:s state:s", "", "Logged in or not: down, connecting, up, failed."),
            method("SetForeground", "app:s foreground:b", "", "The app's window has the user's attention, or not."),
            method("ConfirmPresented", "uuid:s", "", "The app shows this call itself (foreground-handled)."),
            method("RequestAudio", "uuid:s", "", "DidActivateAudioSession is to be sent once more."),
        ])

    /// For everyone: an app acts on its own calls, the user's tools on all. A call is named by its id, the beginning of
    /// one, or "" for the only candidate.
    package static let controller = BusInterface(
        name: "org.ringd.CallController1",
        methods: [
            method(
                "Request", "transaction:a(ssa{sv})", "",
                "CXCallController.request: actions (start, answer, end, set-held, set-muted, set-group, play-dtmf), each with its call and details, in order."
            ),
            method("StartCall", "app:s handle:s details:a{sv}", "call:s", "Dial; the new call's UUID comes back."),
            method("CallBack", "call:s", "call:s", "Dial the caller of a past call, by its id."),
        ] + act("call:s "))

    /// What can be done with one call: on the controller with its id, on its object without.
    private static func act(_ takes: String) -> [Method] {
        let bare = String(takes.dropLast(takes.isEmpty ? 0 : 1))
        return [
            method("Answer", bare, "", "Take the call; another one that is on ends."),
            method("HoldAndAnswer", bare, "", "Take the call; another one that is on is held, if it can be."),
            method("Decline", bare, "", "Refuse the call."),
            method("Ignore", bare, "", "Stop it here and tell nobody."),
            method("Silence", bare, "", "Stop the noise; the call stays answerable."),
            method("HangUp", bare, "", "End the call."),
            method("Hold", bare, "", "Put the call on hold."),
            method("Unhold", bare, "", "Go on with the call; another one that is on is held."),
            method("Mute", bare, "", "The microphone off."),
            method("Unmute", bare, "", "The microphone on."),
            method("PlayDTMF", takes + "digits:s", "", "Send tones: 0-9 * # A-D, comma and semicolon for pauses."),
            method("JoinGroup", takes + "with:s", "", "Join another call in a conference."),
            method("LeaveGroup", bare, "", "Leave the conference."),
            method("StartAudio", bare, "", "Tell the app once more that audio may run."),
        ]
    }

    package static let call = BusInterface(
        name: "org.ringd.Call1", methods: act(""),
        properties: [
            Property(name: "UUID", type: "s"), Property(name: "App", type: "s"), Property(name: "Account", type: "s"),
            Property(name: "State", type: "s"), Property(name: "Caller", type: "s"),
            Property(name: "Handle", type: "s"), Property(name: "HandleType", type: "s"),
            Property(name: "Video", type: "b"), Property(name: "Key", type: "s"),
            Property(name: "IsOutgoing", type: "b"), Property(name: "IsOnHold", type: "b"),
            Property(name: "IsHeldByAnother", type: "b"), Property(name: "IsMuted", type: "b"),
            Property(name: "HasConnected", type: "b"), Property(name: "HasEnded", type: "b"),
            Property(name: "Group", type: "t"), Property(name: "SupportsHolding", type: "b"),
            Property(name: "SupportsGrouping", type: "b"), Property(name: "SupportsUngrouping", type: "b"),
            Property(name: "SupportsDTMF", type: "b"), Property(name: "Audio", type: "s"),
            Property(name: "Began", type: "x"), Property(name: "Deadline", type: "x"),
            Property(name: "Connected", type: "x"),
        ])

    /// What an app exports, if it wants pushes.
    package static let pushDelegate = BusInterface(
        name: "org.ringd.PushDelegate1",
        methods: [
            method(
                "DidUpdatePushCredentials", "type:s token:ay details:a{sv}", "",
                "pushRegistry(_:didUpdate:for:) (environment, account, uploaded, server-device)."),
            method("DidInvalidatePushToken", "type:s", "", "pushRegistry(_:didInvalidatePushTokenFor:)."),
            method(
                "DidReceiveIncomingPush", "type:s push:t payload:ay metadata:a{sv}", "",
                "pushRegistry(_:didReceiveIncomingPushWith:for:completion:); the reply is the completion (must-report, call, state, redelivered)."
            ),
        ])

    /// What an app exports, if it takes calls. A reply says that the method was received; an error fails the action.
    package static let providerDelegate = BusInterface(
        name: "org.ringd.ProviderDelegate1",
        methods: [
            method("ProviderDidBegin", "", "", "Registered: reports are taken."),
            method("ProviderDidReset", "", "", "Every call is void: end media, forget actions."),
            method("PerformStartCall", "action:s call:s details:a{sv}", "", "CXStartCallAction."),
            method("PerformAnswerCall", "action:s call:s details:a{sv}", "", "CXAnswerCallAction."),
            method("PerformEndCall", "action:s call:s details:a{sv}", "", "CXEndCallAction (reason)."),
            method("PerformSetHeldCall", "action:s call:s details:a{sv}", "", "CXSetHeldCallAction (on-hold)."),
            method("PerformSetMutedCall", "action:s call:s details:a{sv}", "", "CXSetMutedCallAction (muted)."),
            method("PerformSetGroupCall", "action:s call:s details:a{sv}", "", "CXSetGroupCallAction (with)."),
            method(
                "PerformPlayDTMFCall", "action:s call:s details:a{sv}", "", "CXPlayDTMFCallAction (digits, type)."),
            method("TimedOutPerforming", "action:s call:s", "", "provider(_:timedOutPerforming:)."),
            method(
                "DidEndCall", "call:s details:a{sv}", "",
                "The call is over without the app's doing (reason, callkit-reason)."),
            method(
                "ConfigureAudioSession", "call:s", "",
                "Make audio ready, do not start it (configures-audio); an error fails what it was for."),
            method(
                "DidActivateAudioSession", "call:s", "",
                "provider(_:didActivate:): start capture and playback, and reply when they run."),
            method("DidDeactivateAudioSession", "call:s", "", "provider(_:didDeactivate:): stop them."),
            method(
                "ProvideRemoteInfo", "call:s details:a{sv}", "update:a{sv}",
                "Who is this? (provides-remote-info): the reply updates the call."),
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

    /// All that have a file: ours, and what apps export.
    package static let described = root + [call, pushDelegate, providerDelegate]
}
