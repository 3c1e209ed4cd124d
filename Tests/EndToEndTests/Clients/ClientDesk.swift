import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// ringd with every door, an app that senders push to, one that is gone, and what senders push with.
///
/// One for a whole suite, whose tests come one by one: that is why it may be carried to them.
final class ClientDesk: @unchecked Sendable {
    @TaskLocal static var shared: ClientDesk?

    let rig: Rig
    /// Where the ports are Apple's own: an address that no other ringd has, or in a private network any.
    let host: String
    let isPrivate: Bool
    private(set) var http2Port: UInt16 = 0
    private(set) var binaryPort: UInt16 = 0
    private(set) var feedbackPort: UInt16 = 0

    /// The app's tokens, by kind and environment.
    private(set) var tokens: [String: String] = [:]
    private(set) var goneToken = ""
    /// When that app was removed, milliseconds: not before and not after.
    private(set) var goneAt: ClosedRange<Int64> = 0...0
    let nobodysToken = String(repeating: "0123456789abcdef", count: 4)

    private(set) var authority = ""
    private(set) var bundle = ""
    private(set) var key: [String: String] = [:]
    private var descriptors = 0
    var heldToken: String?

    static let goneApp = "com.example.gone"

    /// `isPrivate`: in a network of its own (root only).
    init(isPrivate: Bool = false) throws {
        self.isPrivate = isPrivate
        host =
            isPrivate
            ? "127.0.0.1"
            : "127.\(UInt8.random(in: 64...127)).\(UInt8.random(in: 0...255)).\(UInt8.random(in: 1...254))"
        let own = isPrivate ? "" : "127.0.0.1:0, "
        let https = isPrivate ? ", \(host):443" : ""
        rig = try Rig(
            config: Self.configuration,
            doors: """
                binary = \(own)\(host):2195
                http2 = \(own)\(host):2197\(https)
                feedback = \(own)\(host):2196
                proxy = \(host):2199

                """, launcher: isPrivate ? try PrivateNetwork.launcher() : [])
        try rig.listen()
        try findDoors()
        try makeApps()
        try warmUp()
    }

    /// One banner a call, so that they can be counted; and apps whose first pushes something befalls.
    private static let configuration = """
        [ring]
        raise = never
        [fault goaway]
        app = com.example.goaway
        times = 1
        do = goaway abrupt
        [fault refused]
        app = com.example.refused
        times = 2
        do = refuse-stream
        """

    private func findDoors() throws {
        func port(_ service: String, _ index: Int) throws -> UInt16 {
            let doors = try rig.ask("status")["doors"]?.items.filter { $0["service"]?.string == service } ?? []
            let address = try #require(doors.dropFirst(index).first?["address"]?.string, "\(doors)")
            return try #require(UInt16(address.split(separator: ":").last ?? ""))
        }
        guard !isPrivate else {
            (binaryPort, http2Port, feedbackPort) = (2195, 443, 2196)
            return
        }
        binaryPort = try port("pushes", 0)
        http2Port = try port("pushes", 2)
        feedbackPort = try port("feedback", 0)
    }

    private func makeApps() throws {
        for (name, value) in names(try rig.ask("apps", "add", Rig.app)) { tokens[name] = value }
        let gone = names(try rig.ask("apps", "add", Self.goneApp))
        goneToken = try #require(gone["voip-production"])
        // Its certificate outlives it: with that a sender learns that the app is gone.
        let gonesCertificate: String = try #require(gone["certificate"])
        let before = Int64(Date.now.timeIntervalSince1970 * 1000)
        try rig.ask("apps", "remove", Self.goneApp)
        goneAt = before...Int64(Date.now.timeIntervalSince1970 * 1000) + 1
        let credentials = names(try rig.ask("certs", "init", "--app", Rig.app))
        authority = try #require(credentials["authority"])
        bundle = try #require(credentials["bundle"])
        let certificate: String = try #require(credentials["certificate"])
        certificates = [Rig.app: certificate, Self.goneApp: gonesCertificate]
        key = [
            "PUSH_KEY": try #require(credentials["provider_key"]), "PUSH_KEY_ID": try #require(credentials["key_id"]),
            "PUSH_TEAM_ID": try #require(credentials["team_id"]),
        ]
    }

    private func names(_ object: JSONValue) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: (object.members ?? []).compactMap { one in one.value.string.map { (one.name, $0) } })
    }

    private(set) var certificates: [String: String] = [:]

    func token(_ kind: String) throws -> String { try #require(tokens[kind]) }

    /// Another app, for what would get in the way of the others.
    func app(_ id: String) throws -> String {
        try #require(try rig.ask("apps", "add", id)["voip-production"]?.string)
    }

    // MARK: What becomes of a push

    /// The call is there, is shown, and rings until it is declined: the user has seen that somebody calls.
    @discardableResult
    func expectRing(_ call: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> JSONValue {
        var found: JSONValue?
        try until("a call of \(call)") {
            found = try rig.ask("calls").items.first { $0["Key"]?.string == call }
            return found != nil
        }
        let rung = try #require(found)
        #expect(rung["State"]?.string == "ringing" && rung["Caller"]?.string == call, sourceLocation: sourceLocation)
        _ = try rig.message("Notify") { $0[3].string == call }
        let id = try #require(rung["UUID"]?.string)
        try rig.ask("decline", id)
        try rig.event("call.ended") { $0["call"]?.string == id && $0["reason"]?.string == "declined" }
        return rung
    }

    /// How many banners were shown for a caller.
    func banners(_ caller: String) -> Int { rig.messages("Notify").count { $0[3].string == caller } }

    /// The newest pushes, oldest first, with all that is known of them.
    func pushes(_ count: Int) throws -> [JSONValue] {
        try rig.ask("pushes", "--limit", String(count)).items.map { push in
            try rig.ask("push", "show", String(try #require(push["number"]?.integer)))
        }
    }

    static func findings(_ push: JSONValue) -> [String] {
        push["findings"]?.items.compactMap { $0["code"]?.string } ?? []
    }

    // MARK: The end

    /// What a first ring opens stays open.
    private func warmUp() throws {
        let id = try rig.ring("Nobody")
        try rig.event("sound.heard")
        try rig.ask("decline", id)
        try rig.expectRest()
        descriptors = openDescriptors
    }

    private var openDescriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(rig.daemon.pid)/fd").count) ?? 0
    }

    /// At rest, with nothing left open.
    func expectNothingLeft() throws {
        // The notice of a missed call stays for a while.
        _ = try rig.dunstctl("close-all")
        try rig.expectRest()
        try until("\(descriptors) descriptors, as before; there are \(openDescriptors)") {
            openDescriptors <= descriptors
        }
        #expect(rig.daemon.isRunning)
    }
}

/// A suite of one desk.
struct SharedDesk: SuiteTrait, TestScoping {
    var isPrivate = false

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let desk = try ClientDesk(isPrivate: isPrivate)
        try await ClientDesk.$shared.withValue(desk) { try await function() }
        try desk.expectNothingLeft()
    }
}

/// A network and mount namespace in which Apple's names are this machine and Apple's ports are free.
enum PrivateNetwork {
    /// It takes root, and a kernel or container that lets root do it.
    static let isPossible =
        geteuid() == 0
        && (try? attempt(
            "unshare", ["--net", "--mount", "sh", "-c", "ip link set lo up && mount --bind /etc/hosts /etc/hosts"]
        ))?.status == 0

    /// Becomes the program whose words follow.
    static func launcher() throws -> [String] {
        let script = """
            set -e
            ip link set lo up
            hosts=$(mktemp)
            cat >"$hosts" <<'END'
            127.0.0.1 localhost
            127.0.0.1 api.push.apple.com api.sandbox.push.apple.com api.development.push.apple.com
            127.0.0.1 gateway.push.apple.com gateway.sandbox.push.apple.com
            127.0.0.1 feedback.push.apple.com feedback.sandbox.push.apple.com
            END
            chmod 0644 "$hosts"
            mount --bind "$hosts" /etc/hosts
            rm "$hosts"
            exec "$@"
            """
        return ["/usr/bin/unshare", "--net", "--mount", "/bin/bash", "-c", script, "launcher"]
    }

    /// Runs a program in there.
    static func enter(_ pid: pid_t) -> [String] { ["nsenter", "--target", String(pid), "--net", "--mount"] }
}
