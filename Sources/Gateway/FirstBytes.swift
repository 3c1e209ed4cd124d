/// What somebody speaks, told by the first bytes.
enum FirstBytes {
    /// How many bytes are looked at.
    static let limit = 24

    private static let verbs = [
        "GET ", "POST ", "PUT ", "HEAD ", "DELETE ", "OPTIONS ", "PATCH ", "CONNECT ", "TRACE ",
    ]

    /// Bytes before TLS: nil if they may be TLS (a handshake record, or an SSLv2 hello, which OpenSSL judges).
    static func beforeTLS(_ bytes: [UInt8]) -> ConnectionFault? {
        guard let first = bytes.first, first != 0x16, first & 0x80 == 0 else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        if text.hasPrefix("PRI * HTTP/2") {
            return ConnectionFault(
                "plain-http2", "spoke HTTP/2 without TLS to a TLS port; use https:// in the sender's address")
        }
        if verbs.contains(where: text.hasPrefix) {
            return ConnectionFault(
                "plain-http", "spoke plain HTTP to a TLS port; pushes are sent over TLS: use https:// in the address")
        }
        if first <= 2 {
            return ConnectionFault(
                "plain-binary",
                "sent binary pushes without TLS; write ssl:// in front of the address (PHP: "
                    + "stream_socket_client('ssl://127.0.0.1:2195', …))")
        }
        return nil
    }

    enum Speech {
        case http2
        case http1(ConnectionFault)
        case binary
        /// Not enough came to tell.
        case more
    }

    /// Bytes inside TLS. A command of the legacy protocol is 0, 1 or 2; what is neither that nor HTTP gets the legacy
    /// protocol's word for nonsense.
    static func insideTLS(_ bytes: [UInt8]) -> Speech {
        guard let first = bytes.first else { return .more }
        if first <= 2 { return .binary }
        let text = String(decoding: bytes.prefix(limit), as: UTF8.self)
        if text.hasPrefix("PRI ") { return .http2 }
        if "PRI ".hasPrefix(text) { return .more }
        if verbs.contains(where: text.hasPrefix) {
            return .http1(
                ConnectionFault(
                    "http1", "spoke HTTP/1.1; APNs speaks HTTP/2 only (curl: --http2, or --http2-prior-knowledge)"))
        }
        if verbs.contains(where: { $0.hasPrefix(text) }) { return .more }
        return .binary
    }

    /// What a client of HTTP/1.1 can show to its user.
    static let answerToHTTP1: [UInt8] = {
        let words = "This is an APNs gateway: it speaks HTTP/2 only. With curl: --http2\n"
        return Array(
            ("HTTP/1.1 505 HTTP Version Not Supported\r\ncontent-type: text/plain\r\n"
                + "content-length: \(words.utf8.count)\r\nconnection: close\r\n\r\n" + words).utf8)
    }()
}
