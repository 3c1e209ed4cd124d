import Foundation
import JSON
import TestSupport
import Testing

/// What real senders are known to trip over (apns.md 4.4), and what they show of a gateway.
extension EndToEnd.Clients {
    // MARK: Connections

    @Test func curlComesInEveryWay() throws {
        let desk = try #require(ClientDesk.shared)
        let token = try desk.token("voip-production")
        let ways = [
            ("ALPN", ["--http2"]), ("prior knowledge", ["--http2-prior-knowledge"]),
            ("no ALPN", ["--no-alpn", "--http2-prior-knowledge"]),
        ]
        for (name, options) in ways {
            for certificate in [nil, Rig.app] {
                let call = "curl, \(name), \(certificate ?? "token")"
                let report = try desk.curl(
                    .init(.parameters, certificate: certificate), Push(token, call), options, url: desk.url(.parameters)
                )
                #expect(report.status == 200 && report.all["protocol"]?.string == "HTTP/2", "\(report.all.encoded())")
                try desk.expectRing(call)
            }
            try Conformance.note(
                .handshakes, "curl (\(name))", "200, with a provider token and with a client certificate")
        }
        let old = try desk.curl(.init(.parameters), Push(token, "old"), ["--http1.1"])
        #expect(old.status == 505 && old.all["body"]?.string?.contains("--http2") == true, "\(old.all.encoded())")
        try Conformance.note(.http1, "curl", "505, and a sentence that says what to do")
    }

    @Test(arguments: [PushSender.curl, .phpCurl, .aioapns, .httpx, .mopyapns])
    func aCertificateDoes(_ sender: PushSender) throws {
        let desk = try #require(ClientDesk.shared)
        let call = "\(sender.rawValue) with a certificate"
        var other = Push(desk.goneToken, "other")
        other.topic = ClientDesk.goneApp + ".voip"
        // Its port is the legacy protocol's: both are taken at both.
        let manner = ClientDesk.Manner(.parameters, certificate: Rig.app)
        let reports = try desk.send(sender, manner, [Push(try desk.token("voip-production"), call), other])
        try #require(reports.count == 2)
        #expect(reports[0].isOK, "\(reports[0].all.encoded())")
        try desk.expectRing(call)
        #expect(reports[1].reason == "TopicDisallowed", "\(reports[1].all.encoded())")
        try Conformance.note(.certificate, sender.rawValue, "rings; another app's topic: `TopicDisallowed`")
    }

    @Test func theConnectNameTellsTheEnvironment() throws {
        let desk = try #require(ClientDesk.shared)
        let sandbox = try desk.token("voip-sandbox")
        let wrong = try desk.curl(.init(.door), Push(sandbox, "sandbox"))
        #expect(wrong.status == 400 && wrong.reason == "BadDeviceToken")
        #expect(wrong.all["apns-unique-id"] == nil)
        let why = try #require(try desk.pushes(1).first)
        #expect(ClientDesk.findings(why).contains("token-environment"), "\(why.encoded())")
        let right = try desk.curl(.init(.door), Push(sandbox, "sandbox"), url: "https://api.sandbox.push.apple.com")
        #expect(right.status == 200 && right.all["apns-unique-id"] != nil, "\(right.all.encoded())")
        try desk.expectRing("sandbox")
        try Conformance.note(
            .environments, "curl",
            "a sandbox token: `BadDeviceToken` at api.push, 200 and `apns-unique-id` at api.sandbox.push")
    }

    // MARK: Requests

    @Test func anIDComesBackByteForByte() throws {
        let desk = try #require(ClientDesk.shared)
        let id = "49F8AD2C-9583-4da6-9F32-bd549a7d824d"
        for sender in [PushSender.curl, .aioapns] {
            var good = Push(try desk.token("voip-production"), "\(sender.rawValue) echo")
            good.id = id
            var bad = Push(desk.nobodysToken, "nobody")
            bad.id = id.uppercased()
            let reports = try desk.send(sender, .init(.parameters, ["PUSH_PATIENCE": "20"]), [good, bad])
            #expect(reports.map(\.id) == [good.id, bad.id], "\(reports.map { $0.all.encoded() })")
            try desk.expectRing(good.call)
        }
        try Conformance.note(.echo, "curl", "as sent, in answers of both kinds")
        try Conformance.note(.echo, "aioapns", "finds its request again, in answers of both kinds")
    }

    @Test func aHeaderThatComesTwiceIsRefused() throws {
        let desk = try #require(ClientDesk.shared)
        let report = try desk.curl(
            .init(.parameters), Push(try desk.token("voip-production"), "twice"),
            ["--header", "apns-topic: \(Rig.app)"])
        #expect(report.status == 400 && report.reason == "DuplicateHeaders", "\(report.all.encoded())")
        try Conformance.note(.duplicateHeader, "curl", "400 `DuplicateHeaders`")
    }

    @Test func aRefusalIsOneFrameOfHeadersAndOneOfData() throws {
        let desk = try #require(ClientDesk.shared)
        try desk.rig.scratch.make("body", Data(Push("", "frames").payload.encoded().utf8))
        let outcome = try desk.execute(
            [
                "nghttp", "--verbose", "--no-dep", "--data", desk.rig.scratch.at("body"), "--header", ":method: POST",
                "--header",
                "apns-topic: \(Rig.app).voip", "--header", "authorization: bearer \(try desk.providerToken())",
                "\(desk.url(.parameters))/3/device/\(desk.nobodysToken)",
            ], .init(.parameters))
        #expect(outcome.status == 0 && outcome.out.contains("{\"reason\":\"BadDeviceToken\"}"), "\(outcome.all)")
        // What came on the request's stream.
        let frames = outcome.out.matches(
            of: /recv ([A-Z_]+) frame <length=[0-9]+, flags=0x([0-9a-f]+), stream_id=([0-9]+)>/
        )
        .filter { $0.3 != "0" }.map { "\($0.1) \($0.2)" }
        #expect(frames == ["HEADERS 04", "DATA 01"], "\(outcome.out)")
        try Conformance.note(.frames, ClientPrograms.named("nghttp"), "one HEADERS, one DATA that ends the stream")
    }

    // MARK: Many

    @Test func fiftyAtOnceAreAllAnswered() throws {
        let desk = try #require(ClientDesk.shared)
        _ = try desk.app("com.example.burst")
        try desk.rig.ask("device", "add", "burst", "--count", "50")
        let tokens = try desk.voipTokens("com.example.burst").filter { $0.device != "desktop" }.map(\.token)
        try #require(tokens.count == 50)
        let pushes = tokens.map { token in
            var push = Push(token, "burst")
            push.topic = "com.example.burst.voip"
            return push
        }
        let reports = try desk.send(.aioapns, .init(.parameters, ["PUSH_TOGETHER": "1"]), pushes)
        #expect(
            reports.count == 50 && reports.allSatisfy { $0.isOK },
            "\(reports.filter { !$0.isOK }.map { $0.all.encoded() })")
        #expect(Set(reports.map(\.id)).count == 50)
        let records = try desk.rig.ask("pushes", "--app", "com.example.burst", "--limit", "100").items
        #expect(records.count == 50 && Set(records.compactMap { $0["device"]?.string }).count == 50)
        #expect(records.allSatisfy { $0["outcome"]?.string == "delivered" })
        try Conformance.note(.burst, "aioapns", "50 answers of 200, none lost, none refused")
    }

    @Test func aLoadIsAllAnswered() throws {
        let desk = try #require(ClientDesk.shared)
        _ = try desk.app("com.example.load")
        try desk.rig.ask("device", "add", "load", "--count", "20")
        let tokens = try desk.voipTokens("com.example.load").filter { $0.device.hasPrefix("load") }.map(\.token)
        try #require(tokens.count == 20)
        try desk.rig.scratch.make("body", Data(Push("", "load").payload.encoded().utf8))
        try desk.rig.scratch.make(
            "uris", Data(tokens.map { "\(desk.url(.parameters))/3/device/\($0)\n" }.joined().utf8))
        let before = try desk.rig.ask("status")["pushes"]?.integer ?? 0
        let outcome = try desk.execute(
            [
                "h2load", "--requests=2000", "--clients=2", "--max-concurrent-streams=100",
                "--data=\(desk.rig.scratch.at("body"))", "--header=apns-topic: com.example.load.voip",
                "--header=apns-expiration: 0", "--header=authorization: bearer \(try desk.providerToken())",
                "--input-file=\(desk.rig.scratch.at("uris"))",
            ], .init(.parameters))
        #expect(outcome.out.contains("2000 done, 2000 succeeded, 0 failed, 0 errored, 0 timeout"), "\(outcome.all)")
        #expect(outcome.out.contains("status codes: 2000 2xx"), "\(outcome.all)")
        #expect(try desk.rig.ask("status")["pushes"]?.integer == before + 2000)
        try Conformance.note(.load, ClientPrograms.named("h2load"), "2000 answers of 200")
    }

    @Test(arguments: [PushSender.pyapnsClient, .kalyke]) func aConnectionForEveryPushIsFound(_ sender: PushSender)
        throws
    {
        let desk = try #require(ClientDesk.shared)
        let app = "com.example.\(sender == .kalyke ? "kalyke" : "pyapns")"
        let token = try desk.app(app)
        // One call five times, then another: of a push that brings nothing new, that is the first thing to say.
        let calls = Array(repeating: "\(sender.rawValue) singles", count: 5) + ["\(sender.rawValue) again"]
        let pushes = calls.map { call in
            var push = Push(token, call)
            push.topic = app + ".voip"
            return push
        }
        let reports = try desk.send(sender, .init(.parameters), pushes)
        #expect(reports.map(\.isOK) == calls.map { _ in true })
        let list = try desk.rig.ask("pushes", "--limit", "1").items
        #expect(
            list.first?["finding"]?.string?.hasPrefix("a new connection for every push") == true,
            "\(list.map { $0.encoded() })")
        let records = try desk.pushes(6)
        #expect(Set(records.compactMap { $0["connection"]?.integer }).count == 6)
        #expect(
            records.suffix(2).allSatisfy { ClientDesk.findings($0).contains("connection-per-push") },
            "\(records.map { $0.encoded() })")
        for call in [calls[0], calls[5]] {
            try desk.expectRing(call)
            #expect(desk.banners(call) == 1)
        }
        try Conformance.note(
            .singles, sender.rawValue, "6 connections for 6 pushes: found and said from the fourth on")
    }

    // MARK: Time

    @Test func anExpirationOfAMonthIsFound() throws {
        let desk = try #require(ClientDesk.shared)
        var push = Push(try desk.token("voip-production"), "kalyke by itself")
        push.expiration = nil
        #expect(try desk.send(.kalyke, .init(.parameters), [push]).map(\.isOK) == [true])
        try desk.expectRing(push.call)
        let record = try #require(try desk.pushes(1).first)
        #expect(ClientDesk.findings(record).contains("expiration-far"), "\(record.encoded())")
        try Conformance.note(
            .expiration, "kalyke", "its default: found, since a phone that was off would ring that late")
    }

    /// How long a push may be on its way is not how long it rings.
    @Test func aCallRingsAsLongAsAnyWhateverThePushExpires() throws {
        let desk = try #require(ClientDesk.shared)
        let token = try desk.token("voip-production")
        for seconds in [0, 3] {
            var push = Push(token, "aioapns, time_to_live \(seconds)")
            push.expiration = Int64(seconds)
            #expect(try desk.send(.aioapns, .init(.parameters), [push]).map(\.isOK) == [true])
            let call = try desk.expectRing(push.call)
            let began = try #require(call["Began"]?.integer)
            #expect(call["Deadline"]?.integer == began + 30_000_000_000)
            let record = try #require(try desk.pushes(1).first)
            let late = (record["expiration"]?.integer ?? 0) - (record["wall_ns"]?.integer ?? 0) / 1_000_000_000
            #expect(late <= seconds, "aioapns has learnt to send 0: \(record.encoded())")
        }
        // One that is late is late.
        var late = Push(token, "late")
        late.expiration = Int64(Date.now.timeIntervalSince1970) - 60
        #expect(try desk.send(.httpx, .init(.parameters), [late]).map(\.isOK) == [true])
        #expect(try desk.pushes(1).first?["outcome"]?.string == "too-late")
        try Conformance.note(
            .moment, "aioapns", "`time_to_live` 0 (it sends the second of now) and 3: the call rings its 30 s")
    }

    // MARK: Faults

    @Test func aGoAwayMakesAioapnsSendAgainAndTheCallIsOne() throws {
        let desk = try #require(ClientDesk.shared)
        var push = Push(try desk.app("com.example.goaway"), "aioapns goaway")
        push.topic = "com.example.goaway.voip"
        let start = desk.rig.events.count
        let report = try #require(try desk.send(.aioapns, .init(.parameters), [push]).first)
        #expect(report.isOK, "\(report.all.encoded())")
        let records = try desk.pushes(2)
        #expect(records.map { $0["app"]?.string } == ["com.example.goaway", "com.example.goaway"])
        #expect(Set(records.compactMap { $0["connection"]?.integer }).count == 2)
        #expect(records.map { $0["outcome"]?.string } == ["rings", "updated"])
        #expect(ClientDesk.findings(records[1]).contains("duplicate"), "\(records[1].encoded())")
        try desk.expectRing(push.call)
        #expect(desk.banners(push.call) == 1)
        #expect(desk.rig.events("call.ended", from: start).count == 1)
        try Conformance.note(.goAway, "aioapns", "reconnects and sends again: found as a duplicate, one call")
    }

    @Test func aRefusedStreamIsLostByAioapnsAndTriedAgainByCurl() throws {
        let desk = try #require(ClientDesk.shared)
        var push = Push(try desk.app("com.example.refused"), "aioapns refused")
        push.topic = "com.example.refused.voip"
        let report = try #require(try desk.send(.aioapns, .init(.parameters, ["PUSH_PATIENCE": "1"]), [push]).first)
        #expect(report.all["fault"]?.string == "TimeoutError", "\(report.all.encoded())")
        #expect(try desk.rig.ask("calls").items.isEmpty)
        try Conformance.note(.refusedStream, "aioapns", "never hears of its push again")
        push.call = "curl refused"
        let second = try desk.curl(.init(.parameters), push)
        #expect(second.status == 200, "\(second.all.encoded())")
        try desk.expectRing(push.call)
        try Conformance.note(.refusedStream, "curl", "tries again by itself; one call")
    }

    // MARK: The legacy protocol

    @Test func whatIsBehindARefusedPushIsDiscarded() throws {
        let desk = try #require(ClientDesk.shared)
        let voip = try desk.token("voip-production")
        func manner(_ patience: String) -> ClientDesk.Manner {
            .init(.parameters, certificate: Rig.app, ["PUSH_PATIENCE": patience])
        }
        // pushjack goes on behind the one that failed.
        let reports = try desk.send(
            .pushjack, manner("2"), [Push(desk.nobodysToken, "pushjack goes on"), Push(voip, "pushjack goes on")])
        #expect(reports.map(\.isOK) == [false, true])
        try desk.expectRing("pushjack goes on")
        #expect(desk.banners("pushjack goes on") == 1)
        try Conformance.note(.discard, "pushjack", "sends it again; one call")
        // The tutorials do not.
        var bad = Push(desk.nobodysToken, "nobody")
        bad.identifier = 77
        let number = try desk.pushes(1).first?["number"]?.integer ?? 0
        let report = try #require(try desk.send(.phpStreams, manner("20"), [bad, Push(voip, "lost")]).first)
        #expect(report.status == 8 && report.identifier == 77, "\(report.all.encoded())")
        #expect(try desk.pushes(1).first?["number"]?.integer == number + 1)
        #expect(desk.banners("lost") == 0)
        try Conformance.note(.discard, "PHP streams", "loses it, as at Apple")
    }

    /// A ticket behind the handshake makes the socket readable, and senders that wait with select() take it for an answer.
    @Test func noTicketsAreSent() throws {
        let desk = try #require(ClientDesk.shared)
        let outcome = try desk.execute(
            [
                "bash", "-c",
                "sleep 0.3 | openssl s_client -connect 127.0.0.1:\(desk.binaryPort) -CAfile \(desk.authority) -tls1_3",
            ], .init(.parameters))
        #expect(outcome.out.contains("TLSv1.3") && outcome.out.contains("Verify return code: 0"), "\(outcome.all)")
        #expect(!outcome.out.contains("New Session Ticket arrived"), "\(outcome.all)")
        try Conformance.note(.tickets, "openssl s_client", "none")
    }
}

extension ClientDesk {
    /// The VoIP tokens of an app on every device, of production.
    func voipTokens(_ app: String) throws -> [(device: String, token: String)] {
        let lines = try rig.ringctl(
            "device", "tokens", "--app", app, "--kind", "voip", "--environment", "production", "--json")
        return try lines.out.split(separator: "\n").map { line in
            let token = try JSONValue.parse(Array(line.utf8))
            return (token["device"]?.string ?? "", token["token"]?.string ?? "")
        }
    }
}
