import APNs
import Base
import Testing

/// Topic, push type, kind of token and environment: every combination against a table in other words (apns.md 1.4).
struct MatrixTests {
    private static let suffixes: [PushType: String] = [
        .voip: ".voip", .complication: ".complication", .fileprovider: ".pushkit.fileprovider",
        .location: ".location-query", .liveactivity: ".push-type.liveactivity", .pushtotalk: ".voip-ptt",
        .widgets: ".push-type.widgets", .controls: ".push-type.controls",
    ]

    /// What Apple would say first, nil for yes.
    private func expected(
        _ registration: Registration, door: PushEnvironment, topic: String, type: PushType?, priority: Int
    ) -> PushReason? {
        if door != .unknown && door != registration.environment { return .badDeviceToken }
        let suffix = registration.kind == .voip ? ".voip" : ""
        if topic != registration.app + suffix { return .deviceTokenNotForTopic }
        guard let type else { return nil }
        let fitting: [PushType] = registration.kind == .voip ? [.voip] : [.alert, .background, .mdm]
        if !fitting.contains(type) { return .invalidPushType }
        return type == .background && priority == 10 ? .badPriority : nil
    }

    @Test(arguments: TokenKind.allCases, [PushEnvironment.sandbox, .production])
    func everyCombination(_ kind: TokenKind, _ environment: PushEnvironment) {
        let topics =
            [Desk.app, "com.example.mail", "com.example.mail.voip"] + Self.suffixes.values.map { Desk.app + $0 }
        var taken = 0
        for door in PushEnvironment.allCases {
            for topic in topics {
                for type in [nil] + PushType.allCases.map(Optional.init) {
                    for priority in [10, 5, 1] {
                        let desk = Desk()
                        let registration = desk.registration(kind, environment)
                        let push = desk.request(
                            to: registration,
                            [.topic: topic, .pushType: type?.rawValue, .priority: String(priority)])
                        let answer = desk.take(push, from: desk.connection(door))
                        let wanted = expected(
                            registration, door: door, topic: topic, type: type, priority: priority)
                        #expect(
                            answer.reason == wanted,
                            "\(kind) \(environment) at \(door), \(topic), \(type?.rawValue ?? "-"), \(priority)")
                        if answer.reason == nil { taken += 1 }
                        // The sandbox's own header, wherever the door leaves it open.
                        let isSandbox = door == .sandbox || door == .unknown && environment == .sandbox
                        #expect(answer.uniqueID.isEmpty != isSandbox)
                    }
                }
            }
        }
        // Two doors; voip: with its type and none, three priorities; alert: alert, mdm, none and two of background.
        #expect(taken == (kind == .voip ? 2 * 2 * 3 : 2 * (3 * 3 + 2)))
    }

    @Test func theSuffixesAreApples() {
        for type in PushType.allCases { #expect(type.suffix == Self.suffixes[type] ?? "") }
        for (type, suffix) in Self.suffixes {
            let topic = Array("com.example.x\(suffix)".utf8)
            #expect(topic.withUnsafeBufferPointer { PushType.ofTopic($0) } == type)
        }
    }

    @Test func advicesOnACall() {
        let desk = Desk()
        func codes(_ headers: [PushRequest.Header: String?]) -> [String] {
            desk.sender = desk.connection()
            return desk.codes(desk.request(headers))
        }
        #expect(codes([:]) == [])
        #expect(codes([.expiration: nil]) == ["no-expiration"])
        #expect(codes([.expiration: String(desk.wall.seconds + 30)]) == [])
        // aioapns cannot send 0 and sends the present: taken.
        #expect(codes([.expiration: String(desk.wall.seconds)]) == [])
        #expect(codes([.expiration: String(desk.wall.seconds - 10)]) == [])
        for (ahead, words) in [(3600, "60 minutes"), (86_400, "24 hours"), (30 * 86_400, "30 days")] {
            #expect(codes([.expiration: String(desk.wall.seconds + Int64(ahead))]) == ["expiration-far"])
            #expect(
                desk.last.findings[0].text == "expiration is \(words): would ring late; a call wants 0 or a few seconds"
            )
        }
        #expect(codes([.expiration: String(desk.wall.seconds * 1000)]) == ["expiration-unit"])
        #expect(codes([.priority: "5"]) == ["call-priority"])
        #expect(codes([.pushType: nil]) == ["no-push-type"])
        #expect(codes([.expiration: "x"]) == ["expiration-form"])
        #expect(codes([.topic: Desk.app + ".voip.voip"]).contains("topic-doubled"))
        desk.sender = desk.connection()
        #expect(desk.codes(desk.request(body: "[1]")) == ["payload-json"])
        // Alerts have no such worries.
        #expect(desk.codes(desk.request(to: desk.registration(.alert), [.expiration: nil, .priority: "5"])) == [])
        // Nor have doors that say nothing; but what a legacy push says is looked at.
        #expect(
            desk.codes(
                desk.request(transport: .binary(command: 0)), from: desk.connection(certificate: voipCertificate()))
                == [])
        let far = desk.request([.expiration: String(desk.wall.seconds + 86_400)], transport: .binary(command: 1))
        #expect(desk.codes(far, from: desk.connection(certificate: voipCertificate())) == ["expiration-far"])
    }

    @Test func aConnectionForEachPushIsRemarkedUpon() {
        let desk = Desk()
        var found: [[String]] = []
        for _ in 0..<5 {
            let sender = desk.service.sender(
                peer: "127.0.0.1:1", environment: .production, certificate: nil, now: desk.now)
            found.append(desk.codes(desk.request(), from: sender))
            desk.pass(.milliseconds(200))
            desk.service.left(sender, now: desk.now)
        }
        #expect(found == [[], [], [], ["connection-per-push"], ["connection-per-push"]])
        // One that is kept ends the row.
        let sender = desk.service.sender(peer: "", environment: .production, certificate: nil, now: desk.now)
        let token = desk.token()
        for _ in 0..<3 { desk.take(desk.request([.authorization: "bearer \(token)"]), from: sender) }
        desk.service.left(sender, now: desk.now)
        let next = desk.service.sender(peer: "", environment: .production, certificate: nil, now: desk.now)
        #expect(desk.codes(desk.request(), from: next) == [])
    }
}
