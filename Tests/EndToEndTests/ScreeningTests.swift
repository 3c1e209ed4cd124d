import Foundation
import JSON
import TestSupport
import Testing

extension EndToEnd {
    /// Do-not-disturb and lists of callers, and what a live call holds.
    @Suite(.serialized) struct Screening {
        private func check(_ rig: Rig) throws -> JSONValue? {
            let doctor = try rig.ringctl("doctor", "--json")
            return try JSONValue.parse(Array(doctor.out.utf8))["checks"]?.items
                .first { $0["name"]?.string == "do-not-disturb" }
        }

        @Test func dunstsOwnSwitchCounts() throws {
            let rig = try Rig()
            try until("dunst to be known") { try rig.ask("dnd")["desktop"]?.string == "off" }
            #expect(try rig.ask("status")["dnd"]?.flag == false)
            #expect(try check(rig)?["verdict"]?.string == "good")
            _ = try rig.dunstctl("set-paused", "true")
            try rig.event("dnd.on") { $0["source"]?.string == "dunst" }
            let status = try rig.ask("status")
            #expect(status["dnd"]?.flag == true && status["dnd_source"]?.string == "dunst")
            #expect(status["dnd_desktop"]?.string == "on" && status["dnd_switch"]?.string == "auto")
            let found = try #require(try check(rig))
            #expect(found["verdict"]?.string == "warning" && found["text"]?.string?.contains("dunst") == true)
            #expect(try rig.ringctl("dnd").out.contains("on (dunst says on)"))

            // The own switch has the last word.
            try rig.ask("dnd", "off")
            #expect(try rig.ask("status")["dnd"]?.flag == false)
            #expect(try rig.ask("dnd")["desktop"]?.string == "on")
            _ = try rig.dunstctl("set-paused", "false")
            try rig.event("dnd.off")
            try rig.ask("dnd", "on")
            #expect(try rig.ask("status")["dnd"]?.flag == true)
            #expect(try check(rig)?["cure"]?.string == "ringctl dnd auto")
            try rig.ask("dnd", "auto")
            #expect(try rig.ask("status")["dnd"]?.flag == false)
        }

        @Test func listsAreInForceAtOnce() throws {
            let rig = try Rig(["bus"])
            #expect(
                try rig.ask("block", "+49 30*", "anonymous")["block"]?.items.compactMap(\.string) == [
                    "+49 30*", "anonymous",
                ])
            func inForce(_ key: String) throws -> String? {
                try rig.ask("config")["settings"]?.items.first { $0["key"]?.string == key }?["value"]?.string
            }
            #expect(try inForce("screening.block") == "+49 30*, anonymous")
            try rig.ask("unblock", "0049-30*", "anonymous")
            #expect(try inForce("screening.block") == "")
            try rig.ask("vip", "boss@example.com")
            #expect(try inForce("screening.vip") == "boss@example.com")
        }

        @Test func musicStaysPausedAsLongAsTheCallIsLive() throws {
            let rig = try Rig()
            try rig.configure("[app \(Rig.app)]\nname = Talk\nanswer = dbus\n")
            try rig.ask("config", "reload")
            try rig.ask("apps", "add", Rig.app)
            let app = try Program(
                Tree.program("ringd-test-app"), [Rig.app, "answer"], environment: rig.environment,
                output: rig.scratch.at("app.log"))
            try until("the app") { app.said.contains("ready") }
            // pacat obeys module-role-cork and says every request, so that no moment in between is missed.
            try rig.desk.pactl("load-module", "module-role-cork")
            let music = try Program(
                "/usr/bin/pacat", ["--playback", "--property=media.role=music", "--latency-msec=50", "/dev/zero"],
                environment: rig.environment, output: rig.scratch.at("music.log"))
            func requests() -> [String] {
                music.said.split(separator: "\n").compactMap { line in
                    line.contains("request-uncork") ? "uncork" : line.contains("request-cork") ? "cork" : nil
                }
            }
            try until("music") { try rig.desk.pactl("list", "sink-inputs").contains("media.role = \"music\"") }
            try rig.ask("push", "--app", Rig.app, "--caller", "Alice", "--id", "zero")
            try rig.event("sound.heard")
            #expect(try rig.holds == 0)
            try rig.ask("answer")
            try rig.event("call.active")
            try rig.event("audio.held")
            #expect(try rig.holds == 1)
            pause(0.3)
            #expect(requests() == ["cork"])
            try rig.ask("hangup")
            try rig.event("audio.released")
            try until("music to come back") { requests() == ["cork", "uncork"] }
            music.kill()

            let start = rig.events.count
            try rig.ask("push", "--app", Rig.app, "--caller", "Alice", "--id", "one")
            try rig.event("sound.heard", from: start)
            try rig.ask("answer")
            try rig.event("audio.held", from: start)
            // A sound server that comes back is held again.
            try rig.desk.kill()
            try rig.desk.up(["sound"])
            try rig.event("audio.held", from: start) { $0["resumed"]?.flag == true }
            try rig.ask("hangup")
            try rig.event("audio.released", from: start)
            try until("rest") { try rig.holds == 0 }
        }

        @Test func aNumberIsOneCallerHoweverWritten() throws {
            // What opens URLs here.
            let bin = Scratch()
            try bin.make("xdg-open", Data("#!/bin/sh\necho \"$1\" > \(bin.at("url"))\n".utf8))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: bin.at("xdg-open"))
            let rig = try Rig(
                ["bus"], config: "[calls]\nregion = DE\n[screening]\nblock = 030 1234567\n",
                launcher: ["/usr/bin/env", "PATH=\(bin.path):/usr/bin:/bin"])
            try rig.ask("apps", "add", Rig.app)
            func push(_ id: String, _ handle: String) throws {
                let payload = Data(#"{"callId":"\#(id)","handle":"\#(handle)"}"#.utf8)
                try rig.ask("push", "--app", Rig.app, "--payload", "-", input: payload)
            }
            try push("a", "+49 (0)30 1234567")
            let blocked = try rig.event("call.ended")
            #expect(blocked["reason"]?.string == "filtered-block-list", "\(blocked)")

            try push("b", "0151 12345678")
            try rig.event("call.ringing")
            let call = try #require(try rig.ask("calls").items.first)
            #expect(call["Handle"]?.string == "+4915112345678" && call["Caller"]?.string == "+4915112345678")
            try rig.ask("decline")
            try rig.event("call.ended") { $0["reason"]?.string == "declined" }
            for written in ["0151 12345678", "+49 151 12345678", "+4915112345678"] {
                #expect(try rig.ask("history", "--handle", written).items.count == 1, "\(written)")
            }

            // A scheme is not shown, and is there when it is needed.
            try push("c", "sip:alice@example.com;transport=tls")
            try rig.event("call.ringing") { $0["caller"]?.string == "alice@example.com" }
            #expect(try rig.ask("calls").items.first?["Handle"]?.string == "sip:alice@example.com;transport=tls")
            try rig.ask("decline")
            try until("the call to be past") { try rig.ask("calls").items.isEmpty }
            let past = try rig.lastCall()
            #expect(past["caller"]?.string == "alice@example.com")
            let id = try #require(past["id"]?.string)
            try rig.ask("call", "--back", id)
            try until("the phone") {
                (try? String(contentsOfFile: bin.at("url"), encoding: .utf8)) == "sip:alice@example.com\n"
            }
        }
    }
}
