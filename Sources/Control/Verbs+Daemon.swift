internal import Base
internal import DBus
internal import JSON

extension Verbs {
    static let daemonVerbs = [
        Verb(
            name: "status", summary: "What runs.", example: "ringctl status"
        ) { _, session throws(Refusal) in
            let status = try session.monitor("Status").first ?? .dict([])
            if session.isJSON { return try session.say(status.json) }
            func text(_ key: String) -> String { status[key]?.text ?? "" }
            func number(_ key: String) -> Int64 { status[key]?.integer ?? 0 }
            let up = number("uptime_s")
            try session.say(
                "ringd \(text("version")) · pid \(number("pid")) · up \(up / 3600) h \(up % 3600 / 60) min \(up % 60) s"
            )
            let doors = status["doors"]?.elements ?? []
            let services = ["pushes", "feedback", "proxy"].compactMap { service -> String? in
                let places = doors.filter { $0["service"]?.text == service }.compactMap { $0["address"]?.text }
                return places.isEmpty ? nil : "\(places.joined(separator: " ")) (\(service))"
            }
            try session.say("APNs           \(doors.isEmpty ? "not listening" : services.joined(separator: ", "))")
            let webhooks = status["webhooks"]?.elements?.compactMap(\.text) ?? []
            try session.say(
                "webhooks       \(webhooks.isEmpty ? "not listening (ringctl webhook)" : webhooks.joined(separator: " "))"
            )
            try session.say("notifications  \(text("notifications").isEmpty ? "no server" : text("notifications"))")
            try session.say("sound          \(text("sound").isEmpty ? "no server" : text("sound"))")
            let source = text("dnd_switch") == "auto" ? text("dnd_source") : "ringctl dnd \(text("dnd_switch"))"
            try session.say(
                "disturbing     \(status["dnd"]?.flag == true ? "no" : "yes")\(source.isEmpty ? "" : ", says \(source)")"
            )
            try session.say("apps           \(number("apps"))")
            let others = number("devices") - 1
            let emulated = others > 0 ? ", and \(others) emulated" : ""
            let device = status["online"]?.flag == false ? "offline: pushes are kept (ringctl device online)" : "online"
            try session.say("device         \(device)\(emulated)")
            try session.say("pushes         \(number("pushes"))")
            try session.say("live calls     \(number("calls"))")
            let faults = number("faults")
            try session.say(
                "configuration  \(text("config"))\(faults > 0 ? " (\(faults) wrong lines: ringctl config check)" : "")")
        },
        Verb(
            name: "doctor", summary: "Would a call ring now? What is wrong, and its cure.",
            example: "ringctl doctor"
        ) { _, session throws(Refusal) in try Doctor.run(session) },
        Verb(
            name: "watch", summary: "What happens, as it happens, with keys to answer.",
            options: [.init(name: "plain", help: "lines, on a terminal too (Ctrl-C ends)")],
            example: "ringctl watch --json"
        ) { invocation, session throws(Refusal) in try Watch.run(session, isPlain: invocation.has("plain")) },
        Verb(
            name: "apps", takes: "[APP-ID]", summary: "Registered apps and their tokens.",
            options: [.init(name: "device", value: "NAME", help: "their tokens on this device (ringctl device)")],
            example: "ringctl apps com.example.talk --device phone-1", count: 0...1
        ) { invocation, session throws(Refusal) in
            let device = invocation.options["device"] ?? ""
            var apps: [DBusValue] = []
            try session.naming(device) { () throws(Refusal) in
                apps = try session.registry("AppsOn", [.string(device)]).first?.elements ?? []
            }
            let wanted = invocation.arguments.first
            let shown = apps.filter { wanted == nil || $0["app"]?.text == wanted }
            if session.isJSON { return try session.say(.array(shown.map(\.json))) }
            if shown.isEmpty {
                throw .refused(
                    wanted.map { "no app \"\(Text.clean($0))\" is registered (ringctl apps add \(Text.clean($0)))" }
                        ?? "no app is registered (ringctl apps add com.example.talk)")
            }
            for app in shown { try show(app, session) }
        },
        Verb(
            name: "apps add", takes: "APP-ID", summary: "Register an app; prints its tokens.",
            example: "ringctl apps add com.example.talk", count: 1...1
        ) { invocation, session throws(Refusal) in
            let app = try session.registry("AddApp", [.string(invocation.arguments[0])]).first
            if session.isJSON { return try session.say(app?.json ?? .null) }
            if let app { try show(app, session) }
        },
        Verb(
            name: "apps remove", takes: "APP-ID", summary: "Forget an app: its tokens are dead from now on.",
            example: "ringctl apps remove com.example.talk", count: 1...1
        ) { invocation, session throws(Refusal) in
            _ = try session.registry("RemoveApp", [.string(invocation.arguments[0])])
            try session.done("\(invocation.arguments[0]) is forgotten; its tokens answer 410 Unregistered from now on")
        },
        Verb(
            name: "apps reset", takes: "APP-ID", summary: "Let an app that left pushes unreported have them again.",
            details: "With must-report = strict, three such pushes in a day stop an app's pushes, as iOS does.",
            example: "ringctl apps reset com.example.talk", count: 1...1
        ) { invocation, session throws(Refusal) in
            _ = try session.registry("ResetApp", [.string(invocation.arguments[0])])
            try session.done("\(invocation.arguments[0]) gets its pushes again")
        },
        Verb(
            name: "apps renew", takes: "APP-ID",
            summary: "New tokens for an app; the old ones answer 410.",
            options: [.init(name: "device", value: "NAME", help: "on this device, not on this desktop")],
            details: """
                As after a restore of a phone; the reason is ExpiredToken.
                """,
            example: "ringctl apps renew com.example.talk", count: 1...1
        ) { invocation, session throws(Refusal) in
            let app = try session.registry(
                "RenewApp", [.string(invocation.arguments[0]), .string(invocation.options["device"] ?? "")]
            ).first
            if session.isJSON { return try session.say(app?.json ?? .null) }
            if let app { try show(app, session) }
        },
    ]

    private static func show(_ app: DBusValue, _ session: Session) throws(Refusal) {
        let name = app["name"]?.text ?? ""
        let device = app["device"]?.text ?? ""
        let place = device.isEmpty || device == "desktop" ? "" : "  on \(device)"
        try session.say(session.style(.bold, app["app"]?.text ?? "") + (name.isEmpty ? "" : "  \(name)") + place)
        for kind in ["voip", "alert"] {
            for environment in ["production", "sandbox"] {
                guard let token = app["\(kind)-\(environment)"]?.text else { continue }
                try session.say("  \(kind.rightPadded(to: 6))\(environment.rightPadded(to: 11))\(token)")
            }
        }
        if let certificate = app["certificate"]?.text { try session.say("  certificate      \(certificate)") }
        if let authority = app["authority"]?.text { try session.say("  trust (CA)       \(authority)") }
        try session.say("  on answer        \(onAnswer(app))")
    }

    private static func onAnswer(_ app: DBusValue) -> String {
        let answer = app["answer"]?.text ?? ""
        guard app["calls"]?.text == "dbus" else {
            return answer.isEmpty
                ? "nothing (set answer = in its section of ringd.conf, or start an app that registers)" : answer
        }
        var words = [
            "the app is asked over D-Bus", app["attached"]?.flag == true ? "it runs" : "it is started when needed",
        ]
        if let account = app["account"]?.text, !account.isEmpty { words.append("account \(account)") }
        if app["bound"]?.flag == false { words.append("nobody is logged in: nothing rings") }
        if let strikes = app["strikes"]?.integer, strikes > 0 { words.append("\(strikes) pushes unreported") }
        if app["suspended"]?.flag == true { words.append("gets no pushes (ringctl apps reset)") }
        return words.joined(separator: "; ")
    }
}

extension Session {
    func monitor(_ member: String, _ arguments: [DBusValue] = [], timeout: Duration = .seconds(25)) throws(Refusal)
        -> [DBusValue]
    {
        try call("org.ringd.Monitor1", member, arguments, timeout: timeout)
    }

    func registry(_ member: String, _ arguments: [DBusValue] = []) throws(Refusal) -> [DBusValue] {
        try call("org.ringd.PushRegistry1", member, arguments)
    }

    func done(_ words: String) throws(Refusal) {
        if isJSON { try say(.object(("done", true))) } else { try say(words) }
    }
}

extension Style {
    /// An event's line by what it is about.
    func line(_ text: String, level: Int64, kind: String) -> String {
        if level <= 3 { return self(.red, text) }
        if level == 4 { return self(.yellow, text) }
        switch kind.prefix(while: { $0 != "." }) {
        case "call": return self(.bold, text)
        case "push": return self(.blue, text)
        case "sound", "vibration": return self(.green, text)
        default: return text
        }
    }
}

/// `ringctl doctor`.
enum Doctor {
    static func run(_ session: Session) throws(Refusal) {
        let checks = try session.monitor("Doctor").first?.elements ?? []
        let (seen, heard, answer) = verdict(checks)
        if session.isJSON {
            try session.say(
                .object(
                    ("rings", .bool(seen || heard)), ("seen", .bool(seen)), ("heard", .bool(heard)),
                    ("checks", .array(checks.map(\.json)))))
        } else {
            try session.say(
                "Would a call ring now?  \(session.style(.bold, seen || heard ? "Yes" : "No")): it \(answer).\n")
            for check in checks { try show(check, session) }
        }
        if !seen && !heard { throw Refusal(status: 1, message: "") }
    }

    /// Whether a call would be seen and heard, and that in words.
    static func verdict(_ checks: [DBusValue]) -> (seen: Bool, heard: Bool, words: String) {
        func verdict(_ name: String) -> String {
            checks.first { $0["name"]?.text == name }?["verdict"]?.text ?? "bad"
        }
        // Away from the network nothing comes that could ring.
        let isOffline = checks.contains { $0["name"]?.text == "device" && $0["verdict"]?.text == "bad" }
        if isOffline { return (false, false, "is kept until this desktop is online again") }
        let disturbs = checks.first { $0["name"]?.text == "do-not-disturb" }?["verdict"]?.text ?? "absent"
        if disturbs == "bad" { return (false, false, "is missed: do not disturb") }
        let seen = verdict("notifications") != "bad"
        let heard = verdict("sound") == "good" && verdict("ringtone") != "bad" && disturbs != "warning"
        let words =
            switch (seen, heard) {
            case (true, true): "rings"
            case (true, false): "rings, but you would not hear it"
            case (false, true): "rings, but you would not see it"
            case (false, false): "does not ring"
            }
        return (seen, heard, words)
    }

    private static func show(_ check: DBusValue, _ session: Session) throws(Refusal) {
        let (mark, colour): (String, Style.Colour) =
            switch check["verdict"]?.text {
            case "good": ("✓", .green)
            case "warning": ("!", .yellow)
            case "absent": ("-", .dim)
            default: ("✗", .red)
            }
        let name = (check["name"]?.text ?? "").rightPadded(to: 15)
        try session.say("\(session.style(colour, mark)) \(name)\(check["text"]?.text ?? "")")
        if let cure = check["cure"]?.text, !cure.isEmpty {
            try session.say("  \(String(repeating: " ", count: 15))\(session.style(.dim, "to mend: \(cure)"))")
        }
    }
}
