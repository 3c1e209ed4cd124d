import Foundation
import Glibc
import JSON
import TestSupport
import Testing

extension EndToEnd {
    /// Without systemd: a bus that starts ringd when it is asked for, and ends.
    @Suite struct Activation {
        @Test func aBusStartsItAnswersWhenReadyAndTakesItAlong() throws {
            let scratch = Scratch()
            try scratch.make("run/.keep")
            try scratch.make(
                "config/ringd/ringd.conf",
                Data("[apns]\nbinary = 127.0.0.1:0\nhttp2 = none\nfeedback = none\nproxy = none\n".utf8))
            try scratch.make(
                "data/dbus-1/services/org.ringd.Ringd1.service",
                Data(
                    """
                    [D-BUS Service]
                    Name=org.ringd.Ringd1
                    Exec=\(Tree.program("ringd")) --sounds \(Tree.sounds)

                    """.utf8))
            chmod(scratch.at("run"), 0o700)
            let environment = [
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": scratch.at("home"),
                "XDG_CONFIG_HOME": scratch.at("config"), "XDG_STATE_HOME": scratch.at("state"),
                "XDG_CACHE_HOME": scratch.at("cache"), "XDG_DATA_HOME": scratch.at("data"),
                "XDG_RUNTIME_DIR": scratch.at("run"),
            ]
            let session = try Program(
                "/usr/bin/dbus-run-session", ["--", Tree.program("ringctl"), "status", "--json"],
                environment: environment, output: scratch.at("out"), complaints: scratch.at("complaints"))
            #expect(try session.end() == 0, "\(session.complained)")
            let status = try JSONValue.parse(session.said)
            #expect(status["apns"]?.items.isEmpty == false, "\(session.said)")
            let pid = try #require(status["pid"]?.integer)
            defer { kill(pid_t(pid), SIGKILL) }
            try until("it is gone with its bus") { kill(pid_t(pid), 0) != 0 }
        }
    }
}
