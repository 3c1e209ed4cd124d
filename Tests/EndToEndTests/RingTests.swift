import Foundation
import Glibc
import JSON
import TestSupport
import Testing

extension EndToEnd {
    /// From a push on a socket to silence after Answer, and every other way to stop.
    @Suite(.serialized) struct Ringing {
        /// A ringtone that is too long to be given a pause, so that silence is silence.
        static func addNoise(_ rig: Rig) throws {
            let noise = Noise(seconds: 10)
            try rig.scratch.make("noise.wav", noise.wave)
            try rig.ask("sounds", "add", rig.scratch.at("noise.wav"))
            try rig.ask("config", "set", "sound.ringtone", "noise")
        }

        @Test func aPushFromPHPRingsTheDesktopUntilItIsAnswered() throws {
            let rig = try Rig(config: "[ring]\nraise = 2\n")
            // A program that tells what it was given.
            try rig.scratch.make(
                "answer",
                Data(
                    """
                    #!/bin/bash
                    printf '%s\\0' "$@" >"\(rig.scratch.path)/words"
                    env -0 >"\(rig.scratch.path)/env.part"
                    mv "\(rig.scratch.path)/env.part" "\(rig.scratch.path)/env"
                    """.utf8))
            chmod(rig.scratch.at("answer"), 0o755)
            try rig.configure(
                """
                [ring]
                raise = 2
                [sound]
                ringtone = noise
                [app \(Rig.app)]
                name = Talk
                answer = run "\(rig.scratch.at("answer"))" "two words" $HOME {id}
                """)
            try Self.addNoise(rig)
            try rig.listen()
            let recording = try rig.desk.record()
            let start = rig.events.count

            let sent = try rig.php(token: try rig.token(), message: "Alice 邀请你进行通话", ["--wait", "0.1"])
            #expect(sent.status == 0, "\(sent.all)")

            // Shown, as the specification has it.
            try rig.event("notification.shown", from: start)
            let notify = try rig.message("Notify")
            #expect(notify[0].string == "ringd" && notify[1].integer == 0)
            #expect(notify[3].string == "Alice 邀请你进行通话")
            #expect(notify[4].string?.hasPrefix("Call · Talk") == true)
            let actions = notify[5].items.compactMap(\.string)
            #expect(stride(from: 0, to: actions.count, by: 2).map { actions[$0] } == ["default", "answer", "decline"])
            #expect(actions.count == 6 && actions[3] == "Answer" && actions[5] == "Decline")
            let hints = notify[6]
            #expect(hints["urgency"]?["type"]?.string == "y" && hints["urgency"]?["data"]?.integer == 2)
            #expect(hints["category"]?["data"]?.string == "call.incoming")
            #expect(hints["suppress-sound"]?["data"]?.flag == true)
            #expect(hints["sound-name"] == nil)
            #expect(notify[7].integer == 0)

            // Heard; and the sound that is not there is named.
            try rig.event("sound.heard", from: start)
            let started = try rig.event("sound.started", from: start)
            #expect(started["missing"]?.string?.contains("weixin") == true)
            #expect(started["sound"]?.string == "noise")
            try rig.event("vibration.started", from: start)

            // Raised again: closed and shown anew, and never two of them.
            for count in 1...2 {
                try until("raise \(count)") {
                    let displayed = try rig.displayed
                    #expect(displayed <= 1)
                    return rig.events("notification.raised", from: start).count >= count
                }
            }
            try until("the banner to be back") { try rig.displayed == 1 }
            try until("each raise on the bus") {
                rig.messages("Notify").count >= 3 && rig.messages("CloseNotification").count >= 2
            }
            #expect(Set(rig.messages("Notify").compactMap { $0[1].integer }) == [0])

            let soundSoFar = try recording.samples()
            #expect(soundSoFar.suffix(19_200).contains { abs(Int($0)) > 500 }, "nothing is heard before the answer")
            try rig.choose("Answer")
            try rig.event("call.answering", from: start)
            let atAnswer = Int(recording.seconds * 48000)
            try rig.event("sound.stopped", from: start)
            try rig.event("vibration.stopped", from: start)
            let ended = try rig.event("call.ended", from: start)
            #expect(ended["reason"]?.string == "answered")
            try rig.expectRest()
            let raised = rig.events("notification.raised", from: start).count
            pause(2.5)
            #expect(rig.events("notification.raised", from: start).count == raised)
            #expect(try rig.displayed == 0)
            let heard = try recording.finish()
            let last = try #require(heard.lastIndex { $0 != 0 }) / 2
            #expect(last < atAnswer + 4800, "\(last - atAnswer) frames after the answer")

            // The app got the call in its environment, and the words as they are written.
            try until("the app") { FileManager.default.fileExists(atPath: rig.scratch.at("env")) }
            let variables = try environment(rig)
            #expect(variables["RINGD_ACTION"] == "answer" && variables["RINGD_APP"] == Rig.app)
            #expect(variables["RINGD_CALLER"] == "Alice 邀请你进行通话" && variables["RINGD_VIDEO"] == "0")
            #expect(variables["RINGD_ID"] == ended["call"]?.string)
            let words = try String(contentsOfFile: rig.scratch.at("words"), encoding: .utf8)
            #expect(words == "two words\0$HOME\0{id}\0")
            let row = try rig.lastCall()
            #expect(row["reason"]?.string == "answered" && row["caller"]?.string == "Alice 邀请你进行通话")

            // No shell ever sees what a caller wrote.
            unlink(rig.scratch.at("env"))
            let hostile = "$(touch \(rig.scratch.at("x"))) `touch \(rig.scratch.at("x"))` \"q\" 'a'; touch x"
            let payload = try JSONSerialization.data(withJSONObject: [
                "displayName": "\(hostile)\nnext\u{202e}", "callId": hostile + "\n2", "handle": "+1\n$(touch x)",
            ])
            try rig.ask("push", "--app", Rig.app, "--payload", "-", input: payload)
            try rig.ask("answer")
            try until("the app again") { FileManager.default.fileExists(atPath: rig.scratch.at("env")) }
            let second = try environment(rig)
            #expect(second["RINGD_CALLER"] == hostile + " next")
            #expect(second["RINGD_KEY"] == hostile + "\n2")
            #expect(second["RINGD_HANDLE"] == "+1 $(touch x)")
            #expect(!FileManager.default.fileExists(atPath: rig.scratch.at("x")))
            #expect(!FileManager.default.fileExists(atPath: "x"))
        }

        private func environment(_ rig: Rig) throws -> [String: String] {
            let text = try String(contentsOfFile: rig.scratch.at("env"), encoding: .utf8)
            return Dictionary(
                text.split(separator: "\0").map { line in
                    let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                    return (String(parts[0]), String(parts.last ?? ""))
                }, uniquingKeysWith: { $1 })
        }

        @Test func everyWayToStopStopsEverything() throws {
            let rig = try Rig()
            try Self.addNoise(rig)
            try rig.ask("apps", "add", Rig.app)
            try rig.listen()
            let recording = try rig.desk.record()

            /// Rings by a push, stops by `stop`, and looks at all that is to be gone.
            func check(_ reason: String, category: String, id: String, _ stop: () throws -> Void) throws {
                let start = rig.events.count
                try rig.ask("push", "--app", Rig.app, "--caller", "Bob", "--handle", "+4930123", "--id", id)
                try rig.event("sound.heard", from: start)
                let banner = try rig.event("notification.shown", from: start)["id"]?.integer
                try stop()
                let ended = try rig.event("call.ended", from: start)
                #expect(ended["reason"]?.string == reason)
                try rig.event("sound.stopped", from: start)
                try rig.event("notification.closed", from: start)
                try rig.event("vibration.stopped", from: start)
                // dunst itself says so.
                try until("the end of the banner after \(reason)") {
                    rig.messages("NotificationClosed").contains { $0.first?.integer == banner }
                }
                try until("no stream after \(reason)") { try rig.streams.isEmpty }
                // What is heard now is silence.
                let position = recording.seconds
                try until("some recording") { recording.seconds > position + 0.15 }
                #expect(
                    try recording.samples().suffix(4800).allSatisfy { $0 == 0 }, "sound after \(reason)")
                let row = try rig.lastCall()
                #expect(row["reason"]?.string == reason && row["key"]?.string == id)
                #expect(row["category"]?.string == category && row["handle"]?.string == "+4930123")
            }
            try check("declined", category: "declined", id: "action") { try rig.choose("Decline") }
            try check("declined", category: "declined", id: "verb") { try rig.ask("decline") }
            try check("ignored", category: "missed", id: "ignore") { try rig.ask("ignore", "ignore") }
            try check("remote-ended", category: "missed", id: "cancel") { try rig.ask("cancel") }
            try check("remote-ended", category: "missed", id: "push") {
                try rig.ask("push", "--app", Rig.app, "--cancel", "--id", "PUSH")
            }
            try check("answered-elsewhere", category: "answered on another device", id: "elsewhere") {
                let payload = Data(#"{"callId":"elsewhere","event":"answered-elsewhere"}"#.utf8)
                try rig.ask("push", "--app", Rig.app, "--payload", "-", input: payload)
            }
            // The two cancelled ones are missed calls of one caller: one notice that counts them.
            #expect(rig.events("missed.shown").count == 1)
            #expect(
                rig.messages("Notify").last { $0[3].string?.contains("issed") == true }?[3].string
                    == "2 missed calls from Bob")
        }

        @Test func silencedAndOpenedCallsStayAnswerable() throws {
            let rig = try Rig()
            try rig.configure("[app \(Rig.app)]\nopen = run /usr/bin/touch \(rig.scratch.at("opened"))\n")
            try Self.addNoise(rig)
            try rig.ask("apps", "add", Rig.app)
            for way in ["silence", "body"] {
                let start = rig.events.count
                try rig.ask("push", "--app", Rig.app, "--caller", "Carol", "--id", way)
                try rig.event("sound.heard", from: start)
                try until("the banner") { try rig.displayed == 1 }
                if way == "silence" { try rig.ask("silence") } else { _ = try rig.dunstctl("action", "0") }
                try rig.event("call.silenced", from: start)
                try rig.event("sound.stopped", from: start)
                try rig.event("vibration.stopped", from: start)
                try rig.expectRest()
                if way == "body" {
                    // A click opens the app and is no answer.
                    try rig.event("app.opened", from: start)
                    try until("the app") { FileManager.default.fileExists(atPath: rig.scratch.at("opened")) }
                }
                #expect(rig.events("call.ended", from: start).isEmpty)
                let call = try #require(try rig.ask("calls").items.first)
                #expect(call["State"]?.string == "silenced")
                try rig.ask("answer", way)
                #expect(try rig.event("call.ended", from: start)["reason"]?.string == "answered")
            }
        }

        @Test func aCallThatNobodyTakesIsMissedAndCanBeCalledBack() throws {
            let rig = try Rig()
            try rig.configure(
                "[app \(Rig.app)]\nname = Talk\ncall-back = run /usr/bin/touch \(rig.scratch.at("back"))\n")
            try Self.addNoise(rig)
            try rig.ask("apps", "add", Rig.app)
            try rig.listen()
            try rig.ask(
                "push", "--app", Rig.app, "--caller", "Dora", "--handle", "+4930999", "--id", "a", "--time", "1.5")
            #expect(try rig.event("call.ended")["reason"]?.string == "unanswered")
            try rig.event("missed.shown")
            try until("no sound") { try rig.streams.isEmpty }
            var notice = try rig.message("Notify") { $0[3].string == "Missed call from Dora" }
            #expect(notice[4].string?.contains("Talk") == true)
            #expect(notice[5].items.compactMap(\.string).suffix(2) == ["callback", "Call back"])
            #expect(notice[6]["category"]?["data"]?.string == "call.unanswered")
            #expect(notice[6]["urgency"]?["data"]?.integer == 1)
            let row = try rig.lastCall()
            #expect(row["reason"]?.string == "unanswered" && row["category"]?.string == "missed")
            #expect((1400...3000).contains(row["rang_ms"]?.integer ?? 0))
            #expect(try rig.ask("missed").items.count == 1)
            try until("only the notice") { try rig.displayed == 1 }
            try rig.choose("Call back")
            try until("calling back") { FileManager.default.fileExists(atPath: rig.scratch.at("back")) }
            try rig.expectRest()

            // Nobody knows where a call without a handle came from.
            let start = rig.events.count
            try rig.ask("push", "--app", Rig.app, "--caller", "Nemo", "--id", "b", "--time", "1")
            try rig.event("missed.shown", from: start)
            notice = try rig.message("Notify") { $0[3].string == "Missed call from Nemo" }
            #expect(!notice[5].items.contains("callback"))
        }

        @Test func ringctlSaysWhatItCouldNotDo() throws {
            let rig = try Rig()
            try rig.ask("apps", "add", Rig.app)
            func check(_ status: Int32, _ words: String, _ outcome: Outcome) {
                #expect(outcome.status == status, "\(outcome.all)")
                #expect(outcome.complaint.contains(words), "\(outcome.complaint)")
                #expect(outcome.out.isEmpty)
            }
            check(1, "no call is ringing", try rig.ringctl("answer"))
            check(1, "no call is live", try rig.ringctl("hangup"))
            check(
                1, "no app \"com.example.tolk\" is registered; did you mean com.example.talk?",
                try rig.ringctl("push", "--app", "com.example.tolk", "--caller", "A"))
            check(1, "is no app id", try rig.ringctl("apps", "add", "nonsense"))
            check(
                2, "--caller is for a ready-made call",
                try rig.ringctl("push", "--app", Rig.app, "--payload", "-", "--caller", "A", input: Data("{}".utf8)))
            check(
                1, "no push that says cancel; it says invite",
                try rig.ringctl("push", "--app", Rig.app, "--dialect", "plivo", "--kind", "cancel", "--id", "1"))
            check(
                1, "did you mean telnyx?",
                try rig.ringctl("push", "--app", Rig.app, "--dialect", "telnix", "--caller", "A"))
            // Printed, and not sent.
            let printed = try rig.ringctl("push", "--payload", "-", "--print", input: Data("{}\n".utf8))
            #expect(printed.status == 0 && printed.out == "{}\n")
            let made = try rig.ringctl("push", "--dialect", "agora-chat", "--caller", "A", "--print")
            #expect(made.out.contains("callId") && made.complaint.contains("no place for --caller"))
            #expect(try rig.ask("pushes").items.isEmpty)
            check(1, "cannot read", try rig.ringctl("push", "--app", Rig.app, "--payload", "/none"))
            check(1, "it has 2 bytes, ringd's have 32", try rig.ringctl("push", "--token", "abcd", "--caller", "A"))
            check(1, "no call is called \"nobody\"", try rig.ringctl("report", "nobody"))
            check(2, "unknown verb \"anwser\"; did you mean answer?", try rig.ringctl("anwser"))
            check(2, "unknown option --callr; did you mean --caller?", try rig.ringctl("ring", "--callr", "A"))
            check(2, "--time is a number of seconds", try rig.ringctl("ring", "--time", "soon"))
            check(2, "say to whom", try rig.ringctl("push", "--caller", "A"))
            try rig.ring("Alice")
            try rig.ring("Bob")
            let two = try rig.ringctl("answer", "zz")
            check(1, "no live call is called \"zz\"", two)
            #expect(try rig.ringctl("decline").status == 0)
            #expect(try rig.ringctl("decline").status == 0)
            check(1, "the last one, Bob: declined", try rig.ringctl("decline"))
            rig.daemon.send(SIGTERM)
            #expect(try rig.daemon.end() == 0)
            check(3, "ringd is not running", try rig.ringctl("status"))
            let away = try attempt(Tree.program("ringctl"), ["status"], environment: ["HOME": "/"], isWhole: true)
            check(3, "no session bus", away)
        }
    }
}
