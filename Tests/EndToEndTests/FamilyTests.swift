import Foundation
import JSON
import TestSupport
import Testing

extension EndToEnd {
    /// Payloads of every family through the whole daemon: they ring, change, end and come late as they are.
    @Suite(.serialized) struct Families {
        private static let folder = Tree.root.appending(path: "Tests/PushesTests/payloads")

        private struct Family {
            var name: String
            var app: String { "com.example." + name.replacing("-", with: "") }
            var cases: [(name: String, payload: String, expected: JSONValue)]

            init(_ name: String) throws {
                self.name = name
                let home = Families.folder.appending(path: name)
                let expected = try JSONValue.parse(
                    try String(contentsOf: home.appending(path: "expected.json"), encoding: .utf8))
                cases = try (expected["cases"]?.members ?? []).map { member in
                    let file = home.appending(path: member.name + ".json")
                    return (member.name, try String(contentsOf: file, encoding: .utf8), member.value)
                }
            }

            subscript(_ name: String) -> (name: String, payload: String, expected: JSONValue)? {
                cases.first { $0.name == name }
            }
        }

        private func push(_ rig: Rig, _ app: String, _ payload: String) throws -> (
            status: Int32, said: JSONValue, all: String
        ) {
            let outcome = try rig.ringctl(
                "push", "--app", app, "--payload", "-", "--json", input: Data(payload.utf8))
            let said = (try? JSONValue.parse(Array(outcome.out.utf8))) ?? .null
            return (outcome.status, said, outcome.all)
        }

        private static let ends = [
            "cancel": "remote-ended", "answered-elsewhere": "answered-elsewhere",
            "declined-elsewhere": "declined-elsewhere", "missed": "unanswered",
        ]

        @Test func everyPayloadDoesWhatItSays() throws {
            let rig = try Rig(["bus"])
            try rig.ask("apps", "add", Rig.app)
            let families = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted().map(
                Family.init)
            #expect(families.count >= 28)
            for family in families {
                try rig.ask("apps", "add", family.app)
                for one in family.cases {
                    let place = "\(family.name)/\(one.name)"
                    let kind = one.expected["kind"]?.string
                    if one.expected["fault"] == true {
                        let answer = try push(rig, family.app, one.payload)
                        #expect(answer.status == 1, "\(place): \(answer.all)")
                        #expect(try rig.ask("calls").items.isEmpty, "\(place)")
                    } else if kind == "invite" {
                        try rings(one, family, rig)
                    } else if kind == "update" {
                        #expect(try push(rig, family.app, one.payload).status == 1, "\(place): there is no call")
                    } else {
                        try ends(one, family, rig)
                    }
                }
            }
            // Whatever came: nobody's name has anything in it that a terminal or a banner would act on.
            for call in try rig.ask("history", "--limit", "1000").items {
                let caller = try #require(call["caller"]?.string)
                #expect(!caller.isEmpty && !caller.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202e })
            }
        }

        /// It rings once, and its repeat changes nothing; or it came too late to.
        private func rings(
            _ one: (name: String, payload: String, expected: JSONValue), _ family: Family, _ rig: Rig
        ) throws {
            let place = "\(family.name)/\(one.name)"
            // An id rings once: each case has its own.
            let payload = own(one.payload, one.expected["key"]?.string, one.name)
            let first = try push(rig, family.app, payload)
            if one.name == "expired" {
                #expect(first.said["outcome"]?.string == "too-late", "\(place): \(first.all)")
                return
            }
            #expect(first.said["outcome"]?.string == "rings", "\(place): \(first.all)")
            let call = try #require(try rig.ask("calls").items.first)
            if let name = one.expected["name"]?.string { #expect(call["Caller"]?.string == name, "\(place)") }
            #expect(call["Video"]?.flag == (one.expected["video"] == true), "\(place)")
            #expect(try push(rig, family.app, payload).said["outcome"]?.string == "updated", "\(place)")
            try rig.ask("decline")
            #expect(
                try push(rig, family.app, payload).said["outcome"]?.string
                    == (one.expected["key"] == nil ? "rings" : "already-over"), "\(place)")
            if one.expected["key"] == nil { try rig.ask("decline") }
        }

        /// It ends its own call, for its own reason, and no other.
        private func ends(
            _ one: (name: String, payload: String, expected: JSONValue), _ family: Family, _ rig: Rig
        ) throws {
            let place = "\(family.name)/\(one.name)"
            // One that names no call is taken only where there is, and lately was, no other that it could mean.
            let app = one.expected["onlyCall"] == true ? family.app + ".only" : family.app
            try rig.ask("apps", "add", app)
            let invite = try #require(
                family.cases.first { $0.name == "valid" && $0.expected["key"] == one.expected["key"] }
                    ?? family.cases.first { $0.expected["kind"]?.string == "invite" && $0.expected["key"] != nil })
            let key = invite.expected["key"]?.string
            let bystander = try push(rig, Rig.app, #"{"callId":"by-\#(place)","displayName":"Bystander"}"#)
            #expect(bystander.said["outcome"]?.string == "rings", "\(place): \(bystander.all)")
            #expect(try push(rig, app, own(invite.payload, key, one.name)).said["outcome"]?.string == "queued")
            let end = try push(rig, app, own(one.payload, key, one.name))
            #expect(end.said["outcome"]?.string == "ended", "\(place): \(end.all)")
            let left = try rig.ask("calls").items
            #expect(left.map { $0["Caller"]?.string } == ["Bystander"], "\(place)")
            let row = try #require(
                try rig.ask("history", "--limit", "5").items.first { $0["app"]?.string == app })
            #expect(
                row["reason"]?.string == Self.ends[one.expected["kind"]?.string ?? ""], "\(place): \(row.encoded())")
            try rig.ask("decline")
        }

        private func own(_ payload: String, _ key: String?, _ name: String) -> String {
            guard let key, key != "4711", key.utf8.count > 0 else { return payload }
            let written = JSONValue.string(key).encoded()
            let bare = String(written.dropFirst().dropLast())
            return payload.replacing(bare, with: bare + "." + name).replacing(
                bare.uppercased(), with: bare.uppercased() + "." + name)
        }
    }
}
