import APNs
import Base
import Crypto
import Testing

/// Each of the 32 reasons, by the push that deserves it, and the words that explain it.
struct ReasonTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let reason: PushReason
        let code: String
        let words: String
        let push: @Sendable (Desk) -> PushService.Answer

        init(
            _ reason: PushReason, _ code: String, _ words: String,
            _ push: @escaping @Sendable (Desk) -> PushService.Answer
        ) {
            self.reason = reason
            self.code = code
            self.words = words
            self.push = push
        }

        var testDescription: String { "\(reason.rawValue): \(code)" }
    }

    private static func headers(
        _ reason: PushReason, _ code: String, _ words: String, _ headers: [PushRequest.Header: String?]
    ) -> Case {
        Case(reason, code, words) { $0.take($0.request(headers)) }
    }

    static let cases: [Case] = [
        headers(
            .badCollapseID, "collapse-size", "65 bytes; the most is 64",
            [.collapseID: String(repeating: "x", count: 65)]),
        headers(
            .badDeviceToken, "unknown-token", "no app has the token abababab…",
            [.path: "/3/device/" + String(repeating: "ab", count: 32)]),
        headers(.badDeviceToken, "token-form", "brackets or blanks", [.path: "/3/device/<abab abab>"]),
        headers(
            .badDeviceToken, "token-form", "base64", [.path: "/3/device/" + String(repeating: "A", count: 43) + "="]),
        headers(
            .badDeviceToken, "token-form", "63 characters", [.path: "/3/device/" + String(repeating: "a", count: 63)]),
        headers(
            .badDeviceToken, "token-form", "no hexadecimal", [.path: "/3/device/" + String(repeating: "g", count: 64)]),
        Case(.badDeviceToken, "token-environment", "a sandbox token of com.example.talk at the production door") {
            $0.take($0.request(to: $0.registration(.voip, .sandbox)))
        },
        headers(.badExpirationDate, "expiration-form", "whole number of seconds", [.expiration: "tomorrow"]),
        headers(.badExpirationDate, "expiration-form", "whole number of seconds", [.expiration: "-1"]),
        headers(.badMessageID, "id-form", "8-4-4-4-12", [.id: "42"]),
        headers(.badPriority, "priority-value", "10, 5 or 1", [.priority: "7"]),
        Case(.badPriority, "background-priority", "apns-priority 5") {
            $0.take($0.request(to: $0.registration(.alert), [.pushType: "background"]))
        },
        headers(.badTopic, "topic-form", "is no bundle id", [.topic: "com example"]),
        Case(.deviceTokenNotForTopic, "alert-token", "this is the alert token of com.example.talk") {
            $0.take($0.request(to: $0.registration(.alert), [.topic: "com.example.talk.voip", .pushType: "voip"]))
        },
        headers(
            .deviceTokenNotForTopic, "voip-token", "its topic is com.example.talk.voip",
            [.topic: "com.example.talk", .pushType: "alert"]),
        headers(
            .deviceTokenNotForTopic, "other-app",
            "the token is com.example.talk's (voip); the topic is com.example.mail.voip",
            [.topic: "com.example.mail.voip"]),
        Case(.duplicateHeaders, "duplicate-header", "apns-topic came twice") { desk in
            let push = desk.request()
            push.set(.topic, "com.example.talk.voip")
            return desk.take(push)
        },
        headers(.invalidPushType, "push-type-value", "did you mean voip?", [.pushType: "vop"]),
        headers(.invalidPushType, "push-type-topic", "say voip", [.pushType: "alert"]),
        Case(.invalidPushType, "push-type-topic", "needs a topic that ends in .voip") {
            $0.take($0.request(to: $0.registration(.alert), [.pushType: "voip"]))
        },
        headers(.missingDeviceToken, "no-token", "the path ends after /3/device/", [.path: "/3/device/"]),
        headers(.missingDeviceToken, "no-token", "the path ends after /3/device:", [.path: "/3/device"]),
        headers(.missingTopic, "no-topic", "apns-topic is missing", [.topic: nil]),
        Case(.payloadEmpty, "no-payload", "there is no payload") { $0.take($0.request(body: "")) },
        Case(
            .topicDisallowed, "certificate-topic",
            "the client certificate is for com.example.mail, com.example.mail.voip"
        ) {
            $0.take($0.request(), from: $0.connection(certificate: voipCertificate("com.example.mail")))
        },
        Case(.topicDisallowed, "certificate-kind", "for app only") { desk in
            var certificate = voipCertificate()
            certificate.topicKinds = [.init(topic: "com.example.talk.voip", kinds: ["app"])]
            return desk.take(desk.request(), from: desk.connection(certificate: certificate))
        },
        Case(.topicDisallowed, "key-topic", "key is for com.example.mail only") { desk in
            desk.trust("MAILKEY", topics: ["com.example.mail"])
            return desk.take(desk.request([.authorization: "bearer \(desk.token("MAILKEY"))"]))
        },
        Case(.badCertificate, "certificate-ended", "ended on 2023-11-14") { desk in
            desk.take(desk.request(), from: desk.connection(certificate: voipCertificate(until: 1_700_000_000)))
        },
        Case(.badCertificate, "certificate-early", "check the clock") { desk in
            var certificate = voipCertificate()
            certificate.notBefore = WallTime(nanoseconds: 1_850_000_000_000_000_000)
            return desk.take(desk.request(), from: desk.connection(certificate: certificate))
        },
        Case(.badCertificateEnvironment, "certificate-environment", "not for the production environment") { desk in
            var certificate = voipCertificate()
            certificate.isForProduction = false
            return desk.take(desk.request(), from: desk.connection(certificate: certificate))
        },
        Case(.expiredProviderToken, "token-old", "61 minutes old") {
            $0.take($0.request([.authorization: "bearer \($0.token(age: 3661))"]))
        },
        Case(.forbidden, "team-changed", "belongs to team TEAM000001") { desk in
            desk.trust("OTHERKEY", team: "TEAM000002")
            desk.take(desk.request())
            return desk.take(desk.request([.authorization: "bearer \(desk.token("OTHERKEY", team: "TEAM000002"))"]))
        },
        Case(.forbidden, "location-certificate", "token authentication only") { desk in
            let push = desk.request([.pushType: "location", .topic: "com.example.talk.location-query"])
            return desk.take(push, from: desk.connection(certificate: PeerCertificate.bare))
        },
        headers(.invalidProviderToken, "no-bearer", "bearer, a blank", [.authorization: "token x"]),
        headers(.invalidProviderToken, "token-form", "no JWT", [.authorization: "bearer a.b"]),
        headers(.missingProviderToken, "no-credentials", "neither an authorization header", [.authorization: nil]),
        headers(.missingProviderToken, "empty-bearer", "no token behind bearer", [.authorization: "bearer "]),
        Case(.unrelatedKeyIDInToken, "key-changed", "is not related to it") { desk in
            desk.trust("KEYONE", team: Desk.team, topics: [Desk.app])
            desk.trust("KEYTWO", team: Desk.team, topics: [Desk.app])
            desk.take(desk.request([.authorization: "bearer \(desk.token("KEYONE"))"]))
            return desk.take(desk.request([.authorization: "bearer \(desk.token("KEYTWO"))"]))
        },
        Case(.badEnvironmentKeyIDInToken, "key-environment", "is for sandbox, this is production") { desk in
            desk.trust("SANDKEY", team: Desk.team, environment: .sandbox)
            return desk.take(desk.request([.authorization: "bearer \(desk.token("SANDKEY"))"]))
        },
        headers(.badPath, "path", "a push goes to /3/device/TOKEN", [.path: "/"]),
        // No token in full where it is logged.
        headers(
            .badPath, "path", "/3/devices/0123abcd…: a push",
            [.path: "/3/devices/" + String(repeating: "0123abcd", count: 8)]),
        headers(
            .badTopic, "topic-form", "\"x 0123abcd…\" is no", [.topic: "x " + String(repeating: "0123abcd", count: 8)]),
        headers(.badPath, "path", "broadcast", [.path: "/4/broadcasts/apps/com.example.talk"]),
        headers(.badPath, "path", "version", [.path: "/2/device/x"]),
        headers(.methodNotAllowed, "method", "not GET", [.method: "GET"]),
        Case(.expiredToken, "renewed", "has a new token") { desk in
            let old = desk.registration()
            _ = desk.service.directory.renew(app: Desk.app, at: desk.wall)
            return desk.take(desk.request(to: old))
        },
        Case(.unregistered, "removed", "was removed: forget this token") { desk in
            let old = desk.registration()
            _ = desk.service.directory.remove(app: Desk.app, at: desk.wall)
            return desk.take(desk.request(to: old))
        },
        Case(.payloadTooLarge, "payload-size", "has 5121 bytes; a VoIP push may have 5120") { desk in
            desk.take(desk.request(body: #"{"x":""# + String(repeating: "x", count: 5113) + #""}"#))
        },
        Case(.payloadTooLarge, "payload-size", "has 4097 bytes; this push may have 4096") { desk in
            desk.take(
                desk.request(
                    to: desk.registration(.alert), body: #"{"x":""# + String(repeating: "x", count: 4089) + #""}"#))
        },
        Case(.tooManyProviderTokenUpdates, "token-updates", "a new provider token after 60.000 s") { desk in
            desk.take(desk.request())
            desk.pass(.seconds(60))
            return desk.take(desk.request())
        },
        Case(.tooManyRequests, "device-rate", "more than 2 pushes a second") { desk in
            desk.service.rules.deviceRate = 2
            for _ in 0..<4 { #expect(desk.take(desk.request()).status == 200) }
            return desk.take(desk.request())
        },
        // What only a connection's end or a broken service has, by a fault that is asked for.
        fault(.idleTimeout), fault(.internalServerError), fault(.serviceUnavailable), fault(.shutdown),
        Case(.internalServerError, "payload-no-call", "the payload is no call") { desk in
            desk.outcome = .init(
                "unusable", findings: [Finding("payload-no-call", nil, "the payload is no call")], isUnusable: true)
            return desk.take(desk.request(transport: .bus), from: desk.service.bus)
        },
    ]

    private static func fault(_ reason: PushReason) -> Case {
        Case(reason, "fault", "a fault was asked for: \(reason.httpStatus) \(reason.rawValue)") { desk in
            desk.take(desk.request(body: #"{"ringd-fault":"reason \#(reason.rawValue)"}"#))
        }
    }

    @Test(arguments: cases)
    func isReached(_ one: Case) throws {
        let desk = Desk()
        let answer = one.push(desk)
        #expect(answer.reason == one.reason && answer.status == one.reason.httpStatus)
        #expect(answer.reasonText == one.reason.rawValue)
        #expect((answer.timestamp != nil) == (answer.status == 410))
        if let timestamp = answer.timestamp { #expect(timestamp == desk.wall.nanoseconds / 1_000_000) }
        #expect(desk.deliveries.count <= 4)
        // The record has it, in the same words.
        let record = desk.last
        #expect(record.status == answer.status && record.reason == one.reason.rawValue)
        let finding = try #require(record.findings.first { $0.code == one.code }, "\(record.findings)")
        #expect(finding.text.contains(one.words), "\(finding.text)")
        #expect(one.code == "fault" || finding.reason == one.reason)
        // And so has the log, once.
        let refused = desk.events.filter { $0.kind == .pushRefused }
        #expect(refused.count == 1 && refused[0].text("reason") == one.reason.rawValue)
        #expect(refused[0].message.contains(one.words), "\(refused[0].message)")
    }

    @Test func allAreReached() {
        #expect(Set(Self.cases.map(\.reason)) == Set(PushReason.allCases))
    }

    /// Of several faults the first in Apple's order is the answer; the record has all.
    @Test func everyFindingIsKept() {
        let desk = Desk()
        let push = desk.request(
            [
                .authorization: nil, .id: "x", .expiration: "x", .priority: "0", .pushType: "x", .topic: "com example",
                .path: "/3/device/xyz", .collapseID: String(repeating: "x", count: 65),
            ], body: "")
        push.set(.method, "POST")
        #expect(desk.refusal(push) == "DuplicateHeaders")
        #expect(
            desk.last.findings.compactMap(\.reason?.rawValue) == [
                "DuplicateHeaders", "MissingProviderToken", "BadMessageId", "BadExpirationDate", "BadPriority",
                "InvalidPushType", "BadCollapseId", "BadTopic", "BadDeviceToken", "PayloadEmpty",
            ])
    }

    @Test func aGoodPushHasNothingAgainstIt() {
        let desk = Desk()
        let answer = desk.take(desk.request([.id: "0a1b2c3d-0000-4000-8000-000000000001"]))
        #expect(answer.status == 200 && answer.reason == nil && answer.timestamp == nil && answer.faults.isEmpty)
        #expect(String(decoding: answer.id, as: UTF8.self) == "0a1b2c3d-0000-4000-8000-000000000001")
        #expect(answer.uniqueID.isEmpty)
        #expect(desk.last.findings.isEmpty, "\(desk.last.findings)")
        #expect(desk.last.outcome == "rings" && desk.deliveries.count == 1)
        #expect(desk.events.map(\.kind) == [.pushReceived])
        // The sandbox names each push; an id of one's own is echoed in its case, and one is made where there is none.
        let sandbox = desk.take(desk.request(to: desk.registration(.voip, .sandbox)), from: desk.connection(.sandbox))
        #expect(sandbox.uniqueID.count == 36 && sandbox.id.count == 36 && sandbox.id != sandbox.uniqueID)
        #expect(sandbox.id.allSatisfy { $0 == UInt8(ascii: "-") || $0 < UInt8(ascii: "a") })
    }

    @Test func spellingsOfTheEnvironmentsKey() {
        let desk = Desk()
        desk.service.rules.saysBadEnvironmentKeyInToken = true
        desk.trust("SANDKEY", team: Desk.team, environment: .sandbox)
        let answer = desk.take(desk.request([.authorization: "bearer \(desk.token("SANDKEY"))"]))
        #expect(answer.reasonText == "BadEnvironmentKeyInToken" && answer.reason == .badEnvironmentKeyIDInToken)
        #expect(desk.last.reason == "BadEnvironmentKeyInToken")
    }

    /// Apple takes a removed app's pushes for a while.
    @Test func theNewsOfARemovalTravelsSlowly() {
        let desk = Desk()
        desk.service.rules.unregisterDelay = .seconds(100)
        let old = desk.registration()
        _ = desk.service.directory.remove(app: Desk.app, at: desk.wall)
        #expect(desk.take(desk.request(to: old)).status == 200)
        #expect(desk.last.findings.map(\.code).contains("removed-lately"))
        #expect(desk.last.outcomeWord == "nowhere" && desk.deliveries.isEmpty)
        let removed = desk.wall
        desk.pass(.seconds(100))
        desk.sender = desk.connection()
        let answer = desk.take(desk.request(to: old))
        #expect(answer.reason == .unregistered && answer.timestamp == removed.nanoseconds / 1_000_000)
        // A new registration of the app does not bring the old token back.
        _ = desk.service.directory.add(app: Desk.app)
        #expect(desk.take(desk.request(to: old)).reason == .unregistered)
        #expect(desk.take(desk.request()).status == 200)
    }
}

extension PeerCertificate {
    /// Made by hand: no topics, no marks.
    static var bare: PeerCertificate {
        var out = PeerCertificate()
        out.commonName = "test"
        out.notAfter = WallTime(nanoseconds: 1_900_000_000_000_000_000)
        return out
    }
}
