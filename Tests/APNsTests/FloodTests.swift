import APNs
import Base
import Testing

/// What floods may cost: memory and lines of the log are bounded, whatever is sent.
struct FloodTests {
    @Test func fewLinesForManyPushes() {
        let desk = Desk()
        desk.service.rules.deviceRate = 0
        let token = desk.token()
        for _ in 0..<10_000 { desk.take(desk.request([.authorization: "bearer \(token)"])) }
        #expect(desk.events.filter { $0.kind == .pushReceived }.count <= 61)
        for _ in 0..<10_000 { desk.take(desk.request([.authorization: nil])) }
        #expect(desk.events.filter { $0.kind == .pushRefused }.count <= 21)
        // After a rest one is told again, and how many were not.
        desk.pass(.seconds(60))
        desk.take(desk.request([.authorization: nil]))
        #expect(desk.events.last?.message.contains("before it were not logged") == true)
        #expect(desk.service.log.next == 20_002)
    }

    @Test func aDeviceHasItsRate() {
        let desk = Desk()
        desk.service.rules.deviceRate = 10
        let token = desk.token()
        func burst() -> Int {
            (0..<100).count { _ in desk.take(desk.request([.authorization: "bearer \(token)"])).status == 200 }
        }
        #expect(burst() == 20 && burst() == 0)
        desk.pass(.seconds(1))
        #expect(burst() == 10)
        // Another token has its own.
        #expect(
            desk.take(desk.request(to: desk.registration(.alert), [.authorization: "bearer \(token)"])).status == 200)
        desk.service.rules.deviceRate = 0
        #expect(burst() == 100)
        // Another rate holds for tokens that had one, too.
        desk.service.rules.deviceRate = 15
        #expect(burst() == 30)
    }

    @Test func whatIsLateIsBounded() {
        let desk = Desk()
        desk.service.rules.deviceRate = 0
        let token = desk.token()
        func push(_ body: String, _ priority: String = "10") -> String {
            desk.take(desk.request([.authorization: "bearer \(token)", .priority: priority], body: body))
            return desk.last.outcomeWord
        }
        for _ in 0..<4096 { #expect(push(#"{"ringd-fault":"late 3600"}"#) == "late") }
        #expect(push(#"{"ringd-fault":"late 3600"}"#) == "lost")
        #expect(desk.last.outcome == "lost: too many pushes are late already")
        // Neither may others wait, so they are delivered.
        #expect(push(#"{"ringd-fault":"reorder"}"#) == "rings")
        desk.service.powerSaving = .seconds(1)
        #expect(push("{}", "5") == "rings")
        desk.runLater()
        #expect(desk.deliveries.count == 4096 + 2)
        for number in 0..<5000 { #expect(push(#"{"n":\#(number)}"#, "5") == (number < 4096 ? "late" : "rings")) }
        desk.runLater()
        #expect(push(#"{"ringd-fault":"late 1"}"#) == "late")
    }

    @Test func hugeHeadersAreCut() {
        let desk = Desk()
        let long = String(repeating: "ü", count: 8000)
        for header in PushRequest.Header.allCases where header != .method && header != .path && header != .authorization
        {
            desk.take(desk.request([header: long]))
            #expect(desk.last.status == 400, "\(header.name)")
            #expect(desk.last.findings.allSatisfy { $0.text.utf8.count <= 1024 })
        }
        desk.take(desk.request([.path: "/" + long]))
        #expect(desk.last.reason == "BadPath" && desk.last.findings[0].text.utf8.count < 400)
        desk.take(desk.request([.method: long]))
        #expect(desk.last.reason == "MethodNotAllowed")
    }

    @Test func aRequestIsUsedAgain() {
        let desk = Desk()
        let push = PushRequest()
        for number in 0..<1000 {
            push.reset()
            push.transport = .http2
            push.set(.method, "POST")
            push.set(.path, "/3/device/\(desk.registration(.alert).token.hex)")
            push.set(.topic, Desk.app)
            if number % 2 == 0 { push.set(.collapseID, String(repeating: "x", count: number % 60)) }
            push.append(Array("{}".utf8))
            desk.take(push)
            #expect(desk.last.collapseID.utf8.count == (number % 2 == 0 ? number % 60 : 0))
        }
        #expect(push.weight < 4096)
    }
}
