import Glibc
import JSON
import TestSupport
import Testing

extension EndToEnd {
    /// Past calls by `ringctl`, through the bus and the database.
    @Suite(.serialized) struct PastCalls {
        /// Rings and ends so many calls: `k1` and so on, each with its handle.
        private func call(_ rig: Rig, _ numbers: ClosedRange<Int>, _ end: String) throws {
            for number in numbers {
                try rig.ask(
                    "ring", "--caller", "Caller \(number)", "--handle", "+49\(number)", "--id", "k\(number)", "--app",
                    Rig.app)
                try rig.ask(end, "k\(number)")
            }
        }

        private func keys(_ rig: Rig, _ words: String...) throws -> [String] {
            let outcome = try attempt(
                Tree.program("ringctl"), words + ["--json"], environment: rig.environment, isWhole: true)
            guard outcome.status == 0 else { throw ToolFailed(line: outcome.all) }
            return try JSONValue.parse(Array(outcome.out.utf8)).items.compactMap { $0["key"]?.string }
        }

        @Test func theyAreListedFilteredSeenAndForgotten() throws {
            let rig = try Rig()
            try rig.ask("apps", "add", Rig.app)
            try call(rig, 1...3, "cancel")
            try call(rig, 4...4, "decline")
            #expect(try keys(rig, "history") == ["k4", "k3", "k2", "k1"])
            #expect(try keys(rig, "history", "--missed", "--limit", "2") == ["k3", "k2"])
            #expect(try keys(rig, "history", "--handle", "+494") == ["k4"])
            #expect(try keys(rig, "history", "--app", "com.example.other").isEmpty)
            #expect(try keys(rig, "history", "--direction", "outgoing").isEmpty)
            #expect(try keys(rig, "history", "--direction", "incoming", "--all").count == 4)
            let row = try #require(try rig.ask("history", "--missed", "--limit", "1").items.first)
            for name in ["account", "contact", "detail"] { #expect(row[name]?.string == "", "\(name)") }
            #expect(row["direction"]?.string == "incoming" && row["call_back"]?.string == "+493")
            #expect(row["seen"] == .bool(false) && row["in_recents"] == .bool(true))
            let began = try #require(row["began_ns"]?.integer)
            #expect(try keys(rig, "history", "--before", String(began)) == ["k2", "k1"])
            #expect(try keys(rig, "history", "--before", "2001-02-03").isEmpty)

            // What is shown is seen, and what is not shown is not.
            let shown = try rig.ringctl("missed", "--limit", "1", "--keep").out
            #expect(shown.contains("*← missed") && shown.contains("Caller 3 <+493>"))
            #expect(try keys(rig, "missed", "--unseen", "--keep").count == 3)
            #expect(try keys(rig, "missed", "--limit", "1") == ["k3"])
            #expect(try keys(rig, "history", "--unseen") == ["k2", "k1"])
            #expect(try !rig.ringctl("missed", "--limit", "1", "--keep").out.contains("*"))
            #expect(try rig.ask("history", "seen", "k2")["seen"]?.integer == 1)
            #expect(try rig.ringctl("history", "seen").out == "1 missed call had not been seen before\n")
            #expect(try keys(rig, "missed", "--unseen").isEmpty)

            // One, old ones, all.
            #expect(try rig.ask("history", "clear", "k4")["forgotten"]?.integer == 1)
            #expect(try rig.ask("history", "clear", "--older-than", "1")["forgotten"]?.integer == 0)
            let live = try rig.ring()
            for (words, what) in [
                ([live], "is live"), (["nobody"], "no call is called"), ([""], "names no call"),
                (["k1", "--older-than", "1"], "either"), (["--older-than", "-1"], "a number of days"),
            ] {
                let refused = try attempt(
                    Tree.program("ringctl"), ["history", "clear"] + words, environment: rig.environment, isWhole: true)
                #expect(refused.status != 0 && refused.all.contains(what), "\(words): \(refused.all)")
            }
            #expect(try keys(rig, "history") == ["k3", "k2", "k1"])
            #expect(try rig.ringctl("history", "clear").out == "3 calls forgotten\n")
            #expect(try rig.ringctl("history").out == "no calls\n")
            #expect(try rig.ask("calls").items.count == 1)
            try rig.ask("decline")
        }

        @Test func aFilterThatIsNotUnderstoodForgetsNothing() throws {
            let rig = try Rig()
            try rig.ask("apps", "add", Rig.app)
            try call(rig, 1...2, "decline")
            for filter in [
                ["1", "befor", "x", "5"], ["1", "before", "s", "5"], ["1", "call", "s", ""], ["1", "call", "x", "1"],
                ["2", "before", "x", "5", "call", "s", "k1"],
            ] {
                let outcome = try attempt(
                    "busctl",
                    [
                        "--user", "call", "org.ringd.Ringd1", "/org/ringd/Ringd1", "org.ringd.Monitor1",
                        "ClearHistory", "a{sv}",
                    ] + filter, environment: rig.environment, isWhole: true)
                #expect(outcome.status != 0, "\(filter): \(outcome.all)")
            }
            #expect(try keys(rig, "history").count == 2)
        }

        @Test func theHistoryIsAsLongAsItIsSet() throws {
            let rig = try Rig(starts: false)
            try rig.start()
            rig.daemon.send(SIGTERM)
            #expect(try rig.daemon.end() == 0)
            // One each hour, the last an hour ago.
            try run(
                "python3",
                [
                    "-c",
                    """
                    import sqlite3, sys, time
                    c = sqlite3.connect(sys.argv[1])
                    for n in range(1, 1501):
                        c.execute('''INSERT INTO call (uuid, app, key, caller, handle, handle_kind, video, began, ended,
                            reason, category, rang_ms) VALUES (?, 'com.example.talk', ?, 'Alice', '', '', 0, ?, ?,
                            'declined', 'declined', 1)''', ('00000000-0000-4000-8000-%012d' % n, 'k%d' % n,
                            time.time_ns() - (1501 - n) * 3600 * 10**9, time.time_ns()))
                    c.commit()
                    """, rig.scratch.at("state/ringd/ringd.sqlite"),
                ])
            // More than a megabyte on the bus, which nobody may send unasked.
            try rig.start()
            #expect(try keys(rig, "history", "--limit", "10000").count == 1500)
            rig.daemon.kill()
            try rig.configure("[history]\nkeep = 100\n")
            try rig.start()
            try until("the oldest to go") { try keys(rig, "history", "--limit", "1000").count == 100 }
            #expect(try keys(rig, "history", "--limit", "1000").last == "k1401")
            try rig.ask("config", "set", "history.days", "1")
            try until("what is older than a day to go") { try keys(rig, "history", "--limit", "1000").count == 23 }
            try rig.ask("config", "unset", "history.days")
            #expect(try keys(rig, "history", "--limit", "1").last == "k1500")
        }
    }
}
