import Base
import Foundation
import JSON
import Report
import TestSupport
import Testing

@testable import Control

struct ParserTests {
    private func parse(_ line: String) throws(Refusal) -> Parser.Result {
        try Parser.parse(line.split(separator: " ").map(String.init), verbs: Verbs.all)
    }

    @Test func verbsOptionsAndArguments() throws {
        #expect(
            try parse("ring --caller Alice --video")
                == .run(Invocation(verb: "ring", options: ["caller": "Alice", "video": ""])))
        #expect(
            try parse("apps add com.example.talk --json")
                == .run(Invocation(verb: "apps add", arguments: ["com.example.talk"], options: ["json": ""])))
        #expect(
            try parse("push --caller=A --app x")
                == .run(Invocation(verb: "push", options: ["caller": "A", "app": "x"])))
        #expect(try parse("answer -- -odd") == .run(Invocation(verb: "answer", arguments: ["-odd"])))
        #expect(try parse("push -") == .run(Invocation(verb: "push", arguments: ["-"])))
    }

    @Test func helpIsEverywhere() throws {
        #expect(try parse("") == .help(nil))
        #expect(try parse("ring --help") == .help("ring"))
        #expect(try parse("help ring") == .help("ring"))
        for verb in Verbs.all {
            let page = Help.page(verb)
            #expect(page.contains("usage: ringctl \(verb.name)") && page.contains("example: ringctl"), "\(verb.name)")
        }
    }

    @Test func theOverviewHasEveryVerbOnce() {
        let grouped = Verbs.groups.flatMap(\.verbs).map(\.name)
        #expect(Set(grouped).count == grouped.count && Set(grouped) == Set(Verbs.shown.map(\.name)))
        for line in Help.overview(Verbs.groups).split(separator: "\n") where line.hasPrefix("  ") {
            #expect(Columns.width(String(line)) <= Help.width, "\(line)")
        }
    }

    @Test func aGroupListsItsVerbs() throws {
        #expect(try parse("apns") == .help("apns"))
        #expect(try parse("apns --help") == .help("apns"))
        for group in ["apns", "certs", "device", "config", "push"] {
            let page = try #require(Help.page(named: group, Verbs.all))
            for verb in Verbs.all where verb.name.hasPrefix(group + " ") {
                #expect(page.contains("  \(verb.name)"), "\(verb.name)")
            }
        }
        #expect(Help.page(named: "nothing", Verbs.all) == nil)
    }

    @Test func thePageOfPushHasItsOptionsUnderHeadings() throws {
        let push = try #require(Verbs.all.first { $0.name == "push" })
        let page = Help.page(push)
        let places = ["\nWhat\n", "\nTo whom\n", "\nBy which way\n", "\nLoad\n", "\n  --json"].map { heading in
            page.components(separatedBy: heading)[0].count
        }
        #expect(places == places.sorted() && places.allSatisfy { $0 < page.count })
        for option in push.options {
            #expect(page.components(separatedBy: "  --\(option.name) ").count == 2, "\(option.name)")
        }
    }

    @Test(arguments: [
        ("ap", ["apps", "apns"]), ("apns ", ["env", "token"]), ("apns t", ["token"]),
        ("apns env --shell ", ["sh", "fish"]),
        ("push --via ", ["bus", "http2", "binary"]), ("push --app x --environment ", ["sandbox", "production"]),
        ("push sh", ["show"]), ("pushes --fo", ["--follow"]), ("certs convert a.cer --to p", ["pem", "p12"]),
    ])
    func bashCompletes(_ line: String, _ words: [String]) throws {
        let outcome = try attempt(
            "bash",
            [
                "-c",
                """
                eval "$COMPLETIONS"; COMP_WORDS=(); IFS=' '; for word in ringctl $LINE; do COMP_WORDS+=("$word"); done
                [[ $LINE == *' ' ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); unset IFS; _ringctl
                echo "${COMPREPLY[*]}"
                """,
            ], environment: ["COMPLETIONS": try #require(Help.completions("bash", Verbs.shown)), "LINE": line])
        #expect(outcome.out == words.joined(separator: " ") + "\n", "\(outcome.all)")
    }

    @Test(arguments: [
        ("anwser", "did you mean answer?"), ("ring --calller A", "did you mean --caller?"),
        ("ring --caller", "needs a value"),
        ("ring --video=1", "takes no value"), ("answer a b", "too many"), ("apps add", "APP-ID is missing"),
        ("ring -x", "written --name"), ("config set a", "VALUE is missing"),
    ])
    func badUsageNamesTheCure(_ line: String, _ words: String) {
        do throws(Refusal) {
            _ = try parse(line)
            Issue.record("\(line) was taken")
        } catch {
            #expect(error.status == 2)
            #expect(error.message.contains(words), "\(error.message)")
        }
    }

    @Test func completionsAndManualNameEveryVerb() {
        for shell in ["bash", "zsh", "fish"] {
            let text = Help.completions(shell, Verbs.shown)!
            for verb in Verbs.shown {
                #expect(text.contains(verb.name.split(separator: " ").last!), "\(shell): \(verb.name)")
            }
        }
        #expect(Help.completions("tcsh", Verbs.shown) == nil)
        let manual = Help.manual(Verbs.shown)
        for verb in Verbs.shown { #expect(manual.contains(verb.name.split(separator: " ")[0]), "\(verb.name)") }
        // Arguments stand on the line of their verb.
        #expect(manual.contains(".TP\n.BI \"apps add \" \"APP\\-ID\"\n"))
    }
}

struct ReportTests {
    private let timeline = Timeline(
        call: .object(
            ("id", "7f3c0000-0000-4000-8000-000000000000"), ("caller", "<Alice & \"Bob\">"),
            ("app", "com.example.talk"),
            ("reason", "declined"), ("began_ns", 1_764_486_702_000_000_000)),
        events: [
            .object(("kind", "push.received"), ("at_ns", 999_000_000), ("message", "push 1"), ("fields", "{}")),
            .object(("kind", "call.ringing"), ("at_ns", 1_000_000_000), ("message", "ringing"), ("fields", "{}")),
            .object(("kind", "notification.shown"), ("at_ns", 1_004_000_000), ("message", "shown"), ("fields", "{}")),
            .object(
                ("kind", "sound.started"), ("at_ns", 1_005_000_000), ("message", "on"),
                ("fields", #"{"envelope":[0,0.5,1],"step_ms":50}"#)),
            .object(
                ("kind", "notification.raised"), ("at_ns", 5_000_000_000), ("message", "again"), ("fields", "not json")),
            .object(("kind", "call.ended"), ("at_ns", 7_000_000_000), ("message", "declined"), ("fields", "{}")),
        ])

    @Test func textHasEveryMomentAndTheMeasures() {
        let text = timeline.text
        #expect(text.contains("-1.0 ms  push.received"))
        #expect(text.contains("+6.000 s  call.ended"))
        #expect(text.contains("ringing → shown"))
        #expect(text.contains("4.0 ms"))
    }

    @Test func theSVGIsWellFormedAndEscaped() {
        let svg = Picture(timeline).svg
        #expect(svg.contains("&lt;Alice &amp; &quot;Bob&quot;&gt;"))
        #expect(!svg.contains("<Alice"))
        #expect(svg.contains("class=\"wave\"") && svg.contains("class=\"tick\"") && svg.contains("+6.000 s"))
        #expect(svg.contains("prefers-color-scheme: dark"))
    }

    @Test func aCallWithoutEventsHasAPictureToo() {
        let empty = Timeline(call: .object(("id", "x")), events: [])
        #expect(Picture(empty).svg.hasSuffix("</svg>\n"))
        #expect(!empty.text.isEmpty)
    }
}

struct WatchTests {
    private let plain = Style(isOn: false)
    private let now = Instant(nanoseconds: 1_000_000_000_000)

    private func call(_ caller: String, left: Int = 15, state: String = "ringing") -> WatchModel.LiveCall {
        WatchModel.LiveCall(
            id: caller, state: state, caller: caller, detail: "video",
            began: Instant(nanoseconds: now.nanoseconds - 15_000_000_000),
            deadline: now + .seconds(left))
    }

    @Test(arguments: [(80, 24), (40, 8), (200, 60), (21, 8)])
    func everyScreenIsExactlyItsSize(_ width: Int, _ height: Int) {
        var model = WatchModel()
        model.calls = (0..<5).map { call("阿丽 \($0) with quite a long name indeed") }
        for number in 0..<100 {
            model.add(
                .init(text: "line \(number) 邀请你进行通话 " + String(repeating: "x", count: 90), kind: "call.x", level: 6))
        }
        model.foot = "a call now: rings, but you would not hear it"
        let lines = model.rendered(width: width, height: height, now: now, style: plain)
        #expect(lines.count == height)
        for line in lines where !line.isEmpty { #expect(Columns.width(line) <= width, "\(line)") }
        #expect(lines.contains { $0.contains("line 99") })
    }

    @Test func theBarTellsTheTimeThatIsLeft() {
        var model = WatchModel()
        model.calls = [call("Alice")]
        let row = model.rendered(width: 90, height: 10, now: now, style: plain)[1]
        #expect(row.filter { $0 == "█" }.count == 15 && row.filter { $0 == "░" }.count == 15)
        #expect(row.contains("15 s"))
        model.calls = [call("Alice", left: -3), call("Bob", state: "active")]
        #expect(model.rendered(width: 90, height: 12, now: now, style: plain)[1].contains(" 0 s"))
        #expect(!model.rendered(width: 90, height: 12, now: now, style: plain)[2].contains("░"))
    }

    @Test func scrollingKeepsWhatIsRead() {
        var model = WatchModel()
        for number in 0..<50 { model.add(.init(text: "line \(number).", kind: "", level: 6)) }
        model.scroll(by: 10)
        let before = model.rendered(width: 80, height: 12, now: now, style: plain)
        model.add(.init(text: "line 50.", kind: "", level: 6))
        #expect(model.rendered(width: 80, height: 12, now: now, style: plain) == before)
        model.scroll(by: -100)
        #expect(model.rendered(width: 80, height: 12, now: now, style: plain).contains { $0.hasPrefix("line 50.") })
    }

    @Test func memoryIsBounded() {
        var model = WatchModel()
        for number in 0..<10_000 { model.add(.init(text: "\(number)", kind: "", level: 6)) }
        #expect(model.lines.count == WatchModel.keptLines && model.lines.last?.text == "9999")
        model.select(5)
        #expect(model.chosen == nil)
    }
}
