import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// A plain TCP connection to 127.0.0.1.
final class Line {
    private let descriptor: Int32

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, 16) }
        }
        guard result == 0 else { throw ToolFailed(line: "connect: \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// The other side has closed or reset the connection.
    func isCut(within seconds: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let end = Date.now.addingTimeInterval(Double(seconds))
        var bytes = [UInt8](repeating: 0, count: 4096)
        while Date.now < end {
            guard Glibc.poll(&poll, 1, 100) > 0 else { continue }
            if recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT)) <= 0 { return true }
        }
        return false
    }
}

extension EndToEnd {
    /// Whatever is wrong with what comes in: named, and nothing else is disturbed.
    @Suite(.serialized) struct BadInput {
        private func payload(_ object: [String: Any]) throws -> Data {
            try JSONSerialization.data(withJSONObject: object)
        }

        @Test func brokenPushesAreNamedAndAGoodOneRingsMeanwhile() throws {
            let rig = try Rig()
            let token = try rig.token()
            let port = try rig.port
            let app = try #require(try rig.ask("apps").items.first)
            let certificate = try #require(app["certificate"]?.string)

            /// Frames over TLS by openssl, which cannot be talked out of sending nonsense.
            func send(_ bytes: Data) throws {
                _ = try attempt(
                    "timeout",
                    [
                        "-s", "KILL", "3", "openssl", "s_client", "-quiet", "-connect", "127.0.0.1:\(port)", "-cert",
                        certificate,
                        "-key", certificate,
                    ], input: bytes)
            }
            func frame(_ payload: Data) -> Data {
                let bytes = stride(from: 0, to: token.count, by: 2).compactMap { at -> UInt8? in
                    let from = token.index(token.startIndex, offsetBy: at)
                    return UInt8(token[from..<token.index(from, offsetBy: 2)], radix: 16)
                }
                return Data([0, 0, 32] + bytes + [UInt8(payload.count >> 8), UInt8(payload.count & 255)]) + payload
            }

            // Some who connect and say nothing, or not what they should, and stay.
            let mute = try Line(port: port)
            let slow = try Line(port: port)
            slow.send([0x16, 0x03, 0x01, 0x02])
            _ = (mute, slow)

            // A wrong token: the line is cut, which is all that command 0 knows.
            let wrong = try rig.php(token: String(repeating: "ab", count: 32), message: "Mallory")
            #expect(wrong.status == 1 && wrong.complaint.contains("the gateway cut the line"), "\(wrong.all)")
            let refused = try rig.event("push.refused")
            #expect(refused["reason"]?.string == "BadDeviceToken" && refused["level"]?.integer == 4)
            #expect(refused["message"]?.string?.contains("no app has the token abababab") == true)
            // The right token at the wrong door; and one that is for alerts.
            var start = rig.events.count
            #expect(try rig.php(token: token, message: "M", ["--sandbox"]).status == 1)
            #expect(
                try rig.event("push.refused", from: start)["message"]?.string?.contains("production token") == true)
            start = rig.events.count
            #expect(try rig.php(token: try rig.token("alert-production"), message: "M").status == 1)
            #expect(try rig.event("push.refused", from: start)["message"]?.string?.contains("alert token") == true)
            // No certificate, and a version of TLS that is too old.
            for (cause, options) in [
                ("no-certificate", []), ("old-tls", ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"]),
            ] {
                _ = try attempt(
                    "timeout",
                    ["-s", "KILL", "3", "openssl", "s_client", "-quiet", "-connect", "127.0.0.1:\(port)"] + options,
                    input: frame(Data("{}".utf8)))
                let fault = try rig.event("gateway.fault") { $0["cause"]?.string == cause }
                #expect(fault["level"]?.integer == 4, "\(fault.encoded())")
            }
            // Not JSON, too long, an impossible length, an unknown command.
            for (bytes, words) in [
                (frame(Data("{\"aps\":".utf8)), "not JSON"), (frame(Data("[1]".utf8)), "not a JSON object"),
                (frame(Data(repeating: 0x20, count: 6000)), "5120"), (Data([0, 0xff, 0xff, 1, 2, 3]), "token"),
                (Data([77, 1, 2, 3, 4]), "command"),
            ] {
                start = rig.events.count
                try send(bytes)
                let event = try rig.event("push.refused", from: start)
                #expect(event["message"]?.string?.contains(words) == true, "\(words): \(event.encoded())")
            }
            // Not TLS at all.
            start = rig.events.count
            let http = try Line(port: port)
            http.send(Array("POST /3/device/\(token) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
            #expect(http.isCut(within: 5))
            #expect(
                try rig.event("gateway.fault", from: start)["message"]?.string?.contains("plain HTTP to a TLS port")
                    == true)
            start = rig.events.count
            let garbage = try Line(port: port)
            garbage.send((0..<512).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 7) })
            #expect(garbage.isCut(within: 5))
            #expect(
                try rig.event("gateway.fault", from: start)["message"]?.string?.contains("not TLS") == true)

            // Nothing has rung so far, and a good push rings.
            #expect(rig.events("call.ringing").isEmpty && rig.events("notification.shown").isEmpty)
            #expect(try rig.ask("history").items.isEmpty)
            start = rig.events.count
            let good = try rig.php(token: token, message: "Alice", ["--wait", "0.1"])
            #expect(good.status == 0, "\(good.all)")
            try rig.event("sound.heard", from: start)
            #expect(try rig.displayed == 1)
            // A half-open handshake ends by its own deadline; the ring goes on.
            #expect(mute.isCut(within: 15) && slow.isCut(within: 15))
            #expect(try rig.ask("calls").items.count == 1)
            try rig.ask("decline")
            try rig.expectRest()
        }

        @Test func hostileTextIsMadeHarmless() throws {
            let rig = try Rig()
            try rig.ask("apps", "add", Rig.app)
            try rig.listen()
            let start = rig.events.count
            let name = "<b>Eve</b> &amp; \u{202e}live\u{2066}\u{0}\u{1b}[31m\u{7}\nsecond\r\nline\u{200b} 👩‍👩‍👧"
            try rig.ask(
                "push", "--app", Rig.app, "--payload", "-",
                input: try payload([
                    "displayName": name, "handle": "<img src=x>\n\u{202e}1", "callId": "../../etc/passwd",
                    "aps": ["sound": "../../../etc/passwd"],
                ]))
            let started = try rig.event("sound.started", from: start)
            // A path is no name: it rings with what there is.
            #expect(started["path"]?.string?.contains("etc/passwd") == false)
            #expect(started["missing"]?.string?.isEmpty == false)
            try rig.event("notification.shown", from: start)
            let notify = try rig.message("Notify")
            let summary = try #require(notify[3].string)
            #expect(summary == "<b>Eve</b> &amp; live[31m second line 👩‍👩‍👧")
            // dunst reads markup in the body.
            let body = try #require(notify[4].string)
            #expect(body.contains("&lt;img src=x&gt; 1"), "\(body)")
            for text in [summary, body.replacing("\n", with: "")] {
                #expect(!text.unicodeScalars.contains { $0.value < 32 || (0x202a...0x202e).contains($0.value) })
            }
            #expect(try rig.displayed == 1)
            // The journal's lines stay lines.
            let calls = try rig.ringctl("calls")
            #expect(calls.out.split(separator: "\n").count == 1 && !calls.out.contains("\u{1b}"))
            try rig.ask("ignore")
            // A name beyond all measure, and no name at all.
            for (more, shown) in [
                (["displayName": String(repeating: "界", count: 1500)], "界界"), ([:], "Unknown caller"),
                (["displayName": "\u{202e}\u{200b}\n"], "Unknown caller"),
            ] as [([String: Any], String)] {
                let start = rig.events.count
                try rig.ask(
                    "push", "--app", Rig.app, "--payload", "-", input: try payload(more))
                try rig.event("notification.shown", from: start)
                let summary = try #require(
                    try rig.message("Notify") { $0[3].string?.hasPrefix(shown) == true }[3].string)
                #expect(summary.utf8.count <= 300, "\(summary)")
                try rig.ask("ignore")
            }
        }

        @Test func wrongLinesAreNamedAndTheRestIsInForce() throws {
            let rig = try Rig(starts: false)
            try rig.configure(
                """
                [ring]
                time = 7
                tiem = 9
                raise = often
                nonsense
                [sund]
                volume = 3
                [app nonsense]
                name = X
                [app \(Rig.app)]
                answer = run touch
                name = Talk
                open = url javascript:alert(1)
                """)
            try rig.start()
            // Two lines of the gateway's come first.
            try rig.logged("config.fault", "line 5", "did you mean time?")
            try rig.logged("config.fault", "line 6", "ring.raise", "2…60 seconds", "4 is in force")
            try rig.logged("config.fault", "line 7")
            try rig.logged("config.fault", "line 9", "did you mean [sound]?")
            try rig.logged("config.fault", "line 11", "reverse-DNS")
            try rig.logged("config.fault", "line 13", "whole path")
            try rig.logged("config.fault", "line 15", "https:")
            #expect(try rig.ask("status")["faults"]?.integer == 7)
            let check = try rig.ringctl("config", "check")
            #expect(check.status == 1 && check.out.split(separator: "\n").count == 7, "\(check.all)")
            let again = try rig.ringctl("config", "reload")
            #expect(again.status == 1 && again.out.contains("did you mean time?"), "\(again.all)")
            #expect(again.out.contains("7 faults, the rest is in force"), "\(again.all)")
            try rig.ask("apps", "add", Rig.app)
            try rig.watch()
            var start = rig.events.count
            try rig.ask("push", "--app", Rig.app, "--caller", "A", "--id", "1")
            #expect(try rig.event("call.ringing", from: start)["ring_ms"]?.integer == 7000)
            #expect(rig.daemon.isRunning)

            // Mended, it is in force for what comes; what rings keeps its time and is not disturbed.
            try rig.configure("[ring]\ntime = 9\n")
            start = rig.events.count
            rig.daemon.send(SIGHUP)
            let loaded = try rig.event("config.loaded", from: start)
            #expect(loaded["message"]?.string?.contains("no faults") == true)
            #expect(try rig.ask("status")["faults"]?.integer == 0)
            #expect(try rig.ringctl("config", "check").status == 0)
            #expect(try rig.ask("config", "reload")["faults"]?.items.isEmpty == true)
            #expect(rig.events("sound.stopped", from: start).isEmpty)
            try rig.ask("decline")
            try rig.ask("push", "--app", Rig.app, "--caller", "B", "--id", "2")
            #expect(try rig.event("call.ringing", from: start)["ring_ms"]?.integer == 9000)
        }
    }
}
