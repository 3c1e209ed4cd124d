import Base
import EventLoop
import Glibc
import Sockets
import Testing
import Webhooks

/// Starting, changing and leaving.
struct LifeTests {
    @Test func nothingListensBeforeTheStartAndAfterTheEnd() throws {
        let rig = try Rig(start: false)
        #expect(rig.server.addresses.isEmpty)
        rig.server.start()
        let address = try #require(rig.server.addresses.first)
        #expect(address.host == [127, 0, 0, 1] && address.port != 0)
        let kept = try rig.client()
        kept.send(post())
        _ = try rig.replies(kept)
        let waiting = try rig.client()
        waiting.send("POST /push/a.b HTTP/1.1\r\n")
        try rig.settle()
        #expect(rig.server.connectionCount == 2)
        rig.server.stop()
        #expect(rig.server.addresses.isEmpty)
        #expect(rig.server.connectionCount == 0)
        #expect(!rig.server.hasDeadline)
        try rig.end(kept)
        try rig.end(waiting)
        #expect(rig.requests.count == 1)
        #expect(throws: NotConnected.self) { try Client(port: address.port) }
        // And again.
        rig.server.start()
        #expect(try rig.ask(post())[0].status == 200)
    }

    /// It has no timer of its own, and its descriptor is quiet.
    @Test func itSleepsWhileNothingComes() throws {
        let rig = try Rig()
        try rig.settle()
        #expect(!rig.server.hasDeadline)
        let reply = try rig.ask(post(headers: ["Connection: close"]))[0]
        #expect(reply.status == 200)
        try rig.settle()
        #expect(rig.server.connectionCount == 0)
        #expect(!rig.server.hasDeadline)
    }

    @Test func itMayBeStoppedFromInsideOfAnAnswer() throws {
        let rig = try Rig()
        rig.meanwhile = { $0.server.stop() }
        let client = try rig.client()
        client.send(post() + post())
        try rig.end(client)
        try rig.settle()
        #expect(rig.requests.count >= 1)
        #expect(rig.server.addresses.isEmpty)
        #expect(rig.server.connectionCount == 0)
    }

    @Test func itMayBeChangedFromInsideOfAnAnswer() throws {
        let rig = try Rig()
        rig.meanwhile = {
            var new = Rig.configuration
            new.connections = 3
            $0.server.reload(new)
        }
        let client = try rig.client()
        client.send(post())
        try rig.end(client)
        rig.meanwhile = { _ in }
        #expect(try rig.ask(post())[0].status == 200)
        #expect(rig.server.configuration.connections == 3)
    }

    @Test func aNewSecretHoldsAtOnceAndConnectionsStay() throws {
        let rig = try Rig()
        let client = try rig.client()
        client.send(post())
        _ = try rig.replies(client)
        let port = rig.port
        var new = Rig.configuration
        new.secret = Array("another secret".utf8)
        rig.server.reload(new)
        #expect(rig.port == port)
        client.send(post(token: "another secret"))
        #expect(try rig.replies(client, 2).map(\.status) == [200, 200])
        client.send(post())
        #expect(try rig.replies(client, 3).last?.status == 401)
    }

    @Test func listenersComeAndGo() throws {
        let rig = try Rig { $0.listeners = [Rig.here, Rig.here] }
        #expect(Set(rig.server.addresses).count == 2)
        let first = rig.port
        var new = Rig.configuration
        rig.server.reload(new)
        #expect(rig.server.addresses.map(\.port) == [first])
        new.listeners = [ListenAddress("[::1]:0")!]
        rig.server.reload(new)
        #expect(rig.server.addresses.map(\.host) == new.listeners.map(\.host))
        #expect(throws: NotConnected.self) { try Client(port: first) }
        new.listeners = []
        rig.server.reload(new)
        #expect(rig.server.addresses.isEmpty)
        #expect(!rig.server.hasDeadline)
    }

    @Test func aPortThatIsTakenIsSaidAndTriedAgain() throws {
        let rig = try Rig()
        let other = try Rig { $0.listeners = [.init(host: [127, 0, 0, 1], port: rig.port)] }
        #expect(other.server.addresses.isEmpty)
        #expect(
            other.events.contains { $0.kind == .webhookFault && $0.message.contains("another program has the port") })
        #expect(other.server.fault != nil)
        rig.server.stop()
        try other.turn("the port to be had") { !other.server.addresses.isEmpty }
    }

    @Test(arguments: ["0.0.0.0", "192.0.2.1", "::"]) func itDoesNotListenBeyondLoopbackUnasked(_ host: String) throws {
        let rig = try Rig { $0.listeners = [ListenAddress(host: host, port: 0)!] }
        #expect(rig.server.addresses.isEmpty)
        #expect(rig.events.first?.text("cause") == "not-loopback")
        let plain = try Rig {
            $0.listeners = [ListenAddress(host: host, port: 0)!]
            $0.isOpenToNetwork = true
        }
        #expect(plain.server.addresses.isEmpty)
        #expect(plain.events.first?.text("cause") == "no-tls")
    }

    @Test func aMissingLibraryIsNamedByItsPackage() throws {
        let rig = try Rig(library: "libringd-has-no-such.so.1")
        #expect(rig.server.addresses.isEmpty)
        let event = try #require(rig.events.first)
        #expect(event.kind == .webhookFault && event.level == .error)
        #expect(event.message.contains("libmicrohttpd12"))
        #expect(rig.server.fault?.contains("libmicrohttpd12") == true)
    }

    @Test func aCertificateThatIsNoneIsAFault() throws {
        let rig = try Rig {
            $0.certificate = "no certificate"
            $0.key = "no key"
        }
        #expect(rig.server.addresses.isEmpty)
        #expect(rig.events.first?.text("cause") == "not-started")
    }

    /// Descriptors and objects.
    @Test func nothingIsLeftBehind() throws {
        weak var server: WebhookServer?
        func once() throws {
            let rig = try Rig()
            server = rig.server
            let kept = try rig.client()
            kept.send(post())
            _ = try rig.replies(kept)
            let broken = try rig.client()
            broken.send(post("/push/a.b", "{", length: 200_000))
            try rig.settle()
        }
        try once()
        #expect(server == nil)
        let before = descriptors
        for _ in 0..<20 { try once() }
        #expect(descriptors == before)
        #expect(server == nil)
    }

    private var descriptors: Int { (0..<1024).filter { fcntl($0, F_GETFD) >= 0 }.count }
}
