internal import Base
internal import Config
internal import DBus
internal import JSON

extension Verbs {
    static let configVerbs = [
        Verb(
            name: "config", summary: "The settings in force.", example: "ringctl config"
        ) { _, session throws(Refusal) in
            let reply = try session.monitor("Configuration")
            let settings = reply.first?.elements ?? []
            if session.isJSON {
                return try session.say(
                    .object(("settings", .array(settings.map(\.json))), ("faults", reply.last?.json ?? .array([]))))
            }
            for setting in settings {
                let value = setting["value"]?.text ?? ""
                let isDefault = value == setting["default"]?.text
                let shown = (setting["key"]?.text ?? "").rightPadded(to: 32) + (setting["shown"]?.text ?? value)
                try session.say(isDefault ? session.style(.dim, shown) : shown)
            }
            for fault in reply.last?.elements?.compactMap(\.text) ?? [] {
                try session.say(session.style(.yellow, "! \(fault)"))
            }
        },
        Verb(
            name: "config check", takes: "[FILE]", summary: "Name every wrong line of a configuration.",
            example: "ringctl config check ~/.config/ringd/ringd.conf", count: 0...1
        ) { invocation, session throws(Refusal) in
            let path = invocation.arguments.first ?? session.configFile
            guard let text = try OutputFile.read(path) else {
                guard invocation.arguments.isEmpty else { throw .refused("there is no file \(path)") }
                return try session.done("\(path) is not there: every setting has its default")
            }
            let faults = try ConfigCheck(session).faults(in: text, of: path)
            if session.isJSON {
                try session.say(
                    .object(
                        (
                            "faults",
                            .array(
                                faults.map {
                                    .object(
                                        ("line", .integer(Int64($0.line))),
                                        ("key", $0.key.map(JSONValue.string) ?? .null),
                                        ("reason", .string($0.reason)))
                                })
                        )))
            } else if faults.isEmpty {
                try session.say("\(path): no faults")
            } else {
                for fault in faults {
                    try session.say("\(path): \(fault.line > 0 ? "\(fault)" : fault.reason)")
                }
            }
            if !faults.isEmpty { throw Refusal(status: 1, message: "") }
        },
        Verb(
            name: "config set", takes: "KEY VALUE", summary: "Change a setting in the file and put it in force.",
            example: "ringctl config set sound.volume 60", count: 2...2
        ) { invocation, session throws(Refusal) in
            let key = invocation.arguments[0]
            let value = invocation.arguments[1]
            let when = try session.edit { Configuration.edit($0, set: key, to: value) }
            try session.done("\(key) = \(value), \(when.words)")
        },
        Verb(
            name: "config unset", takes: "KEY", summary: "Take a setting out of the file, for its default.",
            example: "ringctl config unset sound.volume", count: 1...1
        ) { invocation, session throws(Refusal) in
            let key = invocation.arguments[0]
            let when = try session.edit { Configuration.edit($0, unset: key) }
            let usual = "\(key) = \(Setting.all.first { $0.name == key }?.words(Configuration()) ?? ""), the default"
            try session.done(when == .unchanged ? "\(usual): it was not set" : "\(usual), \(when.words)")
        },
        Verb(
            name: "config reload", summary: "Put an edited file in force; name what is wrong.",
            example: "ringctl config reload"
        ) { _, session throws(Refusal) in
            let reply = try session.call("org.ringd.Monitor1", "Reload", startsDaemon: false)
            let faults = reply.first?.elements?.compactMap(\.text) ?? []
            if session.isJSON {
                try session.say(.object(("faults", .array(faults.map(JSONValue.string)))))
            } else {
                for fault in faults { try session.say(session.style(.yellow, "! \(fault)")) }
                try session.say(
                    faults.isEmpty
                        ? "read again and in force: no faults"
                        : "read again: \(faults.count) \(faults.count == 1 ? "fault" : "faults"), the rest is in force")
            }
            if !faults.isEmpty { throw Refusal(status: 1, message: "") }
        },
    ]
}

extension Session {
    /// When an edit of the configuration counts.
    enum Force {
        case now
        /// ringd is not running.
        case laterOn
        /// It says what it said before.
        case unchanged

        var words: String {
            switch self {
            case .now: "in force"
            case .laterOn: "from the next start on (ringd is not running)"
            case .unchanged: "as before"
            }
        }
    }

    /// Changes the configuration's text and puts it in force; the file is written whole or not at all.
    func edit(_ change: (String) -> Result<String, ConfigFault>) throws(Refusal) -> Force {
        let old = try OutputFile.read(configFile)
        let edited: String
        switch change(old ?? "") {
        case .success(let text): edited = text
        case .failure(let fault): throw .refused(fault.reason)
        }
        // Set to what it is: the file is read again all the same, since somebody may have edited it by hand.
        if edited != old {
            guard old != nil || !edited.isEmpty else { return .unchanged }
            OutputFile.makeFolder(of: configFile)
            try OutputFile.write(edited, to: configFile)
        }
        do throws(Refusal) {
            _ = try monitor("Reload")
            return edited == old ? .unchanged : .now
        } catch {
            guard error.status == 3 else { throw error }
            return edited == old ? .unchanged : .laterOn
        }
    }
}
