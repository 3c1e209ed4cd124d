internal import Base
internal import Crypto

/// What went wrong with a connection: a stable code for tools, and words with the cure for people.
struct ConnectionFault {
    let code: String
    /// Goes on from "127.0.0.1:51234 ".
    let words: String
    /// The library's own words, where there are any.
    var detail = ""
    var level = Event.Level.warning

    init(_ code: String, _ words: String, detail: String = "", level: Event.Level = .warning) {
        self.code = code
        self.words = words
        self.detail = detail
        self.level = level
    }

    init(_ failure: TLSFailure, authorityPath: String) {
        let (code, words) =
            switch failure.kind {
            case .plainHTTP:
                ("plain-http", "spoke plain HTTP to a TLS port; this port takes legacy binary pushes over TLS")
            case .notTLS: ("not-tls", "sent something that is not TLS")
            case .oldVersion:
                (
                    "old-tls",
                    "offers only TLS 1.1 or older; 1.2 and 1.3 are spoken here: update the sender, or do not pin its "
                        + "version (PHP option crypto_method)"
                )
            case .nothingInCommon: ("no-common-cipher", "speaks TLS, but shares no cipher, curve or signature with us")
            case .noCertificate:
                (
                    "no-certificate",
                    "sent no client certificate: PHP option local_cert, with certificate and key in one PEM file"
                )
            case .certificateRefused:
                ("certificate-refused", "sent a client certificate that none of the configured authorities issued")
            case .ourCertificateRefused:
                (
                    "not-trusted",
                    "does not trust this gateway's certificate: give it \(authorityPath) (PHP option cafile), and a "
                        + "host name that is in the certificate (PHP option peer_name)"
                )
            case .alert: ("tls-alert", "ended TLS with an alert")
            case .overflow: ("tls-overflow", "sent more than a TLS session may hold")
            case .broken: ("tls-broken", "broke TLS")
            }
        self.init(code, words, detail: failure.reasons.joined(separator: "; "))
    }
}
