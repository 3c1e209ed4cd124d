import Foundation
import Glibc
import JSON
import TestSupport
import Testing

extension EndToEnd {
    /// Real senders of webhooks against the real daemon.
    @Suite(.serialized) struct Webhooks {
        private static let config = "[webhook]\nlisten = 127.0.0.1:0\n"

        private func base(_ rig: Rig, scheme: String = "http") throws -> String {
            "\(scheme)://\(try #require(try rig.ask("webhook")["listening"]?.items.first?.string))"
        }

        private func tokenFile(_ rig: Rig) throws -> String {
            try #require(try rig.ask("webhook")["token_file"]?.string)
        }

        private func token(_ rig: Rig) throws -> String {
            try String(contentsOfFile: try tokenFile(rig), encoding: .utf8).trimmingCharacters(in: .newlines)
        }

        /// A POST by curl: the status and the JSON.
        private func post(
            _ rig: Rig, _ url: String, _ body: String, _ more: [String] = [], token: String?
        ) throws -> (status: Int, answer: JSONValue) {
            let file = rig.scratch.at("body-\(UUID().uuidString)")
            try Data(body.utf8).write(to: URL(filePath: file))
            let credentials = token.map { ["-H", "Authorization: Bearer \($0)"] } ?? []
            let outcome = try attempt(
                "curl",
                ["-sS", "--max-time", "20", "-w", "\n%{http_code}", "--data-binary", "@\(file)"] + credentials + more
                    + [url],
                environment: rig.environment, isWhole: true)
            let lines = outcome.out.split(separator: "\n")
            let status = try #require(Int(lines.last ?? ""), "\(outcome.all)")
            return (status, (try? JSONValue.parse(Array((lines.first ?? "").utf8))) ?? .null)
        }

        @Test func aCallByCurl() throws {
            let rig = try Rig(["bus"], config: Self.config)
            try rig.ask("apps", "add", Rig.app)
            let url = try base(rig) + "/push/\(Rig.app)"
            let token = try token(rig)
            #expect(token.utf8.count == 43)
            var info = stat()
            try #require(stat(try tokenFile(rig), &info) == 0)
            #expect(info.st_mode & 0o777 == 0o600)

            let invite = try post(rig, url, #"{"callId":"1","displayName":"Alice"}"#, token: token)
            #expect(invite.status == 200)
            #expect(invite.answer["outcome"]?.string == "rings")
            let ringing = try rig.event("call.ringing")
            #expect(ringing["caller"]?.string == "Alice")
            #expect(ringing["call"]?.string == invite.answer["call"]?.string)
            let push = try rig.ask("push", "show", String(try #require(invite.answer["push"]?.integer)))
            #expect(push["door"]?.string == "webhook" && push["app"]?.string == Rig.app)
            #expect(push["dialect"]?.string == "ringd" && push["sureness"]?.string == "likely")
            #expect(push["call_id"]?.string == "1" && push["call_kind"]?.string == "invite")
            #expect(push["peer"]?.string?.hasPrefix("127.0.0.1:") == true)

            let again = try post(rig, url, #"{"callId":"1","displayName":"Alice"}"#, token: token)
            #expect(again.answer["outcome"]?.string == "updated")
            #expect(again.answer["findings"]?.items.first?.string?.contains("duplicate") == true)
            let cancel = try post(rig, url, #"{"callId":"1","cancel":true}"#, token: token)
            #expect(cancel.status == 200 && cancel.answer["outcome"]?.string == "ended")
            #expect(cancel.answer["findings"]?.items.isEmpty == true)
            try rig.event("call.ended")

            // An alert group's key may be pages of labels, in a small body and in a large one.
            let key = String(repeating: "x", count: 4000)
            let start = rig.events.count
            for (more, state, outcome) in [
                ("", "firing", "rings"), (String(repeating: "y", count: 6000), "resolved", "ended"),
            ] {
                let alert =
                    #"{"groupKey":"\#(key)","status":"\#(state)","commonLabels":{"alertname":"Disk"},"alerts":[],"x":"\#(more)"}"#
                let answer = try post(rig, url, alert, token: token)
                #expect(answer.answer["outcome"]?.string == outcome, "\(answer)")
            }
            #expect(try rig.event("call.ended", from: start)["reason"]?.string == "remote-ended")
        }

        @Test func whatIsWrongIsSaid() throws {
            let rig = try Rig(["bus"], config: Self.config)
            try rig.ask("apps", "add", Rig.app)
            let base = try base(rig)
            let token = try token(rig)
            let url = "\(base)/push/\(Rig.app)"
            let call = #"{"callId":"1","displayName":"Alice"}"#

            for (status, url, body, words) in [
                (404, "\(base)/push/com.example.tolk", call, "did you mean com.example.talk?"),
                (404, "\(base)/", call, "nothing at this address"),
                (404, "\(base)/push/%2e%2e", call, "no app"),
                (400, url, "no JSON", "no JSON object"), (400, url, "", "no JSON object"),
                (422, url, #"{"cancel":true}"#, "no call"),
                (422, url, #"{"cancel":true,"a":"\#(String(repeating: "x", count: 6000))"}"#, "without a call id"),
                (400, url + "?dialect=twillio", call, "did you mean twilio?"),
                (422, url + "?dialect=sinch", call, "no payload of Sinch"),
                (413, url, String(repeating: "x", count: 300_000), "too large"),
                (413, url, String(repeating: "x", count: 3_000_000), "too large"),
            ] {
                let refused = try post(rig, url, body, token: token)
                #expect(refused.status == status, "\(url) \(body.prefix(60)): \(refused)")
                #expect(refused.answer["error"]?.string?.contains(words) == true, "\(refused)")
                #expect(refused.answer["cure"]?.string?.isEmpty == false)
            }
            #expect(try post(rig, url, call, token: nil).status == 401)
            #expect(try post(rig, url, call, token: token + "x").status == 401)
            #expect(try post(rig, url, String(repeating: "x", count: 200_000), token: "wrong").status == 401)
            #expect(try post(rig, url, call, ["-H", "Origin: https://evil.example"], token: token).status == 403)
            #expect(try post(rig, url, call, ["-X", "PUT"], token: token).status == 405)
            #expect(try post(rig, url, call, ["-H", "Content-Encoding: gzip"], token: token).status == 415)
            #expect(rig.events("call.ringing").isEmpty)
            try rig.event("webhook.refused") { $0["cause"]?.string == "wrong-token" }
            #expect(!rig.log.contains(token))
        }

        @Test func aMatrixHomeserver() throws {
            let rig = try Rig(["bus"], config: Self.config)
            let voip = try rig.token()
            let alert = try rig.token("alert-production")
            let secret = try token(rig)
            let url = try base(rig) + "/_matrix/push/v1/notify?token=\(secret)"
            func notify(
                _ keys: [String], _ type: String = "m.room.message", _ content: String = "{}"
            ) throws -> (status: Int, answer: JSONValue) {
                let devices = keys.map { #"{"app_id":"org.example","pushkey":"\#($0)"}"# }.joined(separator: ",")
                return try post(
                    rig, url,
                    #"{"notification":{"event_id":"$1","room_id":"!1:a","type":"\#(type)","sender":"@a:a","#
                        + #""sender_display_name":"Alice","content":\#(content),"devices":[\#(devices)]}}"#, token: nil)
            }
            let unknown = String(repeating: "ab", count: 32)
            // An offer of a real size is more than a push may carry.
            let sdp = String(repeating: #"a=candidate:1 1 udp 1 127.0.0.1 9 typ host\r\n"#, count: 200) + "m=video 9"
            let mixed = try notify(
                [voip, unknown, "AAAA", "no hex", alert], "m.call.invite",
                #"{"call_id":"m1","lifetime":60000,"offer":{"sdp":"\#(sdp)"}}"#)
            #expect(mixed.status == 200)
            #expect(mixed.answer["rejected"]?.items.map(\.string) == [unknown, "AAAA", "no hex", alert])
            let ringing = try rig.event("call.ringing")
            #expect(ringing["caller"]?.string == "Alice" && ringing["video"]?.flag == true)
            #expect(try notify([voip], "m.call.hangup", #"{"call_id":"m1"}"#).status == 200)
            #expect(try rig.event("call.ended")["reason"]?.string == "remote-ended")

            // What is no call is nothing to be tried again.
            for content in ["{}", #"{"body":"\#(String(repeating: "x", count: 9000))"}"#] {
                let other = try notify([voip], "m.room.message", content)
                #expect(other.status == 200 && other.answer["rejected"]?.items.isEmpty == true)
            }
            #expect(rig.events("call.ringing").count == 1)
            // When the app is gone its pushkey is over.
            try rig.ask("apps", "remove", Rig.app)
            #expect(try notify([voip]).answer["rejected"]?.items.map(\.string) == [voip])

            for (body, code) in [
                ("not JSON", "M_NOT_JSON"), ("[]", "M_BAD_JSON"), ("{}", "M_BAD_JSON"),
                (#"{"notification":{"devices":[{"pushkey":5}]}}"#, "M_BAD_JSON"),
            ] {
                let refused = try post(rig, url, body, token: nil)
                #expect(refused.status == 400 && refused.answer["errcode"]?.string == code, "\(refused)")
            }
            #expect(try notify((0..<33).map { "\($0)" }).status == 400)
        }

        @Test func theyComeAndGoWithTheConfiguration() throws {
            let rig = try Rig(["bus"])
            #expect(try rig.ask("webhook")["on"]?.flag == false)
            #expect(try rig.ringctl("webhook").out.contains("ringctl config set webhook.listen 127.0.0.1:2198"))
            #expect(!FileManager.default.fileExists(atPath: try tokenFile(rig)))
            #expect(try !loaded(rig))

            try rig.ask("config", "set", "webhook.listen", "127.0.0.1:0")
            try rig.logged("webhook.listening")
            #expect(try loaded(rig))
            let url = try base(rig) + "/push/\(Rig.app)"
            try rig.ask("apps", "add", Rig.app)
            let first = try token(rig)
            #expect(try post(rig, url, #"{"callId":"1"}"#, token: first).status == 200)
            let help = try rig.ringctl("webhook", "--app", Rig.app).out
            let file = try tokenFile(rig)
            #expect(help.contains(url) && help.contains("credentials_file: \(file)") && !help.contains(first))
            #expect(try rig.ringctl("status").out.contains("webhooks       127.0.0.1:"))
            #expect(try rig.ringctl("doctor").out.contains("webhooks       127.0.0.1:"))

            // A token of one's own, at once; one that others can read stops it.
            try Data("a-token-of-my-own-choice\n".utf8).write(to: URL(filePath: file))
            chmod(file, 0o600)
            try rig.ask("config", "reload")
            #expect(try post(rig, url, #"{"callId":"1"}"#, token: first).status == 401)
            #expect(try post(rig, url, #"{"callId":"1"}"#, token: "a-token-of-my-own-choice").status == 200)
            // Two lines are not one token, which nobody would know.
            try Data("a-token-of-my-own-choice\nand-another-one-of-mine\n".utf8).write(to: URL(filePath: file))
            try rig.ask("config", "reload")
            try rig.event("webhook.fault") { $0["message"]?.string?.contains("no good token") == true }
            try Data("a-token-of-my-own-choice\n".utf8).write(to: URL(filePath: file))
            try rig.ask("config", "reload")
            chmod(file, 0o644)
            try rig.ask("config", "reload")
            try rig.logged("webhooks are not taken", "chmod 600 \(file)")
            #expect(try rig.ask("webhook")["listening"]?.items.isEmpty == true)
            #expect(try rig.ringctl("doctor").out.contains("chmod 600"))
            chmod(file, 0o600)
            try rig.ask("config", "reload")
            #expect(try rig.ask("webhook")["listening"]?.items.count == 1)

            try rig.ask("config", "set", "webhook.listen", "none")
            #expect(try rig.ask("webhook")["listening"]?.items.isEmpty == true)
            let open = try rig.ringctl("config", "set", "webhook.listen", "0.0.0.0:2198")
            #expect(open.status == 1 && open.complaint.contains("open-to-network"), "\(open.all)")
        }

        /// libmicrohttpd and GnuTLS are in the daemon's memory.
        private func loaded(_ rig: Rig) throws -> Bool {
            let maps = try attempt("cat", ["/proc/\(rig.daemon.pid)/maps"], environment: rig.environment, isWhole: true)
                .out
            #expect(maps.contains("libdbus"))
            return maps.contains("libmicrohttpd") && maps.contains("libgnutls")
        }

        @Test func overTLS() throws {
            let rig = try Rig(["bus"], config: Self.config + "certificate = own\n")
            try rig.ask("apps", "add", Rig.app)
            let port = try #require(try base(rig).split(separator: ":").last)
            let url = "https://localhost:\(port)/push/\(Rig.app)"
            let trust = ["--cacert", rig.scratch.at("state/ringd/certs/ca.pem")]
            let token = try token(rig)
            for number in 1...3 {
                let answer = try post(rig, url, #"{"callId":"\#(number)","displayName":"Alice"}"#, trust, token: token)
                #expect(answer.status == 200, "\(answer)")
            }
            let large = try post(rig, url, String(repeating: "x", count: 200_000), trust, token: token)
            #expect(large.status == 400)
            // The line to copy is one that works.
            let line = try #require(try rig.ask("webhook", "--app", Rig.app)["curl"]?.string)
            let copied = try attempt("sh", ["-c", line + " -sS"], environment: rig.environment, isWhole: true)
            #expect(copied.out.contains(#""outcome":"#), "\(copied.all)")
        }

        /// Prometheus' own alert manager: an alert rings until it is resolved.
        @Test func anAlertByAlertmanager() throws {
            let rig = try Rig(["bus"], config: Self.config)
            try rig.ask("apps", "add", Rig.app)
            let url = try base(rig) + "/push/\(Rig.app)"
            let file = try tokenFile(rig)
            try rig.scratch.make(
                "alertmanager.yml",
                Data(
                    """
                    route: {receiver: ringd, group_wait: 0s, group_interval: 1s}
                    receivers:
                      - name: ringd
                        webhook_configs:
                          - url: '\(url)'
                            http_config: {authorization: {credentials_file: '\(file)'}}
                    """.utf8))
            let port = try freePort()
            let manager = try Program(
                "/usr/bin/prometheus-alertmanager",
                [
                    "--config.file=\(rig.scratch.at("alertmanager.yml"))", "--cluster.listen-address=",
                    "--storage.path=\(rig.scratch.at("alerts"))", "--web.listen-address=127.0.0.1:\(port)",
                ], environment: rig.environment, output: rig.scratch.at("alertmanager.log"))
            let api = "http://127.0.0.1:\(port)"
            try until("Alertmanager to listen") {
                guard manager.isRunning else { throw ToolFailed(line: manager.said) }
                return try attempt("curl", ["-sf", "\(api)/-/ready"], environment: rig.environment, isWhole: true)
                    .status == 0
            }
            let raised = try attempt(
                "/usr/bin/amtool",
                [
                    "--alertmanager.url=\(api)", "alert", "add", "DiskFull", "severity=page",
                    "--annotation=summary=Disk full",
                ],
                environment: rig.environment, isWhole: true)
            #expect(raised.status == 0, "\(raised.all)")
            let ringing = try rig.event("call.ringing")
            #expect(ringing["caller"]?.string == "DiskFull")
            var record: JSONValue?
            try until("the alert on record; Alertmanager said \(manager.said)") {
                record = try rig.ask("pushes", "--limit", "1").items.first
                return record != nil
            }
            #expect(record?["door"]?.string == "webhook" && record?["app"]?.string == Rig.app)
            let whole = try rig.ask("push", "show", String(try #require(record?["number"]?.integer)))
            #expect(whole["payload"]?["receiver"]?.string == "ringd")
            #expect(whole["payload"]?["alerts"]?.items.first?["labels"]?["alertname"]?.string == "DiskFull")
            let end = ISO8601DateFormatter().string(from: .now)
            let resolved = #"[{"labels":{"alertname":"DiskFull","severity":"page"},"endsAt":"\#(end)"}]"#
            _ = try attempt(
                "curl", ["-sf", "-H", "Content-Type: application/json", "-d", resolved, "\(api)/api/v2/alerts"],
                environment: rig.environment, isWhole: true)
            let ended = try rig.event("call.ended")
            #expect(ended["reason"]?.string == "remote-ended" && ended["call"] == ringing["call"])
            #expect(rig.events("webhook.refused").isEmpty)
        }

        /// One that was free a moment ago.
        private func freePort() throws -> UInt16 {
            let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(fd) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let code = withUnsafeMutableBytes(of: &address) { bytes in
                let raw = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
                return bind(fd, raw, size) == 0 ? getsockname(fd, raw, &size) : -1
            }
            try #require(code == 0)
            return UInt16(bigEndian: address.sin_port)
        }
    }
}
