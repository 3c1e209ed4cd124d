import JSON
import Report
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

    @Test(arguments: [
        ("anwser", "did you mean answer?"), ("ring --calller A", "did you mean --caller?"),
        ("ring --caller", "needs a value"),
        ("ring --video=1", "takes no value"), ("answer a b", "too many"), ("apps add", "something is missing"),
        ("ring -x", "written --name"), ("config set a", "something is missing"),
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
