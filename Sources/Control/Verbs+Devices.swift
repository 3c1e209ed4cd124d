internal import Base
internal import DBus
internal import JSON

extension Verbs {
    static let deviceVerbs = [
        Verb(
            name: "device",
            summary: "This desktop, and emulated devices.",
            example: "ringctl device"
        ) { _, session throws(Refusal) in
            let devices = try session.registry("Devices").first?.elements ?? []
            if session.isJSON { return try session.say(.array(devices.map(\.json))) }
            let width = min(40, devices.map { $0["device"]?.text?.count ?? 0 }.max() ?? 0)
            for device in devices { try session.say(line(device, width, session.style)) }
        },
        Verb(
            name: "device add", takes: "NAME",
            summary: "Emulate a device: another user's phone.",
            options: [count("NAME-1 to NAME-N instead, at most 5000")],
            details: """
                It has tokens of its own for every app. Pushes to it are judged, kept and
                recorded, and ring nothing.
                """,
            example: "ringctl device add load --count 1000",
            count: 1...1
        ) { invocation, session throws(Refusal) in
            let count = try number(invocation)
            let added = try session.registry("AddDevices", [.string(invocation.arguments[0]), .uint32(count)]).first
            if session.isJSON { return try session.say(added?.json ?? .null) }
            let devices = added?["devices"]?.integer ?? 0
            try session.say(
                "\(devices) \(devices == 1 ? "device" : "devices") with \(added?["tokens"]?.integer ?? 0) tokens  (ringctl device tokens)"
            )
        },
        Verb(
            name: "device remove", takes: "NAME",
            summary: "Remove an emulated device: its tokens are dead.",
            options: [count("NAME-1 to NAME-N instead")], example: "ringctl device remove load --count 1000",
            count: 1...1
        ) { invocation, session throws(Refusal) in
            let count = try number(invocation)
            var removed: DBusValue?
            try session.naming(invocation.arguments[0]) { () throws(Refusal) in
                removed = try session.registry("RemoveDevices", [.string(invocation.arguments[0]), .uint32(count)])
                    .first
            }
            if session.isJSON { return try session.say(.object(("removed", removed?.json ?? 0))) }
            let gone = removed?.integer ?? 0
            try session.say("\(gone) \(gone == 1 ? "device is" : "devices are") gone")
        },
        Verb(
            name: "device offline", takes: "[NAME]",
            summary: "Take this desktop, or a device, off the network.",
            details: """
                Of each app's pushes the newest is kept until its expiration.
                """,
            example: "ringctl device offline", count: 0...1
        ) { invocation, session throws(Refusal) in
            try session.naming(invocation.arguments.first) { () throws(Refusal) in
                _ = try session.registry("SetOnline", [.string(invocation.arguments.first ?? ""), .bool(false)])
            }
            try session.done("\(invocation.arguments.first ?? "desktop") is offline  (ringctl device online)")
        },
        Verb(
            name: "device online", takes: "[NAME]",
            summary: "Bring it back: what was kept is delivered.",
            example: "ringctl device online", count: 0...1
        ) { invocation, session throws(Refusal) in
            let name = invocation.arguments.first ?? ""
            var count: Int64 = 0
            try session.naming(name) { () throws(Refusal) in
                count = try session.registry("SetOnline", [.string(name), .bool(true)]).first?.integer ?? 0
            }
            if session.isJSON { return try session.say(.object(("done", true), ("delivered", .integer(count)))) }
            let kept =
                count == 0 ? "nothing was waiting" : "\(count) \(count == 1 ? "push was" : "pushes were") delivered"
            try session.say("\(name.isEmpty ? "desktop" : name) is online; \(kept)")
        },
        Verb(
            name: "device tokens", takes: "[NAME]", summary: "Every token, one a line: for load tests.",
            options: [
                .init(name: "app", value: "APP-ID", help: "of this app"),
                .init(name: "kind", value: "voip|alert", help: "of this kind"),
                .init(name: "environment", value: "sandbox|production", help: "of this environment"),
            ], example: "ringctl device tokens --kind voip --environment production", count: 0...1
        ) { invocation, session throws(Refusal) in
            var filter: [DBusValue.Entry] = []
            for (name, known) in [
                ("app", []), ("kind", ["voip", "alert"]), ("environment", ["sandbox", "production"]),
            ] {
                guard let text = invocation.options[name] else { continue }
                guard known.isEmpty || known.contains(text) else {
                    throw .usage("device tokens: --\(name) is \(known.joined(separator: " or "))")
                }
                filter.append(.init(name, .string(text)))
            }
            if let device = invocation.arguments.first { filter.append(.init("device", .string(device))) }
            var next: Int64 = 0
            repeat {
                let reply = try session.registry("Tokens", [.dict(filter + [.init("skip", .int64(next))])])
                for token in reply.last?.elements ?? [] {
                    if session.isJSON {
                        try session.say(token.json)
                    } else {
                        let words = ["token", "kind", "environment", "app", "device"].map { token[$0]?.text ?? "" }
                        try session.say(words.joined(separator: " "))
                    }
                }
                next = reply.first?["next"]?.integer ?? 0
            } while next > 0
        },
    ]

    /// What stands for `name` where there is `name`-1 … `name`-N instead.
    static func series(_ name: String, among devices: [String]) -> String? {
        let numbers = devices.compactMap { device in
            device.hasPrefix(name + "-") ? Int(device.dropFirst(name.count + 1)) : nil
        }.filter { $0 > 0 }
        guard let first = numbers.min(), let last = numbers.max() else { return nil }
        let those = first == last ? "is \(name)-\(first)" : "are \(name)-\(first) … \(name)-\(last)"
        return "there is no device \(name); there \(those) (ringctl device)"
    }

    private static func count(_ help: String) -> Verb.Option { .init(name: "count", value: "N", help: help) }

    private static func number(_ invocation: Invocation) throws(Refusal) -> UInt32 {
        guard let text = invocation.options["count"] else { return 0 }
        guard let value = UInt32(text), (1...5000).contains(value) else {
            throw .usage("\(invocation.verb): --count is a number from 1 to 5000")
        }
        return value
    }

    private static func line(_ device: DBusValue, _ width: Int, _ style: Style) -> String {
        let isOnline = device["online"]?.flag ?? true
        let waiting = device["waiting"]?.integer ?? 0
        var out = Columns.fit(device["device"]?.text ?? "", width) + "  "
        out += isOnline ? "online   " : style(.yellow, "offline  ")
        out += "\(device["tokens"]?.integer ?? 0) tokens".rightPadded(to: 14)
        out += waiting > 0 ? "\(waiting) waiting" : device["rings"]?.flag == true ? "rings" : ""
        while out.last == " " { out.removeLast() }
        return out
    }
}

extension Session {
    /// Does `work`; where it is refused since `device` is the name of a whole series, says so.
    func naming(_ device: String?, _ work: () throws(Refusal) -> Void) throws(Refusal) {
        do throws(Refusal) { try work() } catch {
            guard error.status == 1, let device, !device.isEmpty, let list = try? registry("Devices").first?.elements
            else { throw error }
            let names = list.compactMap { $0["device"]?.text }
            guard !names.contains(device), let words = Verbs.series(Text.clean(device, limit: 64), among: names) else {
                throw error
            }
            throw .refused(words)
        }
    }
}
