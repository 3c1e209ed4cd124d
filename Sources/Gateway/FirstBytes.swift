/// What somebody speaks who does not speak what the port wants, told by the first bytes.
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
                "plain-http",
                "spoke plain HTTP to a TLS port; this port takes legacy binary pushes over TLS, not web requests")
        }
        if first <= 2 {
            return ConnectionFault(
                "plain-binary",
                "sent binary pushes without TLS; write ssl:// in front of the address (PHP: "
                    + "stream_socket_client('ssl://127.0.0.1:2195', …))")
        }
        return nil
    }

    /// Bytes inside TLS: nil if they may be the legacy protocol.
    static func insideTLS(_ bytes: [UInt8]) -> ConnectionFault? {
        guard let first = bytes.first, first > 2 else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        if text.hasPrefix("PRI") {
            return ConnectionFault(
                "http2-not-binary", "spoke HTTP/2 to the legacy binary port; this port takes commands 0, 1 and 2 only")
        }
        if verbs.contains(where: text.hasPrefix) {
            return ConnectionFault(
                "http-not-binary", "spoke HTTP/1 to the legacy binary port; this port takes commands 0, 1 and 2 only")
        }
        return nil
    }
}
