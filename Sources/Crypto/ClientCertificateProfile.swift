package import Base

/// What a sender's certificate shall say: for a VoIP certificate like Apple's, and for each of the ways in which one can
/// be of no use. Subjects and extensions are those of apns.md 1.6.
package struct ClientCertificateProfile: Sendable, Equatable {
    package var app: String
    /// The marks of a VoIP certificate (`.3` and `.5`), and its subject: `UID=<app>.voip`, `CN=VoIP Services: <app>`.
    /// Without them it is one for alerts: `UID=<app>`, `CN=Apple Push Services: <app>`.
    package var isVoIP = true
    /// Extension `.4`, a list; left out if there are none.
    package var topics4: [String] = []
    /// Extension `.6`, topics with their kinds; left out if there are none.
    package var topics6: [PeerCertificate.TopicKinds] = []
    /// Extension `.1`.
    package var sandbox = true
    /// Extension `.2`.
    package var production = true
    package var notBefore: WallTime
    package var notAfter: WallTime
    /// OU: Apple puts the team id there.
    package var organizationalUnit: String?

    /// Valid from an hour ago for 396 days; no topics.
    package init(app: String, now: WallTime = .now) {
        self.app = app
        notBefore = now.adding(hours: -1)
        notAfter = now.adding(days: 396)
    }

    /// As Apple makes them for calls: good for sandbox and production, topics `app` (kind `app`) and `app.voip` (kind
    /// `voip`) in both extensions.
    package static func voip(app: String, teamID: String? = nil, now: WallTime = .now) -> ClientCertificateProfile {
        var profile = ClientCertificateProfile(app: app, now: now)
        profile.topics4 = [app, app + ".voip"]
        profile.topics6 = [
            PeerCertificate.TopicKinds(topic: app, kinds: ["app"]),
            PeerCertificate.TopicKinds(topic: app + ".voip", kinds: ["voip"]),
        ]
        profile.organizationalUnit = teamID
        return profile
    }

    var subject: [(name: String, value: String)] {
        let names = isVoIP ? ("\(app).voip", "VoIP Services: \(app)") : (app, "Apple Push Services: \(app)")
        return [("UID", names.0), ("CN", names.1)] + (organizationalUnit.map { [("OU", $0)] } ?? []) + [("O", "ringd")]
    }

    func extensions() throws(CryptoFailure) -> [(oid: String, der: [UInt8])] {
        guard AppID.isValid(app) else {
            throw CryptoFailure(.appID, "“\(Text.clean(app))” is no app id: it is to look like org.example.App")
        }
        guard topics4.count + topics6.count <= PeerCertificate.topicLimit else {
            throw CryptoFailure(.appID, "more than \(PeerCertificate.topicLimit) topics in one certificate")
        }
        // With `.voip` behind it a topic is longer than an app id may be.
        for topic in topics4 + topics6.map(\.topic) where topic.utf8.count > 300 {
            throw CryptoFailure(.appID, "“\(Text.clean(topic))” is too long for a topic")
        }
        let arc = PeerCertificate.pushArc
        var all: [(oid: String, der: [UInt8])] = []
        if sandbox { all.append((arc + "1", DERWriter.null)) }
        if production { all.append((arc + "2", DERWriter.null)) }
        if isVoIP { all.append((arc + "3", DERWriter.utf8String(app))) }
        if !topics4.isEmpty { all.append((arc + "4", DERWriter.utf8String(topics4.joined(separator: ", ")))) }
        if isVoIP { all.append((arc + "5", DERWriter.null)) }
        if !topics6.isEmpty {
            let pairs = topics6.flatMap { entry in
                DERWriter.utf8String(entry.topic) + DERWriter.sequence(entry.kinds.flatMap(DERWriter.utf8String))
            }
            all.append((arc + "6", DERWriter.sequence(pairs)))
        }
        return all
    }
}
