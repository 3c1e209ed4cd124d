internal import Base
internal import Crypto

/// The topic, and what credentials allow of it (apns.md 1.3, 1.4).
extension PushRules {
    /// The topic's own push type, nil for a bare bundle id.
    func checkTopic(
        _ push: PushRequest, _ sender: Sender, _ keyTopics: [String], _ out: inout Judgement
    ) -> PushType? {
        guard push.transport.isOfAPNs else { return .voip }
        let hasTopic = push.has(.topic) && push[.topic].count > 0
        guard hasTopic || sender.defaultTopic.count > 0 else {
            if push.transport == .http2 {
                out.add(
                    "no-topic", .missingTopic,
                    "apns-topic is missing: the app's bundle id, for a call with .voip behind it")
            }
            return nil
        }
        func check(_ topic: Bytes) -> PushType? {
            if hasTopic && !Self.isTopic(topic) {
                out.add(
                    "topic-form", .badTopic,
                    "apns-topic \"\(DeviceToken.hidden(in: topic.text, limit: 80))\" is no bundle id: letters, digits, dots, hyphens"
                )
                return nil
            }
            let kind = PushType.ofTopic(topic)
            if kind == .voip
                && PushType.ofTopic(Bytes(rebasing: topic.dropLast(PushType.voip.suffix.utf8.count))) == .voip
            {
                out.add("topic-doubled", nil, "the topic ends in .voip.voip: the library adds .voip by itself")
            }
            if !sender.topics.isEmpty && !sender.topics.contains(where: { topic.equals($0) }) {
                out.add(
                    "certificate-topic", .topicDisallowed,
                    "the client certificate is for \(sender.certificate!.topics.joined(separator: ", ")), not for \(DeviceToken.hidden(in: topic.text, limit: 80))"
                )
            } else if let certificate = sender.certificate, !certificate.topicKinds.isEmpty, let kind,
                let entry = certificate.topicKinds.first(where: { topic.equals(string: $0.topic) }),
                !entry.kinds.isEmpty && !entry.kinds.contains(kind.rawValue)
            {
                out.add(
                    "certificate-kind", .topicDisallowed,
                    "the client certificate has \(entry.topic) for \(entry.kinds.joined(separator: ", ")) only")
            }
            if !keyTopics.isEmpty {
                let bundle = Bytes(rebasing: topic.dropLast(kind?.suffix.utf8.count ?? 0))
                if !keyTopics.contains(where: { bundle.equals(string: $0) }) {
                    out.add(
                        "key-topic", .topicDisallowed,
                        "the provider token's key is for \(keyTopics.prefix(4).joined(separator: ", ")) only")
                }
            }
            return kind
        }
        let kind = hasTopic ? check(push[.topic]) : sender.defaultTopic.withUnsafeBufferPointer { check($0) }
        if kind == .location && sender.certificate != nil {
            out.add("location-certificate", .forbidden, "location pushes take token authentication only")
        }
        return kind
    }

    private static func isTopic(_ topic: Bytes) -> Bool {
        guard topic.count <= 255 else { return false }
        for byte in topic {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                break
            default: return false
            }
        }
        return true
    }
}
