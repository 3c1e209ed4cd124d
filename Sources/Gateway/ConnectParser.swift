internal import Base

/// Reads one CONNECT request (RFC 9112, 3.2.3) and holds it against the list of names that lead here. A value: it is fed
/// bytes and touches nothing.
package struct ConnectParser: Sendable {
    package struct Refusal: Sendable, Equatable {
        /// `405 Method Not Allowed`.
        package let status: String
        package let words: String

        package init(status: String, words: String) {
            self.status = status
            self.words = words
        }
    }

    package enum Outcome: Sendable, Equatable {
        case needMore
        case refused(Refusal)
        /// Name in lower case, port, and what came behind the request.
        case tunnel(name: String, port: UInt16, rest: [UInt8])
    }

    /// A request's head has at most this many bytes.
    package static let sizeLimit = 8192
    /// Where Apple's names were and are served.
    package static let ports: [UInt16] = [443, 2195, 2196, 2197]

    package static let names = [
        "api.push.apple.com", "api.sandbox.push.apple.com", "api.development.push.apple.com",
        "gateway.push.apple.com", "gateway.sandbox.push.apple.com", "feedback.push.apple.com",
        "feedback.sandbox.push.apple.com", "api-manage-broadcast.push.apple.com",
        "api-manage-broadcast.sandbox.push.apple.com",
    ]

    private var head: [UInt8] = []

    package init() {}

    package mutating func take(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        let known = max(0, head.count - 3)
        head.append(contentsOf: bytes)
        guard let end = Self.end(of: head, from: known) else {
            guard head.count <= Self.sizeLimit else {
                return refuse(
                    "431 Request Header Fields Too Large", "the request has more than \(Self.sizeLimit) bytes")
            }
            // Somebody who speaks TLS or binary pushes to this port is not kept waiting for a blank line.
            if let first = head.first, !(UInt8(ascii: "A")...UInt8(ascii: "z")).contains(first) {
                return refuse("400 Bad Request", "this port takes HTTP CONNECT only; pushes go to port 2197")
            }
            return .needMore
        }
        guard end <= Self.sizeLimit else {
            return refuse("431 Request Header Fields Too Large", "the request has more than \(Self.sizeLimit) bytes")
        }
        let line = String(decoding: head.prefix { $0 != 0x0d && $0 != 0x0a }, as: UTF8.self)
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else {
            return refuse("400 Bad Request", "this is no request of HTTP/1.1")
        }
        guard words[0] == "CONNECT" else {
            return refuse(
                "405 Method Not Allowed",
                "this door takes CONNECT to Apple's push names only, not \(Text.clean(words[0], limit: 16))")
        }
        // `UInt16` takes a plus.
        guard let colon = words[1].lastIndex(of: ":"), !words[1].contains("+"),
            let port = UInt16(words[1][words[1].index(after: colon)...])
        else {
            return refuse("400 Bad Request", "CONNECT is to name a host and a port")
        }
        var name = words[1][..<colon].lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        guard Self.names.contains(name), Self.ports.contains(port) else {
            return refuse(
                "403 Forbidden",
                "\(Text.clean(words[1], limit: 80)) is not reached through here: only Apple's push names on ports 443, 2195, 2196 and 2197 are (unset HTTPS_PROXY for the rest)"
            )
        }
        return .tunnel(name: name, port: port, rest: Array(head[end...]))
    }

    private func refuse(_ status: String, _ words: String) -> Outcome {
        .refused(Refusal(status: status, words: words))
    }

    /// Behind the blank line.
    private static func end(of head: [UInt8], from start: Int) -> Int? {
        var index = start
        while index + 1 < head.count {
            if head[index] == 0x0a && head[index + 1] == 0x0a { return index + 2 }
            if head[index] == 0x0d, index + 3 < head.count, head[index + 1] == 0x0a, head[index + 2] == 0x0d,
                head[index + 3] == 0x0a
            {
                return index + 4
            }
            index += 1
        }
        return nil
    }
}
