import APNs
import Base
import Testing

/// What becomes of an accepted push (apns.md 1.8).
struct DeliveryTests {
    private func payloads(_ desk: Desk) -> [String] {
        desk.deliveries.map { String(decoding: $0.push.payload, as: UTF8.self) }
    }

    @Test func whoseTokensRing() {
        let desk = Desk()
        _ = desk.service.directory.add(devices: ["phone"])
        desk.take(desk.request())
        #expect(desk.last.outcome == "rings" && desk.deliveries.count == 1)
        desk.take(desk.request(to: desk.registration(.alert)))
        #expect(desk.last.outcome == "recorded")
        for kind in TokenKind.allCases {
            desk.take(desk.request(to: desk.registration(kind, device: "phone")))
            #expect(desk.last.outcome == "delivered" && desk.last.device == "phone" && desk.last.kind == kind)
        }
        #expect(desk.deliveries.count == 1)
        let delivery = desk.deliveries[0]
        #expect(delivery.environment == .production && !delivery.isLate)
        #expect(delivery.push.app == Desk.app && delivery.push.kind == .voip && delivery.push.number == 1)
        #expect(delivery.push.via == "HTTP/2" && delivery.push.expiration == 0 && delivery.push.priority == 10)
    }

    @Test func whatItCameToIsSaid() {
        let desk = Desk()
        desk.outcome = .init("updated", findings: [Finding("duplicate", nil, "call is ringing already: duplicate")])
        desk.take(desk.request([.expiration: nil]))
        // Before the advice that every push would get.
        #expect(desk.last.findings.map(\.code) == ["duplicate", "no-expiration"])
        let event = desk.events.last!
        #expect(
            event.message.contains("HTTP/2, 14 bytes, com.example.talk: updated; call is ringing already: duplicate"))
        #expect(event.text("outcome") == "updated" && event.text("finding") == "duplicate")
    }

    @Test func anUnusablePayloadIsRefusedWhereThereIsAWord() {
        for (transport, isRefused) in [
            (PushRequest.Transport.http2, false), (.binary(command: 1), true), (.bus, true), (.webhook, true),
        ] {
            let desk = Desk()
            desk.outcome = .init("unusable", findings: [Finding("payload-no-call", nil, "no call")], isUnusable: true)
            let sender = transport == .http2 ? desk.sender : desk.connection(certificate: voipCertificate())
            let answer = desk.take(desk.request(transport: transport), from: sender)
            #expect(answer.reason == (isRefused ? .internalServerError : nil))
            #expect(
                desk.last.findings[0] == Finding("payload-no-call", isRefused ? .internalServerError : nil, "no call"))
            #expect(desk.last.outcome == "unusable")
        }
    }

    // MARK: Offline

    @Test func theNewestIsKept() {
        let desk = Desk(apps: [Desk.app, "com.example.mail"])
        desk.service.setOnline(false, device: "desktop")
        for (app, text) in [(Desk.app, "1"), ("com.example.mail", "2"), (Desk.app, "3"), (Desk.app, "4")] {
            desk.take(desk.request(to: desk.registration(app: app), [.expiration: nil], body: #"{"n":\#(text)}"#))
            #expect(desk.last.outcome == "stored: desktop is offline" && desk.last.status == 200)
        }
        #expect(desk.deliveries.isEmpty && desk.service.mailbox.counts == ["desktop": 2])
        #expect(desk.service.log[1]!.notes == ["push 3 took its place: one is kept for an app and device, the newest"])
        #expect(desk.service.log[3]!.notes == ["push 4 took its place: one is kept for an app and device, the newest"])
        #expect(desk.stored.map(\.number) == [1, 2, 3, 4] && desk.unstored.isEmpty)
        #expect(desk.service.setOnline(true, device: "desktop", wall: desk.wall) == 2)
        #expect(payloads(desk) == [#"{"n":2}"#, #"{"n":4}"#])
        #expect(desk.deliveries.allSatisfy { $0.isLate })
        #expect(desk.unstored.map(\.number) == [2, 4])
        #expect(desk.service.log[4]!.notes == ["delivered later: rings"])
        #expect(desk.service.setOnline(true, device: "desktop", wall: desk.wall) == 0)
    }

    @Test func anAlertTakesTheSlotOfACall() {
        let desk = Desk()
        desk.service.setOnline(false, device: "desktop")
        desk.take(desk.request([.expiration: nil]))
        desk.take(desk.request(to: desk.registration(.alert)))
        // An expiration of 0 keeps nothing, and so takes nothing's place.
        #expect(desk.last.outcome == "dropped: desktop is offline, and expiration 0 keeps nothing")
        desk.take(desk.request(to: desk.registration(.alert), [.expiration: nil]))
        #expect(desk.service.setOnline(true, device: "desktop", wall: desk.wall) == 1)
        #expect(desk.deliveries.isEmpty && desk.last.notes == ["delivered later: recorded"])
    }

    @Test func expirations() {
        let desk = Desk()
        desk.service.setOnline(false, device: "desktop")
        func push(_ expiration: Int64?) -> String {
            desk.take(desk.request([.expiration: expiration.map { String($0) }]))
            return desk.last.outcome
        }
        #expect(push(0) == "dropped: desktop is offline, and expiration 0 keeps nothing")
        #expect(push(desk.wall.seconds - 5) == "dropped: desktop is offline, and its expiration is past")
        #expect(push(desk.wall.seconds + 60) == "stored: desktop is offline")
        desk.pass(.seconds(61))
        #expect(desk.service.setOnline(true, device: "desktop", wall: desk.wall) == 0)
        #expect(desk.last.notes == ["expired while desktop was offline"] && desk.deliveries.isEmpty)
        // Nothing said is thirty days, and nothing is kept longer.
        desk.sender = desk.connection()
        for expiration in [nil, desk.wall.seconds + 90 * 86_400, desk.wall.seconds * 1000] {
            desk.service.setOnline(false, device: "desktop")
            desk.sender = desk.connection()
            #expect(push(expiration) == "stored: desktop is offline")
            #expect(desk.stored.last?.until.seconds == desk.wall.seconds + 30 * 86_400)
            desk.pass(.seconds(30 * 86_400 + 1))
            #expect(desk.service.setOnline(true, device: "desktop", wall: desk.wall) == 0)
        }
    }

    @Test func collapseIDs() {
        let desk = Desk()
        desk.service.setOnline(false, device: "desktop")
        for id in ["a", "a", "b"] { desk.take(desk.request([.expiration: nil, .collapseID: id])) }
        #expect(desk.service.log[1]!.notes == ["push 2 took its place: the same apns-collapse-id"])
        #expect(desk.service.log[2]!.notes == ["push 3 took its place: one is kept for an app and device, the newest"])
        #expect(desk.last.collapseID == "b")
    }

    /// What an earlier run kept is delivered with a record of its own.
    @Test func overARestart() {
        let first = Desk(apps: [Desk.app, "com.example.mail"])
        first.service.setOnline(false, device: "desktop")
        for app in ["com.example.mail", Desk.app] {
            first.take(first.request(to: first.registration(app: app), [.expiration: nil], body: #"{"app":"\#(app)"}"#))
        }
        let second = Desk(apps: [])
        for app in [Desk.app, "com.example.mail"] {
            for one in first.service.directory.tokens(app: app) { second.service.directory.restore(one) }
        }
        second.service.restore(offline: ["desktop"])
        for var push in first.stored {
            push.number = 0
            second.service.restore(push)
        }
        // Another push first, so that numbers of one run could be taken for the other's.
        second.take(second.request(to: second.registration(.alert)))
        #expect(second.service.setOnline(true, device: "desktop", wall: second.wall) == 2)
        #expect(payloads(second) == [#"{"app":"com.example.mail"}"#, #"{"app":"com.example.talk"}"#])
        #expect(second.deliveries.map(\.push.number) == [2, 3])
        #expect(second.service.log[1]!.notes.isEmpty)
        #expect(second.last.outcome == "stored: it came in an earlier run (HTTP/2)")
        #expect(second.last.notes == ["delivered later: rings"] && second.last.app == Desk.app)
    }

    @Test func whatGoesWithAnAppOrADevice() {
        let desk = Desk(apps: [Desk.app, "com.example.mail"])
        _ = desk.service.directory.add(devices: ["phone"])
        for device in ["desktop", "phone"] { desk.service.setOnline(false, device: device) }
        for (app, device) in [(Desk.app, "desktop"), (Desk.app, "phone"), ("com.example.mail", "phone")] {
            desk.take(desk.request(to: desk.registration(app: app, device: device), [.expiration: nil]))
        }
        desk.service.forget(app: Desk.app, device: "desktop")
        #expect(desk.unstored.map(\.number) == [1])
        #expect(desk.service.log[1]!.notes == ["not delivered: its token ended meanwhile"])
        desk.service.forget(app: Desk.app)
        #expect(desk.unstored.map(\.number) == [1, 2])
        desk.service.forget(devices: ["phone"])
        #expect(desk.unstored.map(\.number) == [1, 2, 3] && desk.service.offline == ["desktop"])
        // A token that ends while its push waits.
        desk.take(desk.request([.expiration: nil]))
        _ = desk.service.directory.renew(app: Desk.app, at: desk.wall)
        desk.service.setOnline(true, device: "desktop", wall: desk.wall)
        #expect(desk.deliveries.isEmpty && desk.last.notes == ["not delivered: its token ended meanwhile"])
    }

    @Test func theMailboxIsBounded() {
        var mailbox = Mailbox()
        func push(_ number: Int) -> StoredPush {
            StoredPush(
                number: UInt64(number), token: .random(), app: "com.example.a\(number)", device: "desktop", kind: .voip,
                payload: [], until: WallTime(nanoseconds: 0), via: "", peer: "")
        }
        for number in 1...Mailbox.most { #expect(mailbox.put(push(number)) == nil) }
        #expect(mailbox.put(push(Mailbox.most + 1))?.number == 1)
        #expect(mailbox.put(push(Mailbox.most + 2))?.number == 2)
        #expect(mailbox.count == Mailbox.most)
        #expect(mailbox.take(app: "com.example.a3").map(\.number) == [3])
        #expect(mailbox.take(devices: ["desktop"]).map(\.number) == Array(4...(UInt64(Mailbox.most) + 2)))
        #expect(mailbox.count == 0)
    }

    // MARK: Priority

    @Test func lowPrioritiesComeTogether() {
        let desk = Desk()
        desk.service.powerSaving = .seconds(3)
        func push(_ priority: String, _ text: String, collapse: String? = nil) {
            desk.take(desk.request([.priority: priority, .collapseID: collapse], body: #"{"n":"\#(text)"}"#))
        }
        push("5", "a")
        #expect(desk.last.outcomeWord == "late")
        push("10", "b")
        push("1", "c", collapse: "x")
        push("5", "d", collapse: "x")
        #expect(payloads(desk) == [#"{"n":"b"}"#])
        #expect(desk.service.log[3]!.notes == ["push 4 took its place: the same apns-collapse-id"])
        #expect(desk.later.map(\.delay) == [.seconds(3)])
        desk.runLater()
        #expect(payloads(desk) == [#"{"n":"b"}"#, #"{"n":"a"}"#, #"{"n":"d"}"#])
        push("5", "e")
        #expect(desk.later.count == 1)
        // A device that is off by then keeps it.
        desk.service.setOnline(false, device: "desktop")
        desk.runLater()
        #expect(desk.last.notes == ["dropped: desktop is offline, and expiration 0 keeps nothing"])
    }

    // MARK: Faults

    private func fault(_ desk: Desk, _ text: String, _ extra: String = "") -> PushService.Answer {
        desk.take(desk.request(body: #"{"ringd-fault":"\#(text)","n":"\#(extra)"}"#))
    }

    @Test func lateLostTwiceAndOvertaken() {
        let desk = Desk()
        #expect(fault(desk, "late 2").faults == [.late(.seconds(2))])
        #expect(desk.last.outcome == "late: on its way for 2.000 s" && desk.deliveries.isEmpty)
        desk.runLater()
        #expect(
            desk.deliveries.count == 1 && desk.deliveries[0].isLate && desk.last.notes == ["delivered later: rings"])
        for words in ["lose", "refuse-stream", "reset", "status 200"] {
            _ = fault(desk, words)
            #expect(desk.last.outcome == "lost: a fault was asked for", "\(words)")
        }
        #expect(desk.deliveries.count == 1)
        _ = fault(desk, "duplicate")
        #expect(desk.deliveries.count == 3 && desk.last.outcome == "rings")
        _ = fault(desk, "reorder", "first")
        #expect(desk.deliveries.count == 3 && desk.last.outcomeWord == "late")
        // A second one is the next to the first.
        _ = fault(desk, "reorder", "second")
        #expect(payloads(desk).suffix(2).map { $0.contains("second") } == [true, false])
        #expect(desk.deliveries[4].isLate && desk.later.isEmpty)
        // The answer may be late; what is the door's to do, the door does.
        for words in ["delay 1", "hang", "close", "cut", "goaway graceful Shutdown"] {
            let before = desk.deliveries.count
            let answer = fault(desk, words)
            #expect(answer.faults.count == 1 && answer.status == 200 && desk.deliveries.count == before + 1, "\(words)")
        }
    }

    @Test func anyAnswer() {
        let desk = Desk()
        var answer = fault(desk, "status 410")
        #expect(answer.status == 410 && answer.reasonText == "ExpiredToken" && answer.timestamp != nil)
        answer = fault(desk, "status 418 Teapot")
        #expect(answer.status == 418 && answer.reasonText == "Teapot" && answer.reason == .internalServerError)
        #expect(desk.last.reason == "Teapot" && desk.last.findings[0].code == "fault")
        #expect(desk.events.last?.message.contains("a fault was asked for: 418 Teapot") == true)
        answer = fault(desk, "reason Shutdown, delay 1")
        #expect(answer.status == 503 && answer.faults.contains(.delay(.seconds(1))))
        #expect(desk.deliveries.isEmpty)
        // Of a push that is refused anyway, too.
        let push = desk.request([.topic: nil], body: #"{"aps":{"ringd-fault":"status 200"}}"#)
        #expect(desk.take(push).status == 200 && desk.deliveries.isEmpty)
        // Nonsense is no fault.
        answer = fault(desk, "explode")
        #expect(answer.status == 200 && answer.faults.isEmpty && desk.last.outcome == "rings")
    }

    @Test func rulesOfTheConfiguration() {
        let desk = Desk(apps: [Desk.app, "com.example.mail"])
        var busy = FaultRule(name: "busy")
        busy.app = "com.example.mail"
        busy.every = 3
        busy.times = 2
        busy.actions = [.answer(status: 503, reason: "ServiceUnavailable")]
        var one = FaultRule(name: "one")
        one.token = String(desk.registration().token.hex.prefix(9))
        one.actions = [.lose]
        desk.service.faults = [busy, one]
        let mail = desk.registration(app: "com.example.mail")
        let statuses = (0..<10).map { _ in desk.take(desk.request(to: mail)).status }
        #expect(statuses == [200, 200, 503, 200, 200, 503, 200, 200, 200, 200])
        desk.take(desk.request())
        #expect(desk.last.outcomeWord == "lost")
        desk.take(desk.request(to: desk.registration(.alert)))
        #expect(desk.last.outcome == "recorded")
        // A change begins anew.
        desk.service.faults = [busy]
        #expect((0..<3).map { _ in desk.take(desk.request(to: mail)).status } == [200, 200, 503])
    }

    @Test func theGrammarReadsBack() throws {
        for (text, actions) in [
            ("status 503", [FaultAction.answer(status: 503, reason: "ServiceUnavailable")]),
            ("status 400 Foo", [.answer(status: 400, reason: "Foo")]),
            ("status 200 Foo", [.answer(status: 200, reason: "")]),
            ("reason BadTopic", [.answer(status: 400, reason: "BadTopic")]),
            ("delay 0.5s, lose", [.delay(.milliseconds(500)), .lose]),
            ("late 3600", [.late(.seconds(3600))]), ("goaway", [.goAway(isGraceful: true, text: "")]),
            ("goaway abrupt Maximum active streams", [.goAway(isGraceful: false, text: "Maximum active streams")]),
            (
                " duplicate ,reorder, hang,close,cut,reset,refuse-stream",
                [.duplicate, .reorder, .hang, .close, .cut, .reset, .refuseStream]
            ),
        ] {
            #expect(try FaultAction.list(text) == actions, "\(text)")
        }
        for (text, words) in [
            ("", "1 to 8"), ("lose,lose,lose,lose,lose,lose,lose,lose,lose", "1 to 8"), ("los", "is no fault"),
            ("lose now", "is no fault"), ("status", "from 200 to 599"), ("status 600", "from 200 to 599"),
            ("status 204", "may have a body"),
            ("status 400 a-b", "one word"),
            ("delay", "3600"), ("delay -1", "3600"), ("delay nan", "3600"), ("reason Bad", "none of APNs' reasons"),
            (String(repeating: "x", count: 600), "512"),
        ] {
            do throws(FaultAction.Fault) {
                _ = try FaultAction.list(text)
                Issue.record("\(text) was taken")
            } catch {
                #expect(error.words.contains(words), "\(error.words)")
            }
        }
    }

    // MARK: Feedback

    @Test func feedbackIsClearedByReading() {
        let desk = Desk(apps: [Desk.app, "com.example.mail"])
        let talk = desk.registration()
        let mail = desk.registration(app: "com.example.mail")
        let renewed = desk.registration(.voip, .production, app: "com.example.mail", device: "desktop")
        _ = desk.service.directory.remove(app: Desk.app, at: desk.wall)
        desk.take(desk.request(to: talk))
        let at = desk.wall
        desk.pass(.seconds(5))
        desk.sender = desk.connection()
        desk.take(desk.request(to: talk))
        // A renewed token, and a push that expired, are no failures.
        _ = desk.service.directory.renew(app: "com.example.mail", at: desk.wall)
        #expect(desk.take(desk.request(to: renewed)).status == 410)
        #expect(desk.feedback.count == 1 && desk.feedback[0].0 == talk.token && desk.feedback[0].1 == at)
        // Others' failures are nobody's business.
        #expect(desk.service.takeFeedback(for: voipCertificate("com.example.mail")).isEmpty)
        let told = desk.service.takeFeedback(for: voipCertificate())
        #expect(told.map(\.token) == [talk.token] && told.map(\.at) == [at])
        #expect(desk.feedback.count == 2 && desk.feedback[1].1 == nil)
        #expect(desk.service.takeFeedback(for: voipCertificate()).isEmpty)
        // It fails again, it is told again; a certificate without topics hears all; a restart changes nothing.
        desk.take(desk.request(to: talk))
        desk.service.restore(feedback: mail.token, at: WallTime(nanoseconds: at.nanoseconds - 1_000_000_000))
        #expect(desk.service.takeFeedback(for: .bare).map(\.token) == [mail.token, talk.token])
        #expect(desk.service.takeFeedback(for: nil).isEmpty)
    }
}
