/// All verbs, in the order of help.
enum Verbs {
    static let everywhere = [
        Verb.Option(name: "json", help: "one JSON object (or JSON lines) instead of words"),
        Verb.Option(name: "help", help: "this text"),
    ]

    /// By what they are about.
    static let groups: [(heading: String, verbs: [Verb])] = [
        ("Calls", callVerbs + pastVerbs),
        ("Who may ring", screeningVerbs),
        ("Apps and devices", daemonVerbs.filter(isAboutApps) + deviceVerbs),
        ("Pushes", pushVerbs + recordVerbs + dialectVerbs + webhookVerbs),
        ("APNs and certificates", apnsVerbs + certificateVerbs),
        ("Sounds and settings", soundVerbs + configVerbs),
        ("What runs", daemonVerbs.filter { !isAboutApps($0) }),
    ]

    private static func isAboutApps(_ verb: Verb) -> Bool { verb.name.hasPrefix("apps") }

    static let all: [Verb] = groups.flatMap(\.verbs) + hidden

    /// Without those that only packagers need.
    static let shown: [Verb] = all.filter { verb in !hidden.contains { $0.name == verb.name } }

    private static let hidden = [
        Verb(
            name: "completions", takes: "bash|zsh|fish", summary: "Print a shell's completions.",
            example: "ringctl completions bash > ~/.local/share/bash-completion/completions/ringctl", count: 1...1
        ) { invocation, session throws(Refusal) in
            guard let text = Help.completions(invocation.arguments[0], shown) else {
                throw .usage("completions: bash, zsh or fish")
            }
            try session.say(text)
        },
        Verb(
            name: "manual", takes: "[ringctl|ringd.conf]", summary: "Print a man page.",
            example: "ringctl manual ringd.conf > ringd.conf.5", count: 0...1
        ) { invocation, session throws(Refusal) in
            switch invocation.arguments.first ?? "ringctl" {
            case "ringctl": try session.say(Help.manual(shown))
            case "ringd.conf": try session.say(Help.configManual)
            default: throw .usage("manual: ringctl or ringd.conf")
            }
        },
    ]
}
