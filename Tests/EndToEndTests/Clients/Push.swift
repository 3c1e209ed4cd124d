import JSON

/// A push that a sender is to send.
struct Push {
    var token: String
    var topic = Rig.app + ".voip"
    /// The provider's id of the call, and its caller.
    var call = ""
    var id: String?
    /// Nil: whatever the sender does by itself.
    var expiration: Int64? = 0
    /// Of the legacy protocol.
    var command = 2
    var identifier = 0

    init(_ token: String, _ call: String) {
        self.token = token
        self.call = call
    }

    var payload: JSONValue {
        .object(
            ("callId", .string(call)), ("displayName", .string(call)), ("aps", .object(("alert", .string(call)))))
    }

    /// What the programs of Tests/Clients take.
    var argument: String {
        var members: [JSONValue.Member] = [
            .init("token", .string(token)), .init("topic", .string(topic)), .init("payload", payload),
            .init("command", .integer(Int64(command))), .init("identifier", .integer(Int64(identifier))),
        ]
        if let id { members.append(.init("id", .string(id))) }
        if let expiration { members.append(.init("expiration", .integer(expiration))) }
        return JSONValue.object(members).encoded()
    }
}

/// What a sender told its user of a push.
struct Report {
    let isOK: Bool
    let status: Int64?
    let reason: String?
    let timestamp: Int64?
    let id: String?
    /// Of the legacy protocol's error packet.
    let identifier: Int64?
    let all: JSONValue

    init(_ line: JSONValue) {
        isOK = line["ok"]?.flag == true
        status = line["status"]?.integer
        reason = line["reason"]?.string
        timestamp = line["timestamp"]?.integer
        id = line["id"]?.string
        identifier = line["identifier"]?.integer
        all = line
    }
}
