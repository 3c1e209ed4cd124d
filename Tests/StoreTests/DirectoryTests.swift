import Base
import Foundation
import Store
import Testing

extension StoreTests {
    /// Apps, devices, tokens, what waits and what feedback tells.
    @Suite(.serialized) struct Directory {
        private func token(_ number: Int, device: String = "desktop", end: TokenRow.End? = nil) -> TokenRow {
            TokenRow(
                bytes: (0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) }, app: "com.example.talk",
                device: device, kind: number % 2 == 0 ? .alert : .voip,
                environment: number % 4 < 2 ? .sandbox : .production, end: end)
        }

        private func mail(_ app: String, _ text: String, device: String = "desktop") -> MailRow {
            MailRow(
                slot: .init(device: device, app: app), token: token(1).bytes, kind: .voip, payload: Array(text.utf8),
                collapseID: "c", priority: 10, expiration: nil, until: WallTime(nanoseconds: 9), via: "HTTP/2",
                peer: "127.0.0.1:9")
        }

        @Test func whatAFullDiskRefusedIsWrittenLater() throws {
            let rig = Rig()
            let store = try rig.open()
            try rig.flush(store)
            func sql(_ text: String) throws {
                let tool = Process()
                tool.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
                tool.arguments = [
                    "-c", "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2])", rig.path,
                    text,
                ]
                try tool.run()
                tool.waitUntilExit()
                #expect(tool.terminationStatus == 0)
            }
            try sql("CREATE TRIGGER full BEFORE INSERT ON app BEGIN SELECT RAISE(ABORT, 'disk full'); END;")
            var change = DirectoryChange()
            change.newApps = ["com.example.talk"]
            change.newTokens = [token(1)]
            store.apply(change)
            try rig.flush(store)
            #expect(rig.events.withLock { $0.contains { $0.kind == .storeFault } })
            try sql("DROP TRIGGER full;")
            // Anything that is written takes it along.
            store.setOffline(true, device: "desktop")
            try rig.flush(store)
            let snapshot = try rig.open().snapshot()
            #expect(snapshot.apps == ["com.example.talk"] && snapshot.tokens.count == 1)
        }

        /// As the first release left it.
        @Test func aDatabaseOfTheFirstVersionIsTakenOver() throws {
            let rig = Rig()
            let script = """
                import sqlite3, sys
                c = sqlite3.connect(sys.argv[1])
                c.executescript('''
                CREATE TABLE app (id TEXT PRIMARY KEY, added INTEGER NOT NULL) WITHOUT ROWID;
                CREATE TABLE token (
                    bytes BLOB PRIMARY KEY, app TEXT NOT NULL REFERENCES app(id), kind TEXT NOT NULL,
                    environment TEXT NOT NULL) WITHOUT ROWID;
                CREATE TABLE call (
                    uuid TEXT PRIMARY KEY, app TEXT NOT NULL, key TEXT NOT NULL, caller TEXT NOT NULL,
                    handle TEXT NOT NULL, handle_kind TEXT NOT NULL, video INTEGER NOT NULL, began INTEGER NOT NULL,
                    answered INTEGER, connected INTEGER, ended INTEGER, reason TEXT NOT NULL,
                    category TEXT NOT NULL, rang_ms INTEGER NOT NULL);
                CREATE INDEX call_began ON call(began);
                CREATE TABLE live (
                    uuid TEXT PRIMARY KEY, app TEXT NOT NULL, key TEXT NOT NULL, synthetic INTEGER NOT NULL,
                    caller TEXT, handle TEXT, handle_kind TEXT NOT NULL, video INTEGER NOT NULL, sound TEXT,
                    serial INTEGER, began INTEGER NOT NULL, deadline INTEGER NOT NULL, began_wall INTEGER NOT NULL,
                    boot TEXT NOT NULL, state TEXT NOT NULL, notification INTEGER, server TEXT NOT NULL) WITHOUT ROWID;
                CREATE TABLE cancelled (app TEXT NOT NULL, key TEXT NOT NULL, wall INTEGER NOT NULL,
                    PRIMARY KEY (app, key)) WITHOUT ROWID;
                CREATE TABLE event (
                    number INTEGER PRIMARY KEY, call TEXT, at INTEGER NOT NULL, wall INTEGER NOT NULL,
                    kind TEXT NOT NULL, level INTEGER NOT NULL, message TEXT NOT NULL, fields TEXT NOT NULL);
                CREATE INDEX event_call ON event(call, number) WHERE call IS NOT NULL;
                INSERT INTO app VALUES ('com.example.talk', 1);
                PRAGMA user_version = 1;
                ''')
                for n in range(4):
                    c.execute('INSERT INTO token VALUES (?, ?, ?, ?)', (bytes([n] * 32), 'com.example.talk',
                        'voip' if n % 2 else 'alert', 'production' if n > 1 else 'sandbox'))
                c.execute('INSERT INTO call VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)', ('00000000-0000-0007-0000-000000000001',
                    'com.example.talk', 'old', 'Alice', '', '', 0, 5, None, None, 6, 'declined', 'declined', 1))
                c.commit()
                """
            let tool = Process()
            tool.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            tool.arguments = ["-c", script, rig.path]
            try tool.run()
            tool.waitUntilExit()
            #expect(tool.terminationStatus == 0)
            let store = try rig.open()
            let snapshot = try store.snapshot()
            #expect(snapshot.apps == ["com.example.talk"])
            #expect(
                snapshot.tokens.count == 4 && snapshot.tokens.allSatisfy { $0.device == "desktop" && $0.end == nil })
            #expect(Set(snapshot.tokens.map(\.bytes)) == Set((0..<4).map { Array(repeating: $0, count: 32) }))
            #expect(snapshot.devices.isEmpty && snapshot.mail.isEmpty && snapshot.feedback.isEmpty)
            let past: [CallRow] = try rig.wait { store.history(HistoryFilter(), then: $0) }
            #expect(past.map(\.key) == ["old"])
            #expect(rig.events.withLock { $0.isEmpty })
        }

        @Test func deadTokensStayKnownUntilTheyAreForgotten() throws {
            let rig = Rig()
            let later = TokenRow.End(.expired, at: WallTime(nanoseconds: 20))
            let sooner = TokenRow.End(.unregistered, at: WallTime(nanoseconds: 10))
            do {
                let store = try rig.open()
                var first = DirectoryChange()
                first.newApps = ["com.example.talk", "com.example.mail"]
                first.newTokens = (0..<4).map { token($0) }
                store.apply(first)
                var second = DirectoryChange()
                second.goneApps = ["com.example.mail"]
                second.endedTokens = [token(2, end: later), token(3, end: sooner)]
                second.newTokens = [token(9)]
                second.forgottenTokens = [token(0).bytes]
                store.apply(second)
                try rig.flush(store)
            }
            let snapshot = try rig.open().snapshot()
            #expect(snapshot.apps == ["com.example.talk"])
            #expect(snapshot.tokens.filter { $0.end == nil }.count == 2)
            #expect(snapshot.tokens.suffix(2) == [token(3, end: sooner), token(2, end: later)])
        }

        @Test func devicesComeBackInTheirOrder() throws {
            let rig = Rig()
            do {
                let store = try rig.open()
                var change = DirectoryChange()
                change.newDevices = ["phone-10", "phone-9", "phone-8"]
                store.apply(change)
                store.setOffline(true, device: "phone-9")
                store.setOffline(true, device: "phone-8")
                store.setOffline(false, device: "phone-8")
                store.setOffline(true, device: "desktop")
                var gone = DirectoryChange()
                gone.goneDevices = ["phone-10"]
                store.apply(gone)
                try rig.flush(store)
            }
            let devices = try rig.open().snapshot().devices
            #expect(
                devices == [
                    DeviceRow(name: "phone-9", isOffline: true), DeviceRow(name: "phone-8"),
                    DeviceRow(name: "desktop", isOffline: true),
                ])
        }

        @Test func theNewestPushOfASlotIsKeptInOrder() throws {
            let rig = Rig()
            do {
                let store = try rig.open()
                store.keep(mail("a.a", "1"))
                store.keep(mail("b.b", "2"))
                store.keep(mail("a.a", "3"))
                store.keep(mail("c.c", "4"))
                store.forgetMail(.init(device: "desktop", app: "c.c"))
                store.keep(mail("a.a", "5", device: "phone"))
                try rig.flush(store)
                // On disk by now: the next ones meet rows.
                store.keep(mail("b.b", "6"))
                store.forgetMail(.init(device: "phone", app: "a.a"))
                store.forgetMail(.init(device: "nobody", app: "a.a"))
                store.keep(mail("d.d", "7"))
                try rig.flush(store)
            }
            let mail = try rig.open().snapshot().mail
            #expect(mail.map { String(decoding: $0.payload, as: UTF8.self) } == ["3", "6", "7"])
            #expect(mail.first == self.mail("a.a", "3"))
        }

        @Test func feedbackIsClearedOnceItIsTold() throws {
            let rig = Rig()
            do {
                let store = try rig.open()
                for number in 1...3 {
                    store.setFeedback(token(number).bytes, failed: WallTime(nanoseconds: Int64(number)))
                }
                try rig.flush(store)
                store.setFeedback(token(2).bytes, failed: nil)
                try rig.flush(store)
            }
            let feedback = try rig.open().snapshot().feedback
            #expect(Set(feedback.map(\.failed.nanoseconds)) == [1, 3])
        }

        @Test func thousandsOfTokensAreOneWrite() throws {
            let rig = Rig()
            do {
                let store = try rig.open()
                var change = DirectoryChange()
                change.newApps = ["com.example.talk"]
                change.newDevices = (1...5000).map { "load-\($0)" }
                change.newTokens = (0..<20_000).map { token($0, device: "load-\($0 / 4 + 1)") }
                store.apply(change)
                try rig.flush(store)
            }
            let snapshot = try rig.open().snapshot()
            #expect(snapshot.tokens.count == 20_000 && snapshot.devices.map(\.name).last == "load-5000")
            #expect(Set(snapshot.tokens.map(\.bytes)).count == 20_000)
            #expect(rig.events.withLock { $0.isEmpty })
        }
    }
}
