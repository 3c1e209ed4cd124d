internal import Base
internal import Calls
internal import Config
internal import Desktop

/// Calls and the apps they are for.
extension Daemon {
    func answer(_ action: ActionID, _ call: Call) {
        guard let handoff = configuration.apps[call.invite.app]?.answer else {
            emit(
                Event(
                    .appAnswer, call: call.uuid,
                    call.invite.app == Self.manualApp
                        ? "answered; nothing to hand it to"
                        : "answered; nothing says what that does: set answer = in [app \(call.invite.app)] of ringd.conf"
                ))
            return receive(.fulfilled(action, tracks: false))
        }
        edges.handoffs.perform(handoff, .answer, call, activationToken: tokens[call.uuid]) {
            [unowned self] failure, tracks in
            if let failure {
                emit(Event(.appFault, call: call.uuid, level: .error, "the app did not take the call: \(failure)"))
                receive(.failed(action))
            } else {
                let isLate = center[call.uuid]?.state != .answering(action)
                emit(Event(.appAnswer, call: call.uuid, "handed over\(isLate ? " too late" : ""): \(handoff.words)"))
                receive(.fulfilled(action, tracks: tracks))
                // The app believes that it has a call which is over here.
                if isLate && tracks { sayItIsOver(call) }
            }
        }
    }

    /// How the app is told of an end: as configured, else the way it was asked to answer.
    private func ending(_ app: String) -> Handoff? {
        if let end = configuration.apps[app]?.end { return end }
        guard case .dbus(let name, let path, let interface, _)? = configuration.apps[app]?.answer, interface == nil
        else { return nil }
        return .dbus(busName: name, path: path, interface: nil, method: nil)
    }

    private func sayItIsOver(_ call: Call) {
        guard let handoff = ending(call.invite.app) else { return }
        edges.handoffs.perform(handoff, .end, call, reason: EndReason.failed(.timeout).word) { _, _ in
            // Nothing waits for a goodbye.
        }
    }

    /// The app is told that the user ended its call, if there is a way.
    func tellEnd(_ action: ActionID, _ call: Call, _ reason: EndReason) {
        guard let handoff = ending(call.invite.app) else { return receive(.fulfilled(action, tracks: false)) }
        edges.handoffs.perform(handoff, .end, call, reason: reason.word) { [unowned self] failure, _ in
            if let failure {
                emit(
                    Event(
                        .appFault, call: call.uuid, level: .warning,
                        "the app was not told of \(reason.word): \(failure)"))
                receive(.failed(action))
            } else {
                emit(Event(.appEnd, call: call.uuid, "the app was told: \(reason.word)"))
                receive(.fulfilled(action, tracks: false))
            }
        }
    }

    /// How the app is brought to the front: as configured, else the way its D-Bus name suggests.
    func opening(_ app: String) -> Handoff? {
        if let open = configuration.apps[app]?.open { return open }
        guard case .dbus(let name, let path, _, _)? = configuration.apps[app]?.answer else { return nil }
        return .dbus(busName: name, path: path, interface: nil, method: nil)
    }

    func open(_ call: Call) {
        guard let handoff = opening(call.invite.app) else {
            return emit(
                Event(
                    .appOpened, call: call.uuid, "nothing to open: set open = in [app \(call.invite.app)] of ringd.conf"
                ))
        }
        edges.handoffs.perform(handoff, .open, call, activationToken: tokens[call.uuid]) { [unowned self] failure, _ in
            if let failure {
                emit(Event(.appFault, call: call.uuid, level: .warning, "the app did not open: \(failure)"))
            } else {
                emit(Event(.appOpened, call: call.uuid, "opened: \(handoff.words)"))
            }
        }
    }

    /// How a missed caller is called back: as configured, else a telephone or SIP address by its own URL.
    func callBack(_ call: Call) -> Handoff? {
        guard let handle = call.invite.caller.handle else { return nil }
        if let configured = configuration.apps[call.invite.app]?.callBack { return configured }
        if handle.kind == .phoneNumber { return .url(template: "tel:{handle}") }
        let lower = handle.value.lowercased()
        for scheme in ["sip", "sips"] where lower.hasPrefix(scheme + ":") {
            return .url(template: "\(scheme):{handle}")
        }
        return nil
    }

    // MARK: Banners

    func chosen(_ key: BannerKey, _ action: String, _ activationToken: String?) {
        switch key {
        case .call(let uuid):
            tokens[uuid] = activationToken
            switch action {
            case "answer": receive(.user(uuid, .answer))
            case "decline": receive(.user(uuid, .decline))
            case "default": receive(.user(uuid, .open))
            default: break  // MATE invents actions (desktop.md 0.12).
            }
        case .missed(let id):
            let missed = edges.missed.calls[id]
            if action == "default", let call = missed, opening(call.invite.app) != nil { open(call) }
            if action == "callback", let call = missed, let handoff = callBack(call) {
                edges.handoffs.perform(handoff, .callBack, call, activationToken: activationToken) {
                    [unowned self] failure, _ in
                    emit(
                        failure.map { Event(.appFault, call: call.uuid, level: .error, "call back failed: \($0)") }
                            ?? Event(.appOpened, call: call.uuid, "calling back: \(handoff.words)"))
                }
            }
            edges.missed.forget(id)
            edges.notifications.withdraw(key)
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
