import Foundation
import Glibc
import JSON
import TestSupport
import Testing

extension EndToEnd {
    /// Apps that take calls over D-Bus.
    @Suite(.serialized) struct Apps {
        private func app(_ rig: Rig, _ manner: String = "answer") throws -> Program {
            let app = try Program(
                Tree.program("ringd-test-app"), [Rig.app, manner], environment: rig.environment,
                output: rig.scratch.at("app-\(manner).log"))
            try until("the app: \(app.said)") { app.said.contains("ready") }
            return app
        }

        /// The app was asked this for that call.
        private func told(_ app: Program, _ member: String, _ call: String?) -> Bool {
            app.said.split(separator: "\n").contains { $0.hasPrefix(member + "\t") && $0.contains(call ?? "?") }
        }

        private func peak(_ recording: Recording) throws -> Int {
            try recording.samples().suffix(19_200).map { Int($0.magnitude) }.max() ?? 0
        }

        private func state(_ rig: Rig, _ id: String?) throws -> String? {
            try rig.ask("calls").items.first { $0["UUID"]?.string == id }?["State"]?.string
        }

        @Test func anAppTakesACallAndASecondOneOnlyKnocks() throws {
            let rig = try Rig()
            try rig.configure("[app \(Rig.app)]\nname = Talk\nanswer = dbus\n")
            try Ringing.addNoise(rig)
            try rig.ask("apps", "add", Rig.app)
            let app = try app(rig)
            let recording = try rig.desk.record()
            let first = try rig.ask(
                "push", "--app", Rig.app, "--caller", "Alice 阿", "--handle", "+49301", "--video", "--id", "one")[
                    "call"]?.string
            try rig.event("sound.heard")
            try until("the loud ring") { try peak(recording) > 4000 }
            let loud = try peak(recording)
            try rig.choose("Answer")
            try rig.event("call.active")
            #expect(try state(rig, first) == "active")
            try until("the app to be asked") { app.said.contains("PerformAnswerCall") }
            let asked = try #require(app.said.split(separator: "\n").first { $0.hasPrefix("PerformAnswerCall") })
                .split(separator: "\t").map(String.init)
            #expect(asked[2] == first)
            #expect(
                Set(asked.dropFirst(3)) == [
                    "app=\(Rig.app)", "account=", "key=one", "caller=Alice 阿", "handle=+49301",
                    "handle-type=phone-number", "video=true", "outgoing=false",
                ])
            try rig.expectRest()

            // The second one is soft, and says what answering would do.
            try rig.listen()
            var start = rig.events.count
            let second = try rig.ask("push", "--app", Rig.app, "--caller", "Bob", "--id", "two")["call"]?.string
            try rig.event("sound.heard", from: start)
            #expect(try state(rig, second) == "waiting")
            try until("the soft ring") { try peak(recording) > 100 }
            pause(0.3)
            let soft = try peak(recording)
            #expect(soft * 4 < loud && soft * 10 > loud, "soft \(soft), loud \(loud)")
            #expect(rig.events("vibration.started", from: start).isEmpty)
            let notify = try rig.message("Notify") { $0[4].string?.hasPrefix("Waiting") == true }
            #expect(notify[5].items.contains("End & answer") && notify[5].items.contains("Hold & answer"))
            // Taking it ends the first.
            try rig.ask("answer")
            let ended = try rig.event("call.ended", from: start)
            #expect(ended["call"]?.string == first && ended["reason"]?.string == "hung-up")
            try rig.event("call.active", from: start)
            try until("the app to be told") { told(app, "PerformEndCall", first) }
            #expect(app.said.contains("reason=hung-up"))
            #expect(try state(rig, second) == "active")

            // Hung up here.
            start = rig.events.count
            try rig.ask("hangup")
            #expect(try rig.event("call.ended", from: start)["reason"]?.string == "hung-up")
            try until("the app to be told") { told(app, "PerformEndCall", second) }
            let row = try rig.lastCall()
            #expect(row["category"]?.string == "completed" && row["duration_ms"] != nil)

            // The app dies with a call: it ends with it.
            start = rig.events.count
            try rig.ask("push", "--app", Rig.app, "--caller", "Carol", "--id", "three")
            try rig.ask("answer")
            try rig.event("call.active", from: start)
            app.kill()
            #expect(try rig.event("call.ended", from: start)["reason"]?.string == "failed-client-gone")
            #expect(try rig.ask("calls").items.isEmpty)
            try rig.expectRest()
        }

        @Test func anAppThatRefusesFailsTheCallAndTheUserIsTold() throws {
            let rig = try Rig()
            try rig.configure("[app \(Rig.app)]\nname = Talk\nanswer = dbus\n")
            rig.daemon.send(SIGHUP)
            try rig.ask("apps", "add", Rig.app)
            try rig.listen()
            let cases = [
                ("refuse", "the line is broken", 3, "failed-answer", "answered, but the app did not take it"),
                ("absent", "was not provided", 4, "failed-client-unavailable", "answered, but the app did not start"),
            ]
            for (manner, words, level, reason, notice) in cases {
                let start = rig.events.count
                let app = manner == "absent" ? nil : try app(rig, manner)
                // The first push has woken nobody: the app is not there, and the call rings all the same.
                try rig.ask("push", "--app", Rig.app, "--caller", manner, "--id", manner)
                try rig.event("notification.shown", from: start)
                try rig.ask("answer")
                let fault = try rig.event("app.fault", from: start)
                #expect(fault["message"]?.string?.contains(words) == true, "\(fault.encoded())")
                #expect(fault["level"]?.integer == Int64(level))
                #expect(try rig.event("call.ended", from: start)["reason"]?.string == reason)
                try rig.event("missed.shown", from: start)
                try until("the notice") {
                    rig.messages("Notify").contains {
                        $0[3].string == "Call failed: \(manner)" && $0[4].string?.contains(notice) == true
                    }
                }
                #expect(try rig.lastCall()["category"]?.string == "failed")
                app?.kill()
            }
            #expect(try rig.streams.isEmpty)
        }

        /// The bus starts an app that is not there, as its service file says.
        @Test func anAppIsStartedByTheBus() throws {
            let rig = try Rig(["bus"])
            try rig.desk.scratch.make(
                "services/\(Rig.app).service",
                Data(
                    """
                    [D-BUS Service]
                    Name=\(Rig.app)
                    Exec=\(Tree.program("ringd-test-app")) \(Rig.app)
                    """.utf8))
            try rig.configure("[app \(Rig.app)]\nanswer = dbus\n")
            rig.daemon.send(SIGHUP)
            try rig.ask("apps", "add", Rig.app)
            try rig.ask("push", "--app", Rig.app, "--caller", "Alice", "--id", "one")
            try rig.ask("answer")
            try rig.event("call.active")
            // It ends with the bus.
            try rig.ask("hangup")
            #expect(try rig.event("call.ended")["reason"]?.string == "hung-up")
        }
    }
}
