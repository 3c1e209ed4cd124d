import Foundation
import Glibc
import JSON
import TestSupport
import Testing

extension EndToEnd {
    /// What becomes of pushes, and what is told of them.
    @Suite(.serialized) struct Deliveries {
        private func show(_ rig: Rig, _ push: JSONValue?) throws -> JSONValue {
            try rig.ask("push", "show", String(try #require(push?["push"]?.integer)))
        }

        private func codes(_ push: JSONValue) -> [String] {
            push["findings"]?.items.compactMap { $0["code"]?.string } ?? []
        }

        @Test func offlineKeepsTheNewestOverARestart() throws {
            let rig = try Rig(["bus"])
            try rig.ask("apps", "add", Rig.app)
            try rig.ask("device", "offline")
            #expect(try rig.event("device.offline")["device"]?.string == "desktop")
            let doctor = try rig.ringctl("doctor")
            #expect(
                doctor.status == 1 && doctor.out.contains("desktop is offline")
                    && doctor.out.contains("ringctl device online"))

            let first = try rig.ask("push", "--app", Rig.app, "--caller", "Old", "--id", "1")
            #expect(first["outcome"]?.string == "stored" && first["call"] == nil)
            let second = try rig.ask("push", "--app", Rig.app, "--caller", "New", "--id", "2")
            let none = try rig.ask("push", "--app", Rig.app, "--caller", "Now", "--id", "3", "--expiration", "0")
            #expect(none["outcome"]?.string == "dropped")
            #expect(
                try show(rig, first)["notes"]?.items.first?.string?
                    .contains("push \(second["push"]?.integer ?? 0) took its place") == true)
            #expect(rig.events("call.ringing").isEmpty && rig.events("push.accepted").isEmpty)
            #expect(try rig.ask("device").items.first?["waiting"]?.integer == 1)

            // Killed and started again, it is offline still, and knows what it kept.
            rig.daemon.kill()
            try rig.start()
            try rig.watch()
            #expect(try rig.ask("status")["online"]?.flag == false)
            let start = rig.events.count
            let online = try rig.ask("device", "online")
            #expect(online["delivered"]?.integer == 1)
            let ringing = try rig.event("call.ringing", from: start)
            #expect(ringing["caller"]?.string == "New")
            let accepted = try rig.event("push.accepted", from: start)
            #expect(accepted["late"]?.flag == true && accepted["outcome"]?.string == "rings")
            let record = try rig.ask("push", "show", String(try #require(accepted["push"]?.integer)))
            #expect(record["outcome"]?.string == "stored: it came in an earlier run (D-Bus)")
            #expect(record["notes"]?.items.map(\.string) == ["delivered later: rings"])
            #expect(try rig.ask("calls").items.count == 1)
            try rig.ask("decline")
            #expect(try rig.ringctl("device", "online").out.contains("nothing was waiting"))
            // It is gone for good, too.
            rig.daemon.send(SIGTERM)
            #expect(try rig.daemon.end() == 0)
            try rig.start()
            #expect(try rig.ask("status")["online"]?.flag == true)
            #expect(try rig.ask("device").items.first?["waiting"]?.integer == 0)
        }

        @Test func deadTokensAreKnownOverARestart() throws {
            let rig = try Rig(["bus"])
            let old = try rig.token()
            let renewed = try #require(try rig.ask("apps", "renew", Rig.app)["voip-production"]?.string)
            #expect(renewed != old)
            try rig.ask("apps", "remove", Rig.app)
            // The app comes back, its tokens do not.
            let fresh = try rig.token()
            #expect(fresh != renewed && fresh != old)
            func refused() throws {
                for (token, reason, words) in [
                    (old, "ExpiredToken", "has a new token"), (renewed, "Unregistered", "was removed"),
                ] {
                    let outcome = try rig.ringctl("push", "--token", token, "--caller", "X")
                    #expect(outcome.status == 1 && outcome.complaint.contains(words), "\(outcome.all)")
                    let record = try #require(try rig.ask("pushes", "--limit", "1", "--refused").items.first)
                    #expect(record["status"]?.integer == 410 && record["reason"]?.string == reason)
                    #expect(record["app"]?.string == Rig.app && record["token"]?.string == String(token.prefix(8)))
                }
            }
            try refused()
            rig.daemon.kill()
            try rig.start()
            try refused()
            #expect(try rig.ask("push", "--token", fresh, "--caller", "X")["outcome"]?.string == "rings")
        }

        /// Over HTTP/2 with ringd's own key: taken, refused, and asked for by its id.
        @Test func everyPushIsExplained() throws {
            let rig = try Rig(["bus"])
            let app = try rig.ask("apps", "add", Rig.app)
            let gateway = try rig.gateway
            let alert = try #require(app["alert-production"]?.string)
            let id = "0a1b2c3d-1111-4000-8000-00000000000f"
            let sent = try rig.ringctl(
                "push", "--via", "http2", "--gateway", gateway, "--app", Rig.app, "--caller", "Alice", "--id", "1",
                "--expiration", "+2592000", "--apns-id", id)
            #expect(sent.status == 0, "\(sent.all)")
            let ringing = try rig.event("call.ringing")
            #expect(ringing["caller"]?.string == "Alice")
            let first = try #require(ringing["call"]?.string)
            let record = try rig.ask("push", "show", id)
            #expect(record["door"]?.string == "HTTP/2" && record["status"]?.integer == 200)
            #expect(record["outcome"]?.string == "rings" && record["kind"]?.string == "voip")
            #expect(record["sender"]?.string?.hasPrefix("key ") == true)
            #expect(codes(record) == ["expiration-far"])
            #expect(record["payload"]?["displayName"]?.string == "Alice")
            let page = try rig.ringctl("push", "show", id).out
            for words in [
                "· HTTP/2 · 200 taken", "com.example.talk on desktop",
                "topic      com.example.talk.voip · push-type voip",
                id, "would ring late", "Then: rings", "\"displayName\": \"Alice\"",
            ] {
                #expect(page.contains(words), "\(words): \(page)")
            }
            // The line of the log carries the first finding.
            try rig.logged("push.received", "HTTP/2", "com.example.talk: rings; expiration is 30 days: would ring late")

            // The same again is a duplicate; a wrong token is told from the right one.
            _ = try rig.ringctl(
                "push", "--via", "http2", "--gateway", gateway, "--app", Rig.app, "--caller", "Alice", "--id", "1")
            #expect(
                try rig.ask("pushes", "--limit", "1").items.first?["finding"]?.string?.contains("duplicate") == true)
            let wrong = try rig.ringctl(
                "push", "--via", "http2", "--gateway", gateway, "--token", alert, "--topic", "\(Rig.app).voip",
                "--caller", "Bob")
            #expect(wrong.status == 1 && wrong.all.contains("DeviceTokenNotForTopic"), "\(wrong.all)")
            let refused = try #require(try rig.ask("pushes", "--refused").items.last)
            #expect(refused["finding"]?.string?.contains("this is the alert token of com.example.talk") == true)
            #expect(rig.log.components(separatedBy: "DeviceTokenNotForTopic").count == 2)
            // A cancel works, with a word on cancels.
            let start = rig.events.count
            _ = try rig.ringctl(
                "push", "--via", "http2", "--gateway", gateway, "--app", Rig.app, "--cancel", "--id", "1")
            #expect(try rig.event("call.ended", from: start)["reason"]?.string == "remote-ended")
            let last = try #require(try rig.ask("pushes", "--limit", "1").items.first)
            #expect(
                last["outcome"]?.string == "ended"
                    && last["finding"]?.string?.contains("by push may come first") == true)
            // Its id is spent: said with the cure, and not in our own jargon.
            let late = try rig.ringctl("push", "--app", Rig.app, "--caller", "Alice", "--id", "1")
            #expect(
                late.out.contains("call 1 is over, and an id rings once in ten minutes: send a new one"), "\(late.all)")
            #expect(!late.all.contains("tombstone"))
            #expect(try rig.ringctl("pushes", "--limit", "1").out.contains("already-over  its call is over"))
            // No header at all, where none is asked for.
            _ = try rig.ringctl(
                "push", "--via", "http2", "--gateway", gateway, "--app", Rig.app, "--caller", "Bob", "--expiration",
                "none", "--apns-id", "0a1b2c3d-1111-4000-8000-00000000000e")
            let bare = try rig.ask("push", "show", "0a1b2c3d-1111-4000-8000-00000000000e")
            #expect(bare["expiration"] == nil && codes(bare).contains("no-expiration"))
            // The report of a call still has its pushes.
            let report = try rig.ask("report", first)["events"]?.items.compactMap { $0["kind"]?.string } ?? []
            #expect(report.filter { $0 == "push.accepted" }.count == 3)
            let unknown = try rig.ringctl("push", "show", "4711")
            #expect(unknown.status == 1 && unknown.complaint.contains("is not in the record"))
        }

        @Test func theRecordIsFollowed() throws {
            let rig = try Rig(["bus"])
            try rig.ask("apps", "add", Rig.app)
            for id in ["1", "2"] { try rig.ask("push", "--app", Rig.app, "--caller", "Alice", "--id", id) }
            let follower = try Program(
                Tree.program("ringctl"), ["pushes", "--follow", "--json", "--limit", "1"], environment: rig.environment,
                output: rig.scratch.at("follow.json"), complaints: rig.scratch.at("follow.err"))
            let refusals = try Program(
                Tree.program("ringctl"), ["pushes", "--follow", "--refused", "--limit", "0"],
                environment: rig.environment, output: rig.scratch.at("refused.txt"),
                complaints: rig.scratch.at("refused.err"))
            let lines = JSONLines(rig.scratch.at("follow.json"))
            func numbers() -> [Int64] {
                lines.read()
                return lines.all.compactMap { $0["number"]?.integer }
            }
            try until("the last one") { numbers() == [2] }
            var sent: Int64 = 2
            func push(_ priority: String) throws {
                _ = try rig.ringctl("push", "--app", Rig.app, "--caller", "Alice", "--id", "1", "--priority", priority)
                sent += 1
            }
            func refused() -> [Int64] {
                refusals.said.split(separator: "\n").compactMap { line in
                    line.contains("BadPriority") ? line.split(separator: " ").first.flatMap { Int64($0) } : nil
                }
            }
            // It follows when it shows one.
            try until("the refused ones to be followed") {
                try push("7")
                return !refused().isEmpty
            }
            let first = sent
            for number in 1...30 { try push(number % 10 == 0 ? "7" : "10") }
            try until("all of them") { numbers() == Array(2...sent) }
            try until("the refused ones") { refused().filter { $0 > first } == [first + 10, first + 20, first + 30] }
            #expect(!refusals.said.contains("duplicate") && follower.complained.isEmpty && refusals.complained.isEmpty)
            // A signal at most ten times a second, and none while nothing comes.
            try rig.listen()
            pause(0.3)
            let before = rig.messages("Pushes").count
            pause(1)
            #expect(rig.messages("Pushes").count == before)
            try push("10")
            try until("the signal") { rig.messages("Pushes").contains { $0.first?.integer == sent } }
            // ringd starts again, and numbers begin anew: the follower goes on.
            rig.daemon.kill()
            try rig.start()
            try rig.ask("push", "--app", Rig.app, "--caller", "Bob", "--id", "9")
            try until("the new run's first") { numbers().last == 1 }
        }

        @Test func devicesOfOthers() throws {
            let rig = try Rig(["bus"])
            try rig.ask("apps", "add", Rig.app)
            let added = try rig.ask("device", "add", "load", "--count", "1000")
            #expect(added["devices"]?.integer == 1000 && added["tokens"]?.integer == 4000)
            #expect(try rig.ringctl("device", "add", "load-7").status == 1)
            for bad in [
                ["device", "add", "desktop"], ["device", "add", "a b"], ["device", "remove", "nobody"],
                ["device", "offline", "nobody"],
            ] {
                let outcome = try attempt(Tree.program("ringctl"), bad, environment: rig.environment, isWhole: true)
                #expect(outcome.status == 1 && !outcome.complaint.isEmpty, "\(bad)")
            }
            #expect(try rig.ringctl("device", "add", "x", "--count", "5001").status == 2)
            let listed = try rig.ringctl("device", "tokens", "--kind", "voip", "--environment", "production", "--json")
            let tokens = listed.out.split(separator: "\n").compactMap { try? JSONValue.parse(String($0)) }
            #expect(tokens.count == 1001 && Set(tokens.compactMap { $0["token"]?.string }).count == 1001)
            let mine = try #require(tokens.first { $0["device"]?.string == "load-500" }?["token"]?.string)
            #expect(
                try rig.ask("apps", Rig.app, "--device", "load-500").items.first?["voip-production"]?.string == mine)
            // Judged and recorded like any, and nothing rings.
            let push = try rig.ask("push", "--token", mine, "--caller", "X")
            #expect(push["outcome"]?.string == "delivered")
            #expect(try show(rig, push)["device"]?.string == "load-500")
            try rig.ask("device", "offline", "load-500")
            #expect(
                try rig.ask("push", "--app", Rig.app, "--device", "load-500", "--caller", "X")["outcome"]?.string
                    == "stored")
            #expect(rig.events("call.ringing").isEmpty)
            // The name of all of them is none of theirs.
            let whole = try rig.ringctl("push", "--app", Rig.app, "--device", "load", "--caller", "X")
            #expect(
                whole.status == 1 && whole.complaint.contains("there are load-1 … load-1000 (ringctl device)"),
                "\(whole.all)")
            // A load counts what was accepted: a token takes so many a second.
            try rig.ask("config", "set", "apns.device-rate", "5")
            let load = try rig.ringctl(
                "push", "--via", "http2", "--gateway", try rig.gateway, "--app", Rig.app, "--device", "load-1",
                "--caller", "X", "--bench", "200")
            #expect(load.status == 1 && load.complaint.contains("the first: 429 TooManyRequests"), "\(load.all)")
            let accepted = load.out.split(separator: " ").first.flatMap { Int($0) } ?? 0
            #expect(
                (10..<200).contains(accepted) && load.out.contains("\(accepted) of 200 accepted, in"), "\(load.all)")
            let usual = try rig.ringctl("config", "unset", "apns.device-rate")
            #expect(usual.out.contains("apns.device-rate = 100, the default, in force"), "\(usual.all)")
            rig.daemon.kill()
            try rig.start()
            #expect(try rig.ask("device").items.count == 1001)
            #expect(try rig.ask("device", "online", "load-500")["delivered"]?.integer == 1)
            #expect(try rig.ask("device", "remove", "load", "--count", "1000")["removed"]?.integer == 1000)
            #expect(try rig.ringctl("push", "--token", mine, "--caller", "X").complaint.contains("was removed"))
            #expect(try rig.ask("device").items.count == 1)
        }

        @Test func faultsAndKeysOfTheConfiguration() throws {
            let rig = try Rig(["bus"])
            try rig.ask("apps", "add", Rig.app)
            let key = rig.scratch.at("AuthKey_ABC123DEFG.p8")
            try rig.configure(
                """
                [fault busy]
                app = \(Rig.app)
                every = 2
                do = delay 0.1, status 503
                [key ABC123DEFG]
                file = \(key)
                team = TEAM000001
                """)
            rig.daemon.send(SIGHUP)
            let fault = try rig.event("config.fault")
            #expect(
                fault["line"]?.integer == 8 && fault["message"]?.string?.contains("there is no file \(key)") == true)
            #expect(try rig.ask("push", "--app", Rig.app, "--caller", "X", "--id", "1")["outcome"]?.string == "rings")
            let refused = try rig.ringctl("push", "--app", Rig.app, "--caller", "X", "--id", "2")
            #expect(refused.status == 1 && refused.complaint.contains("a fault was asked for"), "\(refused.all)")

            // Its tokens are refused until its file is there.
            func push() throws -> Outcome {
                try rig.ringctl(
                    "push", "--via", "http2", "--gateway", try rig.gateway, "--app", Rig.app, "--caller", "Y", "--id",
                    "3",
                    "--key", key, "--team-id", "TEAM000001")
            }
            try run("openssl", ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key])
            #expect(try push().all.contains("InvalidProviderToken"))
            #expect(
                try rig.ask("pushes", "--limit", "1").items.first?["finding"]?.string?
                    .contains("write [key ABC123DEFG] and file = ") == true)
            let start = rig.events.count
            rig.daemon.send(SIGHUP)
            try rig.event("config.loaded", from: start)
            #expect(rig.events("config.fault", from: start).isEmpty)
            // The rule's count goes on over a reload that does not change it.
            #expect(try push().all.contains("ServiceUnavailable"))
            #expect(try push().status == 0)
        }

        /// Any certificate will do, until the configuration says whose.
        @Test func whoseCertificatesAreTrusted() throws {
            let rig = try Rig(["bus"])
            let token = try rig.token()
            let place = rig.scratch.path
            for command in [
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9 -subj /CN=team -keyout ca.key -out ca.pem",
                "req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /UID=\(Rig.app).voip/CN=VoIP -keyout my.key -out my.csr",
                "x509 -req -in my.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 9 -out my.crt",
            ] {
                try run("env", ["-C", place, "openssl"] + command.split(separator: " ").map(String.init))
            }
            let mine = rig.scratch.at("my.pem")
            let parts = try ["my.crt", "my.key"].map { try String(contentsOfFile: rig.scratch.at($0), encoding: .utf8) }
            try parts.joined().write(toFile: mine, atomically: true, encoding: .utf8)
            func push(_ caller: String) throws -> Bool {
                try rig.php(token: token, message: caller, ["--wait", "0.2"], cert: mine).status == 0
            }
            #expect(try push("Any"))
            try rig.event("call.ringing") { $0["caller"]?.string == "Any" }

            func configure(_ text: String) throws {
                let start = rig.events.count
                try rig.configure(text)
                rig.daemon.send(SIGHUP)
                try rig.event("config.loaded", from: start)
            }
            try configure("certificates = trusted\n")
            #expect(try !push("Stranger"))
            try rig.event("gateway.fault") { $0["message"]?.string?.contains("certificate") == true }
            // Ours is trusted as ever.
            #expect(try rig.php(token: token, message: "Own", ["--wait", "0.2"]).status == 0)

            try configure("certificates = trusted\nauthorities = \(rig.scratch.at("none.pem"))\n")
            #expect(
                try rig.event("config.fault")["message"]?.string?
                    .contains("there is no file \(rig.scratch.at("none.pem"))") == true)
            try configure("certificates = trusted\nauthorities = \(rig.scratch.at("ca.pem"))\n")
            #expect(try push("Trusted"))
            #expect(try rig.ask("pushes", "--limit", "1").items.first?["outcome"]?.string == "queued")
        }

        @Test func aCallThatHasToWaitSaysSo() throws {
            let rig = try Rig(["bus"])
            #expect(try rig.ringctl("ring", "--caller", "Alice").out.hasPrefix("ringing: "))
            let second = try rig.ringctl("ring", "--caller", "Bob")
            #expect(second.out.hasPrefix("queued: ") && second.out.contains("when the call before it is over"))
            #expect(try rig.ask("ring", "--caller", "Carol")["state"]?.string == "queued")
            try rig.ask("apps", "add", Rig.app)
            for (arguments, words) in [
                (["--caller", "Dora", "--id", "1"], "waits behind the call that is ringing"),
                (["--cancel", "--id", "7"], "no live call has this id"),
                (["--caller", "Eve", "--id", "7"], "call 7 is over, and an id rings once"),
            ] {
                let outcome = try attempt(
                    Tree.program("ringctl"), ["push", "--app", Rig.app] + arguments, environment: rig.environment,
                    isWhole: true)
                #expect(outcome.out.contains(words), "\(outcome.all)")
            }
        }
    }
}
