import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// The test app as a program, and what it was asked.
final class TalkApp {
    let program: Program
    private let bus: String
    private let id: String

    init(_ rig: Rig, _ words: String..., id: String = Rig.app) throws {
        self.id = id
        bus = rig.desk.bus
        program = try Program(
            Tree.program("ringd-test-app"), [id] + (words.isEmpty ? ["answer"] : words), environment: rig.environment,
            output: rig.scratch.at("\(id)-\(UUID().uuidString).log"))
        let program = program
        try until("the app: \(program.said)") { program.said.contains("ready\n") }
    }

    /// Everything it was asked or told, in order, as words.
    var lines: [[String]] { program.said.split(separator: "\n").map { $0.components(separatedBy: "\t") } }

    /// Has it call a method.
    func does(_ line: String) throws {
        let path = "/" + id.replacingOccurrences(of: ".", with: "/")
        _ = try run(
            "dbus-send",
            ["--bus=\(bus)", "--print-reply", "--dest=\(id)", path, "org.ringd.TestApp1.Do", "string:\(line)"])
    }

    /// The `number`th line that begins so and has the words, once it is there.
    @discardableResult
    func asked(_ member: String, _ words: String..., number: Int = 1) throws -> [String] {
        var found: [String] = []
        try until("\(member) \(words) of \(program.said)") {
            let fits = lines.filter { line in line.first == member && words.allSatisfy { line.contains($0) } }
            guard fits.count >= number else { return false }
            found = fits[number - 1]
            return true
        }
        return found
    }

    /// The members of the lines about this call, in order.
    func story(of call: String) -> [String] { lines.filter { $0.contains(call) }.map { $0[0] } }
}

extension EndToEnd {
    /// An app's rights and duties on a real bus: registry, provider, controller.
    @Suite(.serialized) struct Providers {
        private static let uuid = "2f1d6a3e-0000-4000-8000-0000000000"

        private func state(_ rig: Rig, _ id: String) throws -> JSONValue? {
            try rig.ask("calls").items.first { $0["UUID"]?.string == id }
        }

        @Test func tokensFollowTheAccount() throws {
            let rig = try Rig(["bus"])
            let app = try TalkApp(rig, "answer", "push.account=alice")
            let token = try app.asked("DidUpdatePushCredentials", "voip", "account=alice", "uploaded=false")[2]
            #expect(try rig.token() == token)
            try app.does("MarkUploaded device-7")
            try app.asked("marked")
            // Known again, and uploaded, after its own restart and the daemon's.
            app.program.kill()
            try rig.event("app.gone")
            rig.daemon.kill()
            try rig.start()
            try rig.watch()
            let again = try TalkApp(rig, "answer", "push.account=alice")
            #expect(
                try again.asked("DidUpdatePushCredentials", "uploaded=true", "server-device=device-7")[2] == token)
            // Logged out: nothing rings, senders are told, and a ring that is on ends.
            let start = rig.events.count
            try rig.ask("push", "--app", Rig.app, "--caller", "Alice", "--id", "one")
            try rig.event("call.ringing", from: start)
            try again.does("UnbindAccount")
            #expect(try rig.event("call.ended", from: start)["reason"]?.string == "failed-unbound")
            try again.asked("DidInvalidatePushToken", "voip")
            let refused = try rig.ringctl("push", "--token", token, "--caller", "Alice", "--id", "two")
            #expect(refused.status == 1 && refused.all.contains("nobody is logged in"), "\(refused.all)")
            #expect(try rig.ask("history").items.count == 1)
            // Another account: the token is to be uploaded for it.
            try again.does("BindAccount bob")
            try again.asked("DidUpdatePushCredentials", "account=bob", "uploaded=false")
            try rig.ask("push", "--token", token, "--caller", "Alice", "--id", "three")
            try rig.event("call.ringing", from: start) { $0["caller"]?.string == "Alice" }
            #expect(try rig.ask("calls").items.first?["Account"]?.string == "bob")
        }

        @Test func aPushWakesAnAppThatWasKilledAndIsGivenToIt() throws {
            let rig = try Rig(["bus"])
            let log = rig.scratch.at("woken.log")
            try rig.desk.scratch.make(
                "services/\(Rig.app).service",
                Data(
                    """
                    [D-BUS Service]
                    Name=\(Rig.app)
                    Exec=/bin/sh -c "exec \(Tree.program("ringd-test-app")) \(Rig.app) answer session=down >>\(log)"
                    """.utf8))
            let app = try TalkApp(rig)
            app.program.kill()
            try rig.event("app.gone")
            let start = rig.events.count
            let call = try #require(
                try rig.ask("push", "--app", Rig.app, "--payload", "-", input: Data(#"{"callId":"k1","x":"ü"}"#.utf8))[
                    "call"]?.string)
            // It rings before the app is there.
            try rig.event("call.ringing", from: start)
            try rig.event("app.woken", from: start)
            func woken() -> String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
            try until("the push: \(woken())") { woken().contains("DidReceiveIncomingPush") }
            let line = woken().split(separator: "\n").first { $0.hasPrefix("DidReceiveIncomingPush") }!
            let payload = Data(#"{"callId":"k1","x":"ü"}"#.utf8).map { String(format: "%02x", $0) }.joined()
            #expect(line.contains(payload) && line.contains("call=\(call)") && line.contains("state=ringing"))
            // It has not logged in: the answer waits, and is sent once.
            try rig.ask("answer")
            try rig.event("call.deferred", from: start)
            #expect(try state(rig, call)?["State"]?.string == "deferred")
            #expect(!woken().contains("PerformAnswerCall"))
            _ = try run(
                "dbus-send",
                [
                    "--bus=\(rig.desk.bus)", "--print-reply", "--dest=\(Rig.app)", "/com/example/talk",
                    "org.ringd.TestApp1.Do", "string:SetSession up",
                ])
            try rig.event("call.active", from: start)
            #expect(woken().components(separatedBy: "PerformAnswerCall").count == 2)
            #expect(rig.events("app.push", from: start).count == 1)
        }

        @Test func aCallGoesThroughEverythingThatCallKitHas() throws {
            let rig = try Rig(["bus"])
            let app = try TalkApp(rig)
            // Outgoing.
            let first = try #require(try rig.ask("call", "+4930123", "--name", "Zoë")["call"]?.string)
            try app.asked("PerformStartCall", first, "handle=+4930123", "handle-type=phone-number", "outgoing=true")
            try rig.event("call.dialing")
            #expect(try state(rig, first)?["State"]?.string == "dialing")
            #expect(!app.story(of: first).contains("DidActivateAudioSession"))
            try app.does("ReportCallConnected \(first)")
            try rig.event("call.active")
            try rig.event("audio.on")
            // Mute, tones, hold.
            try rig.ask("mute")
            try app.asked("PerformSetMutedCall", first, "muted=true")
            try rig.event("call.muted")
            try rig.ask("dtmf", "12#")
            try app.asked("PerformPlayDTMFCall", first, "digits=12#")
            // A second call: held for it, and resumed by itself.
            let second = Self.uuid + "02"
            try app.does("ReportNewIncomingCall \(second) Bob")
            try rig.event("call.ringing") { $0["call"]?.string == second }
            #expect(try state(rig, second)?["State"]?.string == "waiting")
            try rig.ask("answer", "--hold")
            try rig.event("call.active") { $0["call"]?.string == second }
            #expect(try state(rig, first)?["IsHeldByAnother"]?.flag == true)
            #expect(try state(rig, first)?["IsMuted"]?.flag == true)
            // Swap, conference, and out of it.
            try rig.ask("unhold")
            try rig.event("call.resumed") { $0["call"]?.string == first }
            #expect(try state(rig, second)?["State"]?.string == "held")
            try rig.ask("group", String(second.prefix(8)) + String(second.dropFirst(8)), first)
            try rig.event("call.grouped")
            try app.asked("PerformSetGroupCall", second, "with=\(first)")
            #expect(try state(rig, second)?["State"]?.string == "active")
            #expect(try state(rig, second)?["Group"]?.integer == state(rig, first)?["Group"]?.integer)
            try rig.ask("ungroup", second)
            try rig.event("call.held") { $0["call"]?.string == first }
            // The other side ends it; what it held goes on.
            let start = rig.events.count
            try app.does("ReportCallEnded \(second) 2")
            try rig.event("call.resumed", from: start) { $0["call"]?.string == first }
            try rig.ask("hangup")
            try app.asked("PerformEndCall", first, "reason=hung-up")
            try rig.event("call.ended", from: start) { $0["call"]?.string == first }
            // Audio: on and off in turns, never on while it only rang or dialled.
            let audio = app.story(of: first).filter { $0.hasSuffix("AudioSession") }
            #expect(audio.count >= 6 && audio.count.isMultiple(of: 2))
            for (index, member) in audio.enumerated() {
                #expect(member == (index.isMultiple(of: 2) ? "DidActivateAudioSession" : "DidDeactivateAudioSession"))
            }
            let rows = try rig.ask("history").items
            #expect(rows.map { $0["direction"]?.string } == ["incoming", "outgoing"])
            #expect(rows[1]["handle"]?.string == "+4930123" && rows[1]["caller"]?.string == "Zoë")
            #expect(rows[1]["category"]?.string == "completed" && rows[0]["reason"]?.string == "remote-ended")
            // Called back as it was given.
            let back = try #require(try rig.ask("call", "--back", first)["call"]?.string)
            try app.asked("PerformStartCall", back, "handle=+4930123")
        }

        @Test func errorsHaveTheirFamilyAndName() throws {
            let rig = try Rig(["bus"])
            let app = try TalkApp(rig)
            let gone = Self.uuid + "99"
            let cases = [
                ("CallController1.Request", ["[]"], "RequestTransaction.EmptyTransaction"),
                (
                    "CallController1.Request", ["[('answer', '\(gone)', @a{sv} {})]"],
                    "RequestTransaction.UnknownCallUUID"
                ),
                (
                    "CallController1.Request", ["[('dance', '\(gone)', @a{sv} {})]"],
                    "RequestTransaction.InvalidAction"
                ),
                (
                    "CallController1.StartCall", ["com.example.none", "+1", "{}"], "UnknownApp"
                ),
                ("CallController1.Answer", ["''"], "UnknownCall"),
                ("CallProvider1.ReportNewIncomingCall", [Rig.app, gone, "{}"], "NotYours"),
                ("CallProvider1.FulfillAction", [gone, "{}"], "UnknownAction"),
                ("PushRegistry1.Token", [Rig.app, "voip"], "NotYours"),
            ]
            for (method, arguments, name) in cases {
                let said = try attempt(
                    "gdbus",
                    [
                        "call", "--session", "-d", "org.ringd.Ringd1", "-o", "/org/ringd/Ringd1", "-m",
                        "org.ringd.\(method)",
                    ] + arguments, environment: rig.environment, isWhole: true
                ).all
                #expect(said.contains("org.ringd.Error.\(name)"), "\(method): \(said)")
            }
            // What an app can get wrong.
            let call = Self.uuid + "01"
            try app.does("ReportNewIncomingCall \(call) Alice")
            try rig.event("call.ringing")
            try app.does("ReportNewIncomingCall \(call) Alice")
            try app.asked("failure", "ReportNewIncomingCall", "org.ringd.Error.IncomingCall.CallUUIDAlreadyExists")
            try app.does("ReportCallEnded \(gone) 2")
            try app.asked("failure", "ReportCallEnded", "org.ringd.Error.RequestTransaction.UnknownCallUUID")
            try app.does("ReportCallEnded \(call) 9")
            try app.asked("failure", "ReportCallEnded", "org.ringd.Error.CallKit.InvalidArgument")
            // Answered, fulfilled, and fulfilled once more.
            try rig.ask("answer")
            let action = try app.asked("PerformAnswerCall", call)[1]
            try rig.event("call.active")
            try app.does("FulfillAction \(action)")
            try app.asked("failure", "FulfillAction", "org.ringd.Error.UnknownAction")
        }

        @Test func anAppThatLiesHurtsItselfAlone() throws {
            let rig = try Rig(["bus"])
            let honest = try TalkApp(rig, "late")
            let liar = try TalkApp(rig, "answer", id: "com.example.liar")
            let call = Self.uuid + "11"
            try honest.does("ReportNewIncomingCall \(call) Alice")
            try rig.event("call.ringing")
            // Another's call, action, payloads and tokens.
            try liar.does("ReportCallEnded \(call) 2")
            try liar.asked("failure", "ReportCallEnded", "org.ringd.Error.RequestTransaction.UnknownCallUUID")
            try liar.does("Request end \(call)")
            try liar.asked("failure", "Request", "org.ringd.Error.RequestTransaction.UnknownCallUUID")
            try rig.ask("answer")
            let action = try honest.asked("PerformAnswerCall", call)[1]
            try liar.does("FulfillAction \(action)")
            try liar.asked("failure", "FulfillAction", "org.ringd.Error.UnknownAction")
            try liar.does("Pushes")
            try liar.asked("failure", "Pushes", "org.ringd.Error.CallKit.Unentitled")
            try liar.does("Status")
            try liar.asked("failure", "Status", "org.ringd.Error.CallKit.Unentitled")
            // A flood.
            try liar.does("Flood")
            try liar.asked("failure", "FulfillAction", "org.freedesktop.DBus.Error.LimitsExceeded")
            #expect(try state(rig, call)?["State"]?.string == "answering")
            try honest.does("FulfillAction \(action)")
            try rig.event("call.active") { $0["call"]?.string == call }
            // More calls than it may have: the others keep their room.
            for index in 20..<32 { try liar.does("ReportNewIncomingCall \(Self.uuid)\(index) Spam") }
            let start = rig.events.count
            try honest.does("ReportNewIncomingCall \(Self.uuid)50 Bob")
            try rig.event("call.queued", from: start) { $0["app"]?.string == Rig.app }
            #expect(try rig.ask("calls").items.filter { $0["App"]?.string == "com.example.liar" }.count <= 8)
            // It dies: its calls that ring ring on, ours are untouched.
            liar.program.kill()
            try rig.event("app.gone")
            #expect(try state(rig, call)?["State"]?.string == "active")
        }

        @Test func aDutyThatIsNotDoneCostsThePushes() throws {
            let rig = try Rig(["bus"])
            try rig.configure("[app \(Rig.app)]\nmust-report = strict\n")
            rig.daemon.send(SIGHUP)
            let app = try TalkApp(rig)
            // Reported, as iOS wants it.
            let call = Self.uuid + "31"
            #expect(
                try rig.ask("push", "--app", Rig.app, "--caller", "Alice", "--id", call)["outcome"]?.string == "to-app")
            try app.asked("DidReceiveIncomingPush", "must-report=true")
            for number in 1...3 {
                if number > 1 { try rig.ask("push", "--app", Rig.app, "--caller", "Alice", "--id", "no-\(number)") }
                try rig.event("app.strike") { $0["strikes"]?.integer == Int64(number) }
            }
            #expect(try rig.ask("calls").items.isEmpty)
            #expect(
                try rig.ask("push", "--app", Rig.app, "--caller", "Alice", "--id", "four")["outcome"]?.string
                    == "suspended")
            #expect(try rig.ask("apps", Rig.app).items.first?["suspended"]?.flag == true)
            try rig.ask("apps", "reset", Rig.app)
            #expect(
                try rig.ask("push", "--app", Rig.app, "--caller", "Alice", "--id", "five")["outcome"]?.string
                    == "to-app")
        }

        @Test func aRestartedDaemonTellsItsAppsThatCallsAreVoid() throws {
            let rig = try Rig(["bus"])
            let app = try TalkApp(rig)
            let call = Self.uuid + "41"
            try app.does("ReportNewIncomingCall \(call) Alice")
            try rig.event("call.ringing")
            try rig.ask("answer")
            try rig.event("call.active")
            rig.daemon.kill()
            try rig.start()
            try app.asked("ProviderDidReset")
            let row = try rig.lastCall()
            #expect(row["id"]?.string == call && row["category"]?.string == "interrupted")
            #expect(row["reason"]?.string == "failed-reset" && row["duration_ms"] != nil)
            // It is registered again, and takes calls.
            try rig.watch()
            try app.does("ReportNewIncomingCall \(Self.uuid)42 Bob")
            try rig.event("call.ringing") { $0["caller"]?.string == "Bob" }
        }

        /// SIGKILL amid calls that come, are answered and end: what was said of a call is in the history, once.
        @Test func killedAtAnyInstantItsHistoryIsWhole() throws {
            let rig = try Rig(["bus"])
            var random = SystemRandomNumberGenerator()
            var number = 100
            for round in 0..<8 {
                let app = try TalkApp(rig)
                let delay = UInt32.random(in: 0..<60_000, using: &random)
                let calls = (0..<4).map { _ -> String in
                    number += 1
                    return "2f1d6a3e-0000-4000-8000-000000000\(number)"
                }
                let start = rig.events.count
                for call in calls { try app.does("ReportNewIncomingCall \(call) Alice") }
                try rig.event("call.queued", from: start) { $0["call"]?.string == calls[3] }
                try app.does("ReportCallEnded \(calls[3]) 4")
                try rig.event("call.ended", from: start)
                // What has happened so far is on disk when the store has answered; the answer may be anywhere.
                try rig.ask("history")
                _ = try rig.ringctl("answer", calls[0])
                usleep(delay)
                rig.daemon.kill()
                app.program.kill()
                try rig.start()
                try rig.watch()
                let live = Set(try rig.ask("calls").items.compactMap { $0["UUID"]?.string })
                let rows = try rig.ask("history", "--limit", "100", "--all").items
                let ids = rows.compactMap { $0["id"]?.string }
                #expect(Set(ids).count == ids.count, "round \(round), \(delay) µs")
                for call in calls where !live.contains(call) {
                    #expect(ids.contains(call), "round \(round), \(delay) µs: \(call) is lost")
                }
                #expect(rows.allSatisfy { $0["state"]?.string == "ended" })
                for call in live { _ = try rig.ringctl("decline", call) }
                try until("rest") { try rig.ask("calls").items.isEmpty }
            }
        }
    }
}
