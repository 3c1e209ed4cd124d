import Foundation
import Glibc
import JSON
import TestSupport
import Testing

extension EndToEnd {
    /// What apps, files and crashes do that they should not.
    @Suite(.serialized) struct ProviderFaults {
        private static let call = "2f1d6a3e-0000-4000-8000-000000000001"

        private func state(_ rig: Rig) throws -> String? {
            try rig.ask("calls").items.first { $0["UUID"]?.string == Self.call }?["State"]?.string
        }

        private func answered(_ rig: Rig, _ app: TalkApp) throws {
            try app.does("ReportNewIncomingCall \(Self.call) Alice")
            try rig.event("call.ringing")
            try rig.ask("answer")
            try rig.event("call.active")
        }

        /// libdbus would leave the bus over it, and every call of every app would be over.
        @Test func aMessageThatIsTooLongCostsItsSenderAlone() throws {
            let rig = try Rig(["bus"])
            let app = try TalkApp(rig)
            try answered(rig, app)
            let other = try TalkApp(rig, id: "com.example.other")
            try other.does("Huge")
            try other.asked("failure", "SetConfiguration", "org.freedesktop.DBus.Error.LimitsExceeded")
            #expect(try state(rig) == "active")
            #expect(rig.events("app.gone").isEmpty)
        }

        @Test func anAppNeedNotWaitForItsRegistration() throws {
            let rig = try Rig(["bus"])
            let app = try TalkApp(rig, "eager")
            try rig.event("call.updated") { $0["call"]?.string == Self.call }
            #expect(try rig.ask("calls").items.first?["Caller"]?.string == "Alice")
            #expect(!app.program.said.contains("failure"))
        }

        @Test func registeringAgainRenewsNoLimit() throws {
            let rig = try Rig(["bus"])
            let app = try TalkApp(rig)
            try app.does("Churn")
            try app.asked("failure", "Invalidate", "org.freedesktop.DBus.Error.LimitsExceeded")
        }

        @Test func anAppThatTakesNoCallsKeepsItsPushes() throws {
            let rig = try Rig(["bus"])
            let app = try TalkApp(rig)
            try app.does("Invalidate \(Rig.app)")
            try app.does("SetForeground true")
            try app.asked("failure", "SetForeground", "org.ringd.Error.RequestTransaction.UnknownCallProvider")
            // It is an app all the same, and there.
            try app.does("MarkUploaded device-7")
            #expect(try app.asked("marked")[1].hasPrefix("success"))
            try app.does("Status")
            try app.asked("failure", "Status", "org.ringd.Error.CallKit.Unentitled")
            #expect(rig.events("app.gone").isEmpty)
        }

        @Test func anotherAccountIsAnotherOneByRegistration() throws {
            let rig = try Rig(["bus"])
            let app = try TalkApp(rig, "answer", "push.account=alice")
            try app.does("ReportNewIncomingCall \(Self.call) Carol")
            try rig.event("call.ringing")
            // What is no account logs nobody in or out.
            try app.does("RegisterPushes 5")
            #expect(try app.asked("failure", "RegisterPushes", number: 1).count == 3)
            #expect(try state(rig) == "ringing")
            try app.does("RegisterPushes bob")
            #expect(try rig.event("call.ended")["reason"]?.string == "failed-unbound")
            try app.asked("DidUpdatePushCredentials", "account=bob")
        }

        @Test func aPushWaitsForAnAppThatRegistersForCallsFirst() throws {
            let rig = try Rig(["bus"])
            let log = rig.scratch.at("woken.log")
            try rig.desk.scratch.make(
                "services/\(Rig.app).service",
                Data(
                    """
                    [D-BUS Service]
                    Name=\(Rig.app)
                    Exec=/bin/sh -c "exec \(Tree.program("ringd-test-app")) \(Rig.app) calls >>\(log)"
                    """.utf8))
            let app = try TalkApp(rig)
            app.program.kill()
            try rig.event("app.gone")
            try rig.ask("push", "--app", Rig.app, "--caller", "Alice", "--id", "one")
            func woken() -> String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
            try until("the app: \(woken())") { woken().contains("ready\n") }
            #expect(!woken().contains("DidReceiveIncomingPush"))
            try app.does("RegisterPushes")
            try until("the push: \(woken())") { woken().contains("DidReceiveIncomingPush\tvoip") }
        }

        @Test func whatTheFileNoLongerSaysNoLongerHolds() throws {
            let rig = try Rig(["bus"])
            let app = try TalkApp(rig)
            func reload(_ text: String) throws {
                let start = rig.events.count
                try rig.configure(text)
                rig.daemon.send(SIGHUP)
                try rig.event("config.loaded", from: start)
            }
            func push(_ id: String) throws -> String? {
                let outcome = try rig.ask("push", "--app", Rig.app, "--caller", "Alice", "--id", id)["outcome"]?.string
                _ = try rig.ringctl("decline")
                return outcome
            }
            try reload("[app \(Rig.app)]\nmust-report = strict\nanswer = url https://example.com/{id}\n")
            try reload("[app \(Rig.app)]\nmust-report = strict\n")
            #expect(try push("one") == "to-app")
            try reload("")
            #expect(try push("two") == "rings")
            // It takes calls as it did before.
            let start = rig.events.count
            try app.does("ReportNewIncomingCall \(Self.call) Carol")
            try rig.event("call.ringing", from: start)
            try rig.ask("answer", Self.call)
            try rig.event("call.active", from: start)
        }

        @Test func aRingThatSurvivesACrashCanBeAnsweredByAnAppWithSignalling() throws {
            let rig = try Rig(["bus"])
            let app = try TalkApp(rig, "answer", "has-signalling=true", "push.account=alice")
            try app.does("ReportNewIncomingCall \(Self.call) Alice")
            try rig.event("call.ringing")
            // On disk once a question to the store, which comes behind it, is answered.
            try rig.ask("history")
            rig.daemon.kill()
            try rig.start()
            try rig.watch()
            try app.asked("ready", number: 2)
            #expect(try rig.ask("calls").items.first?["Account"]?.string == "alice")
            try rig.ask("answer")
            try rig.event("call.active")
        }

        @Test func whatTheUserEndedStaysEndedOverACrash() throws {
            let rig = try Rig(["bus"])
            let app = try TalkApp(rig, "stay")
            try answered(rig, app)
            try rig.ask("hangup")
            try app.asked("PerformEndCall", Self.call)
            #expect(try rig.lastCall()["reason"]?.string == "hung-up")
            rig.daemon.kill()
            try rig.start()
            // It had not said that it let go.
            try app.asked("ProviderDidReset")
            let row = try rig.lastCall()
            #expect(row["reason"]?.string == "hung-up" && row["category"]?.string == "completed", "\(row)")
            #expect(try rig.ask("calls").items.isEmpty)
        }

        @Test func strikesOutliveRingdAndAreNotLiftedByAnotherRegistration() throws {
            let rig = try Rig(["bus"])
            try rig.configure("[app \(Rig.app)]\nmust-report = strict\n")
            rig.daemon.send(SIGHUP)
            let app = try TalkApp(rig)
            func strike(_ number: Int64) throws {
                try rig.ask("push", "--app", Rig.app, "--caller", "Alice", "--id", "no-\(number)")
                try rig.event("app.strike") { $0["strikes"]?.integer == number }
            }
            try strike(1)
            try strike(2)
            rig.daemon.kill()
            try rig.start()
            try rig.watch()
            try app.asked("ready", number: 2)
            try strike(3)
            try app.does("Register")
            try app.asked("ready", number: 3)
            #expect(try rig.ask("apps", Rig.app).items.first?["suspended"]?.flag == true)
        }

        @Test func aLongHandleIsDialledAsItWasGiven() throws {
            let rig = try Rig(["bus"])
            let app = try TalkApp(rig)
            let handle = String(repeating: "x", count: 500)
            try rig.ask("call", handle)
            try app.asked("PerformStartCall", "handle=\(handle)")
        }

        @Test func pushesThatAnAppNeverCompletesAreLimited() throws {
            let rig = try Rig(["bus"], config: "[apns]\ndevice-rate = 0\n")
            let app = try TalkApp(rig, "mute")
            let outcome = try rig.ringctl(
                "push", "--app", Rig.app, "--via", "http2", "--gateway", try rig.gateway, "--bench", "300", "--payload",
                "-",
                input: Data(#"{"callId":"k1"}"#.utf8))
            #expect(outcome.status == 0, "\(outcome.all)")
            try app.asked("DidReceiveIncomingPush", number: 256)
            try rig.ask("decline")
            try app.asked("PerformEndCall")
            #expect(app.lines.count { $0.first == "DidReceiveIncomingPush" } == 256)
        }
    }
}
