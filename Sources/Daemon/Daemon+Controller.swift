internal import APNs
internal import Base
internal import BusService
internal import Calls
internal import DBus
internal import Store

/// `org.ringd.CallController1` and `org.ringd.Call1`: what is asked for calls, by apps and users alike.
extension Daemon {
    /// Whose calls a caller may touch: nil for the user, who may touch any.
    private func mine(_ call: BusCall, isUser: Bool) -> [String]? {
        isUser ? nil : edges.links.apps(of: call.sender)
    }

    func controller(_ call: BusCall, isUser: Bool) throws(DBusFailure) -> [DBusValue]? {
        let mine = mine(call, isUser: isUser)
        if !isUser {
            // A sandboxed program that is no app has no calls.
            guard mine?.isEmpty == false else { throw CallError.request(.unentitled).failure }
            guard edges.links.mayAsk(call.sender) else { throw Self.flooded }
        }
        let onRoot = call.call == nil
        let name = onRoot ? call.arguments.first?.text ?? "" : ""
        let rest = onRoot ? Array(call.arguments.dropFirst()) : call.arguments
        switch call.member {
        case "Request": return try request(call, mine)
        case "StartCall": return try startCall(call, mine)
        case "CallBack": return try callBack(call, name, mine)
        case "Answer": return try act(.answer, call, name, mine)
        case "HoldAndAnswer": return try act(.holdAndAnswer, call, name, mine)
        case "Decline": return try act(.decline, call, name, mine)
        case "Ignore": return try act(.ignore, call, name, mine)
        case "Silence": return try act(.silence, call, name, mine)
        case "HangUp": return try act(.hangUp, call, name, mine)
        case "StartAudio": return try act(.startAudio, call, name, mine)
        case "Hold": return try one(call, name, mine, "hold", { $0 == .active }) { .setHeld($0, true) }
        case "Unhold": return try one(call, name, mine, "unhold", \.isHeld) { .setHeld($0, false) }
        case "Mute": return try one(call, name, mine, "mute", \.takesTheUser) { .setMuted($0, true) }
        case "Unmute": return try one(call, name, mine, "unmute", \.takesTheUser) { .setMuted($0, false) }
        case "PlayDTMF":
            let digits = rest.first?.text ?? ""
            let type: CallRequest.DTMF =
                digits.contains(";") ? .hardPause : digits.contains(",") ? .softPause : .singleTone
            return try one(call, name, mine, "dtmf", { $0 == .active }) { .playDTMF($0, digits, type) }
        case "JoinGroup":
            let other = try find(rest.first?.text ?? "", for: "group", among: \.isConnected, of: mine)
            return try one(call, name, mine, "group", { $0.isConnected }, except: other) { .setGroup($0, with: other) }
        case "LeaveGroup": return try one(call, name, mine, "ungroup", \.isConnected) { .setGroup($0, with: nil) }
        default: throw refusal("UnknownMethod", "\(call.member) is not known")
        }
    }

    // MARK: Intents

    private func act(
        _ intent: CallEvent.Intent, _ call: BusCall, _ text: String, _ mine: [String]?
    ) throws(DBusFailure) -> [DBusValue] {
        let uuid: CallUUID
        if let object = call.call {
            uuid = try own(object, mine)
        } else {
            let isCandidate: (CallState) -> Bool =
                switch intent {
                case .answer, .holdAndAnswer, .ignore, .silence, .open: \.isRinging
                case .decline: { $0.isRinging || $0 == .deferred }
                case .startAudio: { $0 == .active }
                case .hangUp: { !$0.isEnded && !$0.isEnding }
                }
            uuid = try find(text, for: intent == .hangUp ? "hang up" : intent.rawValue, among: isCandidate, of: mine)
        }
        receive(.user(uuid, intent))
        return []
    }

    private func own(_ uuid: CallUUID, _ mine: [String]?) throws(DBusFailure) -> CallUUID {
        guard let mine, let app = center[uuid]?.app, !mine.contains(app) else { return uuid }
        throw CallError.request(.unknownCallUUID).failure
    }

    /// One action on one call.
    private func one(
        _ call: BusCall, _ text: String, _ mine: [String]?, _ verb: String, _ isCandidate: (CallState) -> Bool,
        except other: CallUUID? = nil, _ make: (CallUUID) -> CallRequest
    ) throws(DBusFailure) -> [DBusValue] {
        let uuid: CallUUID
        if let object = call.call {
            uuid = try own(object, mine)
        } else {
            uuid = try find(text, for: verb, among: isCandidate, of: mine, except: other)
        }
        if let refused = ask({ .request($0, app: nil, [make(uuid)]) }) {
            guard let call = center[uuid], refused == .request(.invalidAction) else { throw refused.failure }
            throw DBusFailure(
                refused.failure.name,
                "cannot \(verb) the call of \(call.invite.caller.display): it is \(call.state.word)\(why(call, verb))")
        }
        return []
    }

    private func why(_ call: Call, _ verb: String) -> String {
        switch verb {
        case "hold" where !call.features.holding: ", and its app says that it cannot be held"
        case "dtmf" where !call.features.dtmf: ", and its app says that it takes no tones"
        case "dtmf": "; tones are 0-9 * # A-D, with comma and semicolon for pauses, at most 64"
        case "group", "ungroup":
            "; a conference is made of connected calls of one app whose update says supports-grouping"
        default: ""
        }
    }

    // MARK: Transactions

    private func request(_ call: BusCall, _ mine: [String]?) throws(DBusFailure) -> [DBusValue] {
        var steps: [CallRequest] = []
        for item in call.arguments[0].elements ?? [] {
            guard steps.count < 32 else { throw CallError.request(.invalidAction).failure }
            guard case .structure(let fields) = item, fields.count == 3 else { throw invalid("actions are (ssa{sv})") }
            steps.append(try step(fields[0].text ?? "", fields[1].text ?? "", fields[2], mine))
        }
        // An app's transaction is about one app: the one that its calls are of.
        let app = try mine.map { (mine) throws(DBusFailure) -> String in
            let first = steps.lazy.compactMap { [center] step in center[step.call]?.app }.first
            return mine.first { $0 == first } ?? mine[0]
        }
        if let refused = ask({ .request($0, app: app, steps) }) { throw refused.failure }
        return []
    }

    private func step(
        _ word: String, _ id: String, _ details: DBusValue, _ mine: [String]?
    ) throws(DBusFailure) -> CallRequest {
        guard let uuid = CallUUID(id) else { throw invalid("a call's UUID has 32 hex digits") }
        func flag(_ key: String) throws(DBusFailure) -> Bool {
            guard let flag = details[key]?.flag else { throw invalid("\(word) takes \(key) (b)") }
            return flag
        }
        switch word {
        case "start":
            let app = details["app"]?.text ?? mine?.first ?? ""
            return .start(try invite(uuid, app: app, handle: details["handle"]?.text ?? "", details))
        case "answer": return .answer(uuid)
        case "end": return .end(uuid)
        case "set-held": return .setHeld(uuid, try flag("on-hold"))
        case "set-muted": return .setMuted(uuid, try flag("muted"))
        case "set-group":
            let other = details["with"]?.text ?? ""
            guard other.isEmpty || CallUUID(other) != nil else {
                throw invalid("set-group takes with (s), a call's UUID")
            }
            return .setGroup(uuid, with: CallUUID(other))
        case "play-dtmf":
            let type = details["type"]?.integer.flatMap { CallRequest.DTMF(rawValue: Int($0)) } ?? .singleTone
            return .playDTMF(uuid, details["digits"]?.text ?? "", type)
        default:
            throw DBusFailure(
                CallError.request(.invalidAction).failure.name,
                "\"\(Text.clean(word, limit: 40))\" is no action: start, answer, end, set-held, set-muted, set-group or play-dtmf"
            )
        }
    }

    // MARK: Dialling

    private func invite(
        _ uuid: CallUUID, app: String, handle: String, _ details: DBusValue
    ) throws(DBusFailure) -> Invite {
        guard handle.utf8.count <= 512 else { throw invalid("a handle has at most 512 bytes") }
        let clean = Text.clean(handle, limit: 512)
        guard !clean.isEmpty else { throw invalid("whom to call? a handle is a number or an address") }
        return Invite(
            uuid: uuid, app: app, key: uuid.description,
            caller: Caller(
                name: (details["caller"]?.text).flatMap { text in
                    let clean = Text.clean(text, limit: 512)
                    return clean.isEmpty ? nil : clean
                }, handle: Handle(clean, kind: details["handle-type"]?.text)),
            isVideo: details["video"]?.flag ?? false)
    }

    private func startCall(_ call: BusCall, _ mine: [String]?) throws(DBusFailure) -> [DBusValue] {
        let app = try diallingApp(call.arguments[0].text ?? "", mine)
        let details = call.arguments[2]
        var uuid = CallUUID.random()
        if let text = details["uuid"]?.text {
            guard let given = CallUUID(text) else { throw invalid("a call's UUID has 32 hex digits") }
            uuid = given
        }
        let made = try invite(uuid, app: app, handle: call.arguments[1].text ?? "", details)
        try dial(made, mine: mine)
        return [.string(uuid.description)]
    }

    /// The app that is to dial: the one that was named, else the only one that can.
    private func diallingApp(_ name: String, _ mine: [String]?) throws(DBusFailure) -> String {
        if !name.isEmpty {
            if mine == nil, !has(app: name) { throw unknownApp(name) }
            return name
        }
        if let mine { return mine[0] }
        let able = apns.directory.apps.filter { center.provider(of: $0) != nil }
        if able.count == 1 { return able[0] }
        throw refusal(
            able.isEmpty ? "UnknownApp" : "Ambiguous",
            able.isEmpty
                ? "no app takes calls over the bus: start one that registers (CallProvider1.Register)"
                : "several apps can dial: name one (\(able.prefix(5).joined(separator: ", ")))")
    }

    private func dial(_ invite: Invite, mine: [String]?) throws(DBusFailure) {
        let app = mine.map { $0.contains(invite.app) ? invite.app : $0[0] }
        guard let refused = ask({ .request($0, app: app, [.start(invite)]) }) else { return }
        // The very person may be calling.
        if refused == .request(.maximumCallGroupsReached) || refused == .request(.callUUIDAlreadyExists),
            let ringing = center.calls.first(where: {
                $0.state.isRinging && $0.app == invite.app && $0.invite.caller.handle == invite.caller.handle
            })
        {
            throw DBusFailure(
                refused.failure.name, "\(ringing.invite.caller.display) is calling you: answer \(ringing.uuid.short)")
        }
        throw refused.failure
    }

    /// The handle as it was given goes to the app again, whatever was shown (callkit.md Z07).
    private func callBack(_ call: BusCall, _ text: String, _ mine: [String]?) throws(DBusFailure) -> [DBusValue]? {
        edges.store.find(text) { [unowned self] row in
            self.assumeIsolated { me in
                do throws(DBusFailure) {
                    me.edges.service.answer(call, .success([.string(try me.callBack(row, text, mine))]))
                } catch {
                    me.edges.service.answer(call, .failure(error))
                }
            }
        }
        return nil
    }

    private func callBack(_ row: CallRow?, _ text: String, _ mine: [String]?) throws(DBusFailure) -> String {
        guard let row, mine?.contains(row.app) ?? true else {
            throw refusal("UnknownCall", "no past call is called \"\(Text.clean(text))\" (ringctl history)")
        }
        guard let (handle, kind) = row.toCallBack else {
            throw refusal(
                "InvalidArgument", "nothing is known that could be called back: the call had no number or address")
        }
        let invite = Invite(
            uuid: .random(), app: row.app, key: "",
            caller: Caller(name: row.callerName, handle: Handle(Handle.Kind(word: kind), handle)),
            isVideo: row.isVideo)
        return try dialBack(invite, mine: mine)
    }

    /// By the app's provider; else as ringd.conf says, or by what its address is.
    func dialBack(_ draft: Invite, mine: [String]?, activationToken: String? = nil) throws(DBusFailure) -> String {
        var invite = draft
        invite.key = invite.uuid.description
        if center.provider(of: invite.app) != nil {
            tokens[invite.uuid] = activationToken
            try dial(invite, mine: mine)
            return invite.uuid.description
        }
        guard let handoff = callBackHandoff(invite) else {
            throw refusal(
                "InvalidArgument",
                "nothing says how \(invite.app) calls back: set call-back = in [app \(invite.app)] of ringd.conf")
        }
        let uuid = invite.uuid
        edges.handoffs.perform(handoff, .callBack, invite, activationToken: activationToken) { [unowned self] failure in
            emit(
                failure.map { Event(.appFault, call: uuid, level: .error, "call back failed: \($0)") }
                    ?? Event(.appOpened, call: uuid, "calling back: \(handoff.words)"))
        }
        return ""
    }
}
