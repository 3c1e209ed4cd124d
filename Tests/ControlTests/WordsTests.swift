import Base
import DBus
import Foundation
import TestSupport
import Testing

@testable import Control
@testable import Sender

/// What people read.
struct WordsTests {
    @Test func aCallThatIsOverIsNamedWithItsCure() {
        let id = PushWords.id(in: Array(#"{"aps":{},"callId":"4\u001b2"}"#.utf8))
        #expect(
            PushWords.outcome("already-over", id: "42")
                == "call 42 is over, and an id rings once in ten minutes: send a new one")
        #expect(PushWords.outcome("already-over")?.contains("send a new one") == true)
        #expect(PushWords.outcome("already-over", id: id)?.contains("\u{1b}") == false)
        #expect(PushWords.id(in: Array("no JSON".utf8)) == nil)
        for word in ["rings", "queued", "tombstone", "already-over", "recorded"] {
            #expect(PushWords.outcome(word)?.contains("tombstone") == false, "\(word)")
        }
        #expect(PushWords.repeats("the call is over, and an id rings once", "already-over"))
        #expect(!PushWords.repeats("no call id in the payload", "already-over"))
    }

    @Test func aPushsLineFitsAndSaysNothingTwice() {
        func line(_ outcome: String, _ finding: String, _ width: Int? = nil) -> String {
            PushRecords.line(
                .dict(
                    ("number", .uint64(7)), ("app", .string("com.example.talk")), ("door", .string("D-Bus")),
                    ("status", .int64(200)), ("outcome", .string(outcome)), ("finding", .string(finding))),
                Style(isOn: false), width: width)
        }
        #expect(
            line("lost: a fault was asked for", "a fault was asked for: lose").hasSuffix(
                "lost  a fault was asked for: lose"))
        #expect(line("lost: a fault was asked for", "other").hasSuffix("lost: a fault was asked for  other"))
        let over = line("already-over", "the call is over, and an id rings once in ten minutes: send a new one")
        #expect(!over.contains("tombstone") && over.contains("send a new one"))
        let long = line("rings", String(repeating: "阿 long ", count: 40))
        #expect(Columns.width(long) > 200)
        for width in [1, 20, 75, 80, 81, 100] {
            #expect(Columns.width(line("rings", String(repeating: "阿 long ", count: 40), width)) <= width, "\(width)")
            #expect(Columns.width(PushRecords.heads(Style(isOn: false), width)) <= width)
        }
        // The heads stand above what they name.
        let plain = line("rings", "")
        let heads = PushRecords.heads(Style(isOn: false), 200)
        for (head, value) in [("door", "D-Bus"), ("to", "com.example"), ("answer", "rings")] {
            #expect(
                heads.components(separatedBy: head)[0].count == plain.components(separatedBy: value)[0].count, "\(head)"
            )
        }
    }

    @Test func pastCallsStandInColumns() {
        func call(_ caller: String, _ category: String, _ more: (String, DBusValue)...) -> DBusValue {
            .dict(
                [
                    .init("id", .string("0123456789")), .init("caller", .string(caller)),
                    .init("category", .string(category)), .init("reason", .string("declined")),
                    .init("began_ns", .int64(1_700_000_000_000_000_000)), .init("rang_ms", .int64(2500)),
                ] + more.map { .init($0.0, $0.1) })
        }
        let lines = PastCalls.lines(
            [
                call("Alice", "missed", ("seen", .bool(false)), ("app", .string("com.example.talk"))),
                call("阿丽", "completed", ("direction", .string("outgoing")), ("duration_ms", .int64(3_725_999))),
                call("Bob", "answered on another device", ("contact", .string("Robert")), ("handle", .string("+49"))),
                call("\u{1b}[2JEve", "missed", ("seen", .bool(true)), ("detail", .string("603\nDecline"))),
                call(String(repeating: "long ", count: 20), "completed", ("duration_ms", .int64(42_000))),
            ], Style(isOn: false))
        #expect(lines[0].hasPrefix("01234567  2023-11-1"))
        #expect(
            lines[0].hasSuffix("  *← missed            –  Alice         (declined, rang 2.500 s)  com.example.talk"))
        #expect(lines[1].hasSuffix("   → completed   1:02:05  阿丽          (declined)  "))
        #expect(lines[2].hasSuffix("   ← elsewhere         –  Robert <+49>  (declined, rang 2.500 s)  "))
        #expect(lines[3].contains("   ← missed ") && lines[3].hasSuffix("(declined, rang 2.500 s, 603 Decline)  "))
        #expect(!lines[3].contains("\u{1b}"))
        #expect(lines[4].contains("    0:42  long long"))
        // The names begin in one column, and what follows those that are not too long.
        for mark in ["(declined"] {
            let columns = lines[..<4].map { Columns.width($0.components(separatedBy: mark)[0]) }
            #expect(Set(columns).count == 1, "\(columns)")
        }
    }

    @Test func handlesAreShownWithoutTheirScheme() {
        func name(_ caller: String, _ handle: String) -> String {
            let call = DBusValue.dict([.init("caller", .string(caller)), .init("handle", .string(handle))])
            let line = PastCalls.lines([call], Style(isOn: false))[0]
            return line.components(separatedBy: "–  ")[1].components(separatedBy: "  (")[0]
        }
        #expect(name("Alice", "sip:alice@example.com;transport=tls") == "Alice <alice@example.com>")
        #expect(name("alice@example.com", "sip:alice@example.com") == "alice@example.com")
        #expect(name("sip:alice@example.com", "sip:alice@example.com") == "alice@example.com")
        #expect(name("Alice", "") == "Alice" && name("", "tel:+49") == "+49")
    }

    @Test func timesAreReadAsPeopleTypeThem() throws {
        func shown(_ text: String) -> String? { PastTime.read(text)?.formatted("%Y-%m-%d %H:%M:%S") }
        #expect(shown("2025-12-31") == "2025-12-31 00:00:00")
        #expect(shown("2025-12-31 18:30") == "2025-12-31 18:30:00")
        #expect(shown("2024-02-29T18:30:05") == "2024-02-29 18:30:05")
        #expect(PastTime.read("1700000000000000001")?.nanoseconds == 1_700_000_000_000_000_001)
        for text in [
            "", "yesterday", "2025", "20251231", "2025-13-01", "2025-02-30", "2025-1-1", "2025-12-31 ",
            "2025-12-31 24:00",
            "2025-12-31 18:30:00 1", "2025-12-31 1830", "١٢٣٤-٠١-٠١", "-2025-12-31", "99999999999999999999",
        ] { #expect(PastTime.read(text) == nil, "\(text)") }
    }

    @Test func aHistoryFilterSaysWhatWasAsked() throws {
        func filter(_ options: [String: String]) throws -> DBusValue {
            var invocation = Invocation(verb: "history")
            invocation.options = options
            return .dict(try Verbs.filter(invocation, isMissedOnly: false, marksSeen: options["keep"] == nil))
        }
        let asked = try filter([
            "limit": "7", "app": "a.b", "direction": "outgoing", "handle": "+49", "before": "1700000000000000000",
            "all": "", "unseen": "",
        ])
        #expect(asked["limit"]?.integer == 7 && asked["app"]?.text == "a.b" && asked["handle"]?.text == "+49")
        #expect(asked["direction"]?.text == "outgoing" && asked["before"]?.integer == 1_700_000_000_000_000_000)
        #expect(asked["hidden"]?.flag == true && asked["unseen"]?.flag == true && asked["mark_seen"]?.flag == true)
        let plain = try filter(["keep": ""])
        #expect(plain["limit"]?.integer == 20 && plain.entries?.count == 2)
        for wrong in [["limit": "0"], ["limit": "10001"], ["direction": "sideways"], ["before": "soon"]] {
            #expect(throws: Refusal.self) { try filter(wrong) }
        }
    }

    @Test func aBinaryLineThatWasCutSaysWhere() {
        let refused = BinaryEnd(.init(status: 8, identifier: 279), sent: 900, connections: 1)
        #expect(refused.likely == 279)
        #expect(
            refused.words.contains("at push 280 of 900 sent: status 8, invalid token; likely taken: the first 279;"))
        let shutdown = BinaryEnd(.init(status: 10, identifier: 279), sent: 900, connections: 2)
        #expect(shutdown.likely == 280 && shutdown.words.contains("after push 280"))
        #expect(shutdown.words.contains("2 connections"))
        #expect(BinaryEnd(.init(status: 8, identifier: .max), sent: 9, connections: 1).likely == 9)
        #expect(BinaryEnd(nil, sent: 9, connections: 1).likely == 0)
    }

    @Test func aSeriesOfDevicesIsKnownByItsName() {
        let devices = ["desktop", "alice-2", "alice-1", "alice-10", "bob-1", "carol-x", "dave"]
        #expect(
            Verbs.series("alice", among: devices)
                == "there is no device alice; there are alice-1 … alice-10 (ringctl device)")
        #expect(Verbs.series("bob", among: devices) == "there is no device bob; there is bob-1 (ringctl device)")
        #expect(Verbs.series("carol", among: devices) == nil && Verbs.series("dave", among: devices) == nil)
    }
}

/// `ringctl config`, as far as no ringd is needed.
struct ConfigVerbTests {
    private let home = Scratch()

    private func ringctl(_ words: String...) throws -> Outcome {
        try attempt(
            Tree.program("ringctl"), words, environment: ["HOME": home.path, "LC_ALL": "C.UTF-8"], isWhole: true)
    }

    @Test func filesThatAreNamedAreLookedAt() throws {
        #expect(try ringctl("certs", "init").status == 0)
        let certificates = home.at(".local/state/ringd/certs")
        try home.make("empty.pem")
        try home.make(
            ".config/ringd/ringd.conf",
            Data(
                """
                [apns]
                authorities = \(certificates)/ca.pem, \(home.path)/empty.pem
                [key ABC123DEFG]
                file = \(home.path)/AuthKey_ABC123DEFG.p8
                [key ABC123DEFH]
                file = \(certificates)/ca.pem
                [key ABC123DEFI]
                file = \(home.path)
                """.utf8))
        let check = try ringctl("config", "check")
        #expect(check.status == 1)
        #expect(check.out.contains("line 2: apns.authorities: \(home.path)/empty.pem cannot be used"), "\(check.all)")
        #expect(check.out.contains("line 4: [key ABC123DEFG] file: there is no file"), "\(check.all)")
        #expect(check.out.contains("line 8: [key ABC123DEFI] file: \(home.path) is not a file"), "\(check.all)")
        #expect(check.out.split(separator: "\n").count == 3, "\(check.all)")
    }

    @Test func settingsGoAndComeWithoutRingd() throws {
        let refused = try ringctl("config", "set", "apns.http2", "")
        #expect(refused.status == 1 && refused.complaint.contains("say none to close a door"), "\(refused.all)")
        #expect(try ringctl("config", "set", "sound.volume", "40").status == 0)
        let gone = try ringctl("config", "unset", "sound.volume")
        #expect(gone.status == 0 && gone.out.contains("sound.volume = 100, the default"), "\(gone.all)")
        #expect(try ringctl("config", "unset", "sound.volume").out.contains("it was not set"))
        #expect(try ringctl("config", "unset", "sound.volum").complaint.contains("did you mean sound.volume?"))
        #expect(try ringctl("config", "reload").status == 3)
    }
}
