import Foundation
package import Glibc

/// A desktop of the test's own, by Scripts/headless: the parts it names.
package final class Desk {
    package let scratch = Scratch()
    package var server: String { "unix:\(scratch.path)/pulse.sock" }
    package var bus: String { "unix:path=\(scratch.path)/bus" }

    package init(_ parts: [String] = ["sound"]) throws {
        if !parts.isEmpty { try up(parts) }
    }

    deinit { _ = try? TestSupport.run(Tree.headless, ["down", scratch.path]) }

    package func up(_ parts: [String] = ["sound"]) throws { try run(Tree.headless, ["up", scratch.path] + parts) }

    package func pid(_ part: String = "sound") -> pid_t {
        let text = (try? String(contentsOfFile: scratch.at("\(part).pid"), encoding: .utf8)) ?? ""
        return pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    package func exit() throws {
        let pid = pid()
        try pactl("exit")
        awaitEnd(pid)
    }

    /// A crash of that part.
    package func kill(_ part: String = "sound") throws {
        let pid = pid(part)
        guard pid > 0 else { throw ToolFailed(line: "\(part) does not run") }
        Glibc.kill(pid, SIGKILL)
        awaitEnd(pid)
    }

    private func awaitEnd(_ pid: pid_t) {
        // The stale pid file is what a crash leaves behind: up must cope.
        while (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe")) != nil { usleep(1000) }
    }

    @discardableResult
    package func pactl(_ arguments: String...) throws -> String {
        try run("pactl", arguments, environment: ["PULSE_SERVER": server])
    }

    /// What a mixer's close button does. pactl has no verb for it, pacmd wants the command-line protocol.
    package func killStream(_ index: String) throws {
        try pactl("load-module", "module-cli-protocol-unix", "socket=\(scratch.at("cli.sock"))")
        let script = """
            import socket, sys, time
            s = socket.socket(socket.AF_UNIX)
            s.connect(sys.argv[1])
            s.sendall(b"kill-sink-input " + sys.argv[2].encode() + b"\\n")
            time.sleep(0.2)
            """
        try run("python3", ["-c", script, scratch.at("cli.sock"), index])
    }

    /// What would be heard, from now on.
    package func record() throws -> Recording {
        try Recording(server, scratch.at("heard-\(UInt32.random(in: 0 ... .max)).raw"))
    }
}
