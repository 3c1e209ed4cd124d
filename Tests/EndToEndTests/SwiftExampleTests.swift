import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// The programs of `Examples`, which Scripts/test builds while other tests run; by itself a test builds them.
enum SwiftExamples {
    static let folder: Result<String, any Error> = Result {
        let status = Tree.root.appending(path: ".build/examples.status")
        func words() -> [Substring] {
            ((try? String(contentsOf: status, encoding: .utf8)) ?? "").split { $0 == " " || $0 == "\n" }
        }
        // Minutes on a slow machine, from nothing.
        try until("Scripts/examples", within: 900) {
            let now = words()
            guard now.first == "running", let pid = pid_t(now.last ?? "") else { return true }
            return Glibc.kill(pid, 0) != 0
        }
        if words().count == 2, words()[0] == "0", !isOlderThanItsSources(status) { return String(words()[1]) }
        let built = try attempt(Tree.root.appending(path: "Scripts/examples").path, [])
        guard built.status == 0 else { throw ToolFailed(line: "Scripts/examples: \(built.all)") }
        return built.out.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func isOlderThanItsSources(_ file: URL) -> Bool {
        func date(_ file: URL) -> Date? {
            try? file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
        }
        guard let built = date(file) else { return true }
        return ["Sources", "Examples", "Package.swift"].contains { name in
            let folder = Tree.root.appending(path: name)
            let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? []
            return (files.compactMap { $0 as? URL } + [folder]).contains { date($0).map { $0 > built } ?? false }
        }
    }
}

/// A desktop, an example that the bus starts, and what it says.
final class ExampleDesk {
    let rig: Rig
    let name: String
    private let spoken: String

    /// `arguments`: of the example; nil if a test starts it by itself.
    init(_ name: String, config: String = "", in rig: Rig? = nil) throws {
        self.name = name
        let rig = try rig ?? Rig()
        self.rig = rig
        spoken = rig.scratch.at("\(name).log")
        if !config.isEmpty {
            try rig.configure(config)
            try rig.ask("config", "reload")
        }
    }

    /// What the bus started does not end with it.
    deinit {
        let pids = (try? String(contentsOfFile: "\(spoken).pids", encoding: .utf8)) ?? ""
        for pid in pids.split(separator: "\n").compactMap({ pid_t($0) }) {
            let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe")
            if program?.hasSuffix("/\(name)") == true { Glibc.kill(pid, SIGKILL) }
        }
    }

    var program: String { get throws { try SwiftExamples.folder.get() + "/\(name)" } }

    /// The bus starts it from now on, as its service file says.
    func install(_ arguments: String...) throws {
        let line = try ([program] + arguments).joined(separator: " ")
        try rig.desk.scratch.make(
            "services/\(Rig.app).service",
            Data(
                """
                [D-BUS Service]
                Name=\(Rig.app)
                Exec=/bin/sh -c "RINGD_APP_ID=\(Rig.app) HOME=\(rig.scratch.at("home")) sh -c 'echo $$ >>\(spoken).pids; exec \(line)' >>\(spoken) 2>&1"
                """.utf8))
    }

    /// As from a menu.
    func launch() throws {
        try run(
            "dbus-send",
            [
                "--bus=\(rig.desk.bus)", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
                "org.freedesktop.DBus.StartServiceByName", "string:\(Rig.app)", "uint32:0",
            ])
    }

    var lines: [String] {
        ((try? String(contentsOfFile: spoken, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }

    /// A line that begins like that, from the `start`th on.
    @discardableResult
    func says(_ words: String, from start: Int = 0) throws -> String {
        var found: String?
        do {
            try until(words) {
                found = lines.dropFirst(start).first { $0.hasPrefix(words) }
                return found != nil
            }
        } catch {
            throw ToolFailed(line: "\(name) did not say \(words):\n\(lines.joined(separator: "\n"))\n\(rig.log)")
        }
        return found!
    }

    func kill() throws {
        let start = rig.events.count
        let owner = try run(
            "busctl",
            [
                "--address=\(rig.desk.bus)", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus",
                "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", Rig.app,
            ])
        Glibc.kill(try #require(pid_t(owner.split(separator: " ").last?.filter(\.isNumber) ?? "")), SIGKILL)
        try rig.event("app.gone", from: start)
    }

    func isOver(_ call: String) throws {
        try until("the end of \(call)") { try rig.ask("calls").items.allSatisfy { $0["UUID"]?.string != call } }
    }
}

/// The service that Incoming and Meeting log in to, and somebody who calls there.
final class ExampleService {
    private let service: Program
    private let caller: LineClient
    let address: String

    init(_ rig: Rig, login: Double = 0.3) throws {
        let script = Tree.root.appending(path: "Examples/python/voip_service.py").path
        let service = try Program(
            "/usr/bin/python3", [script, "--login", String(login), "--ringctl", Tree.program("ringctl")],
            environment: rig.environment, output: rig.scratch.at("service.log"))
        self.service = service
        try until("the service: \(service.said)") { service.said.contains("\n") }
        let port = try #require(UInt16(service.said.prefix { $0 != "\n" }))
        address = "127.0.0.1:\(port)"
        caller = try LineClient(port: port)
    }

    func invite(_ call: String, _ name: String) {
        caller.say(#"{"do":"invite","user":"alice","call":"\#(call)","caller":"\#(name)"}"#)
    }

    func cancel(_ call: String, _ reason: String) {
        caller.say(#"{"do":"cancel","call":"\#(call)","reason":"\#(reason)"}"#)
    }

    func hangUp(_ call: String) { caller.say(#"{"do":"hangup","call":"\#(call)"}"#) }

    @discardableResult
    func told(_ what: String, _ call: String) throws -> JSONValue {
        var found: JSONValue?
        try until("the caller to be told \(what)") {
            found = caller.heard().last { $0["what"]?.string == what && $0["call"]?.string == call }
            return found != nil
        }
        return found!
    }
}

extension EndToEnd {
    /// The apps of `Examples`, each a package of its own upon the modules, do what their READMEs say.
    @Suite(.serialized) struct SwiftExample {
        private func id(_ number: Int) -> String { "2f1d6a3e-0000-4000-8000-" + String(format: "%012d", number) }

        private func state(_ desk: ExampleDesk, _ call: String) throws -> String? {
            try desk.rig.ask("calls").items.first { $0["UUID"]?.string == call }?["State"]?.string
        }

        private func waits(_ desk: ExampleDesk, _ call: String, for state: String) throws {
            try until("\(state) of \(call)") { try self.state(desk, call) == state }
        }

        // MARK: Incoming

        @Test func incomingIsWokenByAPushAndAnswersWhenItIsLoggedIn() throws {
            let desk = try ExampleDesk("Incoming")
            let service = try ExampleService(desk.rig, login: 1)
            try desk.install("alice", service.address)
            try desk.launch()
            try desk.says("token-uploaded device-")
            try desk.says("logged-in")

            // Killed: it rings before the app is there; the answer waits for the log-in, which a push has begun.
            try desk.kill()
            var start = desk.rig.events.count
            var line = desk.lines.count
            service.invite(id(1), "Bob")
            try desk.rig.event("call.ringing", from: start)
            try desk.rig.ask("answer")
            try desk.says("answer \(id(1))", from: line)
            try desk.says("deferred \(id(1))", from: line)
            try desk.says("connected \(id(1))", from: line)
            try desk.says("audio-on", from: line)
            try desk.says("push \(id(1)) Bob", from: line)
            // Its token is known there already.
            try desk.says("token-known", from: line)
            try service.told("answered", id(1))
            #expect(try state(desk, id(1)) == "active")
            try desk.rig.ask("hangup")
            try desk.says("end \(id(1))", from: line)
            #expect(try service.told("hung-up", id(1))["reason"]?.string == "hung-up")
            try desk.says("audio-off", from: line)
            try desk.isOver(id(1))

            // Declined while it is dead.
            try desk.kill()
            start = desk.rig.events.count
            line = desk.lines.count
            service.invite(id(2), "Carol")
            try desk.rig.event("call.ringing", from: start)
            try desk.rig.ask("decline")
            try desk.says("end \(id(2))", from: line)
            #expect(try service.told("hung-up", id(2))["reason"]?.string == "declined")
            // Nothing of the first call's answer was left for the second (V38).
            #expect(!desk.lines.dropFirst(line).contains { $0.hasPrefix("answer") })
        }

        @Test func incomingTellsCancelsApartAndDropsADeferredAnswer() throws {
            let desk = try ExampleDesk("Incoming")
            let service = try ExampleService(desk.rig, login: 1.5)
            try desk.install("alice", service.address)
            try desk.launch()
            try desk.says("token-uploaded")
            let reasons = [
                ("remote-cancel", "remoteEnded", "missed"), ("remote-timeout", "unanswered", "missed"),
                ("answered-elsewhere", "answeredElsewhere", "answered on another device"),
                ("rejected-elsewhere", "declinedElsewhere", "declined on another device"),
            ]
            for (index, (reason, word, category)) in reasons.enumerated() {
                let call = id(10 + index)
                service.invite(call, "Dora")
                try desk.says("reported \(call)")
                service.cancel(call, reason)
                try desk.says("ended \(call) \(word)")
                try desk.isOver(call)
                #expect(try desk.rig.lastCall()["category"]?.string == category)
            }
            // Cancelled while the answer waits for the log-in: it is not answered afterwards (V39).
            try desk.kill()
            let line = desk.lines.count
            service.invite(id(20), "Emil")
            try desk.rig.event("call.ringing") { $0["call"]?.string == id(20) }
            try desk.rig.ask("answer")
            try desk.says("deferred \(id(20))", from: line)
            service.cancel(id(20), "remote-cancel")
            try desk.says("logged-in", from: line)
            try desk.says("ended \(id(20)) remoteEnded", from: line)
            try desk.isOver(id(20))
        }

        // MARK: Outgoing

        @Test func outgoingDialsConnectsSendsTonesAndIsCalledBackFromRecents() throws {
            let desk = try ExampleDesk("Outgoing")
            let pipe = desk.rig.scratch.at("buttons")
            try #require(mkfifo(pipe, 0o600) == 0)
            // Both ends, so that opening it waits for nobody.
            let buttons = open(pipe, O_RDWR)
            defer { close(buttons) }
            func press(_ line: String) {
                _ = "\(line)\n".utf8CString.dropLast().withUnsafeBytes { write(buttons, $0.baseAddress, $0.count) }
            }
            var environment = desk.rig.environment
            environment["RINGD_APP_ID"] = Rig.app
            let program = try Program(
                "/bin/sh", ["-c", "exec \(try desk.program) <\(pipe)"], environment: environment,
                output: desk.rig.scratch.at("Outgoing.log"))
            defer { program.kill() }
            try desk.says("begin")

            press("call +4930551")
            let dialled = try desk.says("dial ").split(separator: " ").map(String.init)
            let call = dialled[1]
            #expect(dialled[2] == "+4930551")
            try desk.says("ringback \(call)")
            #expect(["dialing", "active"].contains(try state(desk, call)))
            try desk.says("connected \(call)")
            try desk.says("audio-on")
            try waits(desk, call, for: "active")
            try desk.rig.ask("dtmf", "12#")
            try desk.says("tones \(call) 12#")
            try desk.rig.ask("hold")
            try desk.says("held \(call)")
            try desk.rig.ask("unhold")
            try desk.says("resumed \(call)")
            press("end")
            #expect(try desk.says("over \(call) hung-up").hasSuffix(" s"))
            try desk.isOver(call)
            let row = try desk.rig.lastCall()
            #expect(row["direction"]?.string == "outgoing" && row["category"]?.string == "completed")
            #expect(try #require(row["duration_ms"]?.integer) > 0)

            // Recents: the number comes back to the app. This one hangs up.
            var line = desk.lines.count
            try desk.rig.ask("call", "--back", call)
            let back = try desk.says("dial ", from: line).split(separator: " ").map(String.init)
            #expect(back[1] != call && back[2] == "+4930551")
            try waits(desk, back[1], for: "active")
            try desk.rig.ask("hangup")
            try desk.says("over \(back[1]) hung-up")

            line = desk.lines.count
            press("call +4930559")
            try desk.says("over ", from: line)
            #expect(desk.lines.last { $0.hasPrefix("over") }?.contains("remote-hangup") == true)
            line = desk.lines.count
            press("call +4930550")
            #expect(try desk.says("over ", from: line).contains("failed (the number is not in service), not connected"))
            try until("a failed call in the history") { try desk.rig.lastCall()["category"]?.string == "failed" }

            // Given up before the network knew it (O19).
            line = desk.lines.count
            press("call +4930551")
            try desk.says("dial ", from: line)
            press("end")
            #expect(try desk.says("over ", from: line).contains("hung-up, not connected"))

            // The system's part restarts: all is void, and then goes on.
            line = desk.lines.count
            press("call +4930551")
            try desk.says("connected ", from: line)
            desk.rig.daemon.kill()
            try desk.rig.start()
            try desk.says("reset", from: line)
            try desk.says("begin", from: line)
            line = desk.lines.count
            press("call +4930552")
            try desk.says("connected ", from: line)
            press("end")
            try desk.says("over ", from: line)
        }

        // MARK: Ringer

        @Test func ringerShowsItsOwnBannerAndTakesItBack() throws {
            let desk = try ExampleDesk("Ringer")
            try desk.rig.listen()
            try desk.install()
            try desk.launch()
            try desk.says("authorized")
            try desk.says("token ")
            func push(_ number: Int, _ more: String) throws {
                try desk.rig.ask(
                    "push", "--app", Rig.app, "--payload", "-",
                    input: Data(#"{"callId":"\#(id(number))",\#(more)}"#.utf8))
            }
            func banners(_ caller: String) -> Int {
                desk.rig.messages("Notify").count { $0[4].string == "\(caller) invites you to a call" }
            }

            // A second after the push, with buttons that act on the call.
            try push(30, #""aps":{"alert":"Bob","sound":"weixin.m4a"}"#)
            try desk.says("pending")
            try desk.rig.event("sound.heard")
            try desk.says("shown Bob")
            let notify = try desk.rig.message("Notify") { $0[4].string == "Bob invites you to a call" }
            #expect(notify[5].items.map(\.string) == ["default", "Open", "TAKE", "Take it", "REFUSE", "Not now"])
            try until("the button") {
                try desk.rig.choose("Take it")
                return desk.lines.contains("button take \(id(30))")
            }
            try desk.says("taken")
            try waits(desk, id(30), for: "active")
            try desk.rig.ask("hangup")
            try desk.says("over")
            try desk.rig.expectRest()

            // Cancelled before it is shown: never shown.
            var line = desk.lines.count
            try push(31, #""aps":{"alert":"Carol"}"#)
            try desk.says("pending", from: line)
            try push(31, #""kind":"cancel""#)
            try desk.says("withdrawn", from: line)
            try desk.isOver(id(31))
            // … and after it is: gone.
            line = desk.lines.count
            try push(32, #""aps":{"alert":"Dora"}"#)
            try desk.says("shown Dora", from: line)
            try until("the banner") { banners("Dora") == 1 }
            let closed = desk.rig.messages("CloseNotification").count
            try push(32, #""kind":"cancel""#)
            try desk.says("withdrawn", from: line)
            try desk.isOver(id(32))
            // The app closes its own, ringd its own.
            try until("both banners to go") { desk.rig.messages("CloseNotification").count == closed + 2 }
            // A second and more has passed since.
            #expect(banners("Carol") == 0)
        }

        // MARK: Meeting

        @Test func meetingIsStartedByAPushAndHasMediaOnlyWhileItMay() throws {
            let desk = try ExampleDesk("Meeting")
            let service = try ExampleService(desk.rig, login: 0.6)
            try desk.install("alice", service.address)
            try desk.launch()
            try desk.says("token-uploaded")

            // Killed state: reported before there is an agent, under the name that the app's directory has.
            try desk.kill()
            var line = desk.lines.count
            service.invite(id(40), "8:acs:bob")
            try desk.says("push \(id(40)) (killed state)", from: line)
            try desk.says("reported \(id(40))", from: line)
            try until("the app's own name for the caller") {
                try desk.rig.ask("calls").items.first?["Caller"]?.string == "Bob Example"
            }
            #expect(try desk.rig.ask("calls").items.first?["Handle"]?.string == "+493055501")
            #expect(!desk.lines.dropFirst(line).contains { $0.hasPrefix("media-on") })
            try desk.rig.ask("answer")
            try desk.says("accept \(id(40))", from: line)
            try desk.says("media-on \(id(40))", from: line)
            let spoken = Array(desk.lines.dropFirst(line))
            let configured = try #require(spoken.firstIndex(of: "audio-configured"))
            #expect(configured < (spoken.firstIndex { $0.hasPrefix("media-on") } ?? 0))
            try desk.rig.ask("mute")
            try desk.says("muted \(id(40))", from: line)
            try desk.rig.ask("unmute")
            try desk.says("unmuted \(id(40))", from: line)

            // A second call: the first is held, its media are off; then they change places.
            line = desk.lines.count
            service.invite(id(41), "8:acs:carol")
            try desk.says("reported \(id(41))", from: line)
            try desk.rig.ask("answer", "--hold")
            try desk.says("held \(id(40))", from: line)
            try desk.says("media-off", from: line)
            try desk.says("media-on \(id(41))", from: line)
            line = desk.lines.count
            try desk.rig.ask("unhold", id(40))
            try desk.says("resumed \(id(40))", from: line)
            try desk.says("media-on \(id(40))", from: line)
            try waits(desk, id(41), for: "held")
            line = desk.lines.count
            service.hangUp(id(40))
            try desk.says("over \(id(40)) remoteEnded", from: line)
            try desk.says("media-off", from: line)
            _ = try desk.rig.ringctl("hangup", id(41))
            try desk.says("over \(id(41)) hung-up")
            try desk.isOver(id(41))
            #expect(try service.told("hung-up", id(41))["reason"]?.string == "hung-up")
            // On and off in turn, from the first line to the last.
            var isOn = false
            for word in desk.lines where word.hasPrefix("media-") {
                #expect(word.hasPrefix("media-on") != isOn, "\(desk.lines)")
                isOn = word.hasPrefix("media-on")
            }
            #expect(!isOn)
        }
    }
}
