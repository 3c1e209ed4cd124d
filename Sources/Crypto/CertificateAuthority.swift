package import Base
internal import COpenSSL

/// A certificate authority for this machine alone: it vouches for our gateway to senders, and makes VoIP certificates
/// that look like Apple's.
///
/// Its name constraints let it speak for loopback and Apple's push names only, so that a user who trusts it in a
/// browser or a system store has given nothing else away.
package final class CertificateAuthority {
    package let certificate: Certificate
    let key: PrivateKey

    /// Every name that a sender may believe it speaks to: loopback, and Apple's hosts of both protocols (apns.md 4.3).
    package static let serverNames = [
        "localhost", "gateway.push.apple.com", "gateway.sandbox.push.apple.com", "api.push.apple.com",
        "api.sandbox.push.apple.com", "api.development.push.apple.com", "feedback.push.apple.com",
        "feedback.sandbox.push.apple.com", "api-manage-broadcast.push.apple.com",
        "api-manage-broadcast.sandbox.push.apple.com",
    ]

    /// The addresses of loopback, which it speaks to besides.
    package static let serverAddresses = ["127.0.0.1", "::1"]

    /// Fails with `.keyMismatch` if the key is not the certificate's.
    init(certificate: Certificate, key: PrivateKey) throws(CryptoFailure) {
        guard certificate.matches(key) else {
            throw CryptoFailure(.keyMismatch, "the authority's key does not belong to its certificate")
        }
        self.certificate = certificate
        self.key = key
    }

    /// A new certificate on `key` (P-256), valid for ten years.
    static func make(key: PrivateKey, now: WallTime) throws(CryptoFailure) -> CertificateAuthority {
        let request = CertificateRequest(
            subject: [("O", "ringd"), ("CN", "ringd local authority")],
            notBefore: now.adding(hours: -1), notAfter: now.adding(days: 3652),
            extensions: [
                (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
                (NID_key_usage, "critical,keyCertSign,cRLSign"),
                (NID_subject_key_identifier, "hash"),
                (
                    NID_name_constraints,
                    "critical,permitted;DNS:localhost,permitted;DNS:push.apple.com,"
                        + "permitted;IP:127.0.0.0/255.0.0.0,"
                        + "permitted;IP:::1/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
                ),
            ])
        return try CertificateAuthority(certificate: try request.sign(key: key, issuer: nil), key: key)
    }

    /// The gateway's own identity: P-256, all of `serverNames` and both loopback addresses, 396 days (clients refuse
    /// more than 397).
    package func makeServer(now: WallTime = .now) throws(CryptoFailure) -> Identity {
        let names = Self.serverNames.map { "DNS:" + $0 } + Self.serverAddresses.map { "IP:" + $0 }
        let request = CertificateRequest(
            subject: [("O", "ringd"), ("CN", "localhost")],
            notBefore: now.adding(hours: -1), notAfter: now.adding(days: 396),
            extensions: Self.leaf(usage: "serverAuth") + [(NID_subject_alt_name, names.joined(separator: ","))])
        return try issue(request)
    }

    /// A VoIP client certificate for `app`, as Apple makes them (`ClientCertificateProfile.voip`).
    package func makeVoIPClient(
        app: String, teamID: String? = nil, now: WallTime = .now
    ) throws(CryptoFailure) -> Identity {
        try makeClient(.voip(app: app, teamID: teamID, now: now))
    }

    /// A client certificate on a new P-256 key that says what `profile` says. Throws `.appID` for an app or a topic that
    /// is none.
    package func makeClient(_ profile: ClientCertificateProfile) throws(CryptoFailure) -> Identity {
        try issue(
            CertificateRequest(
                subject: profile.subject, notBefore: profile.notBefore, notAfter: profile.notAfter,
                extensions: Self.leaf(usage: "clientAuth"), rawExtensions: try profile.extensions()))
    }

    private func issue(_ request: CertificateRequest) throws(CryptoFailure) -> Identity {
        let leafKey = try PrivateKey.makeP256()
        let leaf = try request.sign(key: leafKey, issuer: (certificate, key))
        return try Identity(certificate: leaf, key: leafKey)
    }

    private static func leaf(usage: String) -> [(nid: Int32, value: String)] {
        [
            (NID_basic_constraints, "critical,CA:FALSE"),
            (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, usage),
            (NID_subject_key_identifier, "hash"),
            (NID_authority_key_identifier, "keyid"),
        ]
    }
}

extension WallTime {
    func adding(days: Int64 = 0, hours: Int64 = 0) -> WallTime {
        WallTime(nanoseconds: nanoseconds + (days * 24 + hours) * 3_600_000_000_000)
    }
}
