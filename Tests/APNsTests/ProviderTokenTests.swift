import APNs
import Base
import Crypto
import Testing

/// The rules of token authentication, on a clock that is moved by hand (apns.md 1.5).
struct ProviderTokenTests {
    private func authorized(_ desk: Desk, _ token: String) -> PushRequest {
        desk.request([.authorization: "bearer \(token)"])
    }

    @Test func goodForAnHour() {
        let desk = Desk()
        let token = desk.token()
        #expect(desk.refusal(authorized(desk, token)) == nil)
        desk.pass(.seconds(3600))
        #expect(desk.refusal(authorized(desk, token)) == nil)
        desk.pass(.seconds(1))
        #expect(desk.refusal(authorized(desk, token)) == "ExpiredProviderToken")
        #expect(desk.last.findings[0].text.contains("open a new one"))
        // A knob, for those who will not wait an hour.
        desk.service.rules.tokenLifetime = .seconds(7200)
        #expect(desk.refusal(authorized(desk, token)) == nil)
    }

    @Test func aNewOneEveryTwentyMinutesOnAConnection() {
        let desk = Desk()
        let first = desk.token()
        #expect(desk.refusal(authorized(desk, first)) == nil)
        desk.pass(.seconds(1199))
        let second = desk.token()
        #expect(desk.refusal(authorized(desk, second)) == "TooManyProviderTokenUpdates")
        // The old one is good still; on another connection so is the new one.
        #expect(desk.refusal(authorized(desk, first)) == nil)
        #expect(desk.refusal(authorized(desk, second), from: desk.connection()) == nil)
        desk.pass(.seconds(1))
        #expect(desk.refusal(authorized(desk, second)) == nil)
        // The next twenty minutes count from here.
        desk.pass(.seconds(1199))
        #expect(desk.refusal(authorized(desk, desk.token())) == "TooManyProviderTokenUpdates")
        desk.service.rules.tokenUpdates = .zero
        #expect(desk.refusal(authorized(desk, desk.token())) == nil)
        #expect(desk.refusal(authorized(desk, first)) == nil)
    }

    /// A sender whose clock is an hour ahead was seen as "too many updates" at Apple: here it is told.
    @Test(arguments: [
        (30, nil, nil), (61, nil, "clock-ahead"), (3600, nil, "clock-ahead"),
        (3601, "InvalidProviderToken", "token-ahead"),
        (86_400, "InvalidProviderToken", "token-ahead"),
    ])
    func clocksThatAreAhead(_ ahead: Int, _ reason: String?, _ code: String?) {
        let desk = Desk()
        #expect(desk.refusal(authorized(desk, desk.token(age: Int64(-ahead)))) == reason)
        #expect(desk.last.findings.first?.code == code)
        if code != nil { #expect(desk.last.findings[0].text.contains("check the sender's clock")) }
    }

    /// What real libraries send for `iat`.
    @Test func formsOfTheTime() {
        for (iat, reason, code) in [
            ("1796000000", nil, nil), ("1796000000.25", nil, nil), ("\"1796000000\"", nil, nil),
            ("1.796e9", nil, nil), ("\"1796000000000\"", nil, "iat-unit"), ("1796000000000", nil, "iat-unit"),
            ("null", "InvalidProviderToken", "token-iat"), ("true", "InvalidProviderToken", "token-iat"),
            ("\"soon\"", "InvalidProviderToken", "token-iat"), ("-5", "InvalidProviderToken", "token-iat"),
            ("\"nan\"", "InvalidProviderToken", "token-iat"), ("\"inf\"", "InvalidProviderToken", "token-iat"),
            ("\"0x6b0d5ee4\"", "InvalidProviderToken", "token-iat"),
            ("1e300", "InvalidProviderToken", "token-iat"), ("0", "ExpiredProviderToken", "token-old"),
            ("{}", "InvalidProviderToken", "token-iat"),
        ] as [(String, String?, String?)] {
            let desk = Desk()
            #expect(desk.refusal(authorized(desk, desk.token(iat: iat))) == reason, "\(iat)")
            #expect(desk.last.findings.first?.code == code, "\(iat)")
        }
    }

    @Test func whatMayBeWrongWithOne() {
        let long = String(repeating: "a", count: 5000)
        let part = Base64URL.encode(Array("{}".utf8))
        for (authorization, code, words) in [
            ("basic x", "no-bearer", "bearer"), ("bearer", "empty-bearer", "no token"),
            ("bearer  ", "empty-bearer", "no token"),
            ("bearer \(long)", "token-size", "5000 bytes"), ("bearer a.b.c.d", "token-form", "no JWT"),
            ("bearer !.!.!", "token-form", "no JWT"), ("bearer \(part).YQ.YQ", "token-json", "not JSON"),
            ("bearer \(part).\(part).YQ", "token-alg", "signed with none"),
            ("bearer e30.e30.", "token-alg", "signed with none"),
        ] {
            let desk = Desk()
            _ = desk.take(desk.request([.authorization: authorization]))
            #expect(desk.last.findings.first?.code == code, "\(authorization.prefix(30))")
            #expect(desk.last.findings.first?.text.contains(words) == true, "\(desk.last.findings)")
        }
        let desk = Desk()
        func found(_ token: String) -> String {
            desk.sender = desk.connection()
            _ = desk.take(authorized(desk, token))
            return desk.last.findings.first.map { "\($0.code): \($0.text)" } ?? "taken"
        }
        #expect(
            found(desk.token(algorithm: "RS256"))
                == "token-alg: the provider token is signed with RS256; APNs takes ES256 only")
        #expect(found(desk.token(algorithm: "none")).contains("signed with none"))
        #expect(found(desk.token("")).hasPrefix("token-kid"))
        #expect(found(desk.token(team: "")).hasPrefix("token-iss"))
        #expect(found(desk.token("ABC123DEFH")).contains("did you mean ABC123DEFG?"))
        #expect(
            found(desk.token("ABC123DEFH")).contains(
                "write [key ABC123DEFH] and file = …/AuthKey_ABC123DEFH.p8 into ringd.conf"))
        #expect(
            found(desk.token(team: "TEAM000009")).contains(
                "key ABC123DEFG is of team TEAM000001, and the token says iss TEAM000009"))
        #expect(found(desk.token(signature: "bad")).contains("does not fit key ABC123DEFG: another .p8?"))
        desk.trust("SHORT")
        #expect(found(desk.token("SHORT")).hasPrefix("id-length"))
        // Without case, and with more than one blank.
        desk.sender = desk.connection()
        #expect(desk.refusal(desk.request([.authorization: "BEARER   \(desk.token())"])) == nil)
    }

    @Test func aConnectionBelongsToATeamAndAKey() {
        let desk = Desk()
        desk.trust("TEAMKEY2", team: Desk.team)
        desk.trust("TOPICAL1", team: Desk.team, topics: [Desk.app])
        desk.trust("TOPICAL2", team: Desk.team, topics: [Desk.app], related: "TOPICAL1")
        desk.trust("OTHERTEAM", team: "TEAM000002")
        desk.service.rules.tokenUpdates = .zero
        func next(_ key: String, team: String = Desk.team) -> String? {
            desk.refusal(authorized(desk, desk.token(key, team: team)))
        }
        #expect(next(Desk.keyID) == nil)
        #expect(next("TEAMKEY2") == nil)
        #expect(next("TOPICAL1") == "UnrelatedKeyIdInToken")
        #expect(next("OTHERTEAM", team: "TEAM000002") == "Forbidden")
        #expect(next(Desk.keyID) == nil)
        desk.sender = desk.connection()
        #expect(next("TOPICAL1") == nil)
        // One related key may share it, whichever of them says so.
        #expect(next("TOPICAL2") == nil)
        #expect(next(Desk.keyID) == "UnrelatedKeyIdInToken")
        desk.sender = desk.connection()
        #expect(next("OTHERTEAM", team: "TEAM000002") == nil)
        #expect(next(Desk.keyID) == "Forbidden")
    }

    /// A push that is refused for something else does not leave its connection without a team.
    @Test func aRefusedFirstPushBindsLater() {
        let desk = Desk()
        let token = desk.token()
        let twice = authorized(desk, token)
        twice.set(.id, "x")
        twice.set(.id, "y")
        #expect(desk.refusal(twice) == "DuplicateHeaders" && !desk.sender.isAuthenticated)
        #expect(desk.refusal(authorized(desk, token)) == nil && desk.sender.isAuthenticated)
        desk.trust("OTHERTEAM", team: "TEAM000002")
        desk.pass(.seconds(1300))
        #expect(desk.refusal(authorized(desk, desk.token("OTHERTEAM", team: "TEAM000002"))) == "Forbidden")
    }

    @Test(arguments: [PushEnvironment.sandbox, .production])
    func keysOfOneEnvironment(_ environment: PushEnvironment) {
        let desk = Desk()
        desk.trust("ONEENV", team: Desk.team, environment: environment)
        let other: PushEnvironment = environment == .sandbox ? .production : .sandbox
        func push(_ door: PushEnvironment, _ token: PushEnvironment) -> String? {
            desk.sender = desk.connection(door)
            let push = desk.request(
                to: desk.registration(.voip, token), [.authorization: "bearer \(desk.token("ONEENV"))"])
            return desk.refusal(push)
        }
        #expect(push(environment, environment) == nil)
        #expect(push(.unknown, environment) == nil)
        #expect(push(other, other) == "BadEnvironmentKeyIdInToken")
        #expect(push(.unknown, other) == "BadEnvironmentKeyIdInToken")
    }

    @Test func aTopicKeyHasItsTopics() {
        let desk = Desk(apps: [Desk.app, "com.example.mail"])
        desk.trust("TOPICAL1", team: Desk.team, topics: [Desk.app])
        func push(_ app: String, _ kind: TokenKind) -> String? {
            desk.sender = desk.connection()
            return desk.refusal(
                desk.request(
                    to: desk.registration(kind, app: app), [.authorization: "bearer \(desk.token("TOPICAL1"))"]))
        }
        #expect(push(Desk.app, .voip) == nil && push(Desk.app, .alert) == nil)
        #expect(push("com.example.mail", .voip) == "TopicDisallowed")
    }

    @Test func keysThatGoAreGoneForOpenConnections() {
        let desk = Desk()
        let token = desk.token()
        #expect(desk.refusal(authorized(desk, token)) == nil)
        let key = desk.service.tokens.keys.removeValue(forKey: Desk.keyID)
        #expect(desk.refusal(authorized(desk, token)) == "InvalidProviderToken")
        desk.service.tokens.keys[Desk.keyID] = key
        // The same token again is no new one.
        #expect(desk.refusal(authorized(desk, token)) == nil)
    }

    @Test func aSignatureIsCheckedOnce() {
        let desk = Desk()
        var checks = 0
        desk.service.tokens.keys["COUNTING"] = APNs.ProviderKey(id: "COUNTING") { _, _ in
            checks += 1
            return true
        }
        let token = desk.token("COUNTING")
        for _ in 0..<10 { desk.take(authorized(desk, token), from: desk.connection()) }
        #expect(checks == 1)
        // A flood of others does not fill memory, and does not keep the sender out.
        for number in 0..<2000 {
            desk.take(authorized(desk, desk.token("COUNTING", iat: String(number))), from: desk.connection())
        }
        #expect(desk.refusal(authorized(desk, token), from: desk.connection()) == nil)
    }

    /// With real keys, in both forms of signature.
    @Test func signaturesAreRawOrDER() throws {
        let desk = Desk()
        let key = try SigningKey.makeP256()
        let verifying = key.verifyingKey
        desk.service.tokens.keys["REALKEY000"] = APNs.ProviderKey(id: "REALKEY000", team: Desk.team) {
            verifying.verify($0, signature: $1)
        }
        let signed = desk.token("REALKEY000").split(separator: ".").prefix(2).joined(separator: ".")
        let raw = Base64URL.encode(try key.sign(Array(signed.utf8)))
        let der = Base64URL.encode(try key.signDER(Array(signed.utf8)))
        for signature in [raw, der] {
            #expect(desk.refusal(authorized(desk, "\(signed).\(signature)"), from: desk.connection()) == nil)
        }
        let other = Base64URL.encode(try SigningKey.makeP256().sign(Array(signed.utf8)))
        #expect(desk.refusal(authorized(desk, "\(signed).\(other)")) == "InvalidProviderToken")
        #expect(desk.refusal(authorized(desk, "\(signed).")) == "InvalidProviderToken")
    }

    @Test func theRecordNamesTheSender() {
        let desk = Desk()
        desk.take(desk.request())
        #expect(desk.last.sender.hasPrefix("key ABC123DEFG, team TEAM000001, issued 20"))
        desk.take(desk.request(), from: desk.connection(certificate: voipCertificate()))
        #expect(desk.last.sender == "certificate VoIP Services: com.example.talk")
        desk.take(desk.request([.authorization: nil]), from: desk.connection())
        #expect(desk.last.sender == "")
    }
}
