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
            for call in calls {
                let left = Duration.nanoseconds((call["Deadline"]?.integer ?? 0) - Instant.now.nanoseconds)
                let state = call["State"]?.text ?? ""
                let time =
                    state == "active" || state == "answering" ? "" : "  \(max(0, left.components.seconds)) s left"
                let kind = call["Video"]?.flag == true ? "video" : "audio"
                try session.say(
                    "\((call["UUID"]?.text ?? "").prefix(8))  \(session.style(.bold, state.rightPadded(to: 10)))\(call["Caller"]?.text ?? "")  \(kind)  \(call["App"]?.text ?? "")\(time)"
                )
            }
        },
        act("answer", "Answer", "Take the call.", "answered"),
        act("decline", "Decline", "Refuse the call.", "declined"),
        act("ignore", "Ignore", "Stop it here and tell nobody; other devices ring on.", "ignored"),
        act(
            "silence", "Silence", "Stop the noise; the call stays answerable.",
            "silenced; ringctl answer still takes it"),
        act("hangup", "HangUp", "End a call.", "hung up"),
    ]

    private static func act(_ name: String, _ member: String, _ summary: String, _ word: String) -> Verb {
        Verb(
            name: name, takes: "[CALL]", summary: summary, example: "ringctl \(name)", count: 0...1
        ) { invocation, session throws(Refusal) in
            _ = try session.call(
                "org.ringd.CallController1", member, [.string(invocation.arguments.first ?? "")])
            try session.done(word)
        }
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
