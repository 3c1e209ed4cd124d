import Base
import EventLoop
import Testing
import Webhooks

/// What nobody's sender does, and what may not come in.
struct HostileTests {
    @Test(arguments: [
        nil, "", "wrong", "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0I", Rig.secret + "x", Rig.secret + Rig.secret,
        String(Rig.secret.dropFirst()),
    ])
    func nobodyComesInWithoutTheToken(_ token: String?) throws {
        let rig = try Rig()
        let reply = try rig.ask(post(token: token))[0]
        #expect(reply.status == 401)
        #expect(reply.header("www-authenticate")?.hasPrefix("Bearer") == true)
        #expect(reply.body.contains(#""error":"#))
        #expect(rig.requests.isEmpty)
    }

    @Test(arguments: [
        "Basic", "Basic ", "Basic !!!!", "Basic \(Rig.secret)", "Bearer", "Bearer  ", "Digest \(Rig.secret)",
        Rig.secret,
        "Bearer \(Rig.secret) x", "Bearer \(Rig.secret), Bearer x",
    ])
    func otherCredentialsAreNone(_ header: String) throws {
        let rig = try Rig()
        #expect(try rig.ask(post(token: nil, headers: ["Authorization: \(header)"]))[0].status == 401)
        #expect(rig.requests.isEmpty)
    }

    @Test func anEmptySecretLetsNobodyIn() throws {
        let rig = try Rig { $0.secret = [] }
        #expect(try rig.ask(post(token: ""))[0].status == 401)
        #expect(try rig.ask(post("/_matrix/push/v1/notify?token=", token: nil))[0].status == 401)
        #expect(rig.requests.isEmpty)
    }

    @Test func theTokenInOtherAddressesIsNone() throws {
        let rig = try Rig()
        for target in ["/push/a.b", "/_matrix/push/v1/notify/", "/_matrix/push/v1", "//_matrix/push/v1/notify", "/"] {
            #expect(try rig.ask(post("\(target)?token=\(Rig.secret)", token: nil))[0].status == 401, "\(target)")
        }
        #expect(rig.requests.isEmpty)
    }

    @Test func failuresAreReportedWithoutTheSecretAndNotAllOfThem() throws {
        let rig = try Rig()
        for _ in 0..<40 { _ = try rig.ask(post(token: "guess" + Rig.secret)) }
        _ = try rig.ask(post("/push/a.b?token=\(Rig.secret)", token: nil))
        let refused = rig.events.filter { $0.kind == .webhookRefused }
        #expect(refused.count == 10)
        #expect(refused.first?.text("cause") == "wrong-token")
        #expect(refused.first?.text("peer")?.hasPrefix("127.0.0.1:") == true)
        for event in rig.events {
            let said = event.message + event.fields.map { "\($0.value)" }.joined()
            #expect(!said.contains("guess") && !said.contains(Rig.secret))
        }
    }

    @Test(arguments: ["GET", "PUT", "HEAD", "DELETE", "OPTIONS", "PATCH", "TRACE", "post", "BREW"])
    func onlyPostIsAMethod(_ method: String) throws {
        let rig = try Rig()
        let text = post().replacingFirst("POST", by: method)
        let client = try rig.client()
        client.send(text)
        try rig.end(client)
        #expect(client.text.hasPrefix("HTTP/1.1 405 "))
        #expect(client.text.lowercased().contains("\r\nallow: post\r\n"))
        #expect(rig.requests.isEmpty)
    }

    @Test func aTunnelIsRefused() throws {
        let rig = try Rig()
        let client = try rig.client()
        client.send("CONNECT api.push.apple.com:443 HTTP/1.1\r\nHost: api.push.apple.com:443\r\n\r\n")
        try rig.end(client)
        #expect(client.text.hasPrefix("HTTP/1.1 4"))
        #expect(rig.requests.isEmpty)
    }

    @Test(arguments: ["https://evil.example", "null", ""]) func noPageRings(_ origin: String) throws {
        let rig = try Rig()
        #expect(try rig.ask(post(headers: ["Origin: \(origin)"]))[0].status == 403)
        #expect(rig.requests.isEmpty)
        #expect(rig.events.contains { $0.text("cause") == "origin" })
    }

    @Test(arguments: [
        "/push/a%00b", "/push/%ff%fe", "/push/%c0%af", "/push/a%0d%0ab", "/push/%", "/push/%2", "/push/%zz",
    ])
    func badPathsAreRefused(_ target: String) throws {
        let rig = try Rig()
        #expect(try rig.ask(post(target))[0].status == 400)
        #expect(rig.requests.isEmpty)
    }

    /// It is a name like any other: nothing is looked up by it.
    @Test func dotsAreText() throws {
        let rig = try Rig()
        #expect(try rig.ask(post("/push/%2e%2e/%2fetc"))[0].status == 200)
        #expect(rig.requests.first?.path == ["push", "..", "/etc"])
    }

    @Test func targetsThatAreNoPathsAreRefused() throws {
        let rig = try Rig()
        for target in ["http://127.0.0.1/push/a.b", "*", "push/a.b", "?token=x"] {
            let client = try rig.client()
            client.send(post(target))
            try rig.end(client)
            #expect(client.text.hasPrefix("HTTP/1.1 400 "), "\(target): \(client.text.prefix(40))")
        }
        #expect(rig.requests.isEmpty)
    }

    @Test func deepPathsAndLongQueriesAreRefused() throws {
        let rig = try Rig()
        #expect(try rig.ask(post(String(repeating: "/a", count: 17)))[0].status == 400)
        let fields = (0..<33).map { "a\($0)=1" }.joined(separator: "&")
        #expect(try rig.ask(post("/push/a.b?" + fields))[0].status == 400)
        #expect(rig.requests.isEmpty)
    }

    @Test(arguments: ["x", "-1", "+2", "2, 3", "0x2", "99999999999999999999999999", "9223372036854775807"])
    func badLengthsAreRefused(_ length: String) throws {
        let rig = try Rig()
        let client = try rig.client()
        client.send(
            "POST /push/a.b HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(Rig.secret)\r\nContent-Length: \(length)\r\n\r\n{}"
        )
        try rig.end(client)
        #expect(client.text.hasPrefix("HTTP/1.1 4"), "\(client.text.prefix(60))")
        #expect(rig.requests.isEmpty)
    }

    @Test func bodiesWithTwoLengthsOrNoneAreRefused() throws {
        let rig = try Rig()
        let smuggled = try rig.client()
        smuggled.send(post("/push/a.b", "0\r\n\r\n", headers: ["Transfer-Encoding: chunked"]))
        try rig.end(smuggled)
        #expect(smuggled.text.hasPrefix("HTTP/1.1 400 "), "\(smuggled.text.prefix(60))")
        let bare = try rig.client()
        bare.send("POST /push/a.b HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(Rig.secret)\r\n\r\n")
        try rig.end(bare)
        #expect(bare.text.hasPrefix("HTTP/1.1 411 "), "\(bare.text.prefix(60))")
        #expect(rig.requests.isEmpty)
    }

    @Test func aHugeDeclaredBodyIsAnsweredBeforeItComes() throws {
        let rig = try Rig()
        let client = try rig.client()
        client.send(post("/push/a.b", "", length: 1 << 40))
        try rig.end(client)
        #expect(client.text.hasPrefix("HTTP/1.1 413 "), "\(client.text.prefix(60))")
    }

    @Test func chunksWithoutEndAreCounted() throws {
        let rig = try Rig { $0.bodyLimit = 50_000 }
        let head =
            "POST /push/a.b HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(Rig.secret)\r\nTransfer-Encoding: chunked\r\n\r\n"
        let chunk = "2000\r\n" + String(repeating: "x", count: 0x2000) + "\r\n"
        // One that ends is told so.
        let some = try rig.ask(head + String(repeating: chunk, count: 10) + "0\r\n\r\n")
        #expect(some.first?.status == 413)
        // One that does not is cut.
        let client = try rig.client()
        client.send(head + String(repeating: chunk, count: 200))
        try rig.end(client)
        #expect(rig.requests.isEmpty)
    }

    @Test(arguments: ["zz\r\n", "-5\r\n", "ffffffffffffffff\r\n", "fffffffffffffffff\r\n", "\r\n\r\n"])
    func badChunksAreRefused(_ chunk: String) throws {
        let rig = try Rig()
        let client = try rig.client()
        client.send(
            "POST /push/a.b HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(Rig.secret)\r\nTransfer-Encoding: chunked\r\n\r\n"
                + chunk + "x\r\n")
        client.endWriting()
        try rig.end(client)
        #expect(rig.requests.isEmpty)
    }

    @Test func hugeHeadersAreRefused() throws {
        let rig = try Rig()
        for text in [
            post(headers: ["X-Big: " + String(repeating: "x", count: 200_000)]),
            post(headers: (0..<20_000).map { "X-\($0): y" }), post("/" + String(repeating: "x", count: 200_000)),
        ] {
            let client = try rig.client()
            client.send(text)
            try rig.end(client)
        }
        #expect(rig.requests.isEmpty)
        #expect(try rig.ask(post())[0].status == 200)
    }

    @Test func garbageHarmsNobody() throws {
        let rig = try Rig()
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let client = try rig.client()
            client.send((0..<Int.random(in: 1...3000, using: &random)).map { _ in UInt8.random(in: 0...255) })
            client.endWriting()
            try rig.end(client)
        }
        for text in [
            "GET /\r\n", "\r\n\r\n\r\n", "POST\r\n\r\n", "POST / HTTP/9.9\r\n\r\n", "POST /push/a.b\r\n\r\n",
            "\0\0\0\0",
        ] {
            let client = try rig.client()
            client.send(text)
            client.endWriting()
            try rig.end(client)
        }
        #expect(rig.requests.isEmpty)
        try rig.turn("all to be gone") { rig.server.connectionCount == 0 }
        #expect(try rig.ask(post())[0].status == 200)
    }

    /// Every beginning of a good request, left at that.
    @Test func whatBreaksOffIsForgotten() throws {
        let rig = try Rig()
        let whole = Array(post("/push/a.b", #"{"a":1}"#).utf8)
        for size in 0..<whole.count {
            let client = try rig.client()
            client.send(Array(whole[..<size]))
            client.endWriting()
            try rig.end(client)
        }
        #expect(rig.requests.isEmpty)
        try rig.turn("all to be gone") { rig.server.connectionCount == 0 }
    }

    @Test func whoIsSlowIsDropped() throws {
        let rig = try Rig { $0.idle = .milliseconds(150) }
        let silent = try rig.client()
        let inHeaders = try rig.client()
        inHeaders.send("POST /push/a.b HTTP/1.1\r\nHost: x\r\nAuthorization: Bea")
        let inBody = try rig.client()
        inBody.send(post("/push/a.b", "{", length: 1000))
        // With a byte now and then it is no better.
        let dripping = try rig.client()
        dripping.send("POST /push/a.b HTTP/1.1\r\n")
        let kept = try rig.client()
        kept.send(post())
        try rig.turn("all to be dropped") {
            if !dripping.isOver { dripping.send("X: y\r\n") }
            return silent.isOver && inHeaders.isOver && inBody.isOver && dripping.isOver && kept.isOver
        }
        #expect(rig.requests.count == 1)
        #expect(kept.replies.map(\.status) == [200])
        try rig.settle()
        #expect(rig.server.connectionCount == 0)
    }

    @Test func twoHundredAtOnceAreServed() throws {
        let rig = try Rig()
        var most = 0
        rig.meanwhile = { most = max(most, $0.server.connectionCount) }
        let clients = try (0..<200).map { _ in try rig.client() }
        for client in clients { client.send(post(headers: ["Connection: close"])) }
        for client in clients { #expect(try rig.replies(client).first?.status == 200) }
        #expect(rig.requests.count == 200)
        #expect(most <= 64)
    }

    /// Who says nothing does not keep others out for as long as they may be idle.
    @Test func theSilentMakeRoom() throws {
        let rig = try Rig {
            $0.connections = 4
            $0.idle = .seconds(3600)
        }
        let silent = try (0..<6).map { _ in try rig.client() }
        let client = try rig.client()
        client.send(post())
        #expect(try rig.replies(client).first?.status == 200)
        #expect(silent.filter(\.isOver).count >= 3)
    }
}

extension String {
    fileprivate func replacingFirst(_ word: String, by other: String) -> String {
        hasPrefix(word) ? other + dropFirst(word.count) : self
    }
}
