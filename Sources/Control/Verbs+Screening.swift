internal import Base
internal import Config
internal import DBus
internal import JSON

extension Verbs {
    /// Who may ring, and when.
    static let screeningVerbs: [Verb] =
        [
            Verb(
                name: "dnd", summary: "Whether calls may disturb now, and who says so.", example: "ringctl dnd on"
            ) { _, session throws(Refusal) in try Screening.show(session) }
        ]
        + [
            ("on", "Do not disturb, whatever the desktop says."),
            ("off", "Calls may disturb, whatever the desktop says."),
            ("auto", "As the desktop's own switch says."),
        ].map { word, summary in
            Verb(name: "dnd \(word)", summary: summary, example: "ringctl dnd \(word)") { _, session throws(Refusal) in
                let when = try session.edit { Configuration.edit($0, set: "screening.switch", to: word) }
                try session.done("do not disturb: \(word), \(when.words)")
            }
        }
        + [
            Verb(
                name: "block", takes: "[PATTERN…]", summary: "Callers that never ring: list or add.",
                details: Screening.patterns, example: "ringctl block '+4930*' '*@spam.example' anonymous",
                count: 0...HandlePattern.mostInList
            ) { invocation, session throws(Refusal) in try Screening.block.list(invocation, session) },
            Verb(
                name: "unblock", takes: "PATTERN…", summary: "Let callers ring again.",
                example: "ringctl unblock '+4930*'", count: 1...HandlePattern.mostInList
            ) { invocation, session throws(Refusal) in try Screening.block.remove(invocation, session) },
            Verb(
                name: "vip", takes: "[PATTERN…]", summary: "Callers that always get through: list or add.",
                details: Screening.patterns, example: "ringctl vip +4930123456 boss@example.com",
                count: 0...HandlePattern.mostInList
            ) { invocation, session throws(Refusal) in try Screening.vip.list(invocation, session) },
            Verb(
                name: "vip remove", takes: "PATTERN…", summary: "Treat callers as any others again.",
                example: "ringctl vip remove +4930123456", count: 1...HandlePattern.mostInList
            ) { invocation, session throws(Refusal) in try Screening.vip.remove(invocation, session) },
        ]
}

/// A list of callers in `[screening]`, and its words.
private struct Screening: Sendable {
    let key: String
    /// What is said of a caller that is in it.
    let state: String
    let add: String
    let path: any WritableKeyPath<Configuration.Screening, [HandlePattern]> & Sendable

    static let block = Screening(key: "block", state: "blocked", add: "ringctl block PATTERN", path: \.block)
    static let vip = Screening(key: "vip", state: "a VIP", add: "ringctl vip PATTERN", path: \.vip)

    static let patterns = """
        A pattern is a telephone number or an address; * stands for anything, and
        anonymous for callers without a number. How it is written does not matter:
        0049 (30) 12-34 is +49301234, and 030 1234567 is +49301234567 where
        calls.region is DE.
        """

    private var setting: String { "screening.\(key)" }

    // MARK: Do not disturb

    static func show(_ session: Session) throws(Refusal) {
        let status = try session.monitor("Status").first ?? .dict([])
        let isOn = status["dnd"]?.flag == true
        let own = status["dnd_switch"]?.text ?? "auto"
        let desktop = status["dnd_desktop"]?.text ?? "unknown"
        let source = status["dnd_source"]?.text ?? ""
        let calls = status["dnd_calls"]?.text ?? ""
        if session.isJSON {
            return try session.say(
                .object(
                    ("dnd", .bool(isOn)), ("switch", .string(own)), ("desktop", .string(desktop)),
                    ("source", .string(source)), ("calls", .string(calls))))
        }
        let says = source.isEmpty ? "this desktop has no switch that is known" : "\(source) says \(desktop)"
        let who = own == "auto" ? says : "ringctl dnd \(own); \(says)"
        let effect =
            switch calls {
            case "ignore": "ring all the same"
            case "refuse": "are missed, with a quiet notice"
            default: "are seen and not heard"
            }
        try session.say(
            "do not disturb: \(session.style(.bold, isOn ? "on" : "off")) (\(who))\(isOn ? "; calls \(effect)" : "")")
    }

    // MARK: Lists

    /// Shows the list, or adds to it.
    func list(_ invocation: Invocation, _ session: Session) throws(Refusal) {
        var (list, region) = try read(session)
        guard !invocation.arguments.isEmpty else {
            if session.isJSON { return try say(list, session) }
            if list.isEmpty { return try session.say("nobody is \(state) (\(add))") }
            for pattern in list { try session.say(pattern.description) }
            return
        }
        var added: [String] = []
        var known = Set(list.map { $0.resolved(in: region) })
        for pattern in try patterns(invocation) where known.insert(pattern.resolved(in: region)).inserted {
            list.append(pattern)
            added.append(pattern.description)
        }
        guard list.count <= HandlePattern.mostInList else {
            throw .refused("\(key): that would be \(list.count); \(Self.words(.tooMany))")
        }
        let when = try write(list, session)
        if session.isJSON { return try say(list, session) }
        try session.say(
            added.isEmpty
                ? "\(invocation.arguments.count == 1 ? "is" : "all are") \(state) already"
                : "\(state): \(added.joined(separator: ", ")), \(when.words)")
    }

    /// Takes all of them out of the list, or none.
    func remove(_ invocation: Invocation, _ session: Session) throws(Refusal) {
        var (list, region) = try read(session)
        for pattern in try patterns(invocation) {
            let wanted = pattern.resolved(in: region)
            guard let index = list.firstIndex(where: { $0 == pattern || $0.resolved(in: region) == wanted }) else {
                let name = Text.clean(pattern.description)
                if let wider = list.first(where: { $0.matches(pattern.description, in: region) }) {
                    throw .refused(
                        "\(name) is \(state) by \(wider), and not by itself: remove that one; nothing was changed")
                }
                let hint = Text.nearest(to: name, in: list.map(\.description)).map { "; did you mean \($0)?" } ?? ""
                throw .refused("\(name) is not \(state)\(hint) (ringctl \(key)); nothing was changed")
            }
            list.remove(at: index)
        }
        let when = try write(list, session)
        if session.isJSON { return try say(list, session) }
        try session.say("no longer \(state): \(invocation.arguments.joined(separator: ", ")), \(when.words)")
    }

    private func patterns(_ invocation: Invocation) throws(Refusal) -> [HandlePattern] {
        var out: [HandlePattern] = []
        for argument in invocation.arguments {
            do throws(HandlePattern.Fault) {
                out.append(try HandlePattern(argument))
            } catch {
                throw .refused("\"\(Text.clean(argument, limit: 60))\" \(error.words); nothing was changed")
            }
        }
        return out
    }

    private static func words(_ fault: HandlePattern.Fault) -> String { "it \(fault.words)" }

    private func read(_ session: Session) throws(Refusal) -> ([HandlePattern], PhoneRegion?) {
        let text = try OutputFile.read(session.configFile) ?? ""
        let (configuration, faults) = Configuration.read(text)
        // What cannot be read would be lost with the next write.
        if let fault = faults.first(where: { $0.key == setting }) {
            throw .refused("\(session.configFile), \(fault); mend that line first")
        }
        return (configuration.screening[keyPath: path], configuration.region)
    }

    private func write(_ list: [HandlePattern], _ session: Session) throws(Refusal) -> Session.Force {
        try session.edit {
            list.isEmpty
                ? Configuration.edit($0, unset: setting)
                : Configuration.edit($0, set: setting, to: HandlePattern.text(list))
        }
    }

    private func say(_ list: [HandlePattern], _ session: Session) throws(Refusal) {
        try session.say(.object((key, .array(list.map { .string($0.description) }))))
    }
}
