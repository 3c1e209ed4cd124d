internal import Base
internal import DBus
internal import JSON

extension Verbs {
    static let recordVerbs = [
        Verb(
            name: "pushes", summary: "The last pushes, newest last, each with what to know.",
            options: [
                .init(name: "follow", help: "go on as they come (Ctrl-C ends)"),
                .init(name: "limit", value: "N", help: "at most so many of those that have come (20)"),
                .init(name: "app", value: "APP-ID", help: "to this app"),
                .init(name: "device", value: "NAME", help: "to this device"),
                .init(name: "refused", help: "those that were not accepted"),
            ],
            details: """
                Of every door: when, to whom, what was answered, what became of it, and the
                first thing that was found.
                """,
            example: "ringctl pushes --follow --refused"
        ) { invocation, session throws(Refusal) in try PushRecords.list(invocation, session) },
        Verb(
            name: "push show", takes: "PUSH",
            summary:
                "Everything about one push.",
            details: """
                By its number, apns-id or apns-unique-id: what was found, what was answered,
                what became of it.
                """,
            example: "ringctl push show 41", count: 1...1
        ) { invocation, session throws(Refusal) in try PushRecords.show(invocation.arguments[0], session) },
    ]
}

/// `ringctl pushes`, `ringctl push show`.
enum PushRecords {
    /// As many as ringd gives at a time.
    private static let page: Int64 = 200

    static func list(_ invocation: Invocation, _ session: Session) throws(Refusal) {
        let text = invocation.options["limit"] ?? "20"
        guard let limit = Int(text), (0...100_000).contains(limit) else {
            throw .usage("pushes: --limit is a number from 0 to 100000")
        }
        var filter: [DBusValue.Entry] = []
        for name in ["app", "device"] {
            if let text = invocation.options[name] { filter.append(.init(name, .string(text))) }
        }
        if invocation.has("refused") { filter.append(.init("refused", .bool(true))) }
        let width = Terminal.width
        guard invocation.has("follow") else {
            let (found, _) = try newest(limit, filter, session)
            if session.isJSON { return try session.say(.array(found.map(\.json))) }
            if found.isEmpty { return try session.say("no pushes") }
            if let width { try session.say(heads(session.style, width)) }
            for push in found { try session.say(line(push, session.style, width: width)) }
            return
        }
        if let width, !session.isJSON { try session.say(heads(session.style, width)) }
        func say(_ push: DBusValue) throws(Refusal) {
            if session.isJSON { return try session.say(push.json) }
            try session.say(line(push, session.style, width: Terminal.width))
        }
        var reached: Int64 = 0
        try session.listen(for: "Pushes") { () throws(Refusal) in
            let (found, newest) = try newest(limit, filter, session)
            reached = newest
            for push in found { try say(push) }
        } _: { arguments throws(Refusal) in
            let last = arguments.first?.integer ?? 0
            // Another run of ringd counts from 1 again.
            if last < reached { reached = 0 }
            while reached < last {
                let reply: [DBusValue]
                do throws(Refusal) {
                    reply = try session.monitor(
                        "Pushes", [.dict(filter + [.init("after", .int64(reached)), .init("limit", .int64(page))])])
                } catch {
                    // It ended meanwhile; whoever follows waits for the next one.
                    guard error.status == 3 else { throw error }
                    return
                }
                let oldest = reply.first?["oldest"]?.integer ?? 0
                if oldest > reached + 1, !session.isJSON {
                    try session.say(
                        session.style(
                            .yellow, "  … \(oldest - reached - 1) pushes came faster than they could be shown"))
                }
                for push in reply.last?.elements ?? [] { try say(push) }
                let now = reply.first?["reached"]?.integer ?? last
                guard now > reached else { break }
                reached = now
            }
        }
    }

    /// Oldest first; and the number of the last that there is.
    private static func newest(
        _ limit: Int, _ filter: [DBusValue.Entry], _ session: Session
    ) throws(Refusal) -> ([DBusValue], newest: Int64) {
        var found: [DBusValue] = []
        var before = Int64.max
        var newest: Int64 = 0
        while true {
            let wanted = min(page, Int64(limit - found.count))
            let reply = try session.monitor(
                "Pushes",
                [.dict(filter + [.init("before", .int64(before)), .init("limit", .int64(max(1, wanted)))])])
            if before == .max { newest = reply.first?["newest"]?.integer ?? 0 }
            guard limit > 0 else { return ([], newest) }
            found += reply.last?.elements ?? []
            let reached = reply.first?["reached"]?.integer ?? 0
            guard found.count < limit, reached > reply.first?["oldest"]?.integer ?? 0, reached < before else { break }
            before = reached
        }
        return (found.reversed(), newest)
    }

    // MARK: A line

    static func heads(_ style: Style, _ width: Int) -> String {
        let text =
            "push".leftPadded(to: 6) + "  " + "came".rightPadded(to: 14) + "door".rightPadded(to: 10)
            + "to".rightPadded(to: 28) + "type".rightPadded(to: 12) + "answer or outcome, and what is to know"
        return style(.dim, cut(text, width))
    }

    /// `width`: of the terminal; nil: as long as it gets.
    static func line(_ push: DBusValue, _ style: Style, width: Int? = nil) -> String {
        func text(_ key: String) -> String { push[key]?.text ?? "" }
        func number(_ key: String) -> Int64 { push[key]?.integer ?? 0 }
        let device = text("device")
        let whom =
            text("app").isEmpty
            ? text("token").isEmpty ? "nobody" : text("token") + "…"
            : text("app") + (device.isEmpty || device == "desktop" ? "" : "@\(device)")
        let status = number("status")
        var answer =
            status == 200
            ? text("outcome") : status == 0 ? "no answer: \(text("reason"))" : "\(status) \(text("reason"))"
        var finding = PushWords.repeats(text("finding"), text("outcome")) ? "" : text("finding")
        if finding.isEmpty, let words = PushWords.outcome(answer), !text("finding").isEmpty { finding = words }
        answer = PushWords.short(answer, beside: [finding])
        let colour: Style.Colour = status == 200 ? .green : .red
        // What the sender said, else what the token is for.
        let type = text("type").isEmpty ? text("kind") : text("type")
        var out = "\(number("number"))".leftPadded(to: 6) + "  "
        out += WallTime(nanoseconds: number("wall_ns")).clockText + "  "
        out += text("door").split(separator: ",").joined().split(separator: " ").filter { $0 != "command" }.joined(
            separator: " "
        ).rightPadded(to: 10)
        out += Columns.fit(whom, 26) + "  " + (type.isEmpty ? "-" : type).rightPadded(to: 12)
        // Colours have no width: cut before they come in.
        var left = (width ?? .max) - Columns.width(out)
        guard left > 0 else { return cut(out, width ?? .max) }
        answer = cut(answer, left)
        left -= Columns.width(answer) + 2
        out += style(colour, answer)
        if !finding.isEmpty, left > 0 { out += "  " + style(.dim, cut(finding, left)) }
        return out
    }

    private static func cut(_ text: String, _ width: Int) -> String {
        Columns.width(text) <= width ? text : Columns.fit(text, width)
    }

    // MARK: All of it

    static func show(_ name: String, _ session: Session) throws(Refusal) {
        let push = try session.monitor("PushDetails", [.string(name)]).first ?? .dict([])
        let payload = push["payload"]?.blob ?? []
        guard !session.isJSON else {
            var members = (push.json.members ?? []).filter { $0.name != "payload" }
            if let json = try? JSONValue.parse(payload) {
                members.append(.init("payload", json))
            } else {
                members.append(.init("payload_hex", .string(Hex.text(payload))))
            }
            return try session.say(.object(members))
        }
        for line in page(push, payload, session.style) { try session.say(line) }
    }

    /// The legacy protocol has statuses of its own.
    private static func answered(_ push: DBusValue) -> String {
        push["binary_status"]?.integer.map { "status \($0)," } ?? String(push["status"]?.integer ?? 0)
    }

    static func page(_ push: DBusValue, _ payload: [UInt8], _ style: Style) -> [String] {
        func text(_ key: String) -> String { push[key]?.text ?? "" }
        func number(_ key: String) -> Int64 { push[key]?.integer ?? 0 }
        let status = number("status")
        let time = WallTime(nanoseconds: number("wall_ns")).clockText
        let verdict =
            switch status {
            case 200: style(.green, "200 taken")
            case 0: style(.red, "no answer: \(text("reason"))")
            default: style(.red, "refused: \(answered(push)) \(text("reason"))")
            }
        var out = ["\(style(.bold, "push \(number("number"))")) · \(time) · \(text("door")) · \(verdict)"]
        func row(_ label: String, _ words: [String]) {
            let said = words.filter { !$0.isEmpty }
            if !said.isEmpty { out.append("  " + label.rightPadded(to: 11) + said.joined(separator: " · ")) }
        }
        let connection = number("connection")
        row("sender", [text("sender"), text("peer"), connection > 0 ? "connection \(connection)" : ""])
        let kind = text("kind").isEmpty ? "token" : "\(text("kind")) token"
        let token = text("token").isEmpty ? "" : "\(kind) \(text("token"))…"
        let whose =
            text("app").isEmpty
            ? "nobody's token" : "\(text("app"))\(text("device").isEmpty ? "" : " on \(text("device"))")"
        row("to", [token, whose, text("environment") == "unknown" ? "" : text("environment")])
        row("topic", [text("topic"), text("type").isEmpty ? "" : "push-type \(text("type"))"])
        row(
            "headers",
            [
                "priority \(number("priority"))", expiration(push["expiration"]?.integer),
                text("collapse_id").isEmpty ? "" : "collapse-id \(text("collapse_id"))",
            ])
        row("id", [text("id"), text("unique_id").isEmpty ? "" : "unique id \(text("unique_id"))"])
        let dialect = text("dialect")
        let sureness = text("plain_because").isEmpty ? text("sureness") : text("plain_because")
        row(
            "read as",
            dialect.isEmpty
                ? []
                : [
                    "\(dialect), \(sureness)",
                    text("call_kind") + (text("call_id").isEmpty ? "" : " " + text("call_id")),
                ])
        let findings = push["findings"]?.elements ?? []
        let refusals = findings.filter { $0["reason"]?.text?.isEmpty == false }
        for (index, finding) in refusals.enumerated() {
            let code = style(.dim, "(\(finding["reason"]?.text ?? ""))")
            out.append("\(index == 0 ? "Why:  " : "      ")\(finding["text"]?.text ?? "")  \(code)")
        }
        let advice = findings.filter {
            $0["reason"]?.text?.isEmpty != false && !PushWords.repeats($0["text"]?.text ?? "", text("outcome"))
        }
        for (index, finding) in advice.enumerated() {
            out.append("\(index == 0 ? "Also: " : "      ")· \(finding["text"]?.text ?? "")")
        }
        if !text("outcome").isEmpty {
            let words =
                PushWords.outcome(text("outcome"), id: PushWords.id(in: payload))
                ?? PushWords.short(text("outcome"), beside: findings.compactMap { $0["text"]?.text })
            out.append("Then: \(words)")
        }
        for note in push["notes"]?.elements?.compactMap(\.text) ?? [] { out.append("      \(note)") }
        out.append("Payload, \(number("bytes")) bytes:")
        if let json = try? JSONValue.parse(payload) {
            // What came from outside is made fit for a terminal.
            out += json.encoded(pretty: true).split(separator: "\n").map { "  " + printable(String($0)) }
        } else {
            out.append("  " + printable(String(decoding: payload.prefix(2048), as: UTF8.self)))
        }
        return out
    }

    /// As it is, but for what would steer a terminal or turn text around: that is written out.
    private static func printable(_ line: String) -> String {
        var out = ""
        for scalar in line.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate:
                out += "\\u{\(String(scalar.value, radix: 16))}"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    private static func expiration(_ seconds: Int64?) -> String {
        guard let seconds else { return "no expiration" }
        guard seconds > 0 else { return "expiration 0: never kept" }
        guard seconds < 100_000_000_000 else { return "expiration \(seconds)" }
        let time = WallTime(nanoseconds: min(seconds, 9_000_000_000) * 1_000_000_000)
        return "expiration \(time.formatted("%Y-%m-%d %H:%M:%S"))"
    }
}
