internal import Base
internal import BusService
internal import Calls
internal import Config
internal import DBus
internal import Store

/// `org.ringd.CallProvider1`: what apps say of themselves and their calls.
extension Daemon {
    /// Serves the call if its sender owns the app's name; the answer comes later.
    func owned(_ app: String, _ call: BusCall) {
        guard edges.links.mayAsk(call.sender) else { return edges.service.answer(call, .failure(Self.flooded)) }
        edges.links.inTurn(call.sender) { [unowned self] in
            edges.links.verify(call.sender, owns: app) { [unowned self] isOwner in
                answer(call) { (me) throws(DBusFailure) in
                    guard isOwner else { throw me.notYours(app) }
                    return call.interface == BusInterface.registry.name
                        ? try me.appRegistry(call, app) : try me.ownProvider(call, app)
                }
            }
        }
    }

    /// nil: the answer comes later, or has come.
    private func answer(_ call: BusCall, _ work: (isolated Daemon) throws(DBusFailure) -> [DBusValue]?) {
        do throws(DBusFailure) {
            if let reply = try work(self) { edges.service.answer(call, .success(reply)) }
        } catch {
            edges.service.answer(call, .failure(error))
        }
    }

    private func notYours(_ app: String) -> DBusFailure {
        let name = edges.links.busName(of: app)
        return refusal(
            "NotYours", "only who owns the bus name \(Text.clean(name, limit: 255)) speaks for that app: own it first")
    }

    static let flooded = DBusFailure(
        "org.freedesktop.DBus.Error.LimitsExceeded", "an app may ask 50 times a second: slow down")

    func provider(_ call: BusCall, _ first: String) throws(DBusFailure) -> [DBusValue]? {
        switch call.member {
        case "Register", "SetConfiguration", "Invalidate", "ReportNewIncomingCall", "PendingActions", "SetSession",
            "SetForeground":
            owned(first, call)
            return nil
        default:
            guard edges.links.mayAsk(call.sender) else { throw Self.flooded }
            edges.links.inTurn(call.sender) { [unowned self] in
                answer(call) { (me) throws(DBusFailure) in
                    switch call.member {
                    case "FulfillAction", "FailAction": try me.complete(call, first)
                    default: try me.reportOwn(call, first)
                    }
                    return []
                }
            }
            return nil
        }
    }

    private func ownProvider(_ call: BusCall, _ app: String) throws(DBusFailure) -> [DBusValue]? {
        if call.member == "Register" { return try register(call, app) }
        try attachedProvider(app)
        switch call.member {
        case "SetConfiguration": try setConfiguration(app, call.arguments[1])
        case "Invalidate":
            receive(.app(app, .invalidated))
            leave(app)
        case "ReportNewIncomingCall": return try reportNew(call, app)
        case "PendingActions": return [pendingActions(app)]
        case "SetSession":
            guard let session = Session(rawValue: call.arguments[1].text ?? "") else {
                throw invalid("a session is down, connecting, up or failed")
            }
            receive(.app(app, .session(session)))
        default: receive(.app(app, .foreground(call.arguments[1].flag ?? false)))
        }
        return []
    }

    private func attachedProvider(_ app: String) throws(DBusFailure) {
        guard edges.links.path(.provider, of: app) != nil else { throw CallError.request(.unknownCallProvider).failure }
    }

    // MARK: Registering

    private func register(_ call: BusCall, _ app: String) throws(DBusFailure) -> [DBusValue]? {
        if let handoff = configuration.apps[app]?.answer, handoff.isForeign {
            throw DBusFailure(
                CallError.general(.unentitled).failure.name,
                "ringd.conf hands this app's calls to something else (answer = \(handoff.words)): remove that line")
        }
        guard let path = call.arguments[1].text else {
            throw refusal("InvalidArgument", "a delegate is an object path")
        }
        try checkVersion(call.arguments[2])
        var provider = ProviderConfiguration()
        let entries = call.arguments[2].entries ?? []
        if let wrong = provider.apply(entries) { throw invalid(wrong) }
        let said = call.arguments[2]["session"] ?? .string(Session.up.rawValue)
        guard let session = said.text.flatMap(Session.init(rawValue:)) else {
            throw invalid("session: down, connecting or up was expected")
        }
        guard addApp(app) else {
            throw refusal(
                "InvalidAppID", "\"\(Text.clean(app))\" is no app id like com.example.talk, or there are too many")
        }
        var row = registered[app] ?? ProviderRow(app: app, types: "", environment: "production")
        row.configuration = provider.stored
        remember(row)
        // A second run of the app: what the first one had is void.
        if edges.links.isLinked(app), !edges.links.isOwner(call.sender, of: app) { edges.links.unlink(app) }
        edges.links.link(app, to: call.sender, provider: path)
        receive(.app(app, .provider(provider)))
        // Answered first, so that the app knows before it is asked for anything.
        edges.service.answer(call, .success([]))
        if reset.remove(app) != nil { edges.links.tell(app, .provider, "ProviderDidReset") }
        edges.links.tell(app, .provider, "ProviderDidBegin")
        emit(Event(.appAttached, level: .info, "\(app) takes calls", [.init("app", .text(app))]))
        receive(.app(app, .session(session)))
        receive(.app(app, .attached))
        return nil
    }

    /// An app built with our modules says with which: another minor version may mean other things by the same words.
    func checkVersion(_ options: DBusValue) throws(DBusFailure) {
        guard let version = options["version"]?.text, version != Version.minor else { return }
        throw refusal(
            "VersionMismatch",
            "the app was built with ringd \(Text.clean(version, limit: 20)), and this is \(Version.text): build it with the modules of this version"
        )
    }

    func invalid(_ why: String) -> DBusFailure {
        DBusFailure(CallError.general(.invalidArgument).failure.name, why)
    }

    private func setConfiguration(_ app: String, _ value: DBusValue) throws(DBusFailure) {
        guard var provider = center.provider(of: app) else { throw CallError.request(.unknownCallProvider).failure }
        if let wrong = provider.apply(value.entries ?? []) { throw invalid(wrong) }
        guard value["session"] == nil else { throw invalid("the session is set by SetSession") }
        if var row = registered[app] {
            row.configuration = provider.stored
            remember(row)
        }
        receive(.app(app, .provider(provider)))
    }

    /// The app withdrew its provider: from now on it takes no calls.
    private func leave(_ app: String) {
        edges.links.withdrawProvider(app)
        receive(.app(app, .provider(nil)))
        forgetProvider(app)
    }

    // MARK: Calls

    /// Asks the core; nil, or its refusal.
    func ask(_ event: (RequestID) -> CallEvent) -> CallError? {
        lastRequest += 1
        let id = RequestID(lastRequest)
        receive(event(id))
        return results.removeValue(forKey: id) ?? nil
    }

    func instant(_ details: DBusValue) -> Instant? {
        details["date"]?.integer.map { .now + .nanoseconds($0.subtractingClamped(WallTime.now.nanoseconds)) }
    }

    private func reportNew(_ call: BusCall, _ app: String) throws(DBusFailure) -> [DBusValue] {
        guard let uuid = CallUUID(call.arguments[1].text ?? "") else {
            throw invalid("a call's UUID has 32 hex digits")
        }
        guard mayReport(app) else {
            throw DBusFailure(
                "org.freedesktop.DBus.Error.LimitsExceeded", "an app reports at most 60 new calls a minute")
        }
        let details = call.arguments[2]
        if let wrong = CallUpdate.fault(in: details, isNew: true) { throw invalid(wrong) }
        let update = CallUpdate(details)
        var invite = Invite(
            uuid: uuid, app: app, key: uuid.description, caller: Caller(name: update.name, handle: update.handle),
            isVideo: update.isVideo ?? false)
        invite.sound = details["sound"]?.text.flatMap { $0.isEmpty ? nil : $0 }
        if let seconds = details["time"]?.real { invite.ringTime = .seconds(seconds) }
        if let refused = ask({ .report($0, app: app, uuid, .newIncoming(invite, update)) }) { throw refused.failure }
        return [.objectPath(BusService.path(of: uuid))]
    }

    private func reportOwn(_ call: BusCall, _ first: String) throws(DBusFailure) {
        guard let uuid = CallUUID(first) else { throw invalid("a call's UUID has 32 hex digits") }
        let app = try appOfCaller(call, of: uuid)
        let details = call.arguments.last ?? .dict([])
        let report: CallEvent.Report
        switch call.member {
        case "ReportCallUpdated":
            if let wrong = CallUpdate.fault(in: details, isNew: false) { throw invalid(wrong) }
            report = .updated(CallUpdate(details))
        case "ReportCallEnded":
            guard let reason = EndReason(callKit: call.arguments[1].integer ?? 0) else {
                throw invalid(
                    "CXCallEndedReason is 1 failed, 2 remoteEnded, 3 unanswered, 4 answeredElsewhere or 5 declinedElsewhere"
                )
            }
            report = .ended(reason, at: instant(details), detail: Text.clean(details["detail"]?.text ?? "", limit: 200))
        case "ReportCallStartedConnecting": report = .startedConnecting(at: instant(details))
        case "ReportCallConnected": report = .connected(at: instant(details))
        case "RequestAudio": report = .wantsAudio
        case "ConfirmPresented": report = .presented
        default: throw refusal("UnknownMethod", "\(call.member) is not known")
        }
        if let refused = ask({ .report($0, app: app, uuid, report) }) { throw refused.failure }
    }

    /// The app that the caller speaks for: the call's own, if it is one of the caller's.
    private func appOfCaller(_ call: BusCall, of uuid: CallUUID) throws(DBusFailure) -> String {
        let mine = edges.links.apps(of: call.sender)
        guard let any = mine.first else {
            throw refusal("NotYours", "the caller has not registered as an app (CallProvider1.Register)")
        }
        guard let app = center[uuid]?.app else { return any }
        return mine.first { $0 == app } ?? any
    }

    // MARK: Actions

    /// Actions are named by a UUID of this run's, so that no late word of an earlier run counts.
    func text(of action: ActionID) -> String { CallUUID(high: actionNonce, low: action.number).description }

    private func complete(_ call: BusCall, _ text: String) throws(DBusFailure) {
        guard let uuid = CallUUID(text), uuid.high == actionNonce else { throw CallError.unknownAction.failure }
        let id = ActionID(uuid.low)
        guard edges.links.apps(of: call.sender).contains(where: { center.isOpen(id, of: $0) }) else {
            throw CallError.unknownAction.failure
        }
        if call.member == "FailAction" { return receive(.failed(id)) }
        let details = call.arguments[1]
        receive(.fulfilled(id, at: instant(details), isConnecting: details["connecting"]?.flag ?? false))
    }

    private func pendingActions(_ app: String) -> DBusValue {
        .array(
            of: "a{sv}",
            center.pendingActions(of: app).map { one in
                .dict(
                    ("action", .string(text(of: one.id))), ("call", .string(one.call.description)),
                    ("kind", .string(one.kind.word)), ("timeout", .double((one.by - .now).seconds)))
            })
    }
}

extension Handoff {
    /// To something that knows nothing of ringd: a link, a program, or a D-Bus method of its own.
    var isForeign: Bool {
        if case .dbus(_, _, nil, nil) = self { false } else { true }
    }
}
