package import Base
package import DBus
package import EventLoop

/// Banners as wishes, on `org.freedesktop.Notifications` (Desktop Notifications 1.2/1.3). Confined to the loop's thread.
///
/// Whoever uses it says which banners are to be there; servers that restart, reply late, close twice or not at all are
/// dealt with here. It decides nothing about calls: closing and clicking are only reported.
package final class NotificationClient: BusListener {
    /// A button, or `default` for the body.
    package var onAction: ((BannerKey, _ action: String, _ activationToken: String?) -> Void)?
    /// The banner went away without us. `isDismissal`: the user closed it.
    package var onClosed: ((BannerKey, _ isDismissal: Bool) -> Void)?
    /// A banner got (or lost) its id at the server of this unique name: what a successor needs to close it.
    package var onPlaced: ((BannerKey, _ id: UInt32?, _ server: String) -> Void)?

    /// The server, as far as it is known.
    package private(set) var profile = ServerProfile()
    /// Unique name of the server; empty while there is none.
    package private(set) var owner = ""

    let name = "org.freedesktop.Notifications"
    private let path = "/org/freedesktop/Notifications"
    private let desktopEntry: String
    private let report: (Event) -> Void
    private let loop: EventLoop
    private var connection: DBusConnection?
    private var shown: [BannerKey: Shown] = [:]
    /// Ids we closed ourselves: their Closed signals say nothing about the user.
    private var closing: [UInt32] = []
    /// Signals for ids that no reply has told us yet: some servers signal before they reply (desktop.md 0.2).
    private var early: [InboundMessage] = []
    private var tokens: [UInt32: String] = [:]
    private var leftovers: [(id: UInt32, server: String)] = []
    private var slowReply: TimerSource?
    private var isFaultReported = false

    /// One banner's fact beside its wish.
    private struct Shown {
        var wish: Banner?
        var call: CallUUID?
        var id: UInt32?
        var isPending = false
        /// What the server was last given.
        var given: Banner?
        var wantsRaise = false
        var placedAt = Instant(nanoseconds: 0)
        var actionsSeen: [String] = []
        var raises = 0
    }

    package init(
        _ loop: EventLoop, desktopEntry: String, report: @escaping (Event) -> Void
    ) throws(LoopFailure) {
        self.loop = loop
        self.desktopEntry = desktopEntry
        self.report = report
        slowReply = try TimerSource(loop, accuracy: .milliseconds(100)) { [unowned self] in
            self.fault("the notification server does not answer; calls still ring (restart it, or see ringctl doctor)")
        }
    }

    /// A server has been asked and has not answered.
    package var isWaiting: Bool { shown.values.contains(where: \.isPending) }

    // MARK: Wishes

    /// `call`: what events are to name, if the key does not.
    package func show(_ key: BannerKey, _ banner: Banner, call: CallUUID? = nil) {
        shown[key, default: Shown()].wish = banner
        shown[key]?.call = call ?? key.call
        converge(key)
    }

    /// Brings the banner back into sight and alerts anew.
    package func raise(_ key: BannerKey) {
        guard shown[key]?.wish != nil else { return }
        shown[key]?.wantsRaise = true
        converge(key)
    }

    package func withdraw(_ key: BannerKey) {
        guard shown[key] != nil else { return }
        shown[key]?.wish = nil
        converge(key)
    }

    /// A banner that an earlier run left behind: closed as soon as its server is seen, if that one still lives.
    package func closeLeftover(id: UInt32, server: String) {
        guard !server.isEmpty else { return }
        if server == owner { closeAtServer(id) } else if leftovers.count < 64 { leftovers.append((id, server)) }
    }

    // MARK: The bus

    package func busUp(_ connection: DBusConnection) {
        self.connection = connection
        connection.addMatch("type='signal',sender='\(name)',path='\(path)',interface='\(name)'")
        connection.addMatch(
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'")
        connection.callBus("GetNameOwner", [.string(name)]) { [weak self] result in
            guard case .success(let values) = result, let owner = values.first?.text else { return }
            self?.ownerChanged(owner)
        }
        for key in Array(shown.keys) { converge(key) }
    }

    package func busDown() {
        connection = nil
        ownerChanged("")
        // Replies died with the connection.
        forgetIDs(keepingPending: false)
    }

    package func busMessage(_ message: InboundMessage) -> Bool {
        guard message.kind == .signal else { return false }
        if message.sender == "org.freedesktop.DBus", message.member == "NameOwnerChanged",
            message.arguments.first?.text == name
        {
            ownerChanged(message.arguments.last?.text ?? "")
        } else if message.interface == name, message.path == path, message.sender == owner {
            signal(message)
        }
        return false
    }

    private func ownerChanged(_ new: String) {
        guard new != owner else { return }
        let hadBanners = shown.values.contains { $0.id != nil }
        // A server that our own Notify started: its reply is still to come.
        let wasActivated = owner.isEmpty && !new.isEmpty
        owner = new
        closing = []
        early = []
        tokens = [:]
        profile = ServerProfile()
        forgetIDs(keepingPending: wasActivated)
        slowReply?.disarm()
        if hadBanners && new.isEmpty {
            report(
                Event(
                    .notificationLost, level: .warning, "the notification server went away; shown again when it is back"
                ))
        }
        guard !new.isEmpty else { return }
        isFaultReported = false
        for leftover in leftovers where leftover.server == new { closeAtServer(leftover.id) }
        leftovers = []
        identify(new)
        for key in Array(shown.keys) { converge(key) }
    }

    /// Ids are the old server's; a new one counts from the start.
    private func forgetIDs(keepingPending: Bool) {
        for key in Array(shown.keys) {
            if keepingPending && shown[key]?.isPending == true { continue }
            shown[key]?.id = nil
            shown[key]?.given = nil
            shown[key]?.isPending = false
            if shown[key]?.wish == nil { shown[key] = nil }
        }
    }

    private func identify(_ server: String) {
        ask("GetServerInformation") { [weak self] values in
            guard let self, owner == server, values.count >= 3 else { return }
            profile.name = Text.clean(values[0].text ?? "", limit: 64)
            profile.vendor = Text.clean(values[1].text ?? "", limit: 64)
            profile.version = Text.clean(values[2].text ?? "", limit: 64)
            report(
                Event(
                    .notificationServer, "notifications by \(profile.title)",
                    [.init("server", .text(profile.name)), .init("version", .text(profile.version))]))
        }
        ask("GetCapabilities") { [weak self] values in
            guard let self, owner == server else { return }
            profile.capabilities = values.first?.elements?.compactMap(\.text) ?? []
        }
    }

    private func ask(_ member: String, then: @escaping ([DBusValue]) -> Void) {
        connection?.call(message(member, []), timeout: .seconds(10)) { result in
            if case .success(let values) = result { then(values) }
        }
    }

    private func message(_ member: String, _ arguments: [DBusValue]) -> OutboundMessage {
        OutboundMessage(to: name, path: path, interface: name, member: member, arguments)
    }

    // MARK: Converging

    private func converge(_ key: BannerKey) {
        guard var state = shown[key], connection != nil else { return }
        guard let wish = state.wish else {
            if let id = state.id {
                closeAtServer(id)
                onPlaced?(key, nil, owner)
                report(Event(.notificationClosed, call: key.call, "notification #\(id) closed"))
            }
            // A banner on its way is closed when its id arrives.
            if state.isPending {
                state.id = nil
                shown[key] = state
            } else {
                shown[key] = nil
            }
            return
        }
        // One request at a time: a slow server gets the newest wish, not a queue of old ones.
        guard !state.isPending else { return }
        let isNew = state.id == nil
        // What the server was given and did not show (an id of 0, a refusal) is tried again at the next raise, not at once.
        guard state.wantsRaise || state.given != wish else { return }
        var replaces = state.id ?? 0
        if !isNew && state.wantsRaise && profile.realert == .closeThenNew {
            closeAtServer(replaces)
            replaces = 0
            state.id = nil
        }
        let isRaise = state.wantsRaise
        if isRaise { state.raises += 1 }
        state.wantsRaise = false
        state.isPending = true
        state.given = wish
        state.actionsSeen = []
        state.placedAt = .now
        shown[key] = state
        notify(key, wish, replaces: replaces, isRaise: isRaise, isUpdate: !isNew && !isRaise)
    }

    private func notify(_ key: BannerKey, _ banner: Banner, replaces: UInt32, isRaise: Bool, isUpdate: Bool) {
        guard let connection else { return }
        let sentAt = Instant.now
        let server = owner
        if slowReply?.deadline == nil { slowReply?.arm(after: .seconds(2)) }
        // Far beyond patience: a late id must still arrive, or its banner could never be closed.
        connection.call(message("Notify", arguments(banner, replaces: replaces)), timeout: .seconds(600)) {
            [weak self] result in
            guard let self else { return }
            // A reply from a server that is gone (an activated one has a new name and is welcome).
            if !server.isEmpty && server != owner { return }
            slowReply?.disarm()
            switch result {
            case .success(let values):
                placed(key, UInt32(clamping: values.first?.integer ?? 0), replaced: replaces, sentAt, isRaise, isUpdate)
            case .failure(let failure): refused(key, failure, replaces: replaces)
            }
        }
    }

    private func placed(
        _ key: BannerKey, _ id: UInt32, replaced: UInt32, _ sentAt: Instant, _ isRaise: Bool, _ isUpdate: Bool
    ) {
        isFaultReported = false
        guard var state = shown[key] else { return closeAtServer(id) }
        state.isPending = false
        guard state.wish != nil else {
            // The call ended while the banner was on its way (the race that leaves stuck popups).
            shown[key] = nil
            closeAtServer(id)
            report(
                Event(.notificationClosed, call: key.call, "notification #\(id) closed on arrival: the call is over"))
            return
        }
        state.id = id == 0 ? nil : id
        shown[key] = state
        onPlaced?(key, state.id, owner)
        if !isUpdate {
            let what: Event.Kind =
                if case .missed = key { .missedShown } else if isRaise { .notificationRaised } else {
                    .notificationShown
                }
            let server = profile.isKnown ? " by \(profile.title)" : ""
            report(
                Event(
                    what, call: state.call,
                    isRaise ? "notification raised again (#\(id))" : "notification #\(id) shown\(server)",
                    [
                        .init("id", .number(Int64(id))), .init("replaced", .number(Int64(replaced))),
                        .init("latency_us", .number((Instant.now - sentAt).nanoseconds / 1000)),
                    ]))
        }
        let waiting = early
        early = []
        for message in waiting { signal(message) }
        converge(key)
    }

    private func refused(_ key: BannerKey, _ failure: DBusFailure, replaces: UInt32) {
        guard var state = shown[key] else { return }
        state.isPending = false
        // Plasma counts an equal repeat within a second as a flood: the banner is there (desktop.md 0.6).
        let isRepeat = failure.name == "org.freedesktop.Notifications.Error.ExcessNotificationGeneration"
        state.id = isRepeat && replaces != 0 ? replaces : nil
        if state.wish == nil { shown[key] = nil } else { shown[key] = state }
        guard !isRepeat else { return }
        switch failure.name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
            fault(
                "no notification server runs: the call rings without a banner (install one, e.g. dunst; ringctl answer works)"
            )
        case "org.freedesktop.DBus.Error.Disconnected": break
        default: fault("the notification server refused: \(failure)")
        }
    }

    private func fault(_ text: String) {
        guard !isFaultReported else { return }
        isFaultReported = true
        report(Event(.notificationFault, level: .error, text))
    }

    private func closeAtServer(_ id: UInt32) {
        guard id != 0, let connection else { return }
        if closing.count >= 64 { closing.removeFirst(32) }
        closing.append(id)
        // No reply is wanted: an unknown id is an error on some servers and none on others, and gone on all. One message
        // less to wake up for at each raise.
        connection.send(message("CloseNotification", [.uint32(id)]))
    }

    private func arguments(_ banner: Banner, replaces: UInt32) -> [DBusValue] {
        var body = banner.body
        if let hint = banner.keyboardHint, profile.drawsNoButtons { body += body.isEmpty ? hint : "\n" + hint }
        if profile.readsMarkup { body = Text.escapeMarkup(body) }
        var hints: [DBusValue.Entry] = [
            .init("urgency", .byte(banner.urgency.rawValue)),
            .init("desktop-entry", .string(desktopEntry)),
        ]
        if !profile.dropsCategory { hints.append(.init("category", .string(banner.category))) }
        if let sound = banner.soundName {
            hints.append(.init("sound-name", .string(sound)))
        } else {
            hints.append(.init("suppress-sound", .bool(true)))
        }
        if banner.urgency == .critical {
            // We close it ourselves on every path; phosh is not to ring beside us.
            hints.append(.init("resident", .bool(true)))
            hints.append(.init("x-phosh-fb-profile", .string("none")))
        }
        let actions = profile.refusesActions ? [] : banner.actions.flatMap { [$0.key, $0.label] }
        return [
            .string("ringd"), .uint32(replaces), .string(banner.icon), .string(banner.summary), .string(body),
            .strings(actions), .dict(hints), .int32(banner.urgency == .critical ? 0 : -1),
        ]
    }

    // MARK: Signals

    private func signal(_ message: InboundMessage) {
        guard let number = message.arguments.first?.integer, let id = UInt32(exactly: number) else { return }
        if message.member == "ActivationToken" {
            if tokens.count > 16 { tokens = [:] }
            tokens[id] = message.arguments.last?.text
            return
        }
        if message.member == "NotificationClosed", let index = closing.firstIndex(of: id) {
            closing.remove(at: index)
            return
        }
        guard let key = shown.first(where: { $0.value.id == id })?.key else {
            // Perhaps one of ours whose reply is still on its way; others' ids pass through here too.
            if shown.values.contains(where: \.isPending), early.count < 32 { early.append(message) }
            return
        }
        switch message.member {
        case "ActionInvoked":
            let action = Text.clean(message.arguments.last?.text ?? "", limit: 64)
            // GNOME sends it twice, once by broadcast (desktop.md 0.3).
            guard shown[key]?.actionsSeen.contains(action) == false else { return }
            shown[key]?.actionsSeen.append(action)
            report(
                Event(
                    .notificationAction, call: key.call,
                    "\"\(action)\" chosen on notification #\(id)",
                    [.init("action", .text(action))]))
            onAction?(key, action, tokens.removeValue(forKey: id))
        case "NotificationClosed":
            let reason = message.arguments.last?.integer ?? 4
            let early = Instant.now - (shown[key]?.placedAt ?? .now) < .milliseconds(300)
            shown[key]?.id = nil
            shown[key]?.given = nil
            onPlaced?(key, nil, owner)
            // A notice that is gone is read; a call's banner is the core's to judge.
            if case .missed = key { shown[key] = nil }
            let isDismissal = reason == 2 && !early
            report(
                Event(
                    .notificationClosed, call: key.call,
                    isDismissal
                        ? "notification #\(id) dismissed"
                        : early
                            ? "notification #\(id) suppressed by the server (do not disturb?)"
                            : "notification #\(id) closed by the server", [.init("reason", .number(reason))]))
            onClosed?(key, isDismissal)
        default: break
        }
    }
}

extension BannerKey {
    var call: CallUUID? { if case .call(let uuid) = self { uuid } else { nil } }
}
