import Base
import EventLoop
import Foundation
import Store
import Testing

/// The database on a real file, through the worker and the loop.
@Suite(.serialized)
struct StoreTests {
    final class Rig {
        let folder = NSTemporaryDirectory() + "ringd-store-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        let loop = try! EventLoop()
        let worker = Worker(name: "test-worker")
        let events = Lock<[Event]>([])
        var path: String { folder + "/ringd.sqlite" }

        init() { try! FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }
        deinit {
            worker.finish()
            try? FileManager.default.removeItem(atPath: folder)
        }

        func open() throws -> Store {
            let events = events
            return try Store(path: path, worker: worker, loop: loop) { event in events.withLock { $0.append(event) } }
        }

        /// Runs the loop until `body`'s answer is there.
        func wait<R: Sendable>(_ body: (@escaping @Sendable (R) -> Void) -> Void) throws -> R {
            let box = Lock<R?>(nil)
            body { value in box.withLock { $0 = value } }
            for _ in 0..<1000 {
                if let value = box.withLock({ $0 }) { return value }
                try loop.turn(timeout: .milliseconds(50))
            }
            throw CancellationError()
        }

        func flush(_ store: Store) throws {
            let _: Bool = try wait { done in store.flush { done(true) } }
        }
    }

    private func row(_ number: Int, category: String = "missed", ended: Bool = true) -> CallRow {
        CallRow(
            uuid: CallUUID(high: 7, low: UInt64(number)), app: "com.example.talk", key: "k\(number)",
            callerName: "Alice",
            handle: "+49", handleKind: "phone", isVideo: true,
            began: WallTime(nanoseconds: Int64(number) * 1_000_000_000),
            answered: nil, connected: nil,
            ended: ended ? WallTime(nanoseconds: Int64(number + 30) * 1_000_000_000) : nil,
            reason: "unanswered", category: category, rangMilliseconds: 30_000)
    }

    @Test func everythingComesBackAfterAReopening() throws {
        let rig = Rig()
        var change = DirectoryChange()
        change.newApps = ["com.example.talk"]
        change.newTokens = [
            TokenRow(
                bytes: Array(repeating: 1, count: 32), app: "com.example.talk", device: "desktop", kind: .alert,
                environment: .sandbox),
            TokenRow(
                bytes: Array(repeating: 2, count: 32), app: "com.example.talk", device: "phone", kind: .voip,
                environment: .production),
        ]
        let live = LiveRow(
            uuid: CallUUID(high: 1, low: 2), app: "com.example.talk", key: "k", isKeySynthetic: false, callerName: "阿丽",
            handle: nil,
            handleKind: "", isVideo: false, sound: "weixin.m4a", serial: 3, began: Instant(nanoseconds: 5),
            deadline: Instant(nanoseconds: 6), beganWall: WallTime(nanoseconds: 7), bootID: "b", state: "ringing")
        do {
            let store = try rig.open()
            store.apply(change)
            store.setLive(live)
            store.place(live.uuid, notification: 9, server: ":1.5")
            // Written again when something changes, it still knows its banner.
            var answered = live
            answered.state = "answering"
            store.setLive(answered)
            try rig.flush(store)
        }
        let snapshot = try rig.open().snapshot()
        #expect(snapshot.apps == ["com.example.talk"] && snapshot.tokens == change.newTokens)
        #expect(snapshot.live.first?.state == "answering")
        #expect(snapshot.live.count == 1)
        #expect(
            snapshot.live[0].notification == 9 && snapshot.live[0].server == ":1.5"
                && snapshot.live[0].callerName == "阿丽")
        #expect(rig.events.withLock { $0.isEmpty })
    }

    @Test func historyIsNewestFirstAndFiltered() throws {
        let rig = Rig()
        let store = try rig.open()
        for number in 1...5 { store.record(row(number, category: number % 2 == 0 ? "declined" : "missed")) }
        let all: [CallRow] = try rig.wait { store.history(HistoryFilter(limit: 3), then: $0) }
        #expect(all.map(\.key) == ["k5", "k4", "k3"])
        let missed: [CallRow] = try rig.wait { store.history(HistoryFilter(isMissedOnly: true), then: $0) }
        #expect(missed.map(\.key) == ["k5", "k3", "k1"])
    }

    @Test func aReportHasItsEventsInOrder() throws {
        let rig = Rig()
        let store = try rig.open()
        let call = row(1)
        store.record(call)
        store.append([
            EventRow(
                call: call.uuid, at: Instant(nanoseconds: 2), wall: WallTime(nanoseconds: 2), kind: "b", level: 6,
                message: "", fields: "{}"),
            EventRow(
                call: call.uuid, at: Instant(nanoseconds: 1), wall: WallTime(nanoseconds: 1), kind: "a", level: 6,
                message: "", fields: "{}"),
            EventRow(
                call: nil, at: Instant(nanoseconds: 1), wall: WallTime(nanoseconds: 1), kind: "c", level: 6,
                message: "", fields: "{}"),
        ])
        let found: [EventRow] = try rig.wait { done in store.report("") { done($0?.1 ?? []) } }
        #expect(found.map(\.kind) == ["a", "b"])
        // A prefix is text, not a pattern.
        let none: Bool = try rig.wait { done in store.report("%") { done($0 == nil) } }
        #expect(none)
    }

    @Test func whatIsOverIsKnownAtTheNextStart() throws {
        let rig = Rig()
        do {
            let store = try rig.open()
            store.rememberCancel(app: "a.b", key: "early", serial: 6)
            var recent = row(1)
            recent.ended = .now
            recent.serial = 7
            recent.stamp = 8
            store.record(recent)
            store.record(row(2))
            try rig.flush(store)
        }
        let over = try rig.open().snapshot().over
        #expect(Set(over.map(\.key)) == ["early", "k1"])
        let early = try #require(over.first { $0.key == "early" })
        #expect(!early.hadInvite && early.serial == 6 && early.stamp == nil)
        let known = try #require(over.first { $0.key == "k1" })
        #expect(known.hadInvite && known.serial == 7 && known.stamp == 8)
    }

    @Test func aRefusingDatabaseIsSaidOnce() throws {
        let rig = Rig()
        let store = try rig.open()
        try rig.flush(store)
        let tool = Process()
        tool.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        tool.arguments = [
            "-c", "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('DROP TABLE event'); c.commit()",
            rig.path,
        ]
        try tool.run()
        tool.waitUntilExit()
        let event = EventRow(
            call: nil, at: .now, wall: .now, kind: "x", level: 6, message: "", fields: "{}")
        for _ in 0..<20 { store.append([event]) }
        try rig.flush(store)
        try rig.flush(store)
        #expect(rig.events.withLock { $0.filter { $0.kind == .storeFault }.count } == 1)
    }

    @Test func clearingKeepsLiveCalls() throws {
        let rig = Rig()
        let store = try rig.open()
        store.record(row(1))
        store.record(row(2, ended: false))
        let count: Int = try rig.wait { store.clearHistory(then: $0) }
        #expect(count == 1)
        // A live call is no history yet, but it has a report.
        let past: [CallRow] = try rig.wait { store.history(HistoryFilter(), then: $0) }
        #expect(past.isEmpty)
        let left: String? = try rig.wait { done in store.report("") { done($0?.0.key) } }
        #expect(left == "k2")
    }

    @Test func aDamagedFileIsSetAsideAndSaid() throws {
        let rig = Rig()
        try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: rig.path))
        let store = try rig.open()
        #expect(try store.snapshot().apps.isEmpty)
        #expect(FileManager.default.fileExists(atPath: rig.path + ".corrupt"))
        #expect(rig.events.withLock { $0.map(\.kind) } == [.storeFault])
    }

    @Test func theFileIsTheUsersAlone() throws {
        let rig = Rig()
        _ = try rig.open()
        let mode = try FileManager.default.attributesOfItem(atPath: rig.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }
}
