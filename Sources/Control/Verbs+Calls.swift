internal import Base
internal import DBus
internal import JSON

extension Verbs {
    static let callVerbs: [Verb] = [
        Verb(
            name: "ring", summary: "Ring without any push.",
            options: [
                .init(name: "caller", value: "NAME", help: "who calls"),
                .init(name: "handle", value: "HANDLE", help: "the number or address to call back"),
                .init(name: "video", help: "a video call"),
                .init(name: "app", value: "APP-ID", help: "ring for this registered app"),
                .init(name: "sound", value: "NAME", help: "with this sound"),
                .init(name: "time", value: "SECONDS", help: "ring this long (at most 90)"),
                .init(name: "id", value: "ID", help: "the provider's call id"),
                .init(name: "wait", help: "stay until the call is over, and say how it ended"),
            ], example: "ringctl ring --caller Alice --video"
        ) { invocation, session throws(Refusal) in try Ring.run(invocation, session) },
        Verb(
            name: "cancel", takes: "[CALL]", summary: "The caller gave up: stop ringing.", example: "ringctl cancel",
            count: 0...1
        ) { invocation, session throws(Refusal) in
            _ = try session.monitor("Cancel", [.string(invocation.arguments.first ?? "")])
            try session.done("cancelled")
        },
        Verb(
            name: "calls", summary: "Live calls.", example: "ringctl calls"
        ) { _, session throws(Refusal) in
            let calls = try session.liveCalls()
            if session.isJSON { return try session.say(.array(calls.map(\.json))) }
            if calls.isEmpty { return try session.say("no live calls") }
            for call in calls { try session.say(line(call, session)) }
        },
        act("answer", "Answer", "Take the call.", "answered", held: true),
        act("decline", "Decline", "Refuse the call.", "declined"),
        act("ignore", "Ignore", "Stop it here and tell nobody; other devices ring on.", "ignored"),
        act(
            "silence", "Silence", "Stop the noise; the call stays answerable.",
            "silenced; ringctl answer still takes it"),
        act("hangup", "HangUp", "End a call.", "hung up"),
        act("hold", "Hold", "Put a call on hold.", "on hold; ringctl unhold goes on with it"),
        act("unhold", "Unhold", "Go on with a call that is on hold; another one is held.", "going on"),
        act("mute", "Mute", "The microphone off.", "muted"),
        act("unmute", "Unmute", "The microphone on.", "unmuted"),
        act("group", "JoinGroup", "Join two calls in a conference.", "joined", takes: "CALL WITH"),
        act("ungroup", "LeaveGroup", "Take a call out of its conference.", "separated"),
        act("audio", "StartAudio", "Tell the app once more that its audio may run.", "asked"),
        Verb(
            name: "dtmf", takes: "DIGITS [CALL]", summary: "Send tones in a call.",
            details: "Tones are 0-9 * # A-D; a comma is a short pause, a semicolon a long one.",
            example: "ringctl dtmf 1234#", count: 1...2
        ) { invocation, session throws(Refusal) in
            let call = invocation.arguments.count > 1 ? invocation.arguments[1] : ""
            _ = try session.call(
                "org.ringd.CallController1", "PlayDTMF", [.string(call), .string(invocation.arguments[0])])
            try session.done("sent")
        },
        Verb(
            name: "call", takes: "HANDLE", summary: "Dial a number or an address through an app.",
            options: [
                .init(name: "app", value: "APP-ID", help: "the app that dials; the only one that can, if left out"),
                .init(name: "name", value: "NAME", help: "what the call is shown as"),
                .init(name: "video", help: "a video call"),
                .init(name: "kind", value: "generic|phone|email", help: "what the handle is; else it is guessed"),
                .init(name: "back", help: "HANDLE is a past call's id: dial its caller"),
            ], example: "ringctl call +4930123456 --app com.example.talk", count: 1...1
        ) { invocation, session throws(Refusal) in try dial(invocation, session) },
    ]

    /// One live call as people read it.
    private static func line(_ call: DBusValue, _ session: Session) -> String {
        let state = call["State"]?.text ?? ""
        var more = [call["Video"]?.flag == true ? "video" : "audio", call["App"]?.text ?? ""]
        if ["ringing", "waiting", "silenced", "queued"].contains(state) {
            let left = Duration.nanoseconds((call["Deadline"]?.integer ?? 0) - Instant.now.nanoseconds)
            more.append("\(max(0, left.components.seconds)) s left")
        }
        if let since = call["Connected"]?.integer, since > 0 {
            let seconds = max(0, (Instant.now - Instant(nanoseconds: since)).components.seconds)
            more.append("\(seconds / 60):\(String(seconds % 60).leftPadded(to: 2, with: "0"))")
        }
        if call["IsMuted"]?.flag == true { more.append("muted") }
        if call["IsHeldByAnother"]?.flag == true { more.append("held for another call") }
        if let group = call["Group"]?.integer, group > 0 { more.append("conference \(group)") }
        if state == "active", call["Audio"]?.text == "pending" { more.append("no audio yet (ringctl audio)") }
        let arrow = call["IsOutgoing"]?.flag == true ? "→" : "←"
        return "\((call["UUID"]?.text ?? "").prefix(8))  \(session.style(.bold, state.rightPadded(to: 10))) "
            + "\(arrow) \(call["Caller"]?.text ?? "")  \(more.filter { !$0.isEmpty }.joined(separator: "  "))"
    }

    /// `held`: with the switch `--hold`. `takes`: the call and another one.
    private static func act(
        _ name: String, _ member: String, _ summary: String, _ word: String, held: Bool = false,
        takes: String = "[CALL]"
    ) -> Verb {
        let isPair = takes == "CALL WITH"
        return Verb(
            name: name, takes: takes, summary: summary,
            options: held ? [.init(name: "hold", help: "hold the call that is on, rather than end it")] : [],
            example: "ringctl \(name)\(isPair ? " 3f2a 9c01" : held ? " --hold" : "")", count: isPair ? 2...2 : 0...1
        ) { invocation, session throws(Refusal) in
            let words = invocation.arguments.isEmpty ? [""] : invocation.arguments
            _ = try session.call(
                "org.ringd.CallController1", invocation.has("hold") ? "HoldAndAnswer" : member,
                words.map { .string($0) })
            try session.done(word)
        }
    }

    private static func dial(_ invocation: Invocation, _ session: Session) throws(Refusal) {
        let handle = invocation.arguments[0]
        let reply: [DBusValue]
        if invocation.has("back") {
            reply = try session.call("org.ringd.CallController1", "CallBack", [.string(handle)])
        } else {
            var details: [DBusValue.Entry] = [.init("video", .bool(invocation.has("video")))]
            if let kind = invocation.options["kind"] {
                let kinds = ["generic": "generic", "phone": "phone-number", "email": "email-address"]
                guard let word = kinds[kind] else { throw .usage("--kind is generic, phone or email") }
                details.append(.init("handle-type", .string(word)))
            }
            if let name = invocation.options["name"] { details.append(.init("caller", .string(name))) }
            reply = try session.call(
                "org.ringd.CallController1", "StartCall",
                [.string(invocation.options["app"] ?? ""), .string(handle), .dict(details)])
        }
        let call = reply.first?.text ?? ""
        if session.isJSON { return try session.say(.object([.init("call", .string(call))])) }
        try session.say(call.isEmpty ? "calling back" : "dialling: \(call.prefix(8)) (ringctl calls)")
    }
}

extension Session {
    /// The properties of each live call.
    func liveCalls() throws(Refusal) -> [DBusValue] {
        Self.calls(in: try call("org.freedesktop.DBus.ObjectManager", "GetManagedObjects"))
    }

    /// … from GetManagedObjects' answer.
    static func calls(in reply: [DBusValue]) -> [DBusValue] {
        (reply.first?.elements ?? []).compactMap { object in
            guard case .entry(_, let interfaces) = object, case .entry(_, let properties)? = interfaces.elements?.first
            else { return nil }
            return properties
        }
    }
}

/// `ringctl ring`.
private enum Ring {
    static func run(_ invocation: Invocation, _ session: Session) throws(Refusal) {
        var details: [DBusValue.Entry] = []
        for (option, key) in [
            ("caller", "caller"), ("handle", "handle"), ("app", "app"), ("sound", "sound"), ("id", "key"),
        ] {
            if let value = invocation.options[option] { details.append(.init(key, .string(value))) }
        }
        if invocation.has("video") { details.append(.init("video", .bool(true))) }
        if let text = invocation.options["time"] {
            guard let seconds = Double(text), seconds > 0 else {
                throw .usage("ring: --time is a number of seconds, not \"\(Text.clean(text, limit: 40))\"")
            }
            details.append(.init("time", .double(seconds)))
        }
        let path = try session.monitor("Ring", [.dict(details)]).first?.text ?? ""
        let id = CallUUID(path.split(separator: "/").last ?? "")?.description ?? ""
        if !invocation.has("wait") {
            return try tell(id, session)
        }
        try session.follow { kind, event throws(Refusal) in
            guard kind == "call.ended", event["call"]?.text == id else { return }
            if session.isJSON {
                try session.say(.object([.init("kind", .string(kind))] + (event.json.members ?? [])))
            } else {
                try session.say(event["message"]?.text ?? "ended")
            }
            throw Refusal(status: 0, message: "")
        }
    }

    /// What became of it: it may have to wait for another call, or ring softly beside one.
    private static func tell(_ id: String, _ session: Session) throws(Refusal) {
        let call = try session.liveCalls().first { $0["UUID"]?.text == id }
        let state = call?["State"]?.text ?? "ended"
        if session.isJSON { return try session.say(.object(("call", .string(id)), ("state", .string(state)))) }
        let short = id.prefix(8)
        switch state {
        case "ringing": try session.say("ringing: \(short)  (ringctl answer, decline, cancel)")
        case "queued": try session.say("queued: \(short) rings when the call before it is over  (ringctl calls)")
        case "waiting": try session.say("knocking: \(short), softly beside the call that is answered  (ringctl calls)")
        case "ended": try session.say("over already: \(short)  (ringctl report \(short))")
        default: try session.say("\(state): \(short)  (ringctl calls)")
        }
    }
}
