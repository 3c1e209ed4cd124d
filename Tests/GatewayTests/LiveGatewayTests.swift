import APNs
import Base
import Crypto
import EventLoop
import Foundation
import Gateway
import Sockets
import Testing

@Suite struct LiveGatewayTests {
    static let hex = String(repeating: "ab", count: 32)
    static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Examples/push.php")
        .path

    func php(_ rig: Rig, token: String = hex, _ more: [String] = []) throws -> Finished {
        let pem = try rig.credentials.voipClient(app: "org.example.App")
        let arguments = [
            Self.script, "--token", token, "--cert", pem, "--gateway", "127.0.0.1:\(rig.port)", "--wait", "0.2",
        ]
        return try rig.run(Program("/usr/bin/php", arguments + more, in: rig.folder))
    }

    // MARK: A real sender

    @Test func thePHPScriptDelivers() throws {
        let rig = try Rig()
        let done = try php(rig, ["--cafile", rig.credentials.authorityPath, "--message", "Bob"])
        #expect(done.status == 0, "\(done.output)")
        let push = try #require(rig.pushes.first)
        #expect(push.transport == "binary, command 0")
        #expect(push.environment == .production)
        #expect(push.token == "abababab")
        #expect(push.id.isEmpty && push.expiration == nil && push.priority == 10)
        #expect(push.app == "org.example.App" && push.outcome == "rang")
        #expect(push.peer.hasPrefix("127.0.0.1:"))
        let expected =
            #"{"aps":{"content-available":"1","alert":"Bob","sound":"weixin.m4a","badge":0,"#
            + #""info":{"id":"1","address":"IANA"}}}"#
        #expect(String(decoding: push.payload, as: UTF8.self) == expected)
    }

    @Test func thePHPScriptVerifiesByAddressToo() throws {
        let rig = try Rig()
        let done = try php(rig, ["--cafile", rig.credentials.authorityPath])
        #expect(done.status == 0, "\(done.output)")
        #expect(rig.pushes.map(\.outcome) == ["rang"])
    }

    @Test func aWrongTokenIsRefusedAndTheLineCut() throws {
        let rig = try Rig()
        let done = try php(rig, token: String(repeating: "00", count: 32))
        #expect(done.status == 1)
        #expect(done.output.contains("cut the line"))
        let event = try #require(rig.events.last { $0.kind == .pushRefused })
        #expect(event.text("reason") == "BadDeviceToken")
        #expect(event.message.contains("no app has the token 00000000"))
        try rig.turn("the table is empty") { rig.gateway.connectionCount == 0 }
        #expect(!rig.gateway.hasDeadline)
    }

    @Test func aSenderThatDoesNotTrustUsIsTold() throws {
        let rig = try Rig()
        let stranger = try Credentials(directory: rig.folder.path + "/other")
        let done = try php(rig, ["--cafile", stranger.authorityPath])
        #expect(done.status == 1)
        try rig.turn("a fault is reported") { rig.causes().contains("not-trusted") }
        #expect(rig.events.contains { $0.message.contains(rig.credentials.authorityPath) })
        #expect(rig.pushes.isEmpty)
    }

    // MARK: Answers

    @Test(arguments: [
        (Frames.enhanced(id: 5, [UInt8](repeating: 0, count: 32)), [8, 8, 0, 0, 0, 5] as [UInt8]),
        (Frames.framed(id: 6, [UInt8](repeating: 0, count: 32)), [8, 8, 0, 0, 0, 6]),
        (Frames.framed(id: 7, Frames.token, [UInt8](repeating: 32, count: 6000)), [8, 7, 0, 0, 0, 7]),
        (Frames.enhanced(id: 8, []), [8, 2, 0, 0, 0, 8]),
        ([9, 9, 9], [8, 128, 0, 0, 0, 0]),
        (Frames.simple([UInt8](repeating: 0, count: 32)), []),
    ])
    func theErrorPacketArrivesAndTheRestIsDiscarded(_ bad: [UInt8], _ packet: [UInt8]) throws {
        let rig = try Rig()
        let client = try rig.client()
        client.send(Frames.enhanced(id: 4) + bad)
        // More than is read in one go: with a careless close this becomes a reset, which may overtake the packet.
        for id in 0..<2000 { client.send(Frames.framed(id: id)) }
        try rig.turn("the line is cut") { client.isEnded }
        #expect(client.received == packet)
        #expect(client.failure == 0)
        #expect(client.tlsFailure == nil)
        #expect(client.mayStillWrite())
        // A refused token was seen by the decider, a bad frame was not; nothing behind it was.
        #expect(rig.pushCount == (bad.count > 60 && bad.count < 6000 ? 2 : 1))
        client.hangUp()
        try rig.turn("the table is empty") { rig.gateway.connectionCount == 0 }
    }

    @Test func shutdownNamesTheLastAccepted() throws {
        let rig = try Rig()
        let client = try rig.client()
        client.send(Frames.framed(id: 41) + Frames.framed(id: 42))
        try rig.turn("two pushes") { rig.pushCount == 2 }
        rig.gateway.stop()
        try rig.turn("the line is cut") { client.isEnded }
        #expect(client.received == [8, 10, 0, 0, 0, 42])
        #expect(rig.gateway.connectionCount == 0 && rig.gateway.addresses.isEmpty && !rig.gateway.hasDeadline)
    }

    @Test func manyPushesInAnyPiecesKeepTheirOrder() throws {
        let rig = try Rig {
            $0.binary.pushBurst = 10
            $0.binary.pushesPerSecond = 2000
        }
        let client = try rig.client()
        for id in 0..<1000 { client.send(Frames.framed(id: id)) }
        try rig.turn("all came, none lost to the rate limit") { rig.pushCount == 1000 }
        #expect(rig.pushes.map(\.id) == (0..<1000).map { String($0) })
        #expect(!client.isEnded)
    }

    @Test func aFullRateHoldsTheSenderBack() throws {
        let rig = try Rig {
            $0.binary.pushBurst = 5
            $0.binary.pushesPerSecond = 1
        }
        let client = try rig.client()
        let payload = [UInt8](repeating: 32, count: 5000)
        for id in 0..<4000 { client.send(Frames.framed(id: id, Frames.token, payload)) }
        let before = Instant.now
        try rig.turn("the sender's writes have come to a stop") {
            rig.pushCount >= 5 && Instant.now - before > .milliseconds(700)
        }
        // 20 MB are offered; what a second's worth of pushes does not use stays with the sender.
        #expect(!client.isFlushed)
        #expect(rig.pushCount < 50)
        // Others are served meanwhile.
        let other = try rig.client()
        other.send(Frames.simple())
        try rig.turn("another sender's push") { rig.pushes.contains { $0.transport == "binary, command 0" } }
    }

    @Test func aRateOfZeroIsNoLimit() throws {
        let rig = try Rig {
            $0.binary.pushBurst = 0
            $0.binary.pushesPerSecond = 0
        }
        let client = try rig.client()
        let before = Instant.now
        for id in 0..<2000 { client.send(Frames.framed(id: id)) }
        try rig.turn("all came") { rig.pushCount == 2000 }
        // At the smallest rate that a bucket has, this were half an hour.
        #expect(Instant.now - before < .seconds(20))
    }

    @Test func theProfileOrTheNameTellsTheEnvironment() throws {
        for (profile, name, expected) in [
            (Gateway.Profile.auto, "gateway.push.apple.com", PushEnvironment.production),
            (.auto, "gateway.sandbox.push.apple.com", .sandbox), (.auto, "localhost", .production),
            (.production, "gateway.sandbox.push.apple.com", .production), (.sandbox, "localhost", .sandbox),
        ] {
            let rig = try Rig { $0.listeners[0].profile = profile }
            let client = try rig.client(name: name)
            client.send(Frames.simple())
            try rig.turn("the push") { rig.pushCount == 1 }
            #expect(rig.pushes[0].environment == expected)
        }
    }

    // MARK: Senders that do it wrong

    @Test func everyMistakeIsNamedAndDisturbsNobody() throws {
        let rig = try Rig { $0.handshakeDeadline = .milliseconds(400) }
        let good = try rig.client()
        try rig.turn("the good one is connected") { good.isOpen }

        func expectFault(_ cause: String, _ words: String, _ client: Client) throws {
            try rig.turn("\(cause) is reported") { rig.causes().contains(cause) }
            #expect(rig.events.contains { $0.kind == .gatewayFault && $0.message.contains(words) }, "\(words)")
            try rig.turn("\(cause) is cut") { client.isEnded }
            good.send(Frames.simple())
            let count = rig.pushCount
            try rig.turn("the good one goes on") { rig.pushCount == count + 1 }
        }
        let web = try rig.rawClient()
        web.send(Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        try expectFault("plain-http", "spoke plain HTTP to a TLS port", web)

        let bare = try rig.rawClient()
        bare.send(Frames.simple())
        try expectFault("plain-binary", "without TLS; write ssl://", bare)

        let noise = try rig.rawClient()
        noise.send([0x16, 0xff, 0xff, 0x00, 0x10] + [UInt8](repeating: 7, count: 100))
        try expectFault("not-tls", "not TLS", noise)

        let nameless = try rig.bareClient()
        nameless.send(Frames.simple())
        try expectFault("no-certificate", "PHP option local_cert", nameless)

        let post = try rig.client()
        post.send(Array("POST /3/device/00 HTTP/1.1\r\n\r\n".utf8))
        try expectFault("http1", "APNs speaks HTTP/2 only", post)
        #expect(String(decoding: post.received, as: UTF8.self).contains("505 HTTP Version Not Supported"))

        let silent = try rig.rawClient()
        silent.send([0x16, 0x03, 0x01])
        try expectFault("handshake-stalled", "did not finish the TLS handshake within 400.0 ms", silent)

        good.hangUp()
        try rig.turn("the table is empty") { rig.gateway.connectionCount == 0 }
        #expect(!rig.gateway.hasDeadline)
    }

    @Test func anOldTLSVersionIsNamed() throws {
        let rig = try Rig()
        let old = try rig.run(
            Program(
                "/usr/bin/openssl",
                ["s_client", "-connect", "127.0.0.1:\(rig.port)", "-tls1_1", "-cipher", "ALL:@SECLEVEL=0"],
                in: rig.folder))
        #expect(old.status != 0)
        try rig.turn("the version is named") { rig.causes().contains("old-tls") }
    }

    @Test func noTicketsAreSent() throws {
        let rig = try Rig()
        let pem = try rig.credentials.voipClient(app: "org.example.App")
        for version in ["-tls1_2", "-tls1_3"] {
            let done = try rig.run(
                Program(
                    "/usr/bin/openssl",
                    [
                        "s_client", "-connect", "127.0.0.1:\(rig.port)", version, "-cert", pem, "-key", pem, "-CAfile",
                        rig.credentials.authorityPath, "-verify_return_error",
                    ], in: rig.folder))
            #expect(done.status == 0, "\(done.output)")
            #expect(done.output.contains("Verify return code: 0 (ok)"))
            #expect(!done.output.contains("New Session Ticket"))
            #expect(!done.output.contains("session ticket:"))
        }
    }

    @Test func aFrameThatStopsHalfwayIsNamed() throws {
        let rig = try Rig { $0.binary.frameDeadline = .milliseconds(200) }
        let slow = try rig.client()
        slow.send(Array(Frames.simple().dropLast(3)))
        try rig.turn("the frame stalls") { rig.causes().contains("frame-stalled") }
        try rig.turn("the line is cut") { slow.isEnded }
        let gone = try rig.client()
        gone.send(Array(Frames.simple().dropLast(3)))
        try rig.turn("it was sent") { gone.isOpen && gone.isFlushed }
        gone.hangUp()
        try rig.turn("the cut frame is named") { rig.causes().contains("frame-cut") }
        #expect(rig.pushes.isEmpty)
    }

    @Test func anIdleConnectionIsEnded() throws {
        let rig = try Rig { $0.idleLimit = .milliseconds(200) }
        let client = try rig.client()
        try rig.turn("it is ended") { client.isEnded }
        #expect(client.received.isEmpty && client.failure == 0)
    }

    // MARK: Floods

    @Test func moreThanAllowedAreTurnedAway() throws {
        let rig = try Rig { $0.connections = 64 }
        let good = try rig.client()
        try rig.turn("the good one is connected") { good.isOpen }
        let crowd = try (0..<80).map { _ in try rig.rawClient() }
        try rig.turn("the surplus is turned away") { crowd.filter(\.isEnded).count == 17 }
        #expect(rig.gateway.connectionCount == 64)
        #expect(rig.causes().contains("too-many-connections"))
        good.send(Frames.simple())
        try rig.turn("the good one goes on") { rig.pushCount == 1 }
        for client in crowd where !client.isEnded { client.hangUp() }
        good.hangUp()
        try rig.turn("the table is empty") { rig.gateway.connectionCount == 0 }
        #expect(!rig.gateway.hasDeadline)
    }

    @Test func stalledHandshakesMakeRoom() throws {
        let rig = try Rig { $0.connections = 4 }
        let crowd = try (0..<4).map { _ in try rig.rawClient() }
        try rig.turn("the table is full") { rig.gateway.connectionCount == 4 }
        let full = Instant.now
        try rig.turn("a second has gone by") { Instant.now - full > .milliseconds(1100) }
        let late = try rig.client()
        late.send(Frames.simple())
        try rig.turn("the late one is served") { rig.pushCount == 1 }
        #expect(crowd.filter(\.isEnded).count == 1)
    }

    @Test func aFloodOfGarbageLeavesNothingBehind() throws {
        let rig = try Rig()
        let good = try rig.client()
        try rig.turn("the good one is connected") { good.isOpen }
        let seed = UInt64.random(in: .min ... .max)
        var random = Seeded(seed)
        for round in 0..<300 {
            let client = try rig.rawClient()
            let first: UInt8 = round.isMultiple(of: 2) ? 0x16 : UInt8.random(in: 0...255, using: &random)
            client.send([first, 3, 1] + (0..<600).map { _ in UInt8.random(in: 0...255, using: &random) })
            if round.isMultiple(of: 3) {
                client.step()
                client.hangUp()
            }
            try rig.loop.turn(timeout: .zero)
            client.step()
        }
        for client in rig.clients where client !== good && !client.isEnded {
            client.step()
            client.hangUp()
        }
        try rig.turn("only the good one is left (seed \(seed))") { rig.gateway.connectionCount == 1 }
        good.send(Frames.simple())
        try rig.turn("the good one goes on") { rig.pushCount == 1 }
        good.hangUp()
        try rig.turn("the table is empty") { rig.gateway.connectionCount == 0 }
        // 20 at once and one a second: a flood of faults is not one of log lines.
        #expect(rig.events.filter { $0.kind == .gatewayFault }.count < 60)
    }

    @Test func nobodyNegotiatesTwice() throws {
        let rig = try Rig()
        let pem = try rig.credentials.voipClient(app: "org.example.App")
        // A line with R alone asks s_client to renegotiate; TLS 1.3 has no such thing.
        let done = try rig.run(
            Program(
                "/bin/sh",
                [
                    "-c",
                    "(sleep 0.3; echo R; sleep 0.5) | openssl s_client -connect 127.0.0.1:\(rig.port) -tls1_2 -cert \(pem) -key \(pem) -CAfile \(rig.credentials.authorityPath)",
                ], in: rig.folder))
        #expect(done.output.contains("RENEGOTIATING") && done.output.contains("no renegotiation"), "\(done.output)")
        let good = try rig.client()
        good.send(Frames.simple())
        try rig.turn("others go on") { rig.deliveries.count == 1 }
    }

    // MARK: Ports

    @Test func anyPortMayBeAskedForTwice() throws {
        let any = Gateway.Listener(ListenAddress("127.0.0.1:0")!)
        let rig = try Rig { $0.listeners = [any, any] }
        let before = rig.gateway.addresses
        #expect(Set(before).count == 2)
        rig.gateway.reload(rig.gateway.configuration)
        #expect(rig.gateway.addresses == before)
    }

    @Test func anOpenDoorWantsATrustedCertificate() throws {
        let folder = Folder()
        let credentials = try Credentials(directory: folder.path)
        // Its own authority, which this one does not trust.
        let rig = try Rig(clients: .trusted([credentials.authority.certificate], isRequired: true)) {
            $0.isOpenToNetwork = true
            $0.listeners = [Gateway.Listener(ListenAddress("0.0.0.0:0")!)]
        }
        #expect(rig.gateway.addresses.count == 1)
        let stranger = try rig.client()
        try rig.turn("a stranger is refused") { rig.causes().contains("certificate-refused") }
        try rig.turn("and cut") { stranger.isEnded }
        let bare = try rig.sender()
        try rig.turn("so is one without any") { rig.causes().contains("no-certificate") && bare.client.isEnded }
        let identity = try Identity(path: try credentials.voipClient(app: "org.example.App"))
        let context = try TLSContext.client(identity, trusting: [rig.credentials.authority.certificate])
        let known = try Client(port: rig.port, session: .client(context, name: "localhost"))
        rig.clients.append(known)
        known.send(Frames.simple())
        try rig.turn("one that is trusted rings") { rig.deliveries.count == 1 }
    }

    @Test func aPortInUseIsTriedAgain() throws {
        let holder = try Rig()
        let address = ListenAddress(host: [127, 0, 0, 1], port: holder.port)
        let rig = try Rig { $0.listeners = [Gateway.Listener(address)] }
        let event = try #require(rig.events.first)
        #expect(event.kind == .gatewayFault && event.text("cause") == "not-listening")
        #expect(event.message.contains("another program has the port") && event.message.contains("again in 1 s"))
        #expect(rig.gateway.hasDeadline)
        holder.gateway.stop()
        rig.gateway.reload(rig.gateway.configuration)
        #expect(rig.gateway.addresses == [address])
        #expect(!rig.gateway.hasDeadline)
        #expect(rig.events.last?.kind == .gatewayListening)
    }

    @Test func aPortThatComesFreeIsTakenWithoutAReload() throws {
        let holder = try Rig()
        let address = ListenAddress(host: [127, 0, 0, 1], port: holder.port)
        let rig = try Rig { $0.listeners = [Gateway.Listener(address)] }
        holder.gateway.stop()
        try rig.turn("it listens") { rig.gateway.addresses == [address] }
    }

    @Test func onlyLoopbackIsListenedOn() throws {
        let rig = try Rig {
            $0.listeners = ["0.0.0.0:0", "[::]:0", "[::1]:0"].map { Gateway.Listener(ListenAddress($0)!) }
        }
        #expect(rig.causes() == ["not-loopback", "not-loopback"])
        #expect(rig.gateway.addresses.map(\.isLoopback) == [true])
        #expect(!rig.gateway.hasDeadline)
    }

    @Test func aSocketThatWasPassedInServesAsTheListener() throws {
        let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var raw = sockaddr_in()
        raw.sin_family = sa_family_t(AF_INET)
        raw.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let bound = withUnsafePointer(to: &raw) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(fd, $0, 16) }
        }
        #expect(bound == 0 && listen(fd, 5) == 0)
        let unfit = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(unfit) }
        let rig = try Rig(inherited: [fd, unfit]) { $0.listeners = [] }
        #expect(rig.causes() == ["bad-descriptor"])
        let client = try rig.client()
        client.send(Frames.simple())
        try rig.turn("the push") { rig.pushCount == 1 }
        // Nobody would open it again, so new settings do not close it, whatever they say of it.
        let address = try #require(rig.gateway.addresses.first)
        for listeners in [[], [Gateway.Listener(address, profile: .production)], [Gateway.Listener(address)], []] {
            var settings = rig.gateway.configuration
            settings.listeners = listeners
            rig.gateway.reload(settings)
            #expect(rig.gateway.doors.map(\.address) == [address])
            #expect(rig.gateway.doors.map(\.profile) == [listeners.first?.profile ?? .auto])
            var kept: Int32 = 0
            var size: socklen_t = 4
            #expect(getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &kept, &size) == 0 && kept == 1)
        }
        let another = try rig.client()
        another.send(Frames.simple())
        try rig.turn("a push after that") { rig.pushCount == 2 }
    }

    @Test func withoutDescriptorsItWaitsInsteadOfSpinning() async {
        await #expect(processExitsWith: .success) {
            let rig = try Rig()
            // The descriptor that the client needs is kept free, the one that accept(2) needs is not.
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            var usual = rlimit()
            getrlimit(resource, &usual)
            var tight = rlimit(rlim_cur: rlim_t(client + 1), rlim_max: usual.rlim_max)
            setrlimit(resource, &tight)
            var raw = sockaddr_in()
            raw.sin_family = sa_family_t(AF_INET)
            raw.sin_port = rig.port.bigEndian
            raw.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
            let connected = withUnsafePointer(to: &raw) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(client, $0, 16) }
            }
            guard connected == 0 else { exit(2) }
            var busy = 0
            let end = Instant.now + .milliseconds(500)
            while Instant.now < end { if try rig.loop.turn(timeout: .milliseconds(20)) { busy += 1 } }
            // Exiting runs no deinit.
            setrlimit(resource, &usual)
            try FileManager.default.removeItem(atPath: rig.folder.path)
            exit(rig.causes() == ["cannot-accept"] && busy < 5 ? 0 : 3)
        }
    }
}
