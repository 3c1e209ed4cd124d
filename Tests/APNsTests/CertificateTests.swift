import APNs
import Base
import Crypto
import Testing

/// What a client certificate allows (apns.md 1.6).
struct ClientCertificateTests {
    private func push(
        _ desk: Desk, _ certificate: PeerCertificate, _ kind: TokenKind = .voip,
        _ environment: PushEnvironment = .production, topic: String? = "", transport: PushRequest.Transport = .http2
    ) -> String? {
        var headers: [PushRequest.Header: String?] = [.authorization: nil]
        if topic != "" || transport != .http2 { headers[.topic] = .some(topic == "" ? nil : topic) }
        return desk.refusal(
            desk.request(to: desk.registration(kind, environment), headers, transport: transport),
            from: desk.connection(environment, certificate: certificate))
    }

    @Test func theListOfVoIPTopics() {
        let desk = Desk(apps: [Desk.app, "com.example.mail"])
        // Extension .4: both topics; the subject says .voip.
        #expect(push(desk, voipCertificate()) == nil)
        #expect(push(desk, voipCertificate(), .alert) == nil)
        #expect(push(desk, voipCertificate("com.example.mail")) == "TopicDisallowed")
        // No topic is the subject's.
        #expect(push(desk, voipCertificate(), topic: nil) == nil)
        #expect(push(desk, voipCertificate(), .alert, topic: nil) == "DeviceTokenNotForTopic")
    }

    @Test func theListOfAllTopics() {
        let desk = Desk()
        var universal = PeerCertificate()
        universal.commonName = "Apple Push Services: com.example.talk"
        universal.userID = Desk.app
        universal.isForSandbox = true
        universal.isForProduction = true
        universal.topicKinds = [
            .init(topic: Desk.app, kinds: ["app"]), .init(topic: Desk.app + ".voip", kinds: ["voip"]),
            .init(topic: Desk.app + ".complication", kinds: ["complication"]),
        ]
        universal.notAfter = WallTime(nanoseconds: 1_900_000_000_000_000_000)
        #expect(push(desk, universal) == nil && push(desk, universal, .alert) == nil)
        // Of several it cannot be guessed.
        #expect(push(desk, universal, topic: nil) == "MissingTopic")
        #expect(push(desk, universal, topic: Desk.app + ".pushkit.fileprovider") == "TopicDisallowed")
        // A topic whose kinds leave this one out.
        universal.topicKinds[1] = .init(topic: Desk.app + ".voip", kinds: ["app"])
        #expect(push(desk, universal) == "TopicDisallowed")
    }

    @Test func theMarksOfEnvironments() {
        let desk = Desk()
        var certificate = voipCertificate()
        for environment in [PushEnvironment.sandbox, .production] {
            #expect(push(desk, certificate, .voip, environment) == nil)
            certificate.isForSandbox = environment == .sandbox
            certificate.isForProduction = environment == .production
            #expect(push(desk, certificate, .voip, environment) == nil)
            let other: PushEnvironment = environment == .sandbox ? .production : .sandbox
            #expect(push(desk, certificate, .voip, other) == "BadCertificateEnvironment")
            certificate = voipCertificate()
        }
        // One without any mark was made at home.
        certificate.isForSandbox = false
        certificate.isForProduction = false
        #expect(push(desk, certificate) == nil)
    }

    @Test func itsTime() {
        let desk = Desk()
        #expect(push(desk, voipCertificate(until: desk.wall.seconds - 1)) == "BadCertificate")
        #expect(push(desk, voipCertificate(until: desk.wall.seconds + 1)) == nil)
    }

    @Test func aTokenBesideACertificateIsNotLookedAt() {
        let desk = Desk()
        let push = desk.request([.authorization: "bearer nonsense"])
        #expect(desk.refusal(push, from: desk.connection(certificate: voipCertificate())) == nil)
    }

    /// The legacy protocol has no topic: the certificate, or the token, says what a push is.
    @Test func overTheLegacyProtocol() {
        let desk = Desk()
        let binary = PushRequest.Transport.binary(command: 2)
        #expect(push(desk, voipCertificate(), transport: binary) == nil)
        #expect(push(desk, voipCertificate(), .alert, transport: binary) == "DeviceTokenNotForTopic")
        #expect(desk.last.findings[0].code == "alert-token")
        #expect(push(desk, voipCertificate("com.example.mail"), transport: binary) == "DeviceTokenNotForTopic")
        #expect(push(desk, .bare, transport: binary) == nil)
        #expect(push(desk, .bare, .alert, transport: binary) == "DeviceTokenNotForTopic")
        // As ours are made: both extensions, so that no one topic is the default.
        var ours = voipCertificate()
        ours.topicKinds = [
            .init(topic: Desk.app, kinds: ["app"]), .init(topic: Desk.app + ".voip", kinds: ["voip"]),
        ]
        #expect(push(desk, ours, transport: binary) == nil)
        #expect(push(desk, ours, .alert, transport: binary) == "DeviceTokenNotForTopic")
        #expect(desk.last.findings[0].code == "alert-token")
        ours.isVoIP = false
        ours.userID = Desk.app
        #expect(push(desk, ours, .alert, transport: binary) == nil)
    }
}
