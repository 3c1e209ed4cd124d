import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// A user of the test's own, with a real `systemd --user`, by Scripts/systemd-user.
final class UserSession {
    static let script = Tree.root.appending(path: "Scripts/systemd-user").path

    /// Why there can be none on this machine; nil if there can.
    static let obstacle: String? = {
        guard let outcome = try? TestSupport.attempt(script, ["check"]) else {
            return "Scripts/systemd-user cannot be run"
        }
        return outcome.status == 0 ? nil : outcome.complaint.trimmingCharacters(in: .whitespacesAndNewlines)
    }()

    let scratch = Scratch()
    /// An X server, for dunst to draw on.
    private let desk: Desk
    var home: String { scratch.at("home") }

    init() throws {
        desk = try Desk(["display"])
        try TestSupport.run(Self.script, ["up", scratch.path])
        for folder in ["Scripts", "Systemd", "Sounds", "Docs"] {
            try copy(Tree.root.appending(path: folder).path, "source/\(folder)")
        }
        for program in ["ringd", "ringctl", "ringd-decode"] { try copy(Tree.program(program), "built/\(program)") }
        let display = try String(contentsOfFile: desk.scratch.at("display"), encoding: .utf8)
        try run("systemctl", "--user", "set-environment", "DISPLAY=:\(display.filter(\.isNumber))")
    }

    deinit { _ = try? TestSupport.run(Self.script, ["down", scratch.path]) }

    private func copy(_ source: String, _ name: String) throws {
        let target = URL(filePath: home).appending(path: name)
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try TestSupport.run("cp", ["-r", source, target.path])
        try TestSupport.run("chmod", ["-R", "a+rX", URL(filePath: home).appending(path: name).path])
    }

    func write(_ name: String, _ text: String) throws {
        try scratch.make("input", Data(text.utf8))
        try run("mkdir", "-p", URL(filePath: home).appending(path: name).deletingLastPathComponent().path)
        try run("cp", scratch.at("input"), "\(home)/\(name)")
    }

    func attempt(_ words: String...) throws -> Outcome {
        try TestSupport.attempt(Self.script, ["run", scratch.path] + words)
    }

    /// A command that is to succeed; what it said, without the last line's end.
    @discardableResult
    func run(_ words: String...) throws -> String {
        let outcome = try TestSupport.attempt(Self.script, ["run", scratch.path] + words)
        guard outcome.status == 0 else { throw ToolFailed(line: "\(words): \(outcome.status) \(outcome.all)") }
        return outcome.out.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func property(_ name: String, of unit: String = "ringd.service") throws -> String {
        try run("systemctl", "--user", "show", "--value", "-p", name, unit)
    }

    var hasJournal: Bool { FileManager.default.fileExists(atPath: scratch.at("journald.pid")) }

    func journal(_ matches: String...) throws -> [JSONValue] {
        let outcome = try TestSupport.attempt(
            Self.script, ["journal", scratch.path, "-o", "json", "_SYSTEMD_USER_UNIT=ringd.service"] + matches)
        return try outcome.out.split(separator: "\n").map { try JSONValue.parse(Array($0.utf8)) }
    }

    func calls() throws -> [JSONValue] {
        try JSONValue.parse(Array(try run("ringctl", "calls", "--json").utf8)).items
    }
}

extension EndToEnd {
    /// The unit as it is installed, under a real service manager, on a desktop of its units.
    @Suite(
        .serialized,
        .enabled(
            if: UserSession.obstacle == nil, "no systemd --user here: \(UserSession.obstacle ?? "")"))
    struct UserManager {
        /// No fixed ports: another ringd may have them.
        private static let doors = "[apns]\nbinary = 127.0.0.1:0\nhttp2 = none\nfeedback = none\nproxy = none\n"

        /// One session for all of it, as a user would live through it: it takes seconds to make.
        @Test func theServiceLivesAsItShould() throws {
            let session = try UserSession()
            try session.write(
                ".config/ringd/ringd.conf",
                "\(Self.doors)[app com.example.talk]\nanswer = run /usr/bin/sleep 20\n")

            // Installed, started, and ready by its own word.
            let installed = try session.run("source/Scripts/install", "--from", "built")
            #expect(installed.contains("started: ringd"), "\(installed)")
            #expect(try session.property("ActiveState") == "active")
            #expect(try session.property("Type") == "notify")
            #expect(try session.property("UnitFileState") == "enabled")
            #expect(try session.property("StatusText") == "Waiting for calls")
            #expect(
                try session.property("FragmentPath") == session.home + "/.config/systemd/user/ringd.service")
            #expect(try session.property("MainPID") == run(session, "pid"))
            let doctor = try session.attempt("ringctl", "doctor")
            #expect(doctor.status == 0, "\(doctor.all)")
            // Nobody needs a second one.
            let second = try session.attempt("ringd")
            #expect(second.status == 78 && second.complaint.contains("another ringd runs already"))

            try ringAndReload(session)
            try killAndHang(session)
            try stopAndActivate(session)
            try handOver(session)
            try readJournal(session)

            let removed = try session.run("source/Scripts/install", "--uninstall", "--purge")
            #expect(removed.contains("ringd is removed"))
            #expect(try session.property("ActiveState") == "inactive")
            let left = try session.run("find", session.home + "/.local", session.home + "/.config", "-name", "*ring*")
            #expect(left.isEmpty, "\(left)")
            #expect(try session.attempt("pgrep", "-x", "-u", session.run("id", "-u"), "ringd").status == 1)
        }

        private func run(_ session: UserSession, _ field: String) throws -> String? {
            try JSONValue.parse(Array(try session.run("ringctl", "status", "--json").utf8))[field]?.number
                .map { String(Int($0)) }
        }

        private func isHeard(_ session: UserSession) throws -> Bool {
            try session.run("pactl", "list", "sink-inputs").contains("media.role = \"phone\"")
        }

        private func isShown(_ session: UserSession) throws -> Bool {
            try session.run("dunstctl", "count", "displayed") == "1"
        }

        private func ringAndReload(_ session: UserSession) throws {
            try session.run("ringctl", "ring", "--caller", "Alice", "--time", "60")
            // The notification server is started by the bus, as on a desktop.
            try until("the ring") { try isHeard(session) && isShown(session) }
            #expect(try session.property("StatusText") == "1 ringing, 0 answered")
            let pid = try session.property("MainPID")
            try session.write(".config/ringd/ringd.conf", "[ring]\nnonsense = 1\n\(Self.doors)")
            try session.run("systemctl", "--user", "reload", "ringd.service")
            try until("the new configuration") { try run(session, "faults") == "1" }
            #expect(try session.property("MainPID") == pid && session.property("ActiveState") == "active")
            #expect(try isHeard(session))
            #expect(try session.property("StatusText") == "1 ringing, 0 answered")
            try session.write(
                ".config/ringd/ringd.conf",
                "\(Self.doors)[app com.example.talk]\nanswer = run /usr/bin/sleep 20\n")
            try session.run("systemctl", "--user", "reload", "ringd.service")
        }

        private func killAndHang(_ session: UserSession) throws {
            let call = try #require(try session.calls().first)
            func expectSuccessor(of pid: String, restarts: String) throws {
                try until("restart \(restarts)") {
                    try session.property("NRestarts") == restarts && session.property("ActiveState") == "active"
                }
                #expect(try session.property("MainPID") != pid)
                try until("the ring again") { try isHeard(session) && isShown(session) }
                let now = try #require(try session.calls().first)
                #expect(now["UUID"] == call["UUID"] && now["Deadline"] == call["Deadline"])
            }
            var pid = try session.property("MainPID")
            try session.run("systemctl", "--user", "kill", "--signal=KILL", "ringd.service")
            try expectSuccessor(of: pid, restarts: "1")

            // A hung daemon is noticed by the watchdog.
            try session.write(
                ".config/systemd/user/ringd.service.d/watchdog.conf",
                "[Service]\nWatchdogSec=2s\nTimeoutAbortSec=1s\n")
            try session.run("systemctl", "--user", "daemon-reload")
            try session.run("systemctl", "--user", "restart", "ringd.service")
            try until("the ring after a restart") { try isHeard(session) && isShown(session) }
            let restarts = Int(try session.property("NRestarts")) ?? 0
            // It pings in time, or it would not live for so long.
            pause(3)
            #expect(try session.property("NRestarts") == "\(restarts)")
            pid = try session.property("MainPID")
            try session.run("systemctl", "--user", "kill", "--signal=STOP", "ringd.service")
            try expectSuccessor(of: pid, restarts: "\(restarts + 1)")
            try session.run("rm", "-r", session.home + "/.config/systemd/user/ringd.service.d")
            try session.run("systemctl", "--user", "daemon-reload")
        }

        private func stopAndActivate(_ session: UserSession) throws {
            #expect(try session.calls().count == 1)
            try session.run("systemctl", "--user", "stop", "ringd.service")
            #expect(try session.property("ActiveState") == "inactive")
            #expect(try session.property("Result") == "success")
            #expect(try !isHeard(session))
            try until("no banner") { try session.run("dunstctl", "count", "displayed") == "0" }
            #expect(try session.attempt("pgrep", "-x", "-u", session.run("id", "-u"), "ringd").status == 1)

            // Asked for, it is started: by the bus, as the unit.
            #expect(try session.run("ringctl", "status").hasPrefix("ringd "))
            // The manager reads READY=1 in its own time.
            try until("the unit is active") { try session.property("ActiveState") == "active" }
            #expect(try session.property("MainPID") == run(session, "pid"))
            try until("the ring with the time that is left") { try isHeard(session) }
            try session.run("ringctl", "decline")
            try until("silence") { try !isHeard(session) }
        }

        /// Programs that take calls are units of their own: outside the sandbox, and outliving the service.
        private func handOver(_ session: UserSession) throws {
            try session.run("ringctl", "apps", "add", "com.example.talk")
            try session.run(
                "ringctl", "push", "--app", "com.example.talk", "--caller", "Bob $HOME %h \"x\"", "--id", "k")
            try session.run("ringctl", "answer")
            let unit = "ringd-call-\(try session.property("MainPID"))-1.service"
            try until("the app's unit") { try session.property("ActiveState", of: unit) == "active" }
            #expect(try session.property("Slice", of: unit) == "app.slice")
            #expect(try session.property("NoNewPrivileges", of: unit) == "no")
            let process = try session.property("MainPID", of: unit)
            let variables = try session.run("cat", "/proc/\(process)/environ").split(separator: "\0")
            #expect(variables.contains("RINGD_CALLER=Bob $HOME %h \"x\""))
            #expect(variables.contains("RINGD_KEY=k") && variables.contains("RINGD_ACTION=answer"))
            try session.run("systemctl", "--user", "stop", "ringd.service")
            #expect(try session.property("ActiveState", of: unit) == "active")
            try session.run("systemctl", "--user", "stop", unit)
            try session.run("systemctl", "--user", "start", "ringd.service")
        }

        private func readJournal(_ session: UserSession) throws {
            guard session.hasJournal else {
                print("no journald here: the fields of the journal are not tested")
                return
            }
            let rings = try session.journal("RINGD_EVENT=call.ringing")
            let first = try #require(rings.first)
            #expect(first["SYSLOG_IDENTIFIER"]?.string == "ringd" && first["PRIORITY"]?.string == "5")
            #expect(first["RINGD_APP"]?.string == "org.ringd.ringctl")
            #expect(first["RINGD_CALL"]?.string?.count == 36)
            #expect(first["RINGD_CALLER"] == nil, "names stay out of the journal")
            let fault = try #require(try session.journal("RINGD_EVENT=config.fault").first)
            #expect(fault["RINGD_LINE"]?.string == "2" && fault["PRIORITY"]?.string == "4")
            let all = try session.journal()
            #expect(!all.contains { $0["MESSAGE"]?.string?.contains("Alice") == true }, "names stay out of the journal")
        }
    }
}
