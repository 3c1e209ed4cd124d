import Base
import Store
import Testing

extension StoreTests {
    /// Apps that registered over the bus.
    @Suite(.serialized) struct Providers {
        private func upload(_ app: String, _ kind: TokenRow.Kind, _ byte: UInt8) -> UploadRow {
            UploadRow(
                app: app, kind: kind, environment: .production, account: "alice",
                token: Array(repeating: byte, count: 32), serverDevice: "d\(byte)",
                at: WallTime(nanoseconds: Int64(byte)))
        }

        @Test func providersAndUploadsComeBack() throws {
            let rig = Rig()
            let talk = ProviderRow(
                app: "com.example.talk", account: "alice", types: "voip alert", environment: "production",
                configuration: #"{"video":true}"#, strikes: "2 17", isSuspended: true)
            var mail = ProviderRow(app: "com.example.mail", isBound: false, types: "alert", environment: "sandbox")
            do {
                let store = try rig.open()
                store.setProvider(talk)
                store.setProvider(mail)
                mail.account = "bob"
                mail.isBound = true
                store.setProvider(mail)
                store.setUpload(upload("com.example.talk", .voip, 1))
                store.setUpload(upload("com.example.talk", .alert, 2))
                store.setUpload(upload("com.example.talk", .voip, 3))
                store.setUpload(upload("com.example.mail", .alert, 4))
                try rig.flush(store)
            }
            let snapshot = try rig.open().snapshot()
            #expect(snapshot.providers == [mail, talk])
            #expect(
                snapshot.uploads == [
                    upload("com.example.mail", .alert, 4), upload("com.example.talk", .alert, 2),
                    upload("com.example.talk", .voip, 3),
                ])
        }

        @Test func anAppThatIsForgottenLeavesNothing() throws {
            let rig = Rig()
            let store = try rig.open()
            for app in ["a.a", "c.c"] {
                store.setProvider(ProviderRow(app: app, types: "voip", environment: "sandbox"))
                store.setUpload(upload(app, .voip, 1))
            }
            var change = DirectoryChange()
            change.goneApps = ["c.c"]
            store.apply(change)
            try rig.flush(store)
            let snapshot = try rig.open().snapshot()
            #expect(snapshot.providers.map(\.app) == ["a.a"])
            #expect(snapshot.uploads.map(\.app) == ["a.a"])
            #expect(rig.events.withLock { $0.isEmpty })
        }
    }
}
