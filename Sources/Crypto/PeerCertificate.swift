package import Base

/// What a certificate says of its owner: the facts that an APNs gateway decides by. A plain value, cleaned of control
/// characters and cut to 256 bytes a text, because it comes from the other side.
package struct PeerCertificate: Sendable, Equatable {
    /// The whole name, as `UID=org.example.app.voip, CN=VoIP Services: org.example.app`.
    package var subject = ""
    package var issuer = ""
    /// Apple's: `VoIP Services: <bundle>`, `Apple Push Services: <bundle>` and others.
    package var commonName: String?
    /// Apple's: the topic, e.g. `org.example.app.voip`.
    package var userID: String?
    /// Apple's: the team id.
    package var organizationalUnit: String?
    /// 32 bytes: SHA-256 of the certificate's DER form.
    package var fingerprint: [UInt8] = []
    package var notBefore = WallTime(nanoseconds: 0)
    package var notAfter = WallTime(nanoseconds: 0)

    // Extensions under 1.2.840.113635.100.6.3, as decoded from real certificates.

    /// `.1`, NULL: valid for the sandbox.
    package var isForSandbox = false
    /// `.2`, NULL: valid for production.
    package var isForProduction = false
    /// `.3`, UTF8String: the base bundle id of a VoIP certificate.
    package var bundle: String?
    /// `.4`, one UTF8String, a list separated by comma and space: the topics of a VoIP certificate.
    package var voipTopics: [String] = []
    /// `.5`, NULL: a VoIP or WatchKit certificate.
    package var isVoIP = false
    /// `.6`, SEQUENCE of UTF8String topic and SEQUENCE of UTF8String kind in turn: topics with their kinds.
    package var topicKinds: [TopicKinds] = []

    /// One topic of extension `.6`.
    package struct TopicKinds: Sendable, Equatable {
        package let topic: String
        /// `app`, `voip`, `complication`.
        package let kinds: [String]
        package init(topic: String, kinds: [String]) {
            self.topic = topic
            self.kinds = kinds
        }
    }

    /// Every topic that the certificate names, each once; the user id alone where no extension names any.
    package var topics: [String] {
        let named = voipTopics + topicKinds.map(\.topic)
        let all = named.isEmpty ? [userID].compactMap { $0 } : named
        var seen: Set<String> = []
        return all.filter { seen.insert($0).inserted }
    }

    package init() {}

    /// The arc of Apple's push extensions.
    static let pushArc = "1.2.840.113635.100.6.3."

    /// At most this many topics are read.
    static let topicLimit = 64

    /// Takes in one extension by the last number of its OID under `pushArc`. Malformed ones are passed over.
    mutating func take(extension tail: String, der: [UInt8]) {
        var reader = DERReader(der)
        guard let element = reader.next() else { return }
        switch (tail, element.tag) {
        case ("1", DERReader.Tag.null): isForSandbox = true
        case ("2", DERReader.Tag.null): isForProduction = true
        case ("3", DERReader.Tag.utf8String): bundle = Self.text(element.content)
        case ("4", DERReader.Tag.utf8String):
            let list = element.content.prefix(16_384).split(separator: UInt8(ascii: ","), maxSplits: Self.topicLimit)
            voipTopics = list.prefix(Self.topicLimit).map { Self.text($0) }.filter { !$0.isEmpty }
        case ("5", DERReader.Tag.null): isVoIP = true
        case ("6", DERReader.Tag.sequence): topicKinds = Self.topicKinds(element.content)
        default: break
        }
    }

    private static func topicKinds(_ content: ArraySlice<UInt8>) -> [TopicKinds] {
        var found: [TopicKinds] = []
        var reader = DERReader(content)
        while found.count < topicLimit, let topic = reader.next(), topic.tag == DERReader.Tag.utf8String {
            guard let list = reader.next(), list.tag == DERReader.Tag.sequence else { break }
            var kinds: [String] = []
            var inner = DERReader(list.content)
            while kinds.count < 8, let kind = inner.next(), kind.tag == DERReader.Tag.utf8String {
                kinds.append(text(kind.content))
            }
            found.append(TopicKinds(topic: text(topic.content), kinds: kinds))
        }
        return found
    }

    static func text(_ bytes: some Sequence<UInt8>) -> String {
        Text.clean(String(decoding: Array(bytes), as: UTF8.self))
    }
}
