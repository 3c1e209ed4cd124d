package import Base
package import Crypto

/// A connection's standing: who sends, and what it has shown so far. For the loop that owns it.
package final class Sender {
    /// Counts connections, from 1.
    package let number: UInt64
    package let peer: String
    package let environment: PushEnvironment
    package let certificate: PeerCertificate?
    package let opened: Instant
    /// Pushes so far.
    package var pushes = 0

    // Token auth: bound by the first push that was taken (apns.md 1.5).
    var shown: [UInt8] = []
    var token: ProviderToken?
    var tokenSince: Instant?
    /// Of the keys that `token` was checked with.
    var generation = 0
    var boundTeam: String?
    var boundKey: ProviderKey?
    /// What the certificate says, looked at once.
    let certificateFinding: Finding?
    let topics: [[UInt8]]
    let defaultTopic: [UInt8]
    /// For the record: what it has shown of itself.
    private(set) var credentials: [UInt8]

    package init(
        number: UInt64, peer: String, environment: PushEnvironment, certificate: PeerCertificate?, now: Instant = .now,
        wall: WallTime = .now
    ) {
        self.number = number
        self.peer = peer
        self.environment = environment
        self.certificate = certificate
        opened = now
        topics = certificate?.topics.map { Array($0.utf8) } ?? []
        // Several topics in extension .6: the sender must say which.
        let isUniversal = (certificate?.topicKinds.count ?? 0) > 1
        defaultTopic = isUniversal ? [] : Array((certificate?.userID ?? certificate?.topics.first ?? "").utf8)
        credentials = Array((certificate.map { "certificate \($0.commonName ?? $0.subject)" } ?? "").utf8)
        if let certificate, certificate.notAfter < wall {
            certificateFinding = Finding(
                "certificate-ended", .badCertificate,
                "the client certificate ended on \(certificate.notAfter.formatted("%Y-%m-%d")): renew it")
        } else if let certificate, certificate.notBefore > wall {
            certificateFinding = Finding(
                "certificate-early", .badCertificate,
                "the client certificate begins on \(certificate.notBefore.formatted("%Y-%m-%d")): check the clock")
        } else {
            certificateFinding = nil
        }
    }

    /// Whose connection it is: by the certificate, else the last provider token's key; empty while neither is known.
    var identity: String {
        if let certificate { return Hex.text(certificate.fingerprint) }
        return token.map { $0.team + "." + $0.key.id } ?? ""
    }

    /// True once a push with a valid provider token was taken.
    package var isAuthenticated: Bool { boundTeam != nil || certificate != nil }

    func show(_ token: ProviderToken, _ authorization: Bytes, at now: Instant) {
        shown = Array(authorization)
        self.token = token
        tokenSince = now
        credentials = token.words
    }

    func bind(_ token: ProviderToken) {
        boundTeam = token.team
        boundKey = token.key
    }
}
