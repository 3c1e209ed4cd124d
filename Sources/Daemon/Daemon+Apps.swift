internal import Base
internal import Calls
internal import Config
internal import DBus
internal import Desktop

/// Calls whose apps know nothing of ringd: links, programs, D-Bus methods of their own.
extension Daemon {
    func handOver(_ action: ActionID, _ call: Call) {
        guard let handoff = configuration.apps[call.app]?.answer else {
            emit(
                Event(
                    .appAnswer, call: call.uuid,
                    call.app == Self.manualApp
                        ? "answered; nothing to hand it to"
                        : "answered; nothing says what that does: set answer = in [app \(call.app)] of ringd.conf"))
            return receive(.handedOver(action))
        }
        edges.handoffs.perform(handoff, .answer, call.invite, activationToken: tokens[call.uuid]) {
            [unowned self] failure in
            if let failure {
                emit(Event(.appFault, call: call.uuid, level: .error, "the app did not take the call: \(failure)"))
                receive(.failed(action))
            } else {
                let isLate = center[call.uuid]?.state != .answering(action)
                emit(Event(.appAnswer, call: call.uuid, "handed over\(isLate ? " too late" : ""): \(handoff.words)"))
                receive(.handedOver(action))
            }
        }
    }

    /// Whatever has the call is told that the user ended it, if there is a way.
    func sayEnded(_ call: Call, _ reason: EndReason) {
        guard let handoff = configuration.apps[call.app]?.end, handoff.isForeign else { return }
        edges.handoffs.perform(handoff, .end, call.invite, reason: reason.word) { [unowned self] failure in
            emit(
                failure.map {
                    Event(
                        .appFault, call: call.uuid, level: .warning, "the app was not told of \(reason.word): \($0)")
                } ?? Event(.appEnd, call: call.uuid, "the app was told: \(reason.word)"))
        }
    }

    /// How the app is brought to the front: as configured, else the way its D-Bus name suggests.
    func opening(_ app: String) -> Handoff? {
        if let open = configuration.apps[app]?.open { return open }
        if case .dbus(let name, let path, _, _)? = configuration.apps[app]?.answer {
            return .dbus(busName: name, path: path, interface: nil, method: nil)
        }
        guard center.provider(of: app) != nil else { return nil }
        return .dbus(busName: edges.links.busName(of: app), path: nil, interface: nil, method: nil)
    }

    func open(_ call: Call) {
        guard let handoff = opening(call.app) else {
            return emit(
                Event(.appOpened, call: call.uuid, "nothing to open: set open = in [app \(call.app)] of ringd.conf"))
        }
        edges.handoffs.perform(handoff, .open, call.invite, activationToken: tokens[call.uuid]) {
            [unowned self] failure in
            if let failure {
                emit(Event(.appFault, call: call.uuid, level: .warning, "the app did not open: \(failure)"))
            } else {
                emit(Event(.appOpened, call: call.uuid, "opened: \(handoff.words)"))
            }
        }
    }

    /// How a caller is called back where no provider does: as configured, else a telephone or SIP address by its own
    /// URL.
    func callBackHandoff(_ call: Invite) -> Handoff? {
        guard let handle = call.caller.handle else { return nil }
        if let configured = configuration.apps[call.app]?.callBack, configured.isForeign { return configured }
        let lower = handle.value.lowercased()
        for scheme in ["sip", "sips", "tel"] where lower.hasPrefix(scheme + ":") {
            return .url(template: "\(scheme):{handle}")
        }
        return handle.kind == .phoneNumber ? .url(template: "tel:{handle}") : nil
    }

    /// There is a way, and somebody to call.
    func canCallBack(_ call: Call) -> Bool {
        call.invite.caller.handle != nil
            && (center.provider(of: call.app) != nil || callBackHandoff(call.invite) != nil)
    }

    // MARK: Banners

    func chosen(_ key: BannerKey, _ action: String, _ activationToken: String?) {
        switch key {
        case .call(let uuid):
            tokens[uuid] = activationToken
            switch action {
            case "answer": receive(.user(uuid, .answer))
            case "hold-answer": receive(.user(uuid, .holdAndAnswer))
            case "decline": receive(.user(uuid, .decline))
            case "default": receive(.user(uuid, .open))
            default: break  // MATE invents actions (desktop.md 0.12).
            }
        case .missed(let id):
            let missed = edges.missed.calls[id]
            if action == "default", let call = missed, opening(call.invite.app) != nil { open(call) }
            if action == "callback", let call = missed { callBackFromNotice(call, activationToken) }
            edges.missed.forget(id)
            edges.notifications.withdraw(key)
        }
    }

    private func callBackFromNotice(_ call: Call, _ activationToken: String?) {
        var invite = call.invite
        invite.uuid = .random()
        invite.caller.handle = call.callBack ?? invite.caller.handle
        do throws(DBusFailure) {
            _ = try dialBack(invite, mine: nil, activationToken: activationToken)
        } catch {
            emit(Event(.appFault, call: call.uuid, level: .error, "call back failed: \(error.message)"))
        }
    }

    func closed(_ key: BannerKey, _ isDismissal: Bool) {
        switch key {
        case .call(let uuid): receive(.bannerClosed(uuid, isDismissal: isDismissal))
        case .missed(let id): edges.missed.forget(id)
        }
    }
}

extension Handoff {
    /// For events: what kind, without what a payload filled in.
    var words: String {
        switch self {
        case .dbus(let name, _, let interface, let method):
            "D-Bus \(name ?? "the app") \(interface.map { "\($0)." } ?? "")\(method ?? "")"
        case .url(let template): "URL \(template)"
        case .run(let words): "program \(words[0])"
        }
    }
}
