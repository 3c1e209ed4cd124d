import Base
import Testing
import Webhooks

/// What senders do.
struct RequestTests {
    @Test func aPostIsTakenApartAndAnswered() throws {
        let rig = try Rig()
        let reply = try rig.ask(
            post(
                "/push/com.example%2Etalk?dialect=grafana&note=a%20b", #"{"a":1}"#,
                headers: ["Content-Type: application/json"]))[0]
        #expect(reply.status == 200)
        #expect(reply.body == #"{"outcome":"rings"}"#)
        #expect(reply.header("content-type") == "application/json")
        let request = try #require(rig.requests.first)
        #expect(request.path == ["push", "com.example.talk"])
        #expect(request["dialect"] == "grafana")
        #expect(request["note"] == "a b")
        #expect(request.contentType == "application/json")
        #expect(request.body == Array(#"{"a":1}"#.utf8))
        #expect(request.peer.hasPrefix("127.0.0.1:"))
    }

    @Test func theAnswersStatusAndWordsAreTheOwners() throws {
        let rig = try Rig()
        rig.reply = .init(status: 422, body: #"{"error":"no call"}"#)
        let reply = try rig.ask(post())[0]
        #expect(reply.status == 422)
        #expect(reply.body == #"{"error":"no call"}"#)
    }

    @Test func aConnectionIsKept() throws {
        let rig = try Rig()
        let client = try rig.client()
        for number in 1...3 {
            client.send(post("/push/a.b", "{\(number)}"))
            #expect(try rig.replies(client, number).map(\.status) == Array(repeating: 200, count: number))
        }
        #expect(rig.requests.map(\.body) == ["{1}", "{2}", "{3}"].map { Array($0.utf8) })
        #expect(rig.server.connectionCount == 1)
        #expect(!client.isOver)
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() throws {
        let rig = try Rig()
        let all = (0..<20).map { post("/push/a.b", "{\($0)}") }.joined()
        #expect(try rig.ask(all, answers: 20).map(\.status) == Array(repeating: 200, count: 20))
        #expect(rig.requests.map(\.body) == (0..<20).map { Array("{\($0)}".utf8) })
    }

    @Test func aSenderMayAskBeforeItSends() throws {
        let rig = try Rig()
        let client = try rig.client()
        client.send(post("/push/a.b", "", headers: ["Expect: 100-continue"], length: 2))
        #expect(try rig.replies(client).first?.status == 100)
        client.send("{}")
        #expect(try rig.replies(client, 2).last?.status == 200)
        #expect(rig.requests.count == 1)
    }

    /// Without having been told to go on.
    @Test func whoAsksAndMayNotIsToldSo() throws {
        let rig = try Rig()
        let client = try rig.client()
        client.send(post("/push/a.b", "", token: "wrong", headers: ["Expect: 100-continue"], length: 2))
        #expect(try rig.replies(client).map(\.status) == [401])
        try rig.end(client)
        #expect(rig.requests.isEmpty)
    }

    @Test func chunksAreJoined() throws {
        let rig = try Rig()
        let head = "POST /push/a.b HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(Rig.secret)\r\n"
        let reply = try rig.ask(head + "Transfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n4;x=y\r\n\":1}\r\n0\r\n\r\n")[0]
        #expect(reply.status == 200)
        #expect(rig.requests.first?.body == Array(#"{"a":1}"#.utf8))
    }

    @Test func aBodyOfTheMostIsTakenAndOneMoreIsNot() throws {
        let rig = try Rig { $0.bodyLimit = 100_000 }
        let whole = String(repeating: "x", count: 100_000)
        #expect(try rig.ask(post("/push/a.b", whole))[0].status == 200)
        #expect(rig.requests.first?.body == Array(whole.utf8))
        #expect(try rig.ask(post("/push/a.b", whole + "x"))[0].status == 413)
        #expect(rig.requests.count == 1)
    }

    @Test func aHalfClosedSenderHasItsAnswer() throws {
        let rig = try Rig()
        let client = try rig.client()
        client.send(post())
        client.endWriting()
        #expect(try rig.replies(client).first?.status == 200)
        try rig.end(client)
    }

    @Test func anOlderHTTPIsTaken() throws {
        let rig = try Rig()
        let reply = try rig.ask(
            "POST /push/a.b HTTP/1.0\r\nAuthorization: Bearer \(Rig.secret)\r\nContent-Length: 2\r\n\r\n{}")[0]
        #expect(reply.status == 200)
    }

    /// As Alertmanager and Grafana may be set up to do.
    @Test(arguments: ["ringd:", "anybody:", ":"]) func theTokenMayBeAPassword(_ user: String) throws {
        let rig = try Rig()
        let pair = Array((user + Rig.secret).utf8)
        let reply = try rig.ask(post(token: nil, headers: ["Authorization: Basic \(base64(pair))"]))[0]
        #expect(reply.status == 200)
    }

    @Test func aHomeserverBringsTheTokenInTheAddress() throws {
        let rig = try Rig()
        #expect(try rig.ask(post("/_matrix/push/v1/notify?token=\(Rig.secret)", token: nil))[0].status == 200)
        #expect(try rig.ask(post("/_matrix/push/v1/notify?token=x\(Rig.secret)", token: nil))[0].status == 401)
        #expect(try rig.ask(post("/_matrix/push/v1/notify", token: nil))[0].status == 401)
        #expect(try rig.ask(post("/_matrix/push/v1/notify"))[0].status == 200)
        // A header that is wrong is not made good by the address.
        #expect(try rig.ask(post("/_matrix/push/v1/notify?token=\(Rig.secret)", token: "wrong"))[0].status == 401)
        #expect(rig.requests.count == 2)
    }

    private func base64(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encode(bytes)
        let padded = text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return String(padded.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
    }
}
