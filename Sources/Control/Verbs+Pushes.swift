internal import Base
internal import DBus
internal import JSON
internal import Pushes

extension Verbs {
    static let pushVerbs = [
        Verb(
            name: "push", takes: "[FILE.apns]", summary: "Send a push, as a gateway would deliver it.",
            options: what + toWhom + PushVia.options + PushBench.options,
            details: """
                By D-Bus, no sender is checked. With --via it is sent as a push backend
                would, to ringd's own gateway or to any other: --gateway api.push.apple.com
                with --key or --cert reaches Apple's. By http2 and binary a push has
                expiration 0 and priority 10, if they are not given; --expiration none
                sends no such header (http2).

                A .apns file is the payload, as for xcrun simctl push; members whose names
                begin with apns- become headers.

                An id rings once: for ten minutes after its call is over, pushes with it
                ring nothing.
                """, example: "ringctl push --app com.example.talk --caller Alice --video", count: 0...1
        ) { invocation, session throws(Refusal) in try Push.run(invocation, session) }
    ]

    private static let what = Verb.Option.under(
        "What",
        [
            .init(name: "caller", value: "NAME", help: "a ready-made call of this caller"),
            .init(name: "handle", value: "HANDLE", help: "… with this number or address"),
            .init(name: "video", help: "… with video"),
            .init(name: "sound", value: "NAME", help: "… with this sound"),
            .init(name: "id", value: "ID", help: "… with this call id"),
            .init(name: "time", value: "SECONDS", help: "… ringing this long"),
            .init(name: "cancel", help: "a push that cancels the call --id; the same as --kind cancel"),
            .init(
                name: "kind", value: "KIND",
                help: "what it says of the call: invite (if not given), update, cancel, …",
                known: CallSignal.Kind.allCases.filter { $0 != .other }.map(\.rawValue)),
            .init(
                name: "dialect", value: "NAME", help: "written as this family of senders does (ringctl dialects)",
                known: DialectBook.builtInNames),
            .init(name: "print", help: "print the payload, and send nothing"),
            .init(name: "payload", value: "FILE|-", help: "the JSON payload"),
            .init(
                name: "expiration", value: "SECONDS|none",
                help: "apns-expiration: since 1970, or +SECONDS from now; 0 is never kept"),
            .init(name: "priority", value: "10|5|1", help: "apns-priority"),
            .init(name: "collapse-id", value: "TEXT", help: "apns-collapse-id"),
            .init(name: "push-type", value: "TYPE", help: "apns-push-type; by the topic, if not given"),
            .init(name: "apns-id", value: "UUID", help: "apns-id; the gateway's, if not given"),
        ])

    private static let toWhom = Verb.Option.under(
        "To whom",
        [
            .init(name: "app", value: "APP-ID", help: "to this app's VoIP token"),
            .init(name: "token", value: "HEX", help: "to this token"),
            .init(name: "device", value: "NAME", help: "to the app's token on this device (ringctl device)"),
            .init(name: "environment", value: "sandbox|production", help: "as at this door"),
            .init(name: "topic", value: "TOPIC", help: "apns-topic; APP-ID.voip, if not given"),
        ])
}

/// `ringctl push`.
private enum Push {
    static func run(_ invocation: Invocation, _ session: Session) throws(Refusal) {
        var target = invocation.options["token"] ?? invocation.options["app"]
        var payload: [UInt8]
        var headers: [(name: String, value: String)] = []
        if let file = invocation.arguments.first ?? invocation.options["payload"] {
            // A push is small; what is larger than any is still sent, for the gateway's word on it.
            for option in ["caller", "handle", "video", "sound", "id", "time", "cancel", "kind", "dialect"]
            where invocation.has(option) {
                throw .usage("push: --\(option) is for a ready-made call, and \(file) is a payload already")
            }
            payload = try InputFile.read(file, limit: 65_536)
            if invocation.has("print") {
                return try session.say(String(decoding: payload, as: UTF8.self).trimmedLineEnd)
            }
            if let apns = apnsFile(payload) {
                target = target ?? apns.bundle
                headers = apns.headers
                payload = Array(apns.payload.utf8)
            }
        } else {
            let made = try ReadyMade(invocation, session).payload().encoded(pretty: invocation.has("print"))
            if invocation.has("print") { return try session.say(made) }
            payload = Array(made.utf8)
        }
        guard let target else { throw .usage("push: say to whom: --app APP-ID or --token HEX (ringctl apps)") }
        try session.naming(invocation.options["device"]) { () throws(Refusal) in
            try send(target, payload, headers, invocation, session)
        }
    }

    private static func send(
        _ target: String, _ payload: [UInt8], _ headers: [(name: String, value: String)], _ invocation: Invocation,
        _ session: Session
    ) throws(Refusal) {
        switch invocation.options["via"] ?? (PushVia.isMeant(invocation) ? "http2" : "bus") {
        case "bus": break
        case "http2", "binary":
            var token = invocation.options["token"] ?? ""
            if token.isEmpty { token = try Self.token(of: target, invocation, session) }
            let app = invocation.options["app"] ?? (invocation.has("token") ? nil : target)
            return try PushVia(
                invocation, session,
                PushVia.Content(
                    token: token, app: app,
                    payload: payload, headers: headers)
            ).run()
        default: throw .usage("push: --via is bus, http2 or binary")
        }
        try byBus(target, payload, headers, invocation, session)
    }

    /// The file's own members, if it is one that we can read; anything else is a payload as it stands.
    private static func apnsFile(_ bytes: [UInt8]) -> ApnsFile? {
        try? ApnsFile(String(decoding: bytes, as: UTF8.self))
    }

    /// An app's token, asked of ringd: by the environment that is meant, and the kind that the topic is of.
    private static func token(
        of app: String, _ invocation: Invocation, _ session: Session
    ) throws(Refusal) -> String {
        let isAlert = invocation.options["topic"].map { !$0.hasSuffix(".voip") } ?? false
        let isSandbox = invocation.options["gateway"].map { Text.offset(of: "sandbox", in: $0) != nil } ?? false
        var filter: [DBusValue.Entry] = [
            .init("app", .string(app)), .init("device", .string(invocation.options["device"] ?? "desktop")),
            .init("kind", .string(isAlert ? "alert" : "voip")),
            .init("environment", .string(invocation.options["environment"] ?? (isSandbox ? "sandbox" : "production"))),
        ]
        filter.append(.init("skip", .int64(0)))
        let found = try session.registry("Tokens", [.dict(filter)]).last?.elements?.first?["token"]?.text
        guard let found else {
            throw .refused(
                "no token of \(Text.clean(app, limit: 80)) fits (ringctl apps; ringctl apps add \(Text.clean(app, limit: 80)))"
            )
        }
        return found
    }

    private static func byBus(
        _ target: String, _ payload: [UInt8], _ headers: [(name: String, value: String)], _ invocation: Invocation,
        _ session: Session
    ) throws(Refusal) {
        var options: [DBusValue.Entry] = []
        for name in ["environment", "device", "priority", "collapse-id"] {
            let inFile = headers.last { $0.name == "apns-" + name }?.value
            if let text = invocation.options[name] ?? inFile { options.append(.init(name, .string(text))) }
        }
        let inFile = headers.last { $0.name == "apns-expiration" }?.value
        if let text = invocation.options["expiration"] ?? inFile, text != "none" {
            options.append(.init("expiration", .string(try PushVia.expiration(text))))
        }
        let reply = try session.monitor("Push", [.string(target), .bytes(payload), .dict(options)]).first
        if session.isJSON { return try session.say(reply?.json ?? .null) }
        let dialect = reply?["dialect"]?.text.flatMap {
            $0 == "ringd" ? nil : " (\($0), \(reply?["sureness"]?.text ?? ""))"
        }
        let call = (reply?["call"]?.text.map { ": \($0.prefix(8))" } ?? "") + (dialect ?? "")
        let word = reply?["outcome"]?.text ?? "accepted"
        let findings = reply?["findings"]?.elements?.compactMap(\.text) ?? []
        let words =
            PushWords.outcome(word, id: PushWords.id(in: payload))
            ?? PushWords.short(reply?["detail"]?.text ?? word, beside: findings)
        try session.say("push \(reply?["push"]?.integer ?? 0): \(words)\(call)")
        for advice in findings where advice != words && !PushWords.repeats(advice, word) {
            try session.say(session.style(.dim, "  · \(advice)"))
        }
    }
}

extension String {
    /// A line's end more would be an empty line.
    var trimmedLineEnd: String { hasSuffix("\n") ? String(dropLast()) : self }
}
