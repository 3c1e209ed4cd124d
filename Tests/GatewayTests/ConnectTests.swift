import APNs
import Base
import Crypto
import EventLoop
import Foundation
import Gateway
import HTTP2
import Testing

@Suite struct ConnectTests {
    static func outcome(_ text: String, piece: Int = .max) -> ConnectParser.Outcome {
        var parser = ConnectParser()
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let outcome = rest.prefix(piece).withUnsafeBytes { parser.take($0) }
            if outcome != .needMore { return outcome }
            rest = rest.dropFirst(piece)
        }
        return .needMore
    }

    @Test(arguments: ConnectParser.names, ConnectParser.ports) func applesNamesLeadHere(name: String, port: UInt16) {
        let text = "CONNECT \(name):\(port) HTTP/1.1\r\nHost: \(name)\r\nUser-Agent: x\r\n\r\n"
        for piece in [1, 7, Int.max] {
            #expect(Self.outcome(text, piece: piece) == .tunnel(name: name, port: port, rest: []))
        }
        #expect(
            Self.outcome("CONNECT \(name.uppercased()).:\(port) HTTP/1.0\n\nxy")
                == .tunnel(name: name, port: port, rest: [120, 121]))
    }

    @Test(arguments: [
        ("CONNECT example.org:443 HTTP/1.1\r\n\r\n", "403"), ("CONNECT push.apple.com:443 HTTP/1.1\r\n\r\n", "403"),
        ("CONNECT api.push.apple.com:22 HTTP/1.1\r\n\r\n", "403"),
        ("CONNECT api.push.apple.com.evil.org:443 HTTP/1.1\r\n\r\n", "403"),
        ("CONNECT 127.0.0.1:443 HTTP/1.1\r\n\r\n", "403"), ("CONNECT [::1]:443 HTTP/1.1\r\n\r\n", "403"),
        ("CONNECT api.push.apple.com HTTP/1.1\r\n\r\n", "400"),
        ("CONNECT api.push.apple.com:x HTTP/1.1\r\n\r\n", "400"),
        ("CONNECT api.push.apple.com:+443 HTTP/1.1\r\n\r\n", "400"),
        ("GET http://api.push.apple.com/ HTTP/1.1\r\n\r\n", "405"), ("CONNECT  HTTP/1.1\r\n\r\n", "400"),
        ("HELLO\r\n\r\n", "400"), ("\u{16}\u{3}\u{1}", "400"),
        (String(repeating: "a", count: 9000), "431"), ("CONNECT api.push.apple.com:443 HTTP/2\r\n\r\n", "400"),
    ])
    func allElseIsRefusedInWords(_ text: String, _ status: String) {
        guard case .refused(let refusal) = Self.outcome(text) else {
            Issue.record("\(Self.outcome(text))")
            return
        }
        #expect(refusal.status.hasPrefix(status + " "))
        #expect(!refusal.words.isEmpty)
    }

    @Test func everyFindingOfTheFuzzersIsReplayed() throws {
        let fuzz = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz")
        var count = 0
        for folder in ["FailCases/connect", "corpus/connect"] {
            let files = (try? FileManager.default.contentsOfDirectory(atPath: fuzz.appending(path: folder).path)) ?? []
            for file in files {
                let text = String(
                    decoding: try Data(contentsOf: fuzz.appending(path: "\(folder)/\(file)")), as: UTF8.self)
                _ = Self.outcome(text)
                _ = Self.outcome(text, piece: 3)
                count += 1
            }
        }
        #expect(count > 3)
    }

    // MARK: Live

    func rig() throws -> Rig {
        try Rig { configuration in
            configuration.listeners[0].service = .proxy
        }
    }

    @Test(arguments: [
        ("api.push.apple.com:443", PushEnvironment.production), ("api.sandbox.push.apple.com:2197", .sandbox),
        ("api.development.push.apple.com:443", .sandbox),
    ])
    func aPushThroughTheDoorRings(_ name: String, _ environment: PushEnvironment) throws {
        let rig = try rig()
        let sender = try rig.sender(name: String(name.prefix { $0 != ":" }), through: name)
        let token = environment == .sandbox ? [UInt8](repeating: 0xcd, count: 32) : Frames.token
        let push = try sender.push(token, ["authorization": "bearer " + rig.providerToken()])
        #expect(try rig.answer(sender, push).status == 200)
        #expect(rig.pushes.map(\.environment) == [environment])
        #expect(rig.deliveries.count == 1)
    }

    @Test func aBinaryPushThroughTheDoorRings() throws {
        let rig = try rig()
        let client = try rig.client(name: "gateway.push.apple.com", through: "gateway.push.apple.com:2195")
        client.send(Frames.framed(id: 5))
        try rig.turn("it rings") { rig.deliveries.count == 1 }
    }

    @Test func theFeedbackServiceThroughTheDoor() throws {
        let rig = try rig()
        _ = rig.service.directory.remove(app: "org.example.App", at: .now)
        rig.service.restore(feedback: DeviceToken(Frames.token)!, at: WallTime(nanoseconds: 5_000_000_000))
        // A look at the port by somebody who is no sender leaves it as it was.
        let context = try TLSContext.client(trusting: [rig.credentials.authority.certificate])
        let stranger = try Client(
            port: rig.port, session: try .client(context, name: "localhost"), connect: "feedback.push.apple.com:2196")
        rig.clients.append(stranger)
        try rig.turn("the end") { stranger.isEnded }
        #expect(stranger.received.isEmpty && rig.causes() == ["no-certificate"])
        let client = try rig.client(name: "feedback.push.apple.com", through: "feedback.push.apple.com:2196")
        try rig.turn("the end") { client.isEnded }
        #expect(client.received == [0, 0, 0, 5, 0, 32] + Frames.token)
        let again = try rig.client(name: "feedback.push.apple.com", through: "feedback.push.apple.com:2196")
        try rig.turn("the end") { again.isEnded }
        #expect(again.received.isEmpty)
    }

    @Test func strangersGetWordsAndAreCut() throws {
        let rig = try rig()
        let client = try rig.rawClient()
        client.send(Array("CONNECT example.org:443 HTTP/1.1\r\n\r\n".utf8))
        try rig.turn("the end") { client.isEnded }
        let text = String(decoding: client.received, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 403 Forbidden\r\n") && text.contains("unset HTTPS_PROXY"))
        #expect(rig.causes() == ["connect-refused"])
        #expect(rig.gateway.connectionCount == 0)
    }

    @Test func aRequestThatNeverEndsIsCut() throws {
        let rig = try Rig {
            $0.listeners[0].service = .proxy
            $0.handshakeDeadline = .milliseconds(200)
        }
        let client = try rig.rawClient()
        client.send(Array("CONNECT api.push".utf8))
        try rig.turn("the end") { client.isEnded }
        #expect(String(decoding: client.received, as: UTF8.self).contains("408"))
        try rig.turn("nothing is left") { rig.gateway.connectionCount == 0 && !rig.gateway.hasDeadline }
    }
}
