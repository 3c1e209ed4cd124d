import Foundation
import JSON
import TestSupport
import Testing

/// Runs senders.
extension ClientDesk {
    /// What a sender is given beside the pushes.
    struct Manner {
        var way: Way
        /// The app whose client certificate it uses; nil: the provider key.
        var certificate: String?
        var variables: [String: String] = [:]

        init(_ way: Way, certificate: String? = nil, _ variables: [String: String] = [:]) {
            self.way = way
            self.certificate = certificate
            self.variables = variables
        }
    }

    /// What the sender told of each push.
    func send(_ sender: PushSender, _ manner: Manner, _ pushes: [Push]) throws -> [Report] {
        switch sender {
        case .curl: return try pushes.map { try curl(manner, $0) }
        case .phpCurl:
            return try reports(manner, php(manner) + [ClientPrograms.path("with_curl.php")], pushes.map(\.argument))
        case .phpStreams:
            return try reports(manner, php(manner) + [ClientPrograms.path("with_streams.php")], pushes.map(\.argument))
        case .aioapns, .pyapnsClient, .httpx, .kalyke, .mopyapns, .pushjack:
            let name = sender.rawValue.replacing("-", with: "_")
            return try reports(
                manner, [ClientPrograms.python(), ClientPrograms.path("with_\(name).py")],
                sender == .pushjack ? [Self.together(pushes)] : pushes.map(\.argument))
        }
    }

    /// One message to many, which is what pushjack sends.
    private static func together(_ pushes: [Push]) -> String {
        let call = pushes[0].call
        return JSONValue.object(
            ("alert", .string(call)), ("extra", .object(("callId", .string(call)), ("displayName", .string(call)))),
            ("tokens", .array(pushes.map { .string($0.token) }))
        ).encoded()
    }

    /// Token and time, in seconds, of each that the feedback service told the sender of.
    func feedback(_ sender: PushSender, _ manner: Manner) throws -> [(token: String, timestamp: Int64)] {
        var manner = manner
        var told: [JSONValue]
        if sender == .phpStreams {
            if manner.way == .parameters { manner.variables["PUSH_PORT"] = String(feedbackPort) }
            let line = php(manner) + [ClientPrograms.path("with_streams.php"), "feedback"]
            told = try lines(of: line, manner).first?["tokens"]?.items ?? []
        } else {
            told = try lines(of: [ClientPrograms.python(), ClientPrograms.path("with_pushjack.py")], manner)
        }
        return told.map { ($0["token"]?.string ?? "", $0["timestamp"]?.integer ?? 0) }
    }

    private func reports(_ manner: Manner, _ program: [String], _ arguments: [String]) throws -> [Report] {
        try lines(of: program + arguments, manner).map(Report.init)
    }

    private func lines(of line: [String], _ manner: Manner) throws -> [JSONValue] {
        let outcome = try execute(line, manner)
        let lines = try outcome.out.split(separator: "\n").map { try JSONValue.parse(Array($0.utf8)) }
        if lines.isEmpty && outcome.status != 0 {
            throw ToolFailed(line: "\(line): \(outcome.status) \(outcome.all)\n\(rig.log)")
        }
        return lines
    }

    /// By that way; a sender that hangs is ended.
    func execute(_ line: [String], _ manner: Manner) throws -> Outcome {
        var whole = ["timeout", "-k", "2", "60"]
        if manner.way == .network { whole += PrivateNetwork.enter(rig.daemon.pid) }
        whole += line
        return try attempt(
            whole[0], Array(whole.dropFirst()), environment: try environment(manner), isWhole: true)
    }

    private func environment(_ manner: Manner) throws -> [String: String] {
        var out = ["PATH": rig.environment["PATH"] ?? "", "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"]
        if let app = manner.certificate {
            let path: String = try #require(certificates[app])
            out["PUSH_CERTIFICATE"] = path
        } else {
            out.merge(key) { $1 }
        }
        switch manner.way {
        case .parameters:
            out["PUSH_HOST"] = "127.0.0.1"
            out["PUSH_PORT"] = String(manner.certificate == nil ? http2Port : binaryPort)
            out["PUSH_FEEDBACK_PORT"] = String(feedbackPort)
            out["PUSH_AUTHORITY"] = authority
            // For those that have no parameter for it.
            out["SSL_CERT_FILE"] = authority
        case .door:
            for member in try rig.ask("apns", "env").members ?? [] { out[member.name] = member.value.string }
        case .names:
            try rig.scratch.make(
                "hosts",
                Data(
                    "\(host) api.push.apple.com\n\(host) gateway.push.apple.com\n\(host) feedback.push.apple.com\n".utf8
                ))
            out["LD_PRELOAD"] = "libnss_wrapper.so"
            out["NSS_WRAPPER_HOSTS"] = rig.scratch.at("hosts")
            out["PUSH_ALTERNATIVE"] = "1"
            out["SSL_CERT_FILE"] = bundle
            out["CURL_CA_BUNDLE"] = bundle
        case .network:
            out["SSL_CERT_FILE"] = bundle
            out["CURL_CA_BUNDLE"] = bundle
        }
        return out.merging(manner.variables) { $1 }
    }

    /// PHP's curl heeds no variable for what to trust, but a setting.
    private func php(_ manner: Manner) -> [String] {
        manner.way == .parameters ? ["php"] : ["php", "-d", "curl.cainfo=\(bundle)"]
    }

    // MARK: curl

    /// Where curl finds the gateway.
    func url(_ way: Way) -> String {
        switch way {
        case .parameters: "https://127.0.0.1:\(http2Port)"
        case .door, .network: "https://api.push.apple.com"
        case .names: "https://api.push.apple.com:2197"
        }
    }

    /// As Apple's documentation has it; `more` for the rest of the line.
    func curl(_ manner: Manner, _ push: Push, _ more: [String] = ["--http2"], url: String? = nil) throws -> Report {
        var line = ["curl", "--silent", "--show-error", "--include"] + more
        if manner.way == .parameters { line += ["--cacert", authority] }
        if let app = manner.certificate {
            line += ["--cert", try #require(certificates[app])]
        } else {
            line += ["--header", "authorization: bearer \(try providerToken())"]
        }
        line += ["--header", "apns-topic: \(push.topic)", "--header", "apns-push-type: voip"]
        if let id = push.id { line += ["--header", "apns-id: \(id)"] }
        if let expiration = push.expiration { line += ["--header", "apns-expiration: \(expiration)"] }
        line += ["--data", push.payload.encoded(), "\(url ?? self.url(manner.way))/3/device/\(push.token)"]
        return Self.read(try execute(line, manner))
    }

    /// Made once, as a sender is to do.
    func providerToken() throws -> String {
        if let heldToken { return heldToken }
        let made = try TestSupport.run(
            ClientPrograms.path("provider-token"), ["PUSH_KEY", "PUSH_KEY_ID", "PUSH_TEAM_ID"].map { key[$0] ?? "" }
        ).trimmingCharacters(in: .whitespacesAndNewlines)
        heldToken = made
        return made
    }

    /// The last answer of `curl --include`; before it is that of a proxy.
    private static func read(_ outcome: Outcome) -> Report {
        let blocks = outcome.out.replacing("\r\n", with: "\n").components(separatedBy: "\n\n")
        let index = blocks.lastIndex { $0.hasPrefix("HTTP/") } ?? 0
        let head = blocks[index].split(separator: "\n").map(String.init)
        let words = head.first?.split(separator: " ").map(String.init) ?? []
        let body = blocks.dropFirst(index + 1).joined(separator: "\n\n")
        let status = words.count > 1 ? Int64(words[1]) : nil
        var members: [JSONValue.Member] = [.init("ok", .bool(status == 200)), .init("body", .string(body))]
        if let status { members.append(.init("status", .integer(status))) }
        if let version = words.first { members.append(.init("protocol", .string(version))) }
        if outcome.status != 0 { members.append(.init("fault", .string(outcome.complaint))) }
        for line in head.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let name = line[..<colon] == "apns-id" ? "id" : String(line[..<colon])
            members.append(.init(name, .string(line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))))
        }
        if let answer = try? JSONValue.parse(Array(body.utf8)) { members += answer.members ?? [] }
        return Report(.object(members))
    }
}
