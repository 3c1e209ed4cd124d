import JSON
import TestSupport
import Testing

extension EndToEnd {
    @Suite(.serialized) struct Certificates {
        /// A daemon that runs is told of what is new; one that does not is not started for it.
        @Test func aRunningDaemonLearnsOfNewKeys() throws {
            let rig = try Rig(["bus"], starts: false)
            let alone = try rig.ask("certs", "init", "--app", "com.example.other")
            #expect(alone["reloaded"]?.flag == false && alone["made"]?.items.isEmpty == false)
            try rig.start()
            #expect(try rig.ask("certs", "init")["reloaded"]?.flag == false, "nothing was new")
            let more = try rig.ask("certs", "init", "--app", Rig.app)
            #expect(more["reloaded"]?.flag == true)
            // The daemon's own files are those.
            let app = try rig.ask("apps", "add", Rig.app)
            #expect(app["certificate"] == more["certificate"] && app["authority"] == more["authority"])
        }
    }
}
