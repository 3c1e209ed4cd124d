internal import Base
internal import Config
internal import Crypto
internal import JSON

extension Verbs {
    static let apnsVerbs = [
        Verb(
            name: "apns env", summary: "Variables that lead a shell's push senders here.",
            options: [.init(name: "shell", value: "sh|fish", help: "whose syntax; sh, if not given")],
            details: """
                HTTPS_PROXY leads Apple's push names to ringd's CONNECT door, which refuses
                every other host. The rest makes senders trust ringd's authority beside those
                of the system. Docs/apns.md has the ways for senders that heed no proxy, or
                need other hosts too. In a shell: eval "$(ringctl apns env)"

                To undo it: unset HTTPS_PROXY https_proxy SSL_CERT_FILE CURL_CA_BUNDLE \\
                    REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS
                """,
            example: "ringctl apns env --shell fish"
        ) { invocation, session throws(Refusal) in try SenderEnvironment.run(invocation, session) },
        Verb(
            name: "apns token", summary: "A provider token (JWT) for an hour: for curl.",
            options: PushVia.keyOptions,
            details: "With curl: -H \"authorization: bearer $(ringctl apns token)\"",
            example: "ringctl apns token --key AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ"
        ) { invocation, session throws(Refusal) in
            let token = try PushVia.providerToken(invocation, session)
            if session.isJSON { try session.say(.object(("token", .string(token)))) } else { try session.say(token) }
        },
    ]
}

/// `ringctl apns env`.
private enum SenderEnvironment {
    static func run(_ invocation: Invocation, _ session: Session) throws(Refusal) {
        let variables = try self.variables(session)
        if session.isJSON {
            return try session.say(.object(variables.map { JSONValue.Member($0.0, .string($0.1)) }))
        }
        switch invocation.options["shell"] ?? "sh" {
        case "sh": for (name, value) in variables { try session.say("export \(name)=\(quoted(value))") }
        case "fish": for (name, value) in variables { try session.say("set -gx \(name) \(quoted(value))") }
        default: throw .usage("apns env: --shell is sh or fish")
        }
    }

    private static func variables(_ session: Session) throws(Refusal) -> [(String, String)] {
        let configuration = try session.configuration()
        guard let door = configuration.apns.proxy.first else {
            throw .refused("there is no CONNECT door: ringctl config set apns.proxy 127.0.0.1:2199")
        }
        let host = door.host.contains(":") ? "[\(door.host)]" : door.host
        let proxy = "http://\(host):\(door.port)"
        let bundle: String
        do throws(CryptoFailure) {
            bundle = try Credentials(directory: session.certificates).bundlePath()
        } catch {
            throw .refused("\(error)")
        }
        // Each tool reads its own: curl and libcurl, Python and Go, requests, node, and the lower-case forms of the proxy.
        return [
            ("HTTPS_PROXY", proxy), ("https_proxy", proxy), ("SSL_CERT_FILE", bundle), ("CURL_CA_BUNDLE", bundle),
            ("REQUESTS_CA_BUNDLE", bundle), ("NODE_EXTRA_CA_CERTS", session.certificates + "/ca.pem"),
        ]
    }

    private static func quoted(_ text: String) -> String {
        let plain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: ":"),
                UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "["), UInt8(ascii: "]"):
                true
            default: false
            }
        }
        return plain
            ? text : "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
