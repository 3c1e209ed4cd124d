import APNs
import Base
import Crypto
import EventLoop
import Foundation
import Gateway
import HTTP2
import Testing

@Suite struct HTTP2PushTests {
    static let alert: [UInt8] = [UInt8](repeating: 0x12, count: 32)

    func token(_ rig: Rig, age: Int64 = 0) throws -> String { "bearer " + (try rig.providerToken(age: age)) }

    // MARK: Answers

    @Test(arguments: [true, false]) func aPushRingsWithAndWithoutALPN(alpn: Bool) throws {
        let rig = try Rig()
        let sender = try rig.sender(alpn: alpn)
        let answer = try rig.answer(sender, sender.push(Frames.token, ["authorization": token(rig)]))
        #expect(answer.status == 200 && answer.body.isEmpty)
        let id = try #require(answer["apns-id"])
        #expect(UUID(uuidString: id) != nil && id == id.uppercased())
        #expect(answer["apns-unique-id"] == nil && answer["content-type"] == nil)
        #expect(rig.deliveries.map(\.push.payload) == [Frames.payload])
        let record = try #require(rig.pushes.first)
        #expect(record.transport == "HTTP/2" && record.outcome == "rang" && record.id == id)
        #expect(record.findings.isEmpty)
    }

    @Test func theSandboxNamesItsPushes() throws {
        let rig = try Rig()
        let sender = try rig.sender(name: "api.sandbox.push.apple.com")
        let answer = try rig.answer(
            sender, sender.push([UInt8](repeating: 0xcd, count: 32), ["authorization": token(rig)]))
        #expect(answer.status == 200)
        #expect(UUID(uuidString: try #require(answer["apns-unique-id"])) != nil)
    }

    @Test func anIDComesBackByteForByte() throws {
        let rig = try Rig()
        let sender = try rig.sender(certificate: true)
        for id in ["123e4567-e89b-12d3-a456-4266554400a0", "123E4567-e89b-12d3-a456-4266554400A0"] {
            #expect(try rig.answer(sender, sender.push(Frames.token, ["apns-id": id]))["apns-id"] == id)
            let bad = try rig.answer(sender, sender.push(Self.alert, ["apns-id": id]))
            #expect(bad.status == 400 && bad["apns-id"] == id)
        }
    }

    @Test func anErrorIsOneDataFrame() throws {
        let rig = try Rig()
        let client = try rig.frameClient()
        client.send(H2Frame.headers(1, HTTP2SpecTests.block, end: true).bytes)
        var bytes: [UInt8] = []
        var taken = 0
        var seen: [H2Frame] = []
        try rig.turn("the end of the answer") {
            bytes += client.received[taken...]
            taken = client.received.count
            seen += H2Frame.take(from: &bytes)
            return seen.contains { $0.stream == 1 && $0.flags & H2Frame.Flag.endStream != 0 }
        }
        let answer = seen.filter { $0.stream == 1 }
        #expect(answer.map(\.kind) == [H2Frame.Kind.headers, H2Frame.Kind.data])
        #expect(answer.map { $0.flags & 1 } == [0, 1])
        #expect(String(decoding: answer[1].payload, as: UTF8.self) == #"{"reason":"MissingProviderToken"}"#)
        // What Apple's service was seen to announce, in its order.
        let settings = try #require(seen.first { $0.kind == H2Frame.Kind.settings })
        #expect(
            settings == .settings([(1, 4096), (3, 1), (4, 65_535), (5, 16_384), (6, 8000)]), "\(settings.payload)")
    }

    @Test func aRemovedAppIsGoneInMilliseconds() throws {
        let rig = try Rig()
        let sender = try rig.sender(certificate: true)
        let at = WallTime.now
        _ = rig.service.directory.remove(app: "org.example.App", at: at)
        let answer = try rig.answer(sender, sender.push())
        #expect(answer.status == 410)
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == #"{"reason":"Unregistered","timestamp":\#(at.nanoseconds / 1_000_000)}"#)
    }

    /// HTTP/2 has its own word on these, which says nothing of the cause: ours does.
    @Test(arguments: [("apns-expiration", " 5"), ("authorization", "bearer "), ("apns-topic", "a\nb")])
    func aHeaderThatHTTP2ForbidsIsNamed(name: String, value: String) throws {
        let rig = try Rig()
        let client = try rig.frameClient()
        client.send(H2Frame.headers(1, HTTP2SpecTests.block + HPACK.literal(name, value), end: true).bytes)
        try rig.turn("a word") { rig.causes() == ["bad-header"] }
        #expect(rig.events.last?.message.contains("sent \(name) with a blank") == true)
        try rig.turn("the reset") {
            var bytes = client.received
            return H2Frame.take(from: &bytes).contains { $0.kind == H2Frame.Kind.reset && $0.code == 1 }
        }
    }

    @Test func aRequestThatIsNeverFinishedIsAnswered() throws {
        let rig = try Rig { $0.http2.requestDeadline = .milliseconds(200) }
        let client = try rig.frameClient()
        client.send(H2Frame.headers(1, HTTP2SpecTests.block).bytes)
        try rig.turn("IdleTimeout") {
            String(decoding: client.received, as: UTF8.self).contains(#"{"reason":"IdleTimeout"}"#)
        }
    }

    @Test func anIdleConnectionIsToldGoodbye() throws {
        let rig = try Rig { $0.idleLimit = .milliseconds(200) }
        let sender = try rig.sender()
        try rig.turn("the end") { sender.client.isEnded }
        #expect(sender.goAways.map(\.debug) == [#"{"reason":"IdleTimeout"}"#])
    }

    /// Whatever is still open then: the timer must not fire for it over and over.
    @Test(arguments: ["hang", "delay 30", "goaway graceful", ""])
    func whatIsStillOpenAtItsTimeDoesNotSpin(fault: String) throws {
        let rig = try Rig { $0.idleLimit = .milliseconds(100) }
        let client = try rig.frameClient(settings: [(4, 0)])
        let body = Array((fault.isEmpty ? "{}" : #"{"ringd-fault":"\#(fault)"}"#).utf8)
        let block = HTTP2SpecTests.block + HPACK.literal("authorization", "bearer \(try rig.providerToken())")
        client.send(
            H2Frame.headers(1, fault.isEmpty ? HTTP2SpecTests.block : block).bytes + H2Frame.data(1, body).bytes)
        // A request that is not answered keeps a connection from its end, and one whose answer is not taken does not.
        if fault.hasPrefix("goaway") { client.send(H2Frame.headers(3, HTTP2SpecTests.block).bytes) }
        try rig.turn("it came") { rig.pushCount == 1 }
        let since = Instant.now
        var turns = 0
        while Instant.now - since < .milliseconds(700) {
            try rig.loop.turn(timeout: .milliseconds(20))
            turns += 1
        }
        #expect(turns < 80)
        if !fault.hasPrefix("delay") { try rig.turn("its end") { rig.gateway.connectionCount == 0 } }
    }

    @Test func anAnswerThatIsNotTakenEndsTheConnection() throws {
        let rig = try Rig { $0.http2.requestDeadline = .milliseconds(200) }
        let client = try rig.frameClient(settings: [(4, 0)])
        client.send(H2Frame.headers(1, HTTP2SpecTests.block).bytes + H2Frame.data(1, Array("{}".utf8)).bytes)
        try rig.turn("the end") { client.isEnded }
        #expect(rig.causes().contains("answers-unread"))
        try rig.turn("the table is empty") { rig.gateway.connectionCount == 0 }
        #expect(rig.gateway.heldBytes == 0)
    }

    @Test func stoppingSaysShutdown() throws {
        let rig = try Rig()
        let sender = try rig.sender(certificate: true)
        _ = try rig.answer(sender, sender.push())
        rig.gateway.stop()
        try rig.turn("the end") { sender.client.isEnded }
        #expect(sender.goAways.map(\.debug) == [#"{"reason":"Shutdown"}"#])
        #expect(rig.gateway.connectionCount == 0 && !rig.gateway.hasDeadline)
    }

    @Test func stoppingAnswersAllThatIsOpenAndThenSaysGoodbye() throws {
        let rig = try Rig()
        let client = try rig.frameClient()
        for stream in 0..<600 { client.send(H2Frame.headers(UInt32(2 * stream + 1), HTTP2SpecTests.block).bytes) }
        client.send(H2Frame.ping("afterall").bytes)
        func frames() -> [H2Frame] {
            var bytes = client.received
            return H2Frame.take(from: &bytes)
        }
        try rig.turn("all began") { frames().contains(.ping("afterall", ack: true)) }
        rig.gateway.stop()
        try rig.turn("the end") { client.isEnded }
        let kinds = frames().map(\.kind)
        #expect(kinds.count { $0 == H2Frame.Kind.data } == 600)
        #expect(kinds.last == H2Frame.Kind.goAway)
    }

    // MARK: The limit of streams

    @Test func oneStreamUntilTheSenderIsKnown() throws {
        let rig = try Rig()
        let sender = try rig.sender()
        try rig.turn("SETTINGS") { !sender.limits.isEmpty }
        #expect(sender.limits == [1])
        let good = try token(rig)
        _ = try rig.answer(sender, sender.push(Frames.token, ["authorization": good]))
        try rig.turn("the limit is raised") { sender.limits.last == 1000 }
        // A refused push slows it down, the next good one ends that.
        _ = try rig.answer(sender, sender.push(Frames.token, ["authorization": good, "apns-priority": "7"]))
        try rig.turn("the limit is lowered") { sender.limits.last == 1 }
        _ = try rig.answer(sender, sender.push(Frames.token, ["authorization": good]))
        try rig.turn("the limit is raised again") { sender.limits.last == 1000 }
    }

    @Test func aCertificateIsKnownAtOnce() throws {
        let rig = try Rig()
        let sender = try rig.sender(certificate: true)
        try rig.turn("SETTINGS") { !sender.limits.isEmpty }
        #expect(sender.limits == [1000])
    }

    @Test func aBurstBeforeSettingsAreReadIsTaken() throws {
        let rig = try Rig()
        let client = try rig.frameClient()
        let block = HTTP2SpecTests.block + HPACK.literal("authorization", try token(rig))
        // All in one go, before anything of the server can have been read; each request open until the end.
        for stream in 0..<20 { client.send(H2Frame.headers(UInt32(2 * stream + 1), block).bytes) }
        for stream in 0..<20 { client.send(H2Frame.data(UInt32(2 * stream + 1), Frames.payload).bytes) }
        try rig.turn("all rang") { rig.deliveries.count == 20 }
    }

    @Test(arguments: [Gateway.StreamViolation.refuse, .goaway])
    func tooManyStreamsAreRefusedOnceTheLimitIsKnown(violation: Gateway.StreamViolation) throws {
        let rig = try Rig { $0.http2.violation = violation }
        let client = try rig.frameClient()
        client.send(H2Frame.settings(ack: true).bytes)
        client.send(H2Frame.headers(1, HTTP2SpecTests.block).bytes + H2Frame.headers(3, HTTP2SpecTests.block).bytes)
        var bytes: [UInt8] = []
        var taken = 0
        var seen: [H2Frame] = []
        try rig.turn("a refusal") {
            bytes += client.received[taken...]
            taken = client.received.count
            seen += H2Frame.take(from: &bytes)
            return seen.contains { $0.kind == H2Frame.Kind.reset && $0.stream == 3 }
        }
        #expect(seen.first { $0.kind == H2Frame.Kind.reset }?.code == 7)
        let goAway = seen.first { $0.kind == H2Frame.Kind.goAway }
        #expect((goAway != nil) == (violation == .goaway))
        if let goAway {
            #expect(goAway.code == 7 && goAway.debug == "Maximum active streams violated for this endpoint.")
        }
    }

    @Test func tooManyErrorsEndIt() throws {
        let rig = try Rig { $0.http2.errorLimit = 3 }
        let sender = try rig.sender(certificate: true)
        for _ in 0..<3 { _ = try rig.answer(sender, sender.push(Self.alert)) }
        try rig.turn("the end") { sender.client.isEnded }
        #expect(sender.goAways.count == 1)
    }

    // MARK: Faults on demand

    func fault(_ text: String) -> [UInt8] { Array(#"{"callId":"1","displayName":"A","ringd-fault":"\#(text)"}"#.utf8) }

    @Test func aFaultOfThePayloadAnswersAnything() throws {
        let rig = try Rig()
        let sender = try rig.sender(certificate: true)
        for reason in PushReason.allCases {
            let answer = try rig.answer(sender, sender.push(body: fault("reason \(reason.rawValue)")))
            #expect(answer.status == reason.httpStatus)
            let body = String(decoding: answer.body, as: UTF8.self)
            #expect(body.hasPrefix(#"{"reason":"\#(reason.rawValue)""#))
            #expect(body.contains("timestamp") == (reason.httpStatus == 410))
        }
        #expect(rig.deliveries.isEmpty)
        let odd = try rig.answer(sender, sender.push(body: fault("status 502 BadGateway")))
        #expect(odd.status == 502 && String(decoding: odd.body, as: UTF8.self) == #"{"reason":"BadGateway"}"#)
    }

    @Test func faultsOfTheConnection() throws {
        let rig = try Rig()
        func sender() throws -> PushSender { try rig.sender(certificate: true) }
        var one = try sender()
        #expect(try rig.answer(one, one.push(body: fault("refuse-stream"))).resetCode == 7)
        #expect(try rig.answer(one, one.push(body: fault("reset"))).resetCode == 2)
        #expect(rig.deliveries.isEmpty)
        #expect(try rig.answer(one, one.push(body: fault("goaway graceful Shutdown"))).status == 200)
        try rig.turn("the end") { one.client.isEnded }
        #expect(one.goAways.map(\.debug) == [#"{"reason":"Shutdown"}"#])
        #expect(rig.deliveries.count == 1)

        one = try sender()
        _ = try one.push(body: fault("goaway abrupt Maximum active streams violated for this endpoint."))
        try rig.turn("the end") { one.client.isEnded }
        #expect(one.goAways.map(\.code) == [7] && one.goAways.map(\.last) == [0])
        // Delivered, and the sender cannot know: it sends again, and the call rings twice (apns.md 4.4).
        #expect(rig.deliveries.count == 2)

        one = try sender()
        _ = try one.push(body: fault("close"))
        try rig.turn("the end") { one.client.isEnded }
        #expect(one.client.failure == 0 && one.responses.isEmpty)

        one = try sender()
        _ = try one.push(body: fault("cut"))
        try rig.turn("the end") { one.client.isEnded }
        #expect(one.client.failure == ECONNRESET || one.client.failure == EPIPE)

        one = try sender()
        _ = try one.push(body: fault("hang"))
        try rig.turn("it came") { rig.deliveries.count == 5 }
        _ = try one.push()
        let since = Instant.now
        try rig.turn("time goes by") { Instant.now - since > .milliseconds(300) }
        #expect(!one.client.isEnded && one.responses.isEmpty && rig.deliveries.count == 5)
        one.client.hangUp()
        try rig.turn("the table is empty") { rig.gateway.connectionCount == 0 }
    }

    @Test func theRecordSaysWhatCameInsteadOfAnAnswer() throws {
        let rig = try Rig()
        for (words, reason) in [
            ("refuse-stream", "RST_STREAM, REFUSED_STREAM"), ("reset", "RST_STREAM, INTERNAL_ERROR"),
            ("close", "the connection's end"), ("goaway abrupt", "GOAWAY"),
        ] {
            let sender = try rig.sender(certificate: true)
            let count = rig.pushCount
            _ = try sender.push(body: fault(words))
            try rig.turn(words) { rig.pushCount > count }
            #expect(rig.pushes.last?.status == 0 && rig.pushes.last?.reason == reason)
        }
    }

    @Test(arguments: ["bogus", "delay", "reason Nonsense", ""])
    func aFaultThatIsNoneIsSaid(words: String) throws {
        let rig = try Rig()
        let sender = try rig.sender(certificate: true)
        #expect(try rig.answer(sender, sender.push(body: fault(words))).status == 200)
        let finding = try #require(rig.pushes.last?.findings.first { $0.code == "fault-words" })
        #expect(finding.reason == nil && finding.text.hasPrefix("ringd-fault in the payload: "))
    }

    @Test func delaysDuplicatesLossAndOrder() throws {
        let rig = try Rig()
        let sender = try rig.sender(certificate: true)
        let slow = try sender.push(body: fault("delay 0.3"))
        let quick = try sender.push()
        let since = Instant.now
        #expect(try rig.answer(sender, quick).status == 200)
        #expect(sender.responses[slow] == nil && rig.deliveries.count == 2)
        #expect(try rig.answer(sender, slow).status == 200)
        #expect(Instant.now - since >= .milliseconds(290))
        _ = try rig.answer(sender, sender.push(body: fault("duplicate")))
        #expect(rig.deliveries.count == 4)
        _ = try rig.answer(sender, sender.push(body: fault("lose")))
        #expect(rig.deliveries.count == 4)
        _ = try rig.answer(sender, sender.push(body: fault("late 0.2")))
        #expect(rig.deliveries.count == 4)
        try rig.turn("it comes late") { rig.deliveries.count == 5 }
        #expect(rig.deliveries.last?.isLate == true)
        _ = try rig.answer(sender, sender.push(body: fault("reorder")))
        #expect(rig.deliveries.count == 5)
        _ = try rig.answer(sender, sender.push(body: Array(#"{"n":2}"#.utf8)))
        #expect(rig.deliveries.count == 7)
        #expect(String(decoding: rig.deliveries[5].push.payload, as: UTF8.self) == #"{"n":2}"#)
        let records = rig.pushes
        #expect(records.last?.outcome == "rang")
        #expect(records.dropLast().last?.notes.last == "delivered later: rang")
    }

    // MARK: Floods

    @Test func aResetStormIsEnded() throws {
        let rig = try Rig()
        let good = try rig.sender(certificate: true)
        let storm = try rig.frameClient()
        for stream in 0..<3000 {
            let id = UInt32(2 * stream + 1)
            storm.send(H2Frame.headers(id, HTTP2SpecTests.block).bytes + H2Frame.reset(id).bytes)
        }
        try rig.turn("the storm is ended") { storm.isEnded }
        #expect(try rig.answer(good, good.push()).status == 200)
        #expect(rig.gateway.heldBytes == 0)
    }

    @Test func aHeaderBlockWithoutEndIsEnded() throws {
        let rig = try Rig()
        let good = try rig.sender(certificate: true)
        let flood = try rig.frameClient()
        flood.send(H2Frame.headers(1, HTTP2SpecTests.block, whole: false).bytes)
        for index in 0..<10_000 {
            flood.send(H2Frame(kind: 9, stream: 1, payload: HPACK.literal("x-\(index)", "y")).bytes)
        }
        try rig.turn("the flood is ended") { flood.isEnded }
        #expect(try rig.answer(good, good.push()).status == 200)
    }

    @Test func aHeaderBombIsRefused() throws {
        let rig = try Rig()
        let bomb = try rig.frameClient()
        // One large header into the table, then a reference of one byte to it, over and over.
        let block =
            HTTP2SpecTests.block + [0x40] + HPACK.string("x-bomb") + HPACK.string(String(repeating: "a", count: 3800))
            + [UInt8](repeating: 0xbe, count: 10_000)
        bomb.send(H2Frame.headers(1, block, end: true).bytes + H2Frame.ping("afterall").bytes)
        try rig.turn("it is refused, and the connection goes on") {
            var bytes = bomb.received
            let seen = H2Frame.take(from: &bytes)
            return seen.contains { $0.kind == H2Frame.Kind.reset && $0.stream == 1 && $0.code == 11 }
                && seen.contains(.ping("afterall", ack: true))
        }
        #expect(rig.pushCount == 0)
    }

    @Test(arguments: [
        H2Frame.ping(), H2Frame.settings([(4, 65_535)]), H2Frame.headers(0, []), H2Frame.priority(1),
        H2Frame.windowUpdate(0, 1), H2Frame(kind: 0xfa, payload: [UInt8](repeating: 0, count: 64)),
    ])
    func aFloodOfSmallFramesHoldsNothing(frame: H2Frame) throws {
        let rig = try Rig()
        let good = try rig.sender(certificate: true)
        let flood = try rig.frameClient()
        for _ in 0..<20_000 { flood.send(frame.bytes) }
        // It reads nothing meanwhile: that the flood's own answers pile up is the flood's trouble.
        let answer = try good.push()
        try rig.turn("the flood is taken or ended") {
            good.responses[answer] != nil && (flood.isEnded || flood.isFlushed)
        }
        #expect(good.responses[answer]?.status == 200)
    }

    /// What a connection held is given back at its end, however that comes: answered and not taken, or not answered.
    @Test(arguments: ["delay 30", "hang", "cut", "goaway abrupt", "hello"])
    func whatAConnectionHeldIsGivenBack(fault: String) throws {
        let rig = try Rig()
        let client = try rig.frameClient(settings: [(4, 0)])
        for stream in 0..<8 {
            let id = UInt32(2 * stream + 1)
            client.send(
                H2Frame.headers(id, HTTP2SpecTests.block).bytes
                    + H2Frame.data(id, Array(#"{"ringd-fault":"\#(fault)"}"#.utf8)).bytes)
        }
        try rig.turn("it came") { rig.pushCount > 0 }
        for _ in 0..<20 { try rig.turn("a turn") { true } }
        client.hangUp()
        try rig.turn("the table is empty") { rig.gateway.connectionCount == 0 }
        #expect(rig.gateway.heldBytes == 0)
    }

    /// A sender that opens no window for answers has no more streams than any other.
    @Test func answersThatAreNotTakenCount() throws {
        let rig = try Rig { $0.http2.firstStreams = 10 }
        let client = try rig.frameClient(settings: [(4, 0)])
        client.send(H2Frame.settings(ack: true).bytes)
        for stream in 0..<100 {
            let id = UInt32(2 * stream + 1)
            client.send(H2Frame.headers(id, HTTP2SpecTests.block).bytes + H2Frame.data(id, Array("{}".utf8)).bytes)
        }
        client.send(H2Frame.ping("afterall").bytes)
        try rig.turn("all came") {
            var bytes = client.received
            return H2Frame.take(from: &bytes).contains(.ping("afterall", ack: true))
        }
        #expect(rig.pushCount <= 10)
    }

    @Test func whatRequestsHoldIsBounded() throws {
        let rig = try Rig()
        let good = try rig.sender(certificate: true)
        let greedy = try (0..<8).map { _ in try rig.frameClient() }
        for client in greedy {
            for stream in 0..<1000 {
                let id = UInt32(2 * stream + 1)
                client.send(H2Frame.headers(id, HTTP2SpecTests.block).bytes)
                client.send(
                    H2Frame.windowUpdate(0, 6000).bytes
                        + H2Frame.data(id, [UInt8](repeating: 32, count: 6000), end: false).bytes)
            }
        }
        let since = Instant.now
        var most = 0
        try rig.turn("some seconds go by") {
            most = max(most, rig.gateway.heldBytes)
            return Instant.now - since > .seconds(2)
        }
        #expect(most < 40 << 20)
        for client in greedy { client.hangUp() }
        try rig.turn("all is given back") { rig.gateway.heldBytes == 0 }
        #expect(try rig.answer(good, good.push()).status == 200)
    }
}
