internal import APNs
internal import Base
internal import Config

/// `--help`, shell completions and the man page, all from the table of verbs.
enum Help {
    static func usage(_ verb: Verb) -> String {
        let options = verb.options.isEmpty ? "" : " [OPTION]…"
        return "ringctl \(verb.name)\(options)\(verb.takes.isEmpty ? "" : " \(verb.takes)")"
    }

    /// No line of a list is longer.
    static let width = 78

    static func overview(_ groups: [(heading: String, verbs: [Verb])]) -> String {
        var out =
            "usage: ringctl VERB [OPTION]… [ARGUMENT]…\n\nMakes this desktop ring like a phone: speaks with ringd(1).\n"
        let column = groups.flatMap(\.verbs).map { signature($0).count }.max() ?? 0
        for (heading, verbs) in groups { out += "\n\(heading)\n" + list(verbs, column) }
        out +=
            "\nEvery verb has --json and --help. Exit status: 0 done, 1 refused, 2 bad usage, 3 ringd not reachable.\n"
        return out + "example: ringctl ring --caller Alice --video\n"
    }

    private static func signature(_ verb: Verb) -> String {
        verb.name + (verb.takes.isEmpty ? "" : " " + verb.takes)
    }

    private static func list(_ verbs: [Verb], _ column: Int? = nil) -> String {
        let column = column ?? verbs.map { signature($0).count }.max() ?? 0
        return verbs.map { verb in
            let line = "  " + signature(verb).rightPadded(to: column + 2) + verb.summary
            return (Columns.width(line) > width ? Columns.fit(line, width) : line) + "\n"
        }.joined()
    }

    /// A verb's page, with those that begin with its name; or a list of a group's, as for `apns`.
    static func page(named name: String, _ verbs: [Verb]) -> String? {
        let behind = verbs.filter { $0.name.hasPrefix(name + " ") }
        let more = "ringctl \(behind.count == 1 ? behind[0].name : name + " VERB") --help says more.\n"
        guard let verb = verbs.first(where: { $0.name == name }) else {
            guard !behind.isEmpty else { return nil }
            return "usage: ringctl \(name) VERB [OPTION]… [ARGUMENT]…\n\n\(list(behind))\n\(more)"
        }
        return behind.isEmpty ? page(verb) : "\(page(verb))\nSee also:\n\(list(behind))\n\(more)"
    }

    static func page(_ verb: Verb) -> String {
        var out = "usage: \(usage(verb))\n\n\(verb.summary)\n"
        let options = verb.options + Verbs.everywhere
        let width = options.map { label($0).count }.max() ?? 0
        // In the order of their headings; those without one come last.
        let headings = verb.options.map(\.group).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let isGrouped = headings.count > 1
        let named = isGrouped ? headings.filter { !$0.isEmpty } : []
        for heading in named + [""] {
            out += heading.isEmpty ? "\n" : "\n\(heading)\n"
            for option in options where !isGrouped || option.group == heading {
                out += "  \(label(option).rightPadded(to: width + 2))\(option.help)\n"
            }
        }
        if !verb.details.isEmpty { out += "\n\(verb.details)\n" }
        return out + "\nexample: \(verb.example)\n"
    }

    private static func label(_ option: Verb.Option) -> String {
        "--\(option.name)" + (option.value.map { " \($0)" } ?? "")
    }

    // MARK: Completions

    /// First words, then second words of groups, then the verb's options.
    static func completions(_ shell: String, _ verbs: [Verb]) -> String? {
        var groups: [String: [String]] = [:]
        for verb in verbs {
            let parts = verb.name.split(separator: " ").map(String.init)
            if parts.count == 2 { groups[parts[0], default: []].append(parts[1]) }
        }
        var firsts: [String] = []
        for verb in verbs {
            let word = String(verb.name.prefix { $0 != " " })
            if !firsts.contains(word) { firsts.append(word) }
        }
        let firstsThatRun = Set(verbs.map(\.name))
        switch shell {
        case "bash":
            var out = "# bash completion for ringctl\n_ringctl() {\n    local cur=${COMP_WORDS[COMP_CWORD]} words=\n"
            out += "    if [ \"$COMP_CWORD\" = 1 ]; then words=\"\(firsts.joined(separator: " "))\"; else\n"
            out += "    case \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n"
            for verb in verbs.sorted(by: { $0.name.count > $1.name.count }) {
                let options = (verb.options + Verbs.everywhere).map { "--\($0.name)" }.joined(separator: " ")
                let seconds = groups[verb.name]?.joined(separator: " ") ?? ""
                out +=
                    "        \"\(verb.name)\(verb.name.contains(" ") ? "" : " ")\"*) words=\"\(seconds.isEmpty ? "" : seconds + " ")\(options)\""
                let choices = verb.options.compactMap { option in option.choices.map { (option.name, $0) } }
                if !choices.isEmpty {
                    out += "\n            case \"${COMP_WORDS[COMP_CWORD-1]}\" in\n"
                    for (name, words) in choices {
                        out += "                --\(name)) words=\"\(words.joined(separator: " "))\" ;;\n"
                    }
                    out += "            esac"
                }
                out += " ;;\n"
            }
            // Groups that are no verb themselves.
            for (name, seconds) in groups.sorted(by: { $0.key < $1.key }) where !firstsThatRun.contains(name) {
                out += "        \"\(name) \"*) words=\"\(seconds.joined(separator: " "))\" ;;\n"
            }
            out += "    esac; fi\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
            out += "    [ ${#COMPREPLY[@]} = 0 ] && COMPREPLY=($(compgen -f -- \"$cur\"))\n}\n"
            return out + "complete -o filenames -F _ringctl ringctl\n"
        case "fish":
            var out = "# fish completion for ringctl\n"
            for (name, seconds) in groups.sorted(by: { $0.key < $1.key }) where !firstsThatRun.contains(name) {
                out +=
                    "complete -c ringctl -n __fish_use_subcommand -a \(name) -d '\(seconds.joined(separator: ", "))'\n"
            }
            for verb in verbs {
                let parts = verb.name.split(separator: " ").map(String.init)
                let seen = parts.count == 1 ? "__fish_use_subcommand" : "__fish_seen_subcommand_from \(parts[0])"
                out += "complete -c ringctl -n '\(seen)' -a '\(parts.last!)' -d '\(quoted(verb.summary))'\n"
                for option in verb.options + Verbs.everywhere {
                    out += "complete -c ringctl -n '__fish_seen_subcommand_from \(parts[0])' -l \(option.name)"
                    let choices = option.choices.map { " -x -a '\($0.joined(separator: " "))'" }
                    out += "\(choices ?? (option.value == nil ? "" : " -r")) -d '\(quoted(option.help))'\n"
                }
            }
            return out
        case "zsh":
            var out = "#compdef ringctl\n_ringctl() {\n    local -a verbs\n    verbs=(\n"
            for word in firsts {
                let summary = verbs.first { $0.name == word }?.summary ?? groups[word]?.joined(separator: ", ") ?? ""
                out += "        '\(word):\(quoted(summary))'\n"
            }
            out +=
                "    )\n    if (( CURRENT == 2 )); then _describe verb verbs; return; fi\n    case \"$words[2] $words[3]\" in\n"
            for verb in verbs.sorted(by: { $0.name.count > $1.name.count }) {
                out += "        \"\(verb.name)\"*) _arguments"
                for option in verb.options + Verbs.everywhere {
                    let choices = option.choices.map { "(\($0.joined(separator: " ")))" }
                    let value = option.value.map { ":\(choices == nil ? $0 : option.name):\(choices ?? "_files")" }
                    out += " '--\(option.name)[\(quoted(option.help))]\(value ?? "")'"
                }
                if let seconds = groups[verb.name] { out += " '2:what:(\(seconds.joined(separator: " ")))'" }
                out += " '*:argument:_files' ;;\n"
            }
            for (name, seconds) in groups.sorted(by: { $0.key < $1.key }) where !firstsThatRun.contains(name) {
                out += "        \"\(name) \"*) _arguments '2:what:(\(seconds.joined(separator: " ")))' ;;\n"
            }
            return out + "    esac\n}\n_ringctl \"$@\"\n"
        default: return nil
        }
    }

    private static func quoted(_ text: String) -> String {
        text.map { $0 == "'" ? "’" : $0 == "[" ? "(" : $0 == "]" ? ")" : $0 == ":" ? "," : String($0) }.joined()
    }

    // MARK: Man page

    static func manual(_ verbs: [Verb]) -> String {
        var out = """
            .TH RINGCTL 1 "" "ringd" "User Commands"
            .SH NAME
            ringctl \\- make this desktop ring like a phone
            .SH SYNOPSIS
            .B ringctl
            .I VERB
            [OPTION]... [ARGUMENT]...
            .SH DESCRIPTION
            .B ringctl
            speaks with
            .BR ringd (1)
            over the session bus: it sends pushes, rings, answers, and shows what happened. Where a call is to be named,
            its id, the beginning of it, or the provider's own id will do; without one the only candidate is meant.
            .SH VERBS

            """
        for verb in verbs {
            // One line is a tag: name and arguments are on it.
            let takes =
                verb.takes.isEmpty ? ".B \(roff(verb.name))" : ".BI \"\(roff(verb.name)) \" \"\(roff(verb.takes))\""
            out += ".TP\n\(takes)\n\(roff(verb.summary))\n"
            for option in verb.options { out += ".RS\n.TP\n.B \(roff(label(option)))\n\(roff(option.help))\n.RE\n" }
            if !verb.details.isEmpty {
                let lines = verb.details.split(separator: "\n", omittingEmptySubsequences: false)
                out += ".RS\n.sp\n.nf\n\(lines.map { roff(String($0)) }.joined(separator: "\n"))\n.fi\n.sp\n.RE\n"
            }
            out += ".RS\nExample:\n.B \(roff(verb.example))\n.RE\n"
        }
        out += ".SH OPTIONS OF EVERY VERB\n"
        for option in Verbs.everywhere { out += ".TP\n.B \(roff(label(option)))\n\(roff(option.help))\n" }
        out += """
            .SH EXIT STATUS
            0 done; 1 refused, with the reason; 2 bad usage; 3 ringd is not reachable.
            .SH ENVIRONMENT
            .B NO_COLOR
            turns colours off; they appear on terminals only.
            .SH SEE ALSO
            .BR ringd (1),
            .BR ringd.conf (5)

            """
        return out
    }

    /// ringd.conf(5), from the table that reads the file.
    static var configManual: String {
        var out = """
            .TH RINGD.CONF 5 "" "ringd" "File Formats"
            .SH NAME
            ringd.conf \\- settings of ringd
            .SH SYNOPSIS
            .I $XDG_CONFIG_HOME/ringd/ringd.conf
            .SH DESCRIPTION
            Sections in brackets, key = value, comments behind # or ; at the beginning of a line. A wrong line is named in
            the journal and by
            .BR "ringctl config check" ;
            the rest is in force. Read at start and on reload
            .RB ( "ringctl config reload" ,
            .BR "systemctl \\-\\-user reload ringd" ).
            .SH SETTINGS

            """
        var section = ""
        for setting in Setting.all {
            if setting.section != section {
                section = setting.section
                out += ".SS [\(section)]\n"
            }
            out += ".TP\n.B \(roff(setting.key)) = \(roff(setting.expects))\n\(roff(setting.help))"
            out += " Default: \(roff(setting.words(Configuration()))).\n"
        }
        return out + """
            .PP
            A pattern is a telephone number or an address in which * stands for anything, e.g. +4930*, *@example.com or
            alice; the word anonymous is for callers without a number. How a number is written does not matter: blanks,
            dashes, dots and brackets count for nothing, a leading 00 is a +, and schemes as sip: and tel: are left out.
            .SS [app APP\\-ID]
            .TP
            .B name = TEXT
            What people call the app.
            .TP
            .B sound = NAME
            Its ringtone, if the push names none.
            .TP
            .B answer =, open =, call\\-back =, end =
            What Answer, a click on the notification, Call back, and Decline or hang\\-up do; one of:
            .RS
            .TP
            .B dbus [NAME [PATH [INTERFACE.METHOD]]]
            Calls the app over D\\-Bus, which starts it. Without a method: PerformAnswerCall(s uuid, a{sv} call) of
            org.ringd.ProviderDelegate1, after which the call is active until the app reports its end.
            .TP
            .B url TEMPLATE
            Opens a URL; its scheme is one of \(Handoff.schemes.joined(separator: ", ")). {id}, {key}, {caller}, {handle},
            {app} and {video} are replaced, percent\\-encoded. Behind a scheme, as in tel:{handle}, a handle stands without
            its own.
            .TP
            .B run PROGRAM [WORD ...]
            Runs a program by its whole path, without a shell. The call is in its environment: RINGD_ACTION, RINGD_ID,
            RINGD_KEY, RINGD_CALLER, RINGD_HANDLE, RINGD_APP, RINGD_VIDEO.
            .RE
            .TP
            .B busy = wait or busy
            What its call meets while another one is live: it waits, or is missed at once. Default: wait.
            .TP
            .B glare = wait, lesser\\-id or accept
            When it comes from whom the user is dialling: it waits; the call with the lesser id stays and is taken; or it
            is taken. Default: wait.
            .TP
            .B recall = yes or no
            A call from the peer of a live one ends that one, which the peer has lost. Default: no.
            .TP
            .B must\\-report = lenient or strict
            Whether a push that the app makes no call of is held against it. Default: lenient.
            .TP
            .B insist = no or MINUTES
            A call that nobody takes rings again half a minute later, and so on for so many minutes, until it is answered,
            declined or ended by its sender. Not for apps that take calls over D\\-Bus. Default: no.
            .TP
            .B dialect = auto or NAME
            The family that its payloads are of (ringctl dialects). Default: auto, found out for each push.
            .TP
            .B plain = yes or no
            Whether a payload that no dialect knows rings in the plain form: the alert's text is the caller. Default: yes.
            .SS [key KEY\\-ID]
            A key whose provider tokens are trusted beside ringd's own; KEY\\-ID is the kid of its tokens.
            .TP
            .B file = PATH
            The .p8 file, its public key, or a certificate with that key, as PEM. Needed.
            .TP
            .B team = TEAM\\-ID
            The iss that its tokens must have. Default: any.
            .TP
            .B environment = sandbox, production or both
            Where it may push. Default: both.
            .TP
            .B topics = BUNDLE\\-ID, ...
            A topic key's bundle ids. Default: all, as a team key has it.
            .TP
            .B related = KEY\\-ID
            The one key that may share a connection with a topic key.
            .SS [fault NAME]
            What is to go wrong on purpose, with pushes that fit; of several faults the first that fits.
            .TP
            .B token = HEX
            Those to a token that begins so. Default: all.
            .TP
            .B app = APP\\-ID
            Those to this app. Default: all.
            .TP
            .B every = N, times = N
            Every so many of them; no more than so many times.
            .TP
            .B do = FAULT, ...
            At most 8 of: \(roff(FaultAction.grammar)). Needed. A payload may ask for the same: {"ringd\\-fault": "delay 2"}.
            .SH EXAMPLE
            .nf
            [ring]
            raise = 5

            [app com.example.talk]
            name = Talk
            answer = url https://talk.example.com/join/{key}

            [key ABC123DEFG]
            file = /home/me/AuthKey_ABC123DEFG.p8

            [fault slow]
            app = com.example.talk
            every = 10
            do = delay 5, status 503 ServiceUnavailable
            .fi
            .SH SEE ALSO
            .BR ringd (1),
            .BR ringctl (1)

            """
    }

    private static func roff(_ text: String) -> String {
        let escaped = text.map { $0 == "\\" ? "\\e" : $0 == "-" ? "\\-" : String($0) }.joined()
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }
}
