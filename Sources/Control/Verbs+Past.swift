internal import Base
internal import DBus
internal import JSON
internal import Report

extension Verbs {
    static let pastVerbs = [
        past("history", "Past calls, newest first.", isMissedOnly: false),
        past("missed", "Missed calls, newest first.", isMissedOnly: true),
        Verb(
            name: "history clear", summary: "Forget past calls.", example: "ringctl history clear"
        ) { _, session throws(Refusal) in
            let count = try session.monitor("ClearHistory").first?.integer ?? 0
            if session.isJSON { return try session.say(.object(("forgotten", .integer(count)))) }
            try session.say("\(count) calls forgotten")
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

    private static func past(_ name: String, _ summary: String, isMissedOnly: Bool) -> Verb {
        Verb(
            name: name, summary: summary,
            options: [.init(name: "limit", value: "N", help: "at most so many (20)")],
            example: "ringctl \(name) --limit 5"
        ) { invocation, session throws(Refusal) in
            let text = invocation.options["limit"] ?? "20"
            guard let limit = Int64(text), (1...10_000).contains(limit) else {
                throw .usage("\(name): --limit is a number from 1 to 10000")
            }
            let calls =
                try session.monitor(
                    "History", [.dict(("limit", .int64(limit)), ("missed", .bool(isMissedOnly)))]
                ).first?.elements ?? []
            if session.isJSON { return try session.say(.array(calls.map(\.json))) }
            if calls.isEmpty { return try session.say("no \(isMissedOnly ? "missed " : "")calls") }
            for call in calls { try session.say(line(call, session.style)) }
        }
    }

    private static func line(_ call: DBusValue, _ style: Style) -> String {
        func text(_ key: String) -> String { call[key]?.text ?? "" }
        let began = WallTime(nanoseconds: call["began_ns"]?.integer ?? 0)
        // "answered on another device" is a sentence; its reason says the same.
        let category = text("category").contains(" ") ? "elsewhere" : text("category")
        var detail = text("reason")
        if let millis = call["duration_ms"]?.integer {
            detail += ", \(Duration.milliseconds(millis).shortText)"
        } else {
            detail += ", rang \(Duration.milliseconds(call["rang_ms"]?.integer ?? 0).shortText)"
        }
        let handle = text("handle").isEmpty || text("handle") == text("caller") ? "" : " <\(text("handle"))>"
        let shown = category == "missed" ? style(.red, category.rightPadded(to: 10)) : category.rightPadded(to: 10)
        return
            "\(text("id").prefix(8))  \(began.formatted("%Y-%m-%d %H:%M:%S"))  \(shown) \(text("caller"))\(handle)  (\(detail))"
    }
}
