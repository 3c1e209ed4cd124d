internal import Base
internal import Crypto
internal import JSON
internal import Sender

/// `ringctl push --via http2|binary`: the sender's side of APNs, to ringd's gateway or to any other, Apple's too.
struct PushVia {
    /// What is to be sent, whatever the way.
    struct Content {
        /// Hexadecimal.
        var token: String
        /// For the topic, if none is given.
        var app: String?
        var payload: [UInt8]
        /// From an `.apns` file; options win over them.
        var headers: [(name: String, value: String)] = []
    }

    let invocation: Invocation
    let session: Session
    let content: Content
    let isBinary: Bool
    let address: GatewayAddress

    init(_ invocation: Invocation, _ session: Session, _ content: Content) throws(Refusal) {
        self.invocation = invocation
        self.session = session
        self.content = content
        isBinary = invocation.options["via"] == "binary"
        let text = invocation.options["gateway"] ?? "localhost"
        guard
            let address = GatewayAddress(
                text, defaultPort: isBinary ? 2195 : Text.offset(of: "apple.com", in: text) == nil ? 2197 : 443)
        else {
            throw .usage("push: --gateway is HOST or HOST:PORT, not \"\(Text.clean(text, limit: 60))\"")
        }
        self.address = address
    }

    func run() throws(Refusal) {
        if let text = invocation.options["bench"] {
            guard let count = Int(text), (1...10_000_000).contains(count) else {
                throw .usage("push: --bench takes a number of pushes, 1…10000000")
            }
            try PushBench(via: self, count: count).run()
        } else if isBinary {
            try sendBinary()
        } else {
            try sendHTTP2()
        }
    }

    // MARK: HTTP/2

    private func sendHTTP2() throws(Refusal) {
        let sender = try http2()
        let headers = try self.headers()
        var answer: HTTP2Sender.Answer?
        try Self.sending { () throws(SendFailure) in
            try sender.push(path: path, headers: headers, payload: content.payload) { answer = $0 }
            try sender.finish()
        }
        sender.close()
        try tell(answer ?? HTTP2Sender.Answer())
    }

    var path: String { "/3/device/" + content.token }

    func http2() throws(Refusal) -> HTTP2Sender {
        let channel = try channel()
        return try Self.sending { () throws(SendFailure) in try HTTP2Sender(channel) }
    }

    private func tell(_ answer: HTTP2Sender.Answer) throws(Refusal) {
        let reason = (try? JSONValue.parse(answer.body))?["reason"]?.string
        if session.isJSON {
            var members: [JSONValue.Member] = [
                .init("status", .integer(Int64(answer.status))), .init("apns-id", .string(answer.id)),
            ]
            if !answer.uniqueID.isEmpty { members.append(.init("apns-unique-id", .string(answer.uniqueID))) }
            if let reason { members.append(.init("reason", .string(reason))) }
            if let time = (try? JSONValue.parse(answer.body))?["timestamp"] { members.append(.init("timestamp", time)) }
            if !answer.fault.isEmpty { members.append(.init("fault", .string(answer.fault))) }
            members.append(.init("microseconds", .integer(answer.time.nanoseconds / 1000)))
            try session.say(.object(members))
        }
        if answer.status == 200 {
            if !session.isJSON {
                try session.say(
                    "\(session.style(.green, "200")) accepted in \(answer.time.shortText), apns-id \(answer.id)")
            }
            return
        }
        let words = answer.fault.isEmpty ? "\(answer.status) \(reason ?? answer.body)" : answer.fault
        let hint =
            address.isLoopback && answer.status != 0 ? " (why: ringctl push show \(answer.id))" : ""
        throw Refusal(status: 1, message: session.isJSON ? "" : "refused: \(words)\(hint)")
    }

    /// `apns-*` and `authorization`: from the file, then from options, then what a call wants.
    func headers() throws(Refusal) -> [(name: String, value: String)] {
        var all = content.headers
        func set(_ name: String, _ value: String) {
            all.removeAll { $0.name == name }
            all.append((name, value))
        }
        func has(_ name: String) -> Bool { all.contains { $0.name == name } }
        for (option, header) in [
            ("topic", "apns-topic"), ("push-type", "apns-push-type"), ("apns-id", "apns-id"),
            ("priority", "apns-priority"), ("collapse-id", "apns-collapse-id"),
        ] {
            if let value = invocation.options[option] { set(header, value) }
        }
        let expiration = invocation.options["expiration"]
        if let expiration, expiration != "none" { set("apns-expiration", try Self.expiration(expiration)) }
        if !has("apns-topic"), let app = content.app { set("apns-topic", app + ".voip") }
        if !has("apns-push-type") {
            let isVoIP = all.contains { $0.name == "apns-topic" && $0.value.hasSuffix(".voip") }
            set("apns-push-type", isVoIP ? "voip" : "alert")
        }
        if expiration == "none" {
            all.removeAll { $0.name == "apns-expiration" }
        } else if !has("apns-expiration") {
            set("apns-expiration", "0")
        }
        if !has("apns-priority") { set("apns-priority", "10") }
        if invocation.options["cert"] == nil { set("authorization", "bearer " + (try providerToken())) }
        return all
    }

    /// `+30` is thirty seconds from now. What is no number goes as it is: the gateway's word on it is what one may want.
    static func expiration(_ text: String) throws(Refusal) -> String {
        guard text.hasPrefix("+") else { return text }
        guard let ahead = Int64(text.dropFirst()), (0..<1_000_000_000).contains(ahead) else {
            throw .usage("push: --expiration is a number of seconds since 1970, or +SECONDS")
        }
        return String(WallTime.now.seconds + ahead)
    }

    // MARK: Binary

    private func sendBinary() throws(Refusal) {
        let notification = try self.notification()
        let sender = BinarySender(try channel())
        try Self.sending { () throws(SendFailure) in
            try sender.send(notification)
            // Success is silence: a refusal comes at once, if it comes.
            try sender.listen(.milliseconds(500))
        }
        let refusal = sender.refusal
        let isCut = sender.isEnded
        sender.close()
        if session.isJSON {
            var members: [JSONValue.Member] = [.init("status", .integer(Int64(refusal?.status ?? 0)))]
            if let refusal {
                members += [
                    .init("identifier", .integer(Int64(refusal.identifier))), .init("reason", .string(refusal.words)),
                ]
            }
            members.append(.init("cut", .bool(isCut)))
            try session.say(.object(members))
        }
        if let refusal {
            throw Refusal(
                status: 1, message: session.isJSON ? "" : "refused: status \(refusal.status), \(refusal.words)")
        }
        if isCut {
            let why =
                notification.command == 0
                ? "with command 0 that is its way of refusing" : "without an error packet, so nobody knows what it took"
            throw Refusal(status: 1, message: session.isJSON ? "" : "the gateway cut the line: \(why)")
        }
        if !session.isJSON { try session.say("sent; no error came back, which is all that this protocol says") }
    }

    func notification() throws(Refusal) -> BinarySender.Notification {
        guard let token = Hex.bytes(content.token), token.count <= 65_535, content.payload.count <= 65_535 else {
            throw .usage("push: the token is to be hexadecimal")
        }
        func number<N: FixedWidthInteger>(_ option: String, _ usual: N) throws(Refusal) -> N {
            guard let text = invocation.options[option] else { return usual }
            guard let value = N(text) else { throw .usage("push: --\(option) is a number from 0 to \(N.max)") }
            return value
        }
        let expiration = try invocation.options["expiration"].map { text throws(Refusal) in
            guard let seconds = UInt32(try Self.expiration(text)) else {
                throw Refusal.usage("push: by the binary protocol, --expiration is a number from 0 to \(UInt32.max)")
            }
            return seconds
        }
        let command: UInt8 = try number("command", 2)
        guard command <= 2 else { throw .usage("push: --command is 0, 1 or 2") }
        return BinarySender.Notification(
            command: command, token: token, payload: content.payload, identifier: try number("identifier", 1),
            expiration: expiration ?? 0, priority: try number("priority", 10))
    }

    // MARK: Who we are, and whom we trust

    func channel() throws(Refusal) -> Channel {
        let context = try context()
        let channel = try Self.sending { () throws(SendFailure) in
            try Channel(address, name: invocation.options["server-name"], context: context)
        }
        return channel
    }

    private func context() throws(Refusal) -> TLSContext {
        do {
            var trusted: [Certificate] = []
            if let path = invocation.options["ca"] {
                trusted = try Certificate.all(pem: try InputFile.read(path, limit: 1 << 20))
            } else if address.isLoopback {
                trusted = [try credentials().authority.certificate]
            }
            return try .client(try identity(), trusting: trusted, isHTTP2: !isBinary)
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw .refused("\(error)")
        }
    }

    private func credentials() throws -> Credentials { try Credentials(directory: session.certificates) }

    private func identity() throws -> Identity? {
        var path = invocation.options["cert"]
        if path == nil && isBinary {
            // The legacy protocol knows senders by certificate alone: an app of ours has one.
            guard let app = content.app else {
                throw Refusal.usage("push: --via binary needs --cert FILE, or --app of a registered app")
            }
            path = try credentials().voipClient(app: app)
        }
        guard let path else { return nil }
        var material = KeyMaterial()
        let password = try invocation.options["password-file"].map { file throws(Refusal) in
            try InputFile.password(file)
        }
        _ = try material.add(
            try InputFile.read(path, limit: KeyMaterial.sizeLimit), file: path, passwords: password.map { [$0] } ?? [])
        return try material.identity()
    }

    private func providerToken() throws(Refusal) -> String { try Self.providerToken(invocation, session) }

    /// A provider token of this moment: by the key that the options name, or ringd's own.
    static func providerToken(_ invocation: Invocation, _ session: Session) throws(Refusal) -> String {
        do {
            var keyID = invocation.options["key-id"]
            var teamID = invocation.options["team-id"]
            var path = invocation.options["key"]
            if let path {
                let name = path.split(separator: "/").last.map(String.init) ?? path
                if keyID == nil, name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") {
                    keyID = String(name.dropFirst(8).dropLast(3))
                }
            } else {
                let own = try Credentials(directory: session.certificates).providerKey()
                path = own.path
                keyID = keyID ?? own.keyID
                teamID = teamID ?? own.teamID
            }
            guard let keyID, let teamID, let path else {
                throw Refusal.usage("\(invocation.verb): --key needs --key-id and --team-id (10 characters each)")
            }
            return try ProviderTokenWriter.token(
                key: try SigningKey(pem: try InputFile.read(path, limit: 65_536)), keyID: keyID, teamID: teamID,
                issuedAt: WallTime.now.seconds)
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw .refused("the provider token cannot be made: \(error)")
        }
    }

    static func sending<R>(_ work: () throws(SendFailure) -> R) throws(Refusal) -> R {
        do throws(SendFailure) { return try work() } catch { throw .refused(error.description) }
    }
}

extension PushVia {
    static let keyOptions: [Verb.Option] = [
        .init(name: "key", value: "FILE", help: "provider key (.p8); ringd's own, if not given"),
        .init(name: "key-id", value: "ID", help: "10 characters; from the name, if the file is AuthKey_ID.p8"),
        .init(name: "team-id", value: "ID", help: "10 characters"),
    ]

    /// Options that mean nothing by D-Bus: who gives one means a gateway.
    static func isMeant(_ invocation: Invocation) -> Bool {
        let onlyHere = ["topic", "push-type", "apns-id"] + (options + PushBench.options).map(\.name)
        return onlyHere.contains { $0 != "via" && invocation.has($0) }
    }

    static let options = Verb.Option.under(
        "By which way",
        [
            .init(
                name: "via", value: "bus|http2|binary", help: "to ringd by D-Bus, or to a gateway by either protocol"),
            .init(
                name: "gateway", value: "HOST[:PORT]", help: "localhost:2197 (http2) or :2195 (binary), if not given"),
            .init(name: "server-name", value: "NAME", help: "whose certificate is wanted, if not HOST's"),
            .init(name: "ca", value: "FILE", help: "whom to trust: ringd's ca.pem on this computer, else the system's"),
        ] + keyOptions + [
            .init(name: "cert", value: "FILE", help: "client certificate and key (.pem, .p12), instead of a key"),
            .init(name: "password-file", value: "FILE|-", help: "what --cert is encrypted with, on its first line"),
            .init(name: "command", value: "0|1|2", help: "the binary protocol's; 2, if not given"),
            .init(name: "identifier", value: "N", help: "the binary protocol's number for it"),
        ])
}
