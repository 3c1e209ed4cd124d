import Foundation
import JSON
import RingdClient
import TestSupport
import Testing

extension EndToEnd.Modules {
    /// The same by the async API of apps that start here.
    @Test func anAsyncAppTakesAndMakesCalls() async throws {
        let ringd = RingdClient.shared
        #expect(ringd.appID == ModuleApp.id)
        var settings = ProviderSettings()
        settings.localizedName = "Async"
        let events = ringd.calls(settings)
        let log = ModuleApp()
        let worker = Task {
            for await event in events {
                switch event {
                case .action(let action):
                    log.note("\(action.kind) \(action.call)")
                    action.fulfill()
                    #expect(!action.fail())
                    if case .start = action.kind { try await ringd.connected(action.call) }
                case .audioOn(let call, let running):
                    log.note("audio on \(call)")
                    running()
                case .audioOff(let call): log.note("audio off \(call)")
                default: break
                }
            }
        }
        defer { worker.cancel() }
        let call = UUID()
        try await ringd.reportIncoming(
            call, CallDetails(caller: "Ada", handle: CallHandle("+4930777", kind: .phoneNumber)))
        await #expect(throws: RingdError.self) { try await ringd.reportIncoming(call, CallDetails()) }
        try await ringd.request([.answer(call)])
        try log.await("answer \(call)")
        try log.await("audio on \(call)")
        var live: [LiveCall] = []
        for await calls in ringd.liveCalls() {
            live = calls
            if calls.contains(where: { $0.id == call && $0.state == "active" }) { break }
        }
        #expect(live.first { $0.id == call }?.caller == "Ada")
        try await ringd.ended(call, .remoteEnded, detail: "480")
        try log.await("audio off \(call)")
        let dialled = try await ringd.start(CallHandle("alice@example.com", kind: .emailAddress))
        try log.await("audio on \(dialled)")
        try await ringd.request([.end(dialled)])
        try log.await("end(reason: \"hung-up\") \(dialled)")
        try until("the end") { try rig.ask("calls").items.isEmpty }
        let rows = try rig.ask("history", "--limit", "2").items
        #expect(rows.map { $0["direction"]?.string } == ["outgoing", "incoming"])
        #expect(rows[1]["detail"]?.string == "480")
    }

    @Test func anAppIsWhomADesktopFileStarts() throws {
        let scratch = Scratch()
        let home = ["XDG_DATA_HOME": scratch.at("data"), "XDG_DATA_DIRS": scratch.at("none"), "HOME": scratch.path]
        #expect(AppIdentity.find(home, program: "/opt/talk/bin/Talk") == nil)
        for (name, command) in [
            ("com.example.other", "Exec=/usr/bin/other %u"), ("com.example.talk", "Exec=\"/opt/talk/bin/Talk\" --ring"),
            ("not an id", "Exec=Talk"),
        ] {
            try scratch.make(
                "data/applications/\(name).desktop", Data("[Desktop Entry]\nType=Application\n\(command)\n".utf8))
        }
        #expect(AppIdentity.find(home, program: "/opt/talk/bin/Talk") == "com.example.talk")
        #expect(AppIdentity.find(home, program: "/opt/talk/bin/Talker") == nil)
        let given = home.merging(["RINGD_APP_ID": "com.example.given"]) { $1 }
        #expect(AppIdentity.find(given, program: "/opt/talk/bin/Talk") == "com.example.given")
        #expect(AppIdentity.find(given.merging(["RINGD_APP_ID": "nonsense"]) { $1 }, program: "x") == nil)
    }
}
