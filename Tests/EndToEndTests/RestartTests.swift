import Foundation
import Glibc
import JSON
import TestSupport
import Testing

extension EndToEnd {
    /// Each part killed and started again in the middle of a ring.
    @Suite(.serialized) struct Restarts {
        private func loud(_ recording: Recording) throws -> Bool {
            try recording.samples().suffix(9600).contains { abs(Int($0)) > 500 }
        }

        private func deadline(_ rig: Rig) throws -> Int64? { try rig.ask("calls").items.first?["Deadline"]?.integer }

        /// Unanswered, at the deadline that it had from the first.
        private func expectEnd(_ rig: Rig, at deadline: Int64?) throws {
            let ended = try rig.event("call.ended")
            #expect(ended["reason"]?.string == "unanswered")
            let late = try #require(ended["at_ns"]?.integer) - #require(deadline)
            #expect(late >= 0 && late < 1_000_000_000)
        }

        @Test func theSoundServerDiesAndTheRingIsHeardAgain() throws {
            let rig = try Rig()
            try Ringing.addNoise(rig)
            try rig.ring("Alice", "--time", "6")
            let before = try deadline(rig)
            try rig.event("sound.heard")
            let start = rig.events.count
            try rig.desk.kill("sound")
            try rig.event("sound.server", from: start) { $0["connected"]?.flag == false }
            #expect(try rig.displayed == 1)
            try rig.desk.up(["sound"])
            let recording = try rig.desk.record()
            let again = try rig.event("sound.started", from: start)
            #expect(again["resumed"]?.flag == true)
            try rig.event("sound.heard", from: start)
            try until("sound") { try loud(recording) }
            #expect(try deadline(rig) == before)
            try expectEnd(rig, at: before)
            try until("silence") { try !loud(recording) }
            #expect(try rig.streams.isEmpty)
        }

        @Test func theNotificationServerDiesAndTheBannerComesBack() throws {
            let rig = try Rig()
            try rig.configure("[ring]\nraise = never\n")
            try Ringing.addNoise(rig)
            let recording = try rig.desk.record()
            try rig.ring("Alice", "--time", "6")
            let before = try deadline(rig)
            try rig.event("sound.heard")
            try until("the banner") { try rig.displayed == 1 }
            let start = rig.events.count
            try rig.desk.kill("notify")
            try rig.event("notification.lost", from: start)
            try until("the ring to go on") { try loud(recording) }
            try rig.desk.up(["notify"])
            try rig.event("notification.shown", from: start)
            try until("the banner again") { try rig.displayed == 1 }
            #expect(rig.events("sound.stopped", from: start).isEmpty)
            #expect(try deadline(rig) == before)
            try rig.choose("Decline")
            #expect(try rig.event("call.ended", from: start)["reason"]?.string == "declined")
            try rig.expectRest()
        }

        @Test func theBusDiesAndEverythingComesBack() throws {
            let rig = try Rig()
            try Ringing.addNoise(rig)
            let recording = try rig.desk.record()
            let id = try rig.ring("Alice", "--time", "12")
            let before = try deadline(rig)
            try rig.event("sound.heard")
            try until("the banner") { try rig.displayed == 1 }
            try rig.desk.kill("bus")
            try rig.logged("bus.lost", "the session bus went away")
            let position = recording.seconds
            try until("the ring without a bus") { try recording.seconds > position + 0.5 && loud(recording) }
            #expect(rig.daemon.isRunning)
            // dunst ends with its bus, or else it is of no use any more.
            try? rig.desk.kill("notify")
            try rig.desk.up(["bus"])
            try rig.logged("bus.returned")
            try rig.desk.up(["notify"])
            try until("ringd's name") { try rig.ringctl("status").status == 0 }
            try until("the banner again") { try rig.displayed == 1 }
            let call = try #require(try rig.ask("calls").items.first)
            #expect(call["UUID"]?.string == id && call["Deadline"]?.integer == before)
            #expect(try loud(recording))
            try rig.watch()
            try rig.choose("Answer")
            #expect(try rig.event("call.ended")["reason"]?.string == "answered")
            try rig.expectRest()
        }

        @Test func killedInMidRingItRingsOnWithTheTimeThatIsLeft() throws {
            let rig = try Rig()
            try Ringing.addNoise(rig)
            try rig.listen()
            let id = try rig.ring("Alice", "--time", "7")
            let before = try deadline(rig)
            try rig.event("sound.heard")
            let stale = try rig.event("notification.shown")["id"]?.integer
            // What is written is written by a worker: its part of the promise needs a moment.
            pause(0.3)
            rig.daemon.send(SIGKILL)
            #expect(try rig.daemon.end() == -SIGKILL)
            try until("the end of its stream") { try rig.streams.isEmpty }
            #expect(try rig.displayed == 1, "a crash cannot close its banner")
            let start = rig.events.count
            try rig.start()
            try until("the stale banner closed") {
                rig.messages("NotificationClosed").contains { $0.first?.integer == stale }
            }
            try rig.event("sound.heard", from: start)
            try until("one banner") { try rig.displayed == 1 }
            let call = try #require(try rig.ask("calls").items.first)
            #expect(call["UUID"]?.string == id && call["Deadline"]?.integer == before)
            try expectEnd(rig, at: before)
            let rows = try rig.ask("history").items
            #expect(rows.count == 1 && rows.first?["reason"]?.string == "unanswered")
            #expect((6500...8500).contains(rows.first?["rang_ms"]?.integer ?? 0))
            // Both runs are in the report.
            let kinds = try rig.ask("report", id)["events"]?.items.compactMap { $0["kind"]?.string } ?? []
            #expect(kinds.count { $0 == "sound.heard" } == 2 && kinds.count { $0 == "call.ended" } == 1)
        }

        @Test func killedUntilTheTimeIsOverTheCallIsMissed() throws {
            let rig = try Rig()
            try Ringing.addNoise(rig)
            try rig.listen()
            // One is answered by an app that takes its time, another only rings.
            try rig.configure("[app \(Rig.app)]\nanswer = dbus\n")
            try rig.ask("config", "set", "sound.ringtone", "noise")
            try rig.ask("apps", "add", Rig.app)
            let app = try Program(
                Tree.program("ringd-test-app"), [Rig.app, "hang"], environment: rig.environment,
                output: rig.scratch.at("app.log"))
            try until("the app") { app.said.contains("ready") }
            try rig.ask("push", "--app", Rig.app, "--caller", "Bob", "--id", "asked")
            try rig.ask("answer")
            let id = try rig.ring("Alice", "--time", "2")
            try rig.event("sound.heard")
            let stale = try rig.event("notification.shown") { $0["call"]?.string == id }["id"]?.integer
            pause(0.3)
            rig.daemon.send(SIGKILL)
            #expect(try rig.daemon.end() == -SIGKILL)
            pause(2)
            let start = rig.events.count
            try rig.start()
            try until("the stale banner closed") {
                rig.messages("NotificationClosed").contains { $0.first?.integer == stale }
            }
            try until("both in the history") { try rig.ask("history").items.count == 2 }
            #expect(try rig.ask("calls").items.isEmpty)
            let rows = try rig.ask("history").items
            #expect(rows.first { $0["id"]?.string == id }?["reason"]?.string == "unanswered")
            // It was being answered: it never rings again.
            #expect(rows.first { $0["key"]?.string == "asked" }?["reason"]?.string == "failed-reset")
            #expect(rig.events("sound.started", from: start).isEmpty)
            try until("the notice") {
                rig.messages("Notify").last?[3].string == "Missed call from Alice"
            }
        }

        @Test func toldToEndInMidRingItLeavesNothingBehind() throws {
            let rig = try Rig()
            try Ringing.addNoise(rig)
            let recording = try rig.desk.record()
            let id = try rig.ring("Alice", "--time", "8")
            try rig.event("sound.heard")
            try until("the banner") { try rig.displayed == 1 }
            rig.daemon.send(SIGTERM)
            #expect(try rig.daemon.end() == 0)
            let position = Int(recording.seconds * 48000)
            #expect(try rig.streams.isEmpty)
            try until("no banner") { try rig.displayed == 0 }
            pause(0.3)
            let last = try #require(try recording.finish().lastIndex { $0 != 0 }) / 2
            #expect(last < position + 4800, "\(last - position) frames after its end")
            // The next one rings on.
            try rig.start()
            #expect(try rig.ask("calls").items.first?["UUID"]?.string == id)
            try until("the banner again") { try rig.displayed == 1 }
            try rig.ask("decline")
            try rig.expectRest()
        }
    }

    /// A desktop on which something is not there.
    @Suite(.serialized) struct MissingParts {
        private func isLoud(_ recording: Recording) throws -> Bool {
            try recording.samples().contains { abs(Int($0)) > 500 }
        }

        @Test func withoutANotificationServerItRingsBySound() throws {
            let rig = try Rig(["bus", "sound"])
            let recording = try rig.desk.record()
            try rig.ring("Alice", "--time", "3")
            let fault = try rig.event("notification.fault")
            #expect(fault["message"]?.string?.contains("no notification server runs") == true)
            #expect(fault["level"]?.integer == 3)
            try rig.event("sound.heard")
            try until("sound") { try isLoud(recording) }
            #expect(try rig.ask("status")["notifications"]?.string == "")
            let doctor = try rig.ask("doctor")
            #expect(doctor["heard"]?.flag == true && doctor["seen"]?.flag == false)
            #expect(try rig.ringctl("doctor").out.contains("but you would not see it"))
            #expect(try rig.event("call.ended")["reason"]?.string == "unanswered")
        }

        @Test func withoutASoundServerTheNotificationServerIsAskedUntilOneAppears() throws {
            let rig = try Rig(["bus", "display", "notify"])
            try rig.listen()
            try rig.ring("Alice", "--time", "12")
            let fallback = try rig.event("sound.fallback")
            #expect(fallback["level"]?.integer ?? 9 <= 4, "\(fallback.encoded())")
            try until("a request for the server's own sound") {
                rig.messages("Notify").contains { $0[6]["sound-name"]?["data"]?.string == "phone-incoming-call" }
            }
            #expect(try rig.displayed == 1)
            #expect(try rig.ringctl("doctor").out.contains("but you would not hear it"))
            try rig.desk.up(["sound"])
            let recording = try rig.desk.record()
            try rig.event("sound.heard")
            try until("sound") { try isLoud(recording) }
            try until("the request taken back") {
                rig.messages("Notify").last?[6]["suppress-sound"]?["data"]?.flag == true
            }
            try rig.ask("decline")
            try rig.expectRest()
        }

        @Test func withoutABusItTakesPushesAndRingsBySound() throws {
            let rig = try Rig(["bus", "sound"])
            let token = try rig.token()
            let certificate = try #require(try rig.ask("apps").items.first?["certificate"]?.string)
            try rig.configure("[ring]\ntime = 3\n")
            rig.daemon.send(SIGTERM)
            #expect(try rig.daemon.end() == 0)
            try rig.desk.kill("bus")
            unlink(rig.desk.scratch.at("bus"))
            let recording = try rig.desk.record()

            /// By the port in the log, as nobody can be asked.
            func push() throws {
                let address = try #require(
                    rig.log.split(separator: "\n").last { $0.contains("daemon.ready") }?.split(separator: " ")
                        .first { $0.hasPrefix("127.0.0.1:") })
                let sent = try attempt(
                    "php",
                    [
                        Tree.root.appending(path: "Examples/push.php").path, "--gateway", String(address), "--token",
                        token, "--cert", certificate, "--wait", "0.1",
                    ])
                #expect(sent.status == 0, "\(sent.all)")
            }

            rig.leaveBus()
            try rig.start()
            try rig.logged("bus.lost", "no session bus: DBUS_SESSION_BUS_ADDRESS is unset", "ringing by sound alone")
            try push()
            try rig.logged("sound.heard")
            try until("sound") { try isLoud(recording) }
            try rig.logged("call.ended", "unanswered")
            rig.daemon.send(SIGTERM)
            #expect(try rig.daemon.end() == 0)

            // An address that leads nowhere yet: it joins the bus when that comes.
            rig.joinBus()
            try rig.start()
            try rig.logged("bus.lost", "trying again")
            try push()
            try until("the second ring") { rig.log.components(separatedBy: "sound.heard").count == 3 }
            try rig.desk.up(["bus"])
            try until("its name on the bus") { try rig.ringctl("status").status == 0 }
            try until("both calls in the history") { try rig.ask("history").items.count == 2 }
        }
    }

    /// Vibration, by the daemon that phones have.
    @Suite(.serialized) struct Vibration {
        static let feedbackd = "/usr/libexec/feedbackd"

        @Test(.enabled(if: access(feedbackd, X_OK) == 0, "feedbackd is not installed"))
        func feedbackdIsAskedAndTold() throws {
            let rig = try Rig()
            var variables = rig.environment
            variables["GSETTINGS_BACKEND"] = "memory"
            variables["XDG_DATA_DIRS"] = "/usr/share"
            let feedbackd = try Program(
                Self.feedbackd, environment: variables, output: rig.scratch.at("feedbackd.log"))
            try until("feedbackd on the bus: \(feedbackd.said)") {
                try attempt(
                    "gdbus",
                    [
                        "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/", "--method",
                        "org.freedesktop.DBus.GetNameOwner", "org.sigxcpu.Feedback",
                    ], environment: rig.environment, isWhole: true
                ).status == 0
            }
            try rig.listen()
            try rig.ring("Alice")
            let on = try rig.event("vibration.started")
            #expect(on["by"]?.string == "feedbackd")
            let asked = try rig.message("TriggerFeedback")
            #expect(asked[0].string == "org.ringd.Ringd1" && asked[1].string == "phone-incoming-call")
            #expect(asked[3].integer == 0)
            try rig.ask("silence")
            try rig.event("vibration.stopped")
            try until("the end of the vibration") { !rig.messages("EndFeedback").isEmpty }
            try until("feedbackd to say so") { !rig.messages("FeedbackEnded").isEmpty }
        }
    }
}
