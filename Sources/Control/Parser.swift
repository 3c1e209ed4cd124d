internal import Base

/// From words to an `Invocation`; pure. A table of our own rather than getopt_long, because the same table writes help,
/// completions and the man page, and because an unknown word is to be answered with the right one.
enum Parser {
    enum Result: Equatable {
        case run(Invocation)
        case help(String?)
        case version
    }

    static func parse(_ words: [String], verbs: [Verb]) throws(Refusal) -> Result {
        guard let first = words.first else { return .help(nil) }
        if first == "--help" || first == "-h" || first == "help" { return .help(words.count > 1 ? words[1] : nil) }
        if first == "--version" { return .version }
        var rest = words.dropFirst()
        var name = first
        if let second = rest.first, verbs.contains(where: { $0.name == first + " " + second }) {
            name = first + " " + second
            rest = rest.dropFirst()
        }
        guard let verb = verbs.first(where: { $0.name == name }) else {
            let known = Set(verbs.map { String($0.name.prefix { $0 != " " }) })
            // `apps ad`: the group is right, the second word is not.
            if known.contains(first) {
                guard let word = rest.first, word != "--help", word != "-h" else { return .help(first) }
                let group = verbs.filter { $0.name.hasPrefix(first + " ") }.map(\.name)
                throw .usage("say which: \(group.map { "ringctl \($0)" }.joined(separator: ", "))")
            }
            let hint = Text.nearest(to: first, in: known).map { "; did you mean \($0)?" } ?? ""
            throw .usage("unknown verb \"\(Text.clean(first, limit: 40))\"\(hint) (ringctl --help)")
        }
        return try parse(verb, Array(rest), verbs: verbs)
    }

    private static func parse(_ verb: Verb, _ words: [String], verbs: [Verb]) throws(Refusal) -> Result {
        var invocation = Invocation(verb: verb.name)
        var rest = words[...]
        var onlyArguments = false
        while let word = rest.popFirst() {
            if onlyArguments || word == "-" || !word.hasPrefix("-") {
                invocation.arguments.append(word)
                continue
            }
            if word == "--" {
                onlyArguments = true
                continue
            }
            if word == "--help" || word == "-h" { return .help(verb.name) }
            guard word.hasPrefix("--") else { throw .usage("options are written --name (ringctl \(verb.name) --help)") }
            let equals = word.firstIndex(of: "=")
            let name = String(word[word.index(word.startIndex, offsetBy: 2)..<(equals ?? word.endIndex)])
            let known = verb.options + Verbs.everywhere
            guard let option = known.first(where: { $0.name == name }) else {
                let hint = Text.nearest(to: name, in: known.map(\.name)).map { "; did you mean --\($0)?" } ?? ""
                throw .usage(
                    "\(verb.name): unknown option --\(Text.clean(name, limit: 40))\(hint) (ringctl \(verb.name) --help)"
                )
            }
            if let value = option.value {
                if let equals {
                    invocation.options[name] = String(word[word.index(after: equals)...])
                } else if let next = rest.popFirst() {
                    invocation.options[name] = next
                } else {
                    throw .usage("\(verb.name): --\(name) needs a value: --\(name) \(value)")
                }
            } else {
                guard equals == nil else { throw .usage("\(verb.name): --\(name) takes no value") }
                invocation.options[name] = ""
            }
        }
        guard verb.count.contains(invocation.arguments.count) else {
            if verb.count.upperBound == 0, let word = invocation.arguments.first {
                try refuseSecondWord(word, of: verb, verbs)
            }
            let what =
                invocation.arguments.count > verb.count.upperBound
                ? "too many arguments" : "\(verb.takes.split(separator: " ")[invocation.arguments.count]) is missing"
            throw .usage("\(verb.name): \(what); usage: \(Help.usage(verb))")
        }
        return .run(invocation)
    }

    /// `certs shw`: the verb takes nothing, but has others behind it.
    private static func refuseSecondWord(_ word: String, of verb: Verb, _ verbs: [Verb]) throws(Refusal) {
        let names = verbs.map(\.name).filter { $0.hasPrefix(verb.name + " ") }
        guard !names.isEmpty else { return }
        let seconds = names.map { String($0.dropFirst(verb.name.count + 1)) }
        let known = ([verb.name] + names).map { "ringctl \($0)" }.joined(separator: ", ")
        let hint = Text.nearest(to: word, in: seconds).map { "did you mean ringctl \(verb.name) \($0)?" }
        throw .usage(
            "\(verb.name): there is no \"\(Text.clean(word, limit: 40))\"; \(hint ?? "there is \(known)")")
    }
}
