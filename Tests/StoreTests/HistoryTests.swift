import Base
import Foundation
import TestSupport
import Testing

@testable import Store

extension StoreTests {
    /// Past calls: migrated, filtered, paged through, seen, cleared and pruned.
    @Suite(.serialized) struct History {
        private func row(_ number: Int, _ change: (inout CallRow) -> Void = { _ in }) -> CallRow {
            var row = CallRow(
                uuid: CallUUID(high: 7, low: UInt64(number)), app: "com.example.talk", key: "k\(number)",
                callerName: "Alice", handle: "+49", handleKind: "phone", isVideo: false,
                began: WallTime(nanoseconds: Int64(number) * 1_000_000_000), answered: nil, connected: nil,
                ended: WallTime(nanoseconds: Int64(number) * 1_000_000_000 + 5), reason: "unanswered",
                category: "missed", rangMilliseconds: 30_000)
            change(&row)
            return row
        }

        private func live(_ call: CallRow) -> LiveRow {
            LiveRow(
                uuid: call.uuid, app: call.app, key: call.key, isKeySynthetic: false, callerName: nil, handle: nil,
                handleKind: "", isVideo: false, sound: nil, serial: nil, began: .now, deadline: .now,
                beganWall: call.began, bootID: "b", state: "ringing")
        }

        private func read(_ rig: Rig, _ store: Store, _ filter: HistoryFilter) throws -> [CallRow] {
            try rig.wait { store.history(filter, then: $0) }
        }

        @Test func everyFieldComesBack() throws {
            let rig = Rig()
            let store = try rig.open()
            let call = row(1) {
                $0.isVideo = true
                $0.answered = WallTime(nanoseconds: 11)
                $0.connected = WallTime(nanoseconds: 12)
                $0.isOutgoing = true
                $0.account = "work"
                $0.contact = "Alice Example"
                $0.startedConnecting = WallTime(nanoseconds: 10)
                $0.detail = "486 Busy Here"
                $0.isSeen = true
                $0.callBackHandle = "sip:alice@example.com"
                $0.callBackKind = "generic"
                $0.isInRecents = false
            }
            store.record(call)
            var filter = HistoryFilter()
            filter.includesHidden = true
            #expect(try read(rig, store, filter) == [call])
            #expect(call.toCallBack?.handle == "sip:alice@example.com" && call.toCallBack?.kind == "generic")
            #expect(row(1).toCallBack?.handle == "+49" && row(1) { $0.handle = "" }.toCallBack == nil)
            var going = live(call)
            going.isOutgoing = true
            going.account = "work"
            going.connected = WallTime(nanoseconds: 12)
            store.setLive(going)
            try rig.flush(store)
            #expect(try rig.open().snapshot().live == [going])
        }

        @Test func versionTwoIsMigratedWithItsCalls() throws {
            let rig = Rig()
            do {
                let old = try Database(path: rig.path)
                for sql in Schema.migrations[..<2] { try old.execute(sql) }
                try old.execute("PRAGMA user_version = 2")
                for number in 1...3 {
                    try old.run(
                        "INSERT INTO call VALUES (?,'com.example.talk',?,'Alice','+49','phone',1,?,NULL,?,?,'r',?,7)",
                        [
                            .text(row(number).uuid.description), .text("k\(number)"), .integer(Int64(number)),
                            number == 2 ? .integer(20) : .null, number == 3 ? .null : .integer(30),
                            .text(["missed", "completed", ""][number - 1]),
                        ])
                }
                try old.run(
                    """
                    INSERT INTO live VALUES (?,'com.example.talk','k3',0,'Alice','+49','phone',1,NULL,NULL,1,2,3,'b',
                        'ringing',9,':1.5')
                    """, [.text(row(3).uuid.description)])
                try old.run("INSERT INTO app VALUES ('com.example.talk', 1)")
            }
            let store = try rig.open()
            let snapshot = try store.snapshot()
            #expect(snapshot.apps == ["com.example.talk"] && snapshot.providers.isEmpty && snapshot.uploads.isEmpty)
            let going = try #require(snapshot.live.first)
            #expect(snapshot.live.count == 1 && going.notification == 9 && going.server == ":1.5")
            #expect(!going.isOutgoing && going.account.isEmpty && going.connected == nil)
            #expect(snapshot.acquaintances.map(\.handle) == ["+49"])
            let calls = try read(rig, store, HistoryFilter())
            #expect(calls.map(\.key) == ["k2", "k1"])
            for call in calls {
                #expect(call.isSeen && call.isInRecents && !call.isOutgoing && call.startedConnecting == nil)
                #expect(call.account.isEmpty && call.contact.isEmpty && call.detail.isEmpty)
                #expect(call.callerName == "Alice" && call.isVideo && call.rangMilliseconds == 7)
                #expect(call.toCallBack?.handle == "+49" && call.toCallBack?.kind == "phone")
            }
            #expect(calls[0].connected == WallTime(nanoseconds: 20) && calls[1].connected == nil)
            let unseen: Int = try rig.wait { store.unseenMissed(then: $0) }
            #expect(unseen == 0)
            // And once more: it is of this version now.
            #expect(try rig.open().snapshot().live.count == 1)
            #expect(rig.events.withLock { $0.isEmpty })
        }

        /// Any filter finds what a plain look at each row finds, in pages as at once.
        @Test func filtersAndPagesAgreeWithAPlainLook() throws {
            var random = Seeded(state: 4711)
            let rig = Rig()
            let store = try rig.open()
            let apps = ["com.example.talk", "com.example.mail"]
            let handles = ["", "+49", "alice@example.com"]
            var all: [CallRow] = []
            for number in 1...400 {
                all.append(
                    row(number) {
                        $0.app = apps.randomElement(using: &random)!
                        $0.handle = handles.randomElement(using: &random)!
                        $0.isOutgoing = Bool.random(using: &random)
                        $0.isSeen = Bool.random(using: &random)
                        $0.isInRecents = Int.random(in: 0..<4, using: &random) > 0
                        $0.category =
                            ["missed", "missed, late", "completed", "blocked", "declined"].randomElement(
                                using: &random)!
                        if Int.random(in: 0..<9, using: &random) == 0 {
                            $0.ended = nil
                            $0.category = ""
                        }
                    })
            }
            for call in all.shuffled(using: &random) { store.record(call) }
            for _ in 0..<300 {
                var filter = HistoryFilter(limit: Int.random(in: 1...500, using: &random))
                func maybe() -> Bool { Int.random(in: 0..<3, using: &random) == 0 }
                filter.isMissedOnly = maybe()
                filter.isUnseenOnly = maybe()
                filter.app = maybe() ? apps.randomElement(using: &random) : nil
                filter.isOutgoing = maybe() ? Bool.random(using: &random) : nil
                filter.handle = maybe() ? handles.randomElement(using: &random) : nil
                filter.spellings = maybe() ? (0..<3).compactMap { _ in handles.randomElement(using: &random) } : []
                filter.before =
                    maybe() ? WallTime(nanoseconds: Int64.random(in: 0...401, using: &random) * 1_000_000_000) : nil
                filter.includesHidden = maybe()
                let expected = all.reversed().filter { call in
                    guard call.ended != nil else { return false }
                    if !filter.includesHidden, call.category == "blocked" || !call.isInRecents { return false }
                    if filter.isMissedOnly || filter.isUnseenOnly, !call.isMissed { return false }
                    if filter.isUnseenOnly, call.isSeen { return false }
                    if let app = filter.app, call.app != app { return false }
                    if let isOutgoing = filter.isOutgoing, call.isOutgoing != isOutgoing { return false }
                    if let handle = filter.handle, call.handle != handle, !filter.spellings.contains(call.handle) {
                        return false
                    }
                    if let before = filter.before, call.began >= before { return false }
                    return true
                }
                #expect(try read(rig, store, filter) == Array(expected.prefix(filter.limit)), "\(filter)")
                var paged: [CallRow] = []
                filter.limit = Int.random(in: 20...90, using: &random)
                while true {
                    let page = try read(rig, store, filter)
                    paged += page
                    guard page.count == filter.limit else { break }
                    filter.before = page.last?.began
                }
                #expect(paged == expected, "\(filter)")
            }
        }

        @Test func limitsAreBroughtInside() throws {
            let rig = Rig()
            let store = try rig.open()
            for number in 1...3 { store.record(row(number)) }
            #expect(try read(rig, store, HistoryFilter(limit: -5)).map(\.key) == ["k3"])
            #expect(try read(rig, store, HistoryFilter(limit: .max)).count == 3)
            #expect(Store.query(HistoryFilter(limit: .max)).values.count == 1)
        }

        @Test func whatWasShownStaysSeen() throws {
            let rig = Rig()
            let store = try rig.open()
            for number in 1...6 {
                store.record(
                    row(number) {
                        if number == 5 { $0.isInRecents = false }
                        if number == 6 { $0.category = "completed" }
                    })
            }
            func unseen() throws -> Int { try rig.wait { store.unseenMissed(then: $0) } }
            #expect(try unseen() == 4)
            let one: Int = try rig.wait { store.markSeen(row(1).uuid, then: $0) }
            let again: Int = try rig.wait { store.markSeen(row(1).uuid, then: $0) }
            let other: Int = try rig.wait { store.markSeen(row(6).uuid, then: $0) }
            #expect(one == 1 && again == 0 && other == 0)
            #expect(try unseen() == 3)
            // Those that are listed, and no others; they are told as they were before.
            let listed: [CallRow] = try rig.wait {
                store.history(HistoryFilter(limit: 2, isMissedOnly: true), marksSeen: true, then: $0)
            }
            #expect(listed.map(\.key) == ["k4", "k3"] && listed.allSatisfy { !$0.isSeen })
            #expect(try unseen() == 1)
            // Its row is written again, as its writer knows it.
            store.record(row(4) { $0.detail = "late word" })
            let after = try read(rig, store, HistoryFilter(limit: 10, isMissedOnly: true))
            #expect(after.first?.detail == "late word")
            #expect(after.filter(\.isSeen).map(\.key) == ["k4", "k3", "k1"])
            let rest: Int = try rig.wait { store.markSeen(nil, then: $0) }
            #expect(rest == 2)
            #expect(try unseen() == 0)
        }

        @Test func aCallIsFoundByWhatItsIdBeginsWith() throws {
            let rig = Rig()
            let store = try rig.open()
            let calls = [
                row(1) { $0.uuid = CallUUID("aaaa0000-0000-4000-8000-000000000001")! },
                row(2) { $0.uuid = CallUUID("aaab0000-0000-4000-8000-000000000002")! },
                row(3) { $0.uuid = CallUUID("ffff0000-0000-4000-8000-000000000003")! },
            ]
            for call in calls { store.record(call) }
            func found(_ text: String) throws -> [String] {
                let rows: [CallRow] = try rig.wait { store.candidates(text, then: $0) }
                let one: CallRow? = try rig.wait { done in store.find(text) { done($0) } }
                #expect(one == rows.first)
                return rows.map(\.key)
            }
            #expect(try found("aaaa") == ["k1"])
            #expect(try found("AAA") == ["k2", "k1"])
            #expect(try found("ffff0000-0000-4000-8000-000000000003") == ["k3"])
            #expect(try found("k2") == ["k2"])
            #expect(try found("") == ["k3", "k2"])
            for text in ["%", "K2", "aaac", "g", "f%", "ffff0000-0000-4000-8000-0000000000034", "\u{0}"] {
                #expect(try found(text).isEmpty, "\(text)")
            }
        }

        @Test func clearingTakesOneOrOldOnes() throws {
            let rig = Rig()
            let store = try rig.open()
            for number in 1...10 { store.record(row(number)) }
            let going = row(2) { $0.ended = nil }
            store.record(going, live: live(going))
            store.append(
                (1...10).map { number in
                    EventRow(
                        call: row(number).uuid, at: .now, wall: .now, kind: "k", level: 6, message: "", fields: "{}")
                })
            func clear(_ what: Clearing) throws -> Int { try rig.wait { store.clearHistory(what, then: $0) } }
            #expect(try clear(.call(row(7).uuid)) == 1)
            #expect(try clear(.call(row(7).uuid)) == 0)
            #expect(try clear(.call(going.uuid)) == 0)
            #expect(try clear(.before(row(5).began)) == 3)
            #expect(try read(rig, store, HistoryFilter()).map(\.key) == ["k10", "k9", "k8", "k6", "k5"])
            let database = try Database(path: rig.path)
            var events: [String] = []
            try database.query("SELECT call FROM event ORDER BY number") { events.append($0.text(0)) }
            #expect(events == [2, 5, 6, 8, 9, 10].map { row($0).uuid.description })
            #expect(try clear(.all) == 5)
            #expect(try rig.open().snapshot().live.map(\.uuid) == [going.uuid])
        }

        // MARK: Retention

        private func count(_ rig: Rig, _ table: String = "call") throws -> Int {
            var count = 0
            try Database(path: rig.path).query("SELECT count(*) FROM \(table)") { count = Int($0.integer(0)) }
            return count
        }

        @Test func theOldestGoWithTheirEvents() throws {
            let rig = Rig()
            let store = try rig.open()
            store.setRetention(Retention(calls: 100))
            // The oldest of all is still live.
            let going = row(0) { $0.ended = nil }
            store.record(going, live: live(going))
            for number in 1...1000 {
                store.append([
                    EventRow(
                        call: row(number).uuid, at: .now, wall: .now, kind: "k", level: 6, message: "", fields: "{}")
                ])
                // Twice, as calls are: only the first is a new one.
                store.record(row(number) { $0.ended = nil })
                store.record(row(number))
                guard number % 100 == 0 else { continue }
                try rig.flush(store)
                let calls = try count(rig)
                #expect((100..<100 + Store.pruningStride).contains(calls), "\(calls) after \(number)")
            }
            store.setRetention(Retention(calls: 100))
            try rig.flush(store)
            try rig.flush(store)
            #expect(try count(rig) == 100)
            #expect(try count(rig, "event") == 99)
            let left = try read(rig, store, HistoryFilter(limit: 1000))
            #expect(left.map(\.key) == (902...1000).reversed().map { "k\($0)" })
            let oldest: CallRow? = try rig.wait { done in store.find("k0") { done($0) } }
            #expect(oldest == going)
        }

        @Test func aSmallerBoundIsReachedInBatches() throws {
            let rig = Rig()
            try fill(rig, 5000)
            let store = try rig.open()
            store.setRetention(Retention(calls: 200))
            // Others are written in between.
            store.record(row(1) { $0.began = .now })
            for _ in 0..<10 { try rig.flush(store) }
            #expect(try count(rig) == 200)
            #expect(try read(rig, store, HistoryFilter(limit: 1)).map(\.key) == ["k1"])
        }

        @Test func ageIsABoundToo() throws {
            let rig = Rig()
            let store = try rig.open()
            let day: Int64 = 86_400_000_000_000
            let now = WallTime.now.nanoseconds
            for number in 0..<10 {
                store.record(row(number) { $0.began = WallTime(nanoseconds: now - Int64(number) * day - day / 2) })
            }
            store.setRetention(Retention(calls: 100, age: .nanoseconds(4 * day)))
            try rig.flush(store)
            #expect(try read(rig, store, HistoryFilter()).map(\.key) == ["k0", "k1", "k2", "k3"])
            store.record(row(20))
            try rig.flush(store)
            #expect(try count(rig) == 5)
            store.prune()
            try rig.flush(store)
            #expect(try count(rig) == 4)
            store.setRetention(Retention(calls: 100))
            store.record(row(21))
            store.prune()
            try rig.flush(store)
            #expect(try count(rig) == 5)
        }

        @Test func aCallThatNothingGoesOnFromIsOver() throws {
            let rig = Rig()
            let store = try rig.open()
            let going = row(1) { $0.ended = nil }
            store.record(going, live: live(going))
            store.record(
                row(2) {
                    $0.ended = nil
                    $0.connected = WallTime(nanoseconds: 2_500_000_000)
                })
            store.record(row(3) { $0.ended = nil })
            store.setRetention(Retention())
            let past = try read(rig, store, HistoryFilter())
            #expect(past.map(\.key) == ["k3", "k2"] && past.map(\.category) == ["failed", "interrupted"])
            #expect(past.map(\.ended?.nanoseconds) == [33_000_000_000, 2_500_000_000])
            #expect(try rig.open().snapshot().live.map(\.key) == ["k1"])
            // Written with its end, it is live no more.
            store.record(row(1))
            try rig.flush(store)
            #expect(try rig.open().snapshot().live.isEmpty)
        }

        // MARK: Acquaintances

        @Test func acquaintancesWereDialledOrSpokenWith() throws {
            let rig = Rig()
            let store = try rig.open()
            func record(_ number: Int, _ handle: String, connected: Bool = false, outgoing: Bool = false) {
                store.record(
                    row(number) {
                        $0.handle = handle
                        $0.connected = connected ? $0.began : nil
                        $0.isOutgoing = outgoing
                    })
            }
            record(1, "spoken", connected: true)
            record(2, "dialled", outgoing: true)
            record(3, "missed")
            record(4, "", connected: true)
            record(5, "spoken", outgoing: true)
            store.record(
                row(6) {
                    $0.handle = "spoken"
                    $0.app = "com.example.mail"
                    $0.isOutgoing = true
                })
            try rig.flush(store)
            let found = try rig.open().snapshot().acquaintances
            #expect(found.map(\.handle) == ["spoken", "spoken", "dialled"])
            #expect(found.map(\.app) == ["com.example.mail", "com.example.talk", "com.example.talk"])
            #expect(found.map(\.last.seconds) == [6, 5, 2] && found.allSatisfy { $0.handleKind == "phone" })

            // Whoever clears a call clears whom it was with, unless there is another.
            func clear(_ what: Clearing) throws -> [String] {
                let _: Int = try rig.wait { store.clearHistory(what, then: $0) }
                return try rig.open().snapshot().acquaintances.map { "\($0.app.suffix(4)) \($0.handle)" }
            }
            #expect(try clear(.call(row(5).uuid)) == ["mail spoken", "talk spoken", "talk dialled"])
            #expect(try clear(.call(row(1).uuid)) == ["mail spoken", "talk dialled"])
            #expect(try clear(.before(row(3).began)) == ["mail spoken"])
            #expect(try clear(.all) == [])
        }

        @Test func theNewestThousandAreKeptThoughTheirCallsGo() throws {
            let rig = Rig()
            let store = try rig.open()
            store.setRetention(Retention(calls: 100))
            for number in 1...1100 {
                store.record(
                    row(number) {
                        $0.isOutgoing = true
                        $0.handle = "+\(number)"
                    })
            }
            store.prune()
            for _ in 0..<5 { try rig.flush(store) }
            #expect(try count(rig) == 100)
            #expect(try count(rig, "acquaintance") == 1000)
            #expect(
                try rig.open().snapshot().acquaintances.map(\.handle) == (101...1100).reversed().map { "+\($0)" })
            // Who sets an age wants nothing that is older.
            store.setRetention(Retention(calls: 100, age: .seconds(1)))
            for _ in 0..<5 { try rig.flush(store) }
            #expect(try count(rig) == 0)
            #expect(try count(rig, "acquaintance") == 0)
        }

        // MARK: A large history

        /// So many calls, without the store: every third missed, every fifth outgoing, 2,000 handles.
        private func fill(_ rig: Rig, _ count: Int) throws {
            let database = try Database(path: rig.path)
            for sql in Schema.migrations[..<2] { try database.execute(sql) }
            try database.execute("PRAGMA user_version = 2")
            try database.run(
                """
                WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
                INSERT INTO call SELECT
                    printf('%08x-0000-4000-8000-000000000000', n), 'com.example.app' || (n % 7), 'k' || n, 'Alice',
                    '+' || (n % 2000), 'phone', 0, n * 1000000000, NULL, CASE WHEN n % 3 THEN n * 1000000000 END,
                    n * 1000000000 + 5, 'r', CASE WHEN n % 3 THEN 'completed' ELSE 'missed' END, 1 FROM n
                """, [.integer(Int64(count))])
            try Schema.migrate(database)
            try database.execute("UPDATE call SET outgoing = began % 5000000000 = 0, seen = began % 2000000000 = 0")
        }

        @Test func aLargeHistoryIsReadFromItsIndices() throws {
            let rig = Rig()
            try fill(rig, 100_000)
            let database = try Database(path: rig.path)
            func plan(_ sql: String, _ values: [Database.Value] = []) throws -> String {
                var steps: [String] = []
                try database.query("EXPLAIN QUERY PLAN " + sql, values) { steps.append($0.text(3)) }
                return steps.joined(separator: "; ")
            }
            func plan(_ filter: HistoryFilter) throws -> String {
                let (sql, values) = Store.query(filter)
                return try plan(sql, values)
            }
            let before = WallTime(nanoseconds: 5)
            for (filter, index) in [
                (HistoryFilter(), "call_shown"), (HistoryFilter(before: before), "call_shown"),
                (HistoryFilter(isOutgoing: true, before: before), "call_shown"),
                (HistoryFilter(includesHidden: true), "call_began"),
                (HistoryFilter(isMissedOnly: true), "call_missed"),
                (HistoryFilter(isMissedOnly: true, before: before), "call_missed"),
                (HistoryFilter(isMissedOnly: true, includesHidden: true), "call_missed"),
                (HistoryFilter(isUnseenOnly: true), "call_unseen"),
                (HistoryFilter(isUnseenOnly: true, before: before), "call_unseen"),
                (HistoryFilter(app: "a", before: before), "call_app"), (HistoryFilter(app: "a"), "call_app"),
                (HistoryFilter(handle: "a"), "call_handle"),
                (HistoryFilter(isMissedOnly: true, handle: "a", before: before), "call_handle"),
            ] {
                let steps = try plan(filter)
                #expect(steps.contains("INDEX \(index)"), "\(filter): \(steps)")
                // A sort would read all of them first.
                #expect(!steps.contains("TEMP B-TREE"), "\(filter): \(steps)")
            }
            #expect(try plan(Store.over, [.integer(5)]).contains("INDEX call_ended"))
            #expect(try plan(Store.byPrefix(isEmpty: true)).contains("INDEX call_began"))
            let prefix = try plan(Store.byPrefix(isEmpty: false), [.text("a"), .text("a")])
            #expect(prefix.contains("call_key") && !prefix.contains("SCAN"), "\(prefix)")

            let store = try rig.open()
            #expect(try read(rig, store, HistoryFilter(limit: 2)).map(\.key) == ["k100000", "k99999"])
            let missed = HistoryFilter(limit: 2, isMissedOnly: true, before: WallTime(nanoseconds: 30_000_000_000))
            #expect(try read(rig, store, missed).map(\.key) == ["k27", "k24"])
            let snapshot = try rig.open().snapshot()
            #expect(snapshot.acquaintances.count == 1000)
            #expect(snapshot.acquaintances.first?.last == WallTime(nanoseconds: 100_000_000_000_000))
            #expect(Set(snapshot.acquaintances.map { [$0.app, $0.handle] }).count == 1000)
        }
    }
}
