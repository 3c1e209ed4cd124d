internal import Base
internal import DBus
internal import JSON
internal import Report

extension Verbs {
    static let pastVerbs = [
        Verb(
            name: "history", summary: "Past calls, newest first.",
            options: [.init(name: "missed", help: "missed calls only, which stay unseen")] + filters
                + [.init(name: "direction", value: "incoming|outgoing", help: "only one way")],
            details: legend, example: "ringctl history --limit 5"
        ) { invocation, session throws(Refusal) in
            try list(invocation, session, isMissedOnly: invocation.has("missed"), marksSeen: false)
        },
        Verb(
            name: "missed", summary: "Missed calls; they count as seen from then on.",
            options: [.init(name: "keep", help: "do not count them as seen")] + filters, details: legend,
            example: "ringctl missed --unseen"
        ) { invocation, session throws(Refusal) in
            try list(invocation, session, isMissedOnly: true, marksSeen: !invocation.has("keep"))
        },
        Verb(
            name: "history seen", takes: "[CALL]",
            summary: "Count a missed call, or all of them, as seen.",
            example: "ringctl history seen", count: 0...1
        ) { invocation, session throws(Refusal) in
            let reply = try session.monitor("MarkSeen", [.string(try named(invocation) ?? "")])
            let count = reply.first?.integer ?? 0
            if session.isJSON { return try session.say(.object(("seen", .integer(count)))) }
            try session.say("\(calls(count, "missed call")) had not been seen before")
        },
        Verb(
            name: "history clear", takes: "[CALL]", summary: "Forget past calls: all, one, or old ones.",
            options: [.init(name: "older-than", value: "DAYS", help: "only those that began so many days ago")],
            example: "ringctl history clear --older-than 90", count: 0...1
        ) { invocation, session throws(Refusal) in
            var filter: [DBusValue.Entry] = []
            if let call = try named(invocation) { filter.append(.init("call", .string(call))) }
            if let text = invocation.options["older-than"] {
                guard filter.isEmpty else { throw .usage("history clear: either a call or --older-than") }
                guard let days = Int64(text), (0...36_500).contains(days) else {
                    throw .usage("history clear: --older-than is a number of days from 0 to 36500")
                }
                let age = Duration.seconds(days * 86_400).nanoseconds
                filter.append(.init("before", .int64(WallTime.now.nanoseconds - age)))
            }
            let count = try session.monitor("ClearHistory", [.dict(filter)]).first?.integer ?? 0
            if session.isJSON { return try session.say(.object(("forgotten", .integer(count)))) }
            try session.say("\(calls(count, "call")) forgotten")
        },
        Verb(
            name: "report", takes: "[CALL]", summary: "One call's timeline; of the newest, if none is named.",
            options: [
                .init(name: "svg", help: "as a picture"),
                .init(name: "output", value: "FILE", help: "into this file instead of stdout"),
            ], example: "ringctl report --svg --output call.svg", count: 0...1
        ) { invocation, session throws(Refusal) in
            let reply = try session.monitor("Report", [.string(invocation.arguments.first ?? "")])
            guard reply.count == 2 else { throw .refused("ringd sent no report") }
            let timeline = Timeline(call: reply[0].json, events: reply[1].elements?.map(\.json) ?? [])
            let text =
                session.isJSON
                ? timeline.json.encoded() + "\n" : invocation.has("svg") ? Picture(timeline).svg : timeline.text
            guard let file = invocation.options["output"] else { return try session.say(String(text.dropLast())) }
            try OutputFile.write(text, to: file)
            if !session.isJSON { try session.say("written: \(file)") }
        },
    ]

    private static let filters: [Verb.Option] = [
        .init(name: "limit", value: "N", help: "at most so many (20)"),
        .init(name: "unseen", help: "missed calls that you have not been shown"),
        .init(name: "app", value: "APP-ID", help: "calls of this app"),
        .init(name: "handle", value: "HANDLE", help: "calls with this number or address"),
        .init(
            name: "before", value: "TIME", help: "earlier than \"2025-12-31 18:30\", a day, or a call's began_ns"),
        .init(name: "all", help: "blocked calls, too, and those that their app keeps out of recents"),
    ]

    private static let legend = """
        A line is: id, when, a * if nobody has been shown it yet, ← for incoming or →
        for outgoing, what became of it, how long you spoke, with whom, and why it ended.
        """

    /// The one argument, which must not be empty: that would mean all.
    private static func named(_ invocation: Invocation) throws(Refusal) -> String? {
        guard let call = invocation.arguments.first else { return nil }
        guard !call.isEmpty else { throw .usage("\(invocation.verb): \"\" names no call") }
        return call
    }

    private static func calls(_ count: Int64, _ word: String) -> String { "\(count) \(word)\(count == 1 ? "" : "s")" }

    private static func list(
        _ invocation: Invocation, _ session: Session, isMissedOnly: Bool, marksSeen: Bool
    ) throws(Refusal) {
        let filter = try filter(invocation, isMissedOnly: isMissedOnly, marksSeen: marksSeen)
        let calls = try session.monitor("History", [.dict(filter)]).first?.elements ?? []
        if session.isJSON { return try session.say(.array(calls.map(\.json))) }
        guard !calls.isEmpty else {
            let kind = invocation.has("unseen") ? "unseen missed " : isMissedOnly ? "missed " : ""
            return try session.say("no \(kind)calls")
        }
        for line in PastCalls.lines(calls, session.style) { try session.say(line) }
    }

    static func filter(
        _ invocation: Invocation, isMissedOnly: Bool, marksSeen: Bool
    ) throws(Refusal) -> [DBusValue.Entry] {
        func wrong(_ what: String) -> Refusal { .usage("\(invocation.verb): \(what)") }
        guard let limit = Int64(invocation.options["limit"] ?? "20"), (1...10_000).contains(limit) else {
            throw wrong("--limit is a number from 1 to 10000")
        }
        var filter: [DBusValue.Entry] = [.init("limit", .int64(limit)), .init("missed", .bool(isMissedOnly))]
        if let direction = invocation.options["direction"] {
            guard ["incoming", "outgoing"].contains(direction) else {
                throw wrong("--direction is incoming or outgoing")
            }
            filter.append(.init("direction", .string(direction)))
        }
        for name in ["app", "handle"] {
            if let text = invocation.options[name] { filter.append(.init(name, .string(text))) }
        }
        if let text = invocation.options["before"] {
            guard let time = PastTime.read(text) else {
                throw wrong("--before is a day, 2025-12-31, a time, \"2025-12-31 18:30\", or a call's began_ns")
            }
            filter.append(.init("before", .int64(time.nanoseconds)))
        }
        for (option, name) in [("unseen", "unseen"), ("all", "hidden")] where invocation.has(option) {
            filter.append(.init(name, .bool(true)))
        }
        if marksSeen { filter.append(.init("mark_seen", .bool(true))) }
        return filter
    }
}
