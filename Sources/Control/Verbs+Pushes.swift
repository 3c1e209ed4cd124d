internal import Base
internal import DBus
internal import Glibc
internal import JSON

extension Verbs {
    static let pushVerbs = [
        Verb(
            name: "push", takes: "[FILE.apns]", summary: "Send a push, as a gateway would deliver it.",
            options: [
                .init(name: "app", value: "APP-ID", help: "to this app's VoIP token"),
                .init(name: "token", value: "HEX", help: "to this token"),
                .init(name: "device", value: "NAME", help: "to the app's token on this device (ringctl device)"),
                .init(name: "environment", value: "sandbox|production", help: "as at this door"),
                .init(
                    name: "expiration", value: "SECONDS",
                    help: "apns-expiration: since 1970, or +SECONDS from now; 0 is never kept"),
                .init(name: "priority", value: "10|5|1", help: "apns-priority"),
                .init(name: "collapse-id", value: "TEXT", help: "apns-collapse-id"),
                .init(name: "payload", value: "FILE|-", help: "the JSON payload"),
                .init(name: "caller", value: "NAME", help: "a ready-made call of this caller"),
                .init(name: "handle", value: "HANDLE", help: "… with this number or address"),
                .init(name: "video", help: "… with video"),
                .init(name: "sound", value: "NAME", help: "… with this sound"),
                .init(name: "id", value: "ID", help: "… with this call id"),
                .init(name: "time", value: "SECONDS", help: "… ringing this long"),
                .init(name: "cancel", help: "a push that cancels the call --id"),
            ], example: "ringctl push --app com.example.talk --caller Alice --id 42", count: 0...1
        ) { invocation, session throws(Refusal) in try Push.run(invocation, session) }
    ]
}

/// `ringctl push`.
private enum Push {
    static func run(_ invocation: Invocation, _ session: Session) throws(Refusal) {
        var target = invocation.options["token"] ?? invocation.options["app"]
        let payload: String
        if let file = invocation.arguments.first ?? invocation.options["payload"] {
            payload = try read(file)
            // The key that `xcrun simctl push` reads, too.
            if target == nil, let json = try? JSONValue.parse(payload) {
                target = json["Simulator Target Bundle"]?.string
            }
        } else {
            payload = try readyMade(invocation).encoded()
        }
        guard let target else { throw .usage("push: say to whom: --app APP-ID or --token HEX (ringctl apps)") }
        var options: [DBusValue.Entry] = []
        for name in ["environment", "device", "priority", "collapse-id"] {
            if let text = invocation.options[name] { options.append(.init(name, .string(text))) }
        }
        if let text = invocation.options["expiration"] {
            options.append(.init("expiration", .string(try expiration(text))))
        }
        let reply = try session.monitor("Push", [.string(target), .bytes(Array(payload.utf8)), .dict(options)]).first
        if session.isJSON { return try session.say(reply?.json ?? .null) }
        let call = reply?["call"]?.text.map { ": \($0.prefix(8))" } ?? ""
        let word = reply?["outcome"]?.text ?? "accepted"
        let words = PushWords.outcome(word) ?? reply?["detail"]?.text ?? word
        try session.say("push \(reply?["push"]?.integer ?? 0): \(words)\(call)")
        for advice in reply?["findings"]?.elements?.compactMap(\.text) ?? [] where advice != words {
            try session.say(session.style(.dim, "  · \(advice)"))
        }
    }

    /// `+30` is thirty seconds from now. What is no number goes as it is: the gateway's word on it is what one may want.
    private static func expiration(_ text: String) throws(Refusal) -> String {
        guard text.hasPrefix("+") else { return text }
        guard let ahead = Int64(text.dropFirst()), ahead < 1_000_000_000 else {
            throw .usage("push: --expiration is a number of seconds since 1970, or +SECONDS")
        }
        return String(WallTime.now.seconds + ahead)
    }

    private static func readyMade(_ invocation: Invocation) throws(Refusal) -> JSONValue {
        let isCancel = invocation.has("cancel")
        guard isCancel || invocation.has("caller") else {
            throw .usage("push: say what: --caller NAME, --cancel, --payload FILE, or a .apns file")
        }
        if isCancel && invocation.options["id"] == nil { throw .usage("push: --cancel needs the call's --id") }
        var members: [JSONValue.Member] = []
        if let id = invocation.options["id"] { members.append(.init("callId", .string(id))) }
        if isCancel { members.append(.init("cancel", true)) }
        if let caller = invocation.options["caller"] { members.append(.init("displayName", .string(caller))) }
        if let handle = invocation.options["handle"] { members.append(.init("handle", .string(handle))) }
        if invocation.has("video") { members.append(.init("video", true)) }
        if let text = invocation.options["time"] {
            guard let seconds = Double(text), seconds > 0 else {
                throw .usage("push: --time is a number of seconds, not \"\(Text.clean(text, limit: 40))\"")
            }
            members.append(.init("ttl", .real(seconds)))
        }
        var aps: [JSONValue.Member] = []
        if let sound = invocation.options["sound"] { aps.append(.init("sound", .string(sound))) }
        members.append(.init("aps", .object(aps)))
        return .object(members)
    }

    /// A file, or stdin for `-`; a push is small, so reading ends at 64 KiB.
    private static func read(_ file: String) throws(Refusal) -> String {
        let fd = file == "-" ? 0 : open(file, O_RDONLY | O_CLOEXEC)
        guard fd >= 0 else { throw .refused("cannot read \(file): \(String(cString: strerror(errno)))") }
        defer { if fd > 0 { close(fd) } }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 8192)
        while bytes.count < 65_536 {
            let count = Glibc.read(fd, &chunk, chunk.count)
            guard count >= 0 else { throw .refused("cannot read \(file): \(String(cString: strerror(errno)))") }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(contentsOf: chunk[..<count])
        }
        throw .refused("\(file) is larger than any push: at most 5120 bytes")
    }
}
