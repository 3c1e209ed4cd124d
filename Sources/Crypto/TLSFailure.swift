internal import COpenSSL

/// Why a TLS session is over.
package struct TLSFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// What happened, for one who has to explain it.
    package enum Kind: Sendable, CaseIterable {
        /// The first bytes were an HTTP request.
        case plainHTTP
        /// The first bytes were no TLS at all.
        case notTLS
        /// The other side offers only versions that are too old.
        case oldVersion
        /// Both sides speak TLS and have no cipher, curve or signature in common.
        case nothingInCommon
        /// A client showed no certificate.
        case noCertificate
        /// Its certificate leads to none that we trust, or is otherwise not believed.
        case certificateRefused
        /// The other side does not believe our certificate: it said so in an alert.
        case ourCertificateRefused
        /// Another alert from the other side.
        case alert
        /// More bytes than a session may hold.
        case overflow
        /// Anything else; `reasons` says what.
        case broken
    }

    package let kind: Kind
    /// OpenSSL's own words, oldest first; may be empty.
    package let reasons: [String]

    package init(_ kind: Kind, reasons: [String] = []) {
        self.kind = kind
        self.reasons = reasons
    }

    package var description: String { reasons.isEmpty ? "\(kind)" : reasons.joined(separator: "; ") }

    /// From the error stack of the call that has just failed.
    static func fromStack() -> TLSFailure {
        let entries = ErrorStack.drain()
        let kind = entries.lazy.map { Self.kind(ofReason: $0.tlsReason) }.first { $0 != .broken } ?? .broken
        return TLSFailure(kind, reasons: entries.map(\.text))
    }

    private static func kind(ofReason reason: Int32) -> Kind {
        switch reason {
        case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST: .plainHTTP
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_BAD_PACKET_LENGTH, SSL_R_UNEXPECTED_MESSAGE: .notTLS
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION: .oldVersion
        case SSL_R_NO_SHARED_CIPHER, SSL_R_NO_SUITABLE_KEY_SHARE, SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM,
            SSL_R_NO_SUITABLE_GROUPS, SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS:
            .nothingInCommon
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: .noCertificate
        case SSL_R_CERTIFICATE_VERIFY_FAILED: .certificateRefused
        case SSL_R_TLSV1_ALERT_UNKNOWN_CA, SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN,
            SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE,
            SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
            .ourCertificateRefused
        // SSL_AD_REASON_OFFSET and above: an alert that came from the other side.
        case 1000...1255: .alert
        default: .broken
        }
    }
}
