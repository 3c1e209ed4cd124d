/// A verb of ringctl as data: the one table behind parsing, `--help`, completions and the man page.
struct Verb: Sendable {
    /// E.g. `apps add`.
    let name: String
    /// The positional arguments as usage shows them, e.g. `[CALL]`.
    var takes = ""
    let summary: String
    var options: [Option] = []
    /// What a person has to know besides, as lines; for `--help` and the manual.
    var details = ""
    let example: String
    /// How many positional arguments it takes.
    var count = 0...0
    let run: @Sendable (Invocation, Session) throws(Refusal) -> Void

    struct Option: Sendable {
        let name: String
        /// The value's name in usage; nil for a switch.
        var value: String?
        let help: String
        /// What completions offer for a value that may be something else, too.
        var known: [String]?
        /// The heading that `--help` has it under, where there are many.
        var group = ""

        static func under(_ group: String, _ options: [Option]) -> [Option] {
            options.map { option in
                var out = option
                out.group = group
                return out
            }
        }

        /// The words that the value is one of; nil if it may be anything.
        var choices: [String]? {
            if let known { return known }
            guard let value, value.contains("|") else { return nil }
            let words = value.split(separator: "|").map(String.init)
            return words.allSatisfy { $0.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" } } ? words : nil
        }
    }
}

/// What was asked, parsed.
struct Invocation: Sendable, Equatable {
    var verb: String
    var arguments: [String] = []
    var options: [String: String] = [:]

    var isJSON: Bool { options["json"] != nil }

    func has(_ option: String) -> Bool { options[option] != nil }
}

/// Why ringctl leaves with something else than 0.
struct Refusal: Error, Sendable, Equatable {
    /// 1 refused, 2 bad usage, 3 daemon not reachable.
    let status: Int32
    let message: String

    static func refused(_ message: String) -> Refusal { Refusal(status: 1, message: message) }
    static func usage(_ message: String) -> Refusal { Refusal(status: 2, message: message) }
    static func unreachable(_ message: String) -> Refusal { Refusal(status: 3, message: message) }
}
