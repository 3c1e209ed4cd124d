import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// A line-by-line conversation over TCP.
final class LineClient {
    private let fd: Int32
    private var rest = Data()
    private(set) var lines: [JSONValue] = []

    init(port: UInt16) throws {
        fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw ToolFailed(line: "no connection to port \(port)") }
    }

    deinit { close(fd) }

    func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(fd, $0.baseAddress, $0.count) }
    }

    /// Everything said so far.
    func heard() -> [JSONValue] {
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(fd, &chunk, chunk.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { break }
            rest += Data(chunk[..<count])
        }
        while let end = rest.firstIndex(of: 10) {
            if let value = try? JSONValue.parse([UInt8](rest[rest.startIndex..<end])) { lines.append(value) }
            rest = Data(rest[(end + 1)...])
        }
        return lines
    }
}

extension EndToEnd {
    /// `Examples/python` as a user runs it: an app over plain D-Bus, and its service.
    @Suite(.serialized) struct PythonExample {
        let rig: Rig
        let service: Program
        let caller: LineClient

        init() throws {
            rig = try Rig()
            let examples = Tree.root.appending(path: "Examples/python").path
            service = try Program(
                "/usr/bin/python3",
                ["\(examples)/voip_service.py", "--login", "0.4", "--ringctl", Tree.program("ringctl")],
                environment: rig.environment, output: rig.scratch.at("service.log"))
            let service = service
            try until("the service: \(service.said)") { service.said.contains("\n") }
            let port = try #require(UInt16(service.said.prefix { $0 != "\n" }))
            caller = try LineClient(port: port)
            // The bus starts it, as its service file says.
            try rig.desk.scratch.make(
                "services/\(Rig.app).service",
                Data(
                    """
                    [D-BUS Service]
                    Name=\(Rig.app)
                    Exec=/bin/sh -c "exec /usr/bin/python3 \(examples)/talk.py alice 127.0.0.1:\(port) >>\(rig.scratch.at("talk.log")) 2>&1"
                    """.utf8))
            _ = try run(
                "dbus-send",
                [
                    "--bus=\(rig.desk.bus)", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
                    "org.freedesktop.DBus.StartServiceByName", "string:\(Rig.app)", "uint32:0",
                ])
            let talk = talk
            try until("the app to be logged in: \(talk())") {
                talk().contains("logged-in") && talk().contains("token-stored")
            }
        }

        private func talk() -> String {
            (try? String(contentsOfFile: rig.scratch.at("talk.log"), encoding: .utf8)) ?? ""
        }

        private func said(_ words: String) throws {
            let talk = talk
            try until("\(words) of the app: \(talk())") { talk().contains(words) }
        }

        private func told(_ what: String, _ call: String) throws -> JSONValue {
            var found: JSONValue?
            try until("the caller to be told \(what)") {
                found = caller.heard().last { $0["what"]?.string == what && $0["call"]?.string == call }
                return found != nil
            }
            return found!
        }

        private func invite(_ call: String, _ name: String) {
            caller.say(#"{"do":"invite","user":"alice","call":"\#(call)","caller":"\#(name)"}"#)
        }

        private func killApp() throws {
            let start = rig.events.count
            let pid = try run(
                "busctl",
                [
                    "--address=\(rig.desk.bus)", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus",
                    "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", Rig.app,
                ])
            Glibc.kill(try #require(pid_t(pid.split(separator: " ").last?.filter(\.isNumber) ?? "")), SIGKILL)
            try rig.event("app.gone", from: start)
        }

        @Test func itIsWokenByAPushAnswersLateHoldsAndIsDeclined() throws {
            let first = "2f1d6a3e-0000-4000-8000-000000000001"
            try killApp()
            var start = rig.events.count
            invite(first, "Bob")
            // It rings before the app is there; the answer waits for its log-in.
            try rig.event("call.ringing", from: start)
            try rig.ask("answer")
            try rig.event("call.deferred", from: start)
            try rig.event("call.active", from: start)
            _ = try told("answered", first)
            try said("push \(first) Bob")
            try rig.event("audio.on", from: start)

            try rig.ask("hold")
            try rig.event("call.held", from: start)
            try said("held \(first)")
            #expect(try rig.ask("calls").items.first?["IsOnHold"]?.flag == true)
            try rig.ask("unhold")
            try rig.event("call.resumed", from: start)
            try said("resumed \(first)")
            try rig.ask("hangup")
            try rig.event("call.ended", from: start)
            #expect(try told("hung-up", first)["reason"]?.string == "hung-up")
            #expect(try rig.lastCall()["category"]?.string == "completed")

            // Declined while it is dead: it is started to be told.
            let second = "2f1d6a3e-0000-4000-8000-000000000002"
            try killApp()
            start = rig.events.count
            invite(second, "Carol")
            try rig.event("call.ringing", from: start)
            try rig.ask("decline")
            #expect(try rig.event("call.ended", from: start)["reason"]?.string == "declined")
            #expect(try told("hung-up", second)["reason"]?.string == "declined")
        }

        @Test func itsServiceCancelsForFourReasons() throws {
            let reasons = [
                ("remote-cancel", "remote-ended", "missed"), ("remote-timeout", "unanswered", "missed"),
                ("answered-elsewhere", "answered-elsewhere", "answered on another device"),
                ("rejected-elsewhere", "declined-elsewhere", "declined on another device"),
            ]
            for (index, (reason, word, category)) in reasons.enumerated() {
                let call = "2f1d6a3e-0000-4000-8000-00000000010\(index)"
                let start = rig.events.count
                invite(call, "Dora")
                try rig.event("call.ringing", from: start)
                try said("invite \(call)")
                caller.say(#"{"do":"cancel","call":"\#(call)","reason":"\#(reason)"}"#)
                #expect(try rig.event("call.ended", from: start)["reason"]?.string == word)
                #expect(try rig.lastCall()["category"]?.string == category)
            }
            // The far end hangs up.
            let call = "2f1d6a3e-0000-4000-8000-000000000110"
            let start = rig.events.count
            invite(call, "Emil")
            try rig.event("call.ringing", from: start)
            try rig.ask("answer")
            try rig.event("call.active", from: start)
            caller.say(#"{"do":"hangup","call":"\#(call)"}"#)
            #expect(try rig.event("call.ended", from: start)["reason"]?.string == "remote-ended")
            try rig.expectRest()
        }
    }
}
