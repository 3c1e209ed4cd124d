import APNs
import Base
import Testing

/// The record of pushes: a ring of bytes that never gives back what it was not given.
struct PushLogTests {
    /// Pushes of random size into a small ring, compared with what was sent.
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func aRingOfRandomSizesNeverGarbles(_ seed: UInt64) {
        var random = Noise(seed)
        let service = PushService(log: PushLog(capacity: 1 << 20))
        _ = service.directory.add(app: Desk.app)
        let token = service.directory.tokens(app: Desk.app)[1]
        let sender = Sender(number: 3, peer: "127.0.0.1:9", environment: .unknown, certificate: nil)
        service.rules.deviceRate = 0
        var sent: [UInt64: (payload: [UInt8], collapse: String, isRefused: Bool)] = [:]
        let push = PushRequest()
        for _ in 0..<6000 {
            push.reset()
            push.transport = .http2
            push.set(.method, "POST")
            push.set(.path, "/3/device/\(token.token.hex)")
            push.set(.topic, Desk.app)
            let collapse = String(repeating: "c", count: Int(random.next() % 65))
            push.set(.collapseID, collapse)
            let isLong = random.next() % 8 == 0
            let count = Int(random.next() % (isLong ? 4096 : 200))
            let payload = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            push.append(payload)
            let answer = service.take(push, from: sender)
            sent[answer.number] = (payload, collapse, answer.status != 200)
            if random.next() % 16 == 0 { service.log.note(answer.number, "note \(answer.number)") }
            if random.next() % 64 == 0 {
                let log = service.log
                let number = log.oldest + random.next() % UInt64(log.recordCount)
                check(log, number, sent)
            }
        }
        let log = service.log
        #expect(log.next == 6001 && log.recordCount > 500 && log.recordCount < 6000)
        for number in log.oldest..<log.next { check(log, number, sent) }
        #expect(log[log.oldest - 1] == nil && log[log.next] == nil && log[0] == nil && log[.max] == nil)
    }

    private func check(
        _ log: PushLog, _ number: UInt64, _ sent: [UInt64: (payload: [UInt8], collapse: String, isRefused: Bool)]
    ) {
        guard let record = log[number], let was = sent[number] else {
            Issue.record("push \(number) is not there")
            return
        }
        #expect(record.number == number && record.payload == was.payload && record.collapseID == was.collapse)
        #expect(record.app == Desk.app && record.topic == Desk.app && record.connection == 3)
        #expect((record.status != 200) == was.isRefused && record.transport == "HTTP/2")
        #expect(record.notes.allSatisfy { $0 == "note \(number)" })
        #expect(record.findings.allSatisfy { !$0.code.isEmpty && !$0.text.isEmpty })
    }

    @Test func everythingIsRecorded() {
        let desk = Desk()
        desk.take(
            desk.request([
                .id: "0A1B2C3D-0000-4000-8000-000000000001", .priority: "5", .collapseID: "c\u{7}\u{202e}",
                .expiration: "1796000100",
            ]), from: desk.connection(.unknown))
        let record = desk.last
        let token = desk.registration().token
        #expect(record.token == token.short && record.app == Desk.app && record.device == "desktop")
        #expect(record.kind == .voip && record.environment == .production && record.peer == "127.0.0.1:5")
        #expect(record.topic == "com.example.talk.voip" && record.pushType == "voip" && record.priority == 5)
        #expect(record.expiration == 1_796_000_100 && record.id == "0A1B2C3D-0000-4000-8000-000000000001")
        #expect(record.arrived == desk.wall && record.connection == 7)
        // Fit for a terminal.
        #expect(record.collapseID == "c")
        for transport in [
            PushRequest.Transport.bus, .webhook, .binary(command: 0), .binary(command: 1), .binary(command: 2),
        ] {
            desk.take(desk.request(transport: transport), from: desk.connection(certificate: voipCertificate()))
            #expect(desk.last.transport == transport.word && desk.last.token == token.short)
        }
        // What is longer than any push is kept as far as a push goes.
        desk.take(desk.request(body: String(repeating: "x", count: 100_000)))
        #expect(desk.last.payload.count == PushRequest.bodyLimit)
    }

    @Test func pagesBothWays() {
        let desk = Desk(apps: [Desk.app, "com.example.mail"])
        let log = desk.service.log
        #expect(log.page(before: .max, limit: 10).records.isEmpty && log.page(after: 0, limit: 10).records.isEmpty)
        let token = desk.token()
        for number in 1...50 {
            let app = number % 10 == 0 ? "com.example.mail" : Desk.app
            let isRefused = number % 25 == 0
            desk.take(
                desk.request(
                    to: desk.registration(.alert, app: app),
                    [.authorization: "bearer \(token)", .priority: isRefused ? "7" : "5"]))
        }
        #expect(log.page(before: .max, limit: 3).records.map(\.number) == [50, 49, 48])
        let page = log.page(before: 48, limit: 3)
        #expect(page.records.map(\.number) == [47, 46, 45] && page.reached == 45)
        #expect(log.page(before: 3, limit: 10).records.map(\.number) == [2, 1])
        #expect(log.page(before: 0, limit: 10).records.isEmpty)
        let next = log.page(after: 48, limit: 10)
        #expect(next.records.map(\.number) == [49, 50] && next.reached == 50)
        #expect(log.page(after: 50, limit: 10).records.isEmpty && log.page(after: .max, limit: 1).reached == 50)
        #expect(log.page(after: 0, limit: 2).records.map(\.number) == [1, 2])
        var filter = PushLog.Filter()
        filter.app = "com.example.mail"
        #expect(log.page(before: .max, limit: 10, filter).records.map(\.number) == [50, 40, 30, 20, 10])
        filter.refusedOnly = true
        #expect(log.page(before: .max, limit: 10, filter).records.map(\.number) == [50])
        filter.device = "phone"
        let none = log.page(after: 0, limit: 10, filter)
        #expect(none.records.isEmpty && none.reached == 50)
    }

    @Test func aPageLooksAtABoundedNumber() {
        let desk = Desk()
        desk.service.rules.deviceRate = 0
        let push = desk.request(to: desk.registration(.alert), body: "{}")
        for _ in 0..<30_000 { desk.take(push) }
        let log = desk.service.log
        var filter = PushLog.Filter()
        filter.app = "nobody"
        let first = log.page(before: .max, limit: 10, filter)
        #expect(first.records.isEmpty && first.reached == log.next - 20_000)
        let second = log.page(after: log.oldest - 1, limit: 10, filter)
        #expect(second.records.isEmpty && second.reached == log.oldest + 19_999)
    }

    @Test func findingByID() {
        let desk = Desk()
        let id = "0a1b2c3d-0000-4000-8000-00000000000F"
        desk.take(desk.request([.id: id]))
        let sandbox = desk.take(desk.request(to: desk.registration(.voip, .sandbox)), from: desk.connection(.sandbox))
        let log = desk.service.log
        #expect(log.number(withID: id) == 1 && log.number(withID: id.uppercased()) == 1)
        #expect(log.number(withID: String(decoding: sandbox.uniqueID, as: UTF8.self)) == 2)
        #expect(log.number(withID: String(decoding: sandbox.id, as: UTF8.self).lowercased()) == 2)
        #expect(log.number(withID: "") == nil && log.number(withID: "x") == nil)
        // Of several the newest.
        desk.take(desk.request([.id: id]))
        #expect(log.number(withID: id) == 3)
    }

    @Test func notesAreBounded() {
        let desk = Desk()
        desk.service.rules.deviceRate = 0
        let push = desk.request(to: desk.registration(.alert), body: "{}")
        for _ in 0..<6000 { desk.take(push) }
        let log = desk.service.log
        for number in log.oldest..<log.next { log.note(number, "n") }
        #expect(log[log.oldest]!.notes.isEmpty && log[log.next - 1]!.notes == ["n"])
        #expect((log.oldest..<log.next).count { !log[$0]!.notes.isEmpty } == 4096)
        for _ in 0..<100 { log.note(log.next - 1, "more") }
        #expect(log[log.next - 1]!.notes.count == 16)
        log.note(log.next, "nobody's")
        log.note(0, "nobody's")
        desk.take(push)
        #expect(desk.last.notes.isEmpty)
    }
}

/// Numbers that look random and are the same each time (SplitMix64).
struct Noise: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
