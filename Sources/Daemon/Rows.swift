internal import Base
internal import BusService
internal import Calls
internal import Crypto
internal import DBus
internal import JSON
internal import Store

/// Between the core's values and those of the store, the bus and the journal.
extension CallRow {
    init(_ call: Call, at now: Instant, wall: WallTime, isInRecents: Bool) {
        func time(_ instant: Instant?) -> WallTime? {
            instant.map { WallTime(nanoseconds: wall.nanoseconds - (now - $0).nanoseconds) }
        }
        // For the user it is over as soon as it is `ending`.
        var reason = call.state.endingReason
        if case .ended(let why) = call.state { reason = why }
        let category = reason?.category(of: call) ?? ""
        let rang = call.isOutgoing ? .zero : (call.rangUntil ?? now) - call.began
        self.init(
            uuid: call.uuid, app: call.app, key: call.invite.key, callerName: call.invite.caller.display,
            handle: call.invite.caller.handle?.value ?? "", handleKind: call.invite.caller.handle?.kind.word ?? "",
            isVideo: call.invite.isVideo, began: time(call.began) ?? wall, answered: time(call.answered),
            connected: time(call.connected), ended: time(call.ended), reason: reason?.word ?? "",
            category: category, rangMilliseconds: rang.nanoseconds / 1_000_000, isOutgoing: call.isOutgoing,
            account: call.account, startedConnecting: time(call.startedConnecting), detail: call.detail,
            // Whoever ignores a call has seen it.
            isSeen: !category.hasPrefix("missed") || reason == .ignored, callBackHandle: call.callBack?.value ?? "",
            callBackKind: call.callBack?.kind.word ?? "", isInRecents: isInRecents, serial: call.invite.serial,
            stamp: call.invite.stamp)
    }
}

extension LiveRow {
    /// Of a call whose row of history is `row`: its times are those.
    init(_ call: Call, _ row: CallRow) {
        self.init(
            uuid: call.uuid, app: call.app, key: call.invite.key, isKeySynthetic: call.invite.isKeySynthetic,
            callerName: call.invite.caller.name, handle: call.invite.caller.handle?.value,
            handleKind: call.invite.caller.handle?.kind.word ?? "", isVideo: call.invite.isVideo,
            sound: call.invite.sound, serial: call.invite.serial, began: call.began, deadline: call.deadline,
            beganWall: row.began, bootID: Boot.id, state: call.state.word, isOutgoing: call.isOutgoing,
            account: call.account, connected: row.connected)
    }

    var invite: Invite {
        Invite(
            uuid: uuid, app: app, key: key, isKeySynthetic: isKeySynthetic,
            caller: Caller(name: callerName, handle: handle.map { Handle(Handle.Kind(word: handleKind), $0) }),
            isVideo: isVideo, sound: sound, serial: serial)
    }
}

extension Handle.Kind {
    var word: String {
        switch self {
        case .generic: "generic"
        case .phoneNumber: "phone"
        case .emailAddress: "email"
        }
    }

    init(word: String) {
        switch word {
        case "phone": self = .phoneNumber
        case "email": self = .emailAddress
        default: self = .generic
        }
    }
}

extension Call {
    var busProperties: [DBusValue.Entry] {
        var isHeldByAnother = false
        if case .held(.auto) = state { isHeldByAnother = true }
        return [
            .init("UUID", .string(uuid.description)), .init("App", .string(app)), .init("Account", .string(account)),
            .init("State", .string(state.word)), .init("Caller", .string(invite.caller.display)),
            .init("Handle", .string(invite.caller.handle?.value ?? "")),
            .init("HandleType", .string(invite.caller.handle?.kind.callKit ?? "")),
            .init("Video", .bool(invite.isVideo)), .init("Key", .string(invite.key)),
            .init("IsOutgoing", .bool(isOutgoing)), .init("IsOnHold", .bool(state.isHeld)),
            .init("IsHeldByAnother", .bool(isHeldByAnother)), .init("IsMuted", .bool(isMuted)),
            .init("HasConnected", .bool(wasConnected)), .init("HasEnded", .bool(state.isEnding || state.isEnded)),
            .init("Group", .uint64(group ?? 0)), .init("SupportsHolding", .bool(features.holding)),
            .init("SupportsGrouping", .bool(features.grouping)),
            .init("SupportsUngrouping", .bool(features.ungrouping)), .init("SupportsDTMF", .bool(features.dtmf)),
            .init("Audio", .string(audio.rawValue)), .init("Began", .int64(began.nanoseconds)),
            .init("Deadline", .int64(deadline.nanoseconds)), .init("Connected", .int64(connected?.nanoseconds ?? 0)),
        ]
    }
}

extension CallRow {
    var busEntries: [DBusValue.Entry] {
        var entries: [DBusValue.Entry] = [
            .init("id", .string(uuid.description)), .init("app", .string(app)), .init("key", .string(key)),
            .init("direction", .string(isOutgoing ? "outgoing" : "incoming")), .init("account", .string(account)),
            .init("caller", .string(callerName)), .init("contact", .string(contact)),
            .init("handle", .string(handle)), .init("handle_kind", .string(handleKind)),
            .init("call_back", .string(toCallBack?.handle ?? "")),
            .init("call_back_kind", .string(toCallBack?.kind ?? "")), .init("video", .bool(isVideo)),
            .init("began_ns", .int64(began.nanoseconds)), .init("rang_ms", .int64(rangMilliseconds)),
            .init("state", .string(ended == nil ? "live" : "ended")), .init("reason", .string(reason)),
            .init("category", .string(category)), .init("detail", .string(detail)), .init("seen", .bool(isSeen)),
            .init("in_recents", .bool(isInRecents)),
        ]
        for (name, time) in [
            ("started_connecting_ns", startedConnecting), ("answered_ns", answered), ("connected_ns", connected),
            ("ended_ns", ended),
        ] {
            if let time { entries.append(.init(name, .int64(time.nanoseconds))) }
        }
        if let connected, let ended {
            entries.append(
                .init("duration_ms", .int64(ended.nanoseconds.subtractingClamped(connected.nanoseconds) / 1_000_000)))
        }
        return entries
    }
}

extension Event {
    var busEntries: [DBusValue.Entry] {
        var entries: [DBusValue.Entry] = [
            .init("message", .string(message)), .init("level", .int32(Int32(level.rawValue))),
            .init("at_ns", .int64(at.nanoseconds)), .init("wall_ns", .int64(wall.nanoseconds)),
        ]
        if let call { entries.append(.init("call", .string(call.description))) }
        for field in fields {
            let value: DBusValue =
                switch field.value {
                case .text(let text): .string(text)
                case .number(let number): .int64(number)
                case .real(let number): .double(number)
                case .flag(let flag): .bool(flag)
                case .reals(let numbers): .array(of: "d", numbers.map(DBusValue.double))
                }
            entries.append(.init(field.name, value))
        }
        return entries
    }

    var row: EventRow {
        let members = fields.map { field in
            let value: JSONValue =
                switch field.value {
                case .text(let text): .string(text)
                case .number(let number): .integer(number)
                case .real(let number): .real(number)
                case .flag(let flag): .bool(flag)
                case .reals(let numbers): .array(numbers.map { .real(($0 * 1000).rounded() / 1000) })
                }
            return JSONValue.Member(field.name, value)
        }
        return EventRow(
            call: call, at: at, wall: wall, kind: kind.rawValue, level: level.rawValue, message: message,
            fields: JSONValue.object(members).encoded())
    }

    /// One id for each kind, the same on every machine (journald's MESSAGE_ID): a name-based UUID of the kind.
    private static let messageIDs = Dictionary(
        uniqueKeysWithValues: Kind.allCases.map { kind in
            let id = CallUUID.named(client: "org.ringd.Ringd1", account: "event", key: kind.rawValue)
            return (kind, id.description.filter { $0 != "-" })
        })

    /// `MESSAGE_ID`, `RINGD_EVENT`, `RINGD_CALL`, and the fields in capitals; names of people stay out of the journal.
    var journalFields: [(String, String)] {
        var out = [("RINGD_EVENT", kind.rawValue), ("MESSAGE_ID", Self.messageIDs[kind] ?? "")]
        if let call { out.append(("RINGD_CALL", call.description)) }
        for field in fields where field.name != "caller" {
            let text: String =
                switch field.value {
                case .text(let text): text
                case .number(let number): String(number)
                case .real(let number): String(number)
                case .flag(let flag): flag ? "1" : "0"
                case .reals: ""
                }
            if !text.isEmpty { out.append(("RINGD_" + field.name.uppercased(), text)) }
        }
        return out
    }
}
