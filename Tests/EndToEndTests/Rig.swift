import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// Every test here runs alone: each has a desktop of its own, but the machine may have two cores.
@Suite(.serialized) struct EndToEnd {}

/// Waits for what comes by itself. The limit is what only a hang needs.
func until(_ what: String, within limit: Double = 20, _ condition: () throws -> Bool) throws {
    let end = Date.now.addingTimeInterval(limit)
    while try !condition() {
        guard Date.now < end else { throw ToolFailed(line: "did not come within \(limit) s: \(what)") }
        usleep(5000)
    }
}

func pause(_ seconds: Double) { usleep(UInt32(seconds * 1e6)) }

/// A program in the background; what it says is appended to files.
///
/// Its signal mask is empty, as a desktop starts programs: Foundation's Process would hand on that of a test's thread.
final class Program {
    let output: String
    let complaints: String
    let pid: pid_t
    private let name: String
    private var status: Int32?

    init(
        _ path: String, _ arguments: [String] = [], environment: [String: String], output: String,
        complaints: String? = nil
    ) throws {
        self.output = output
        self.complaints = complaints ?? output
        name = path
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        let flags = O_WRONLY | O_CREAT | O_APPEND
        posix_spawn_file_actions_addopen(&actions, 1, output, flags, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, self.complaints, flags, 0o600)
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in words + variables { free(pointer) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, path, &actions, &attributes, words, variables)
        guard code == 0 else { throw ToolFailed(line: "\(path): \(String(cString: strerror(code)))") }
        self.pid = pid
    }

    deinit { kill() }

    var isRunning: Bool {
        if status != nil { return false }
        var code: Int32 = 0
        guard waitpid(pid, &code, WNOHANG) == pid else { return true }
        status = code
        return false
    }

    func send(_ signal: Int32) { if isRunning { Glibc.kill(pid, signal) } }

    func kill() {
        guard isRunning else { return }
        Glibc.kill(pid, SIGKILL)
        while isRunning { usleep(1000) }
    }

    /// Its exit status; negative for the signal that ended it.
    func end(within limit: Double = 15) throws -> Int32 {
        try until("the end of \(name)", within: limit) { !isRunning }
        let code = status ?? 0
        return code & 0x7f == 0 ? code >> 8 & 0xff : -(code & 0x7f)
    }

    var said: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }
    var complained: String { (try? String(contentsOfFile: complaints, encoding: .utf8)) ?? "" }
}

/// JSON lines that a program in the background writes to a file.
final class JSONLines {
    private let path: String
    private var offset: UInt64 = 0
    private var rest = Data()
    private(set) var all: [JSONValue] = []

    init(_ path: String) { self.path = path }

    func read() {
        guard let file = FileHandle(forReadingAtPath: path) else { return }
        defer { try? file.close() }
        guard (try? file.seek(toOffset: offset)) != nil, let more = try? file.readToEnd() else { return }
        offset += UInt64(more.count)
        rest += more
        while let end = rest.firstIndex(of: 10) {
            if let value = try? JSONValue.parse([UInt8](rest[rest.startIndex..<end])) { all.append(value) }
            rest = rest[(end + 1)...]
        }
    }
}

extension JSONValue {
    var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        default: nil
        }
    }
    var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    var flag: Bool? { if case .bool(let value) = self { value } else { nil } }
    var items: [JSONValue] { if case .array(let values) = self { values } else { [] } }
}

/// ringd on a desktop of its own.
final class Rig {
    let desk: Desk
    let scratch = Scratch()
    private(set) var environment: [String: String] = [:]
    private(set) var daemon: Program!
    private var watcher: Program?
    private var spy: Program?
    private let watched: JSONLines
    private let spied: JSONLines
    /// What ringd is started by: a program that becomes it in the end.
    private let launcher: [String]
    static let app = "com.example.talk"

    var log: String { (try? String(contentsOfFile: scratch.at("ringd.log"), encoding: .utf8)) ?? "" }

    init(
        _ parts: [String] = ["bus", "sound", "display", "notify"], config: String = "", bus: Bool = true,
        starts: Bool = true, doors: String? = nil, launcher: [String] = []
    ) throws {
        self.launcher = launcher
        desk = try Desk(parts)
        watched = JSONLines(scratch.at("watch.json"))
        spied = JSONLines(scratch.at("spy.json"))
        environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
            "HOME": scratch.at("home"), "XDG_CONFIG_HOME": scratch.at("config"),
            "XDG_STATE_HOME": scratch.at("state"), "XDG_CACHE_HOME": scratch.at("cache"),
            "XDG_DATA_HOME": scratch.at("data"), "XDG_DATA_DIRS": scratch.at("none"),
            "XDG_RUNTIME_DIR": desk.scratch.path, "PULSE_SERVER": desk.server,
        ]
        if bus { environment["DBUS_SESSION_BUS_ADDRESS"] = desk.bus }
        try scratch.make("home/.keep")
        try configure(config, doors: doors)
        guard starts else { return }
        try start()
        if bus && parts.contains("bus") { try watch() }
    }

    deinit {
        watcher?.kill()
        spy?.kill()
        daemon?.kill()
    }

    /// What ringd.conf says, beside doors on free ports; what does not begin with a section is of `[apns]`.
    func configure(_ text: String, doors: String? = nil) throws {
        let others = "[apns]\n" + (doors ?? "http2 = 127.0.0.1:0\nfeedback = 127.0.0.1:0\nproxy = none\n")
        try scratch.make(
            "config/ringd/ringd.conf", Data("[apns]\nbinary = 127.0.0.1:0\n\(text)\n\(others)".utf8))
    }

    /// As in a terminal without a session.
    func leaveBus() { environment["DBUS_SESSION_BUS_ADDRESS"] = nil }

    func joinBus() { environment["DBUS_SESSION_BUS_ADDRESS"] = desk.bus }

    // MARK: ringd

    func start() throws {
        let before = log.components(separatedBy: "daemon.ready").count
        let line = launcher + [Tree.program("ringd"), "--sounds", Tree.sounds]
        daemon = try Program(
            line[0], Array(line.dropFirst()), environment: environment, output: scratch.at("ringd.log"))
        try until("ringd to be ready") {
            guard daemon.isRunning else { throw ToolFailed(line: "ringd ended: \(log)") }
            return log.components(separatedBy: "daemon.ready").count > before
        }
    }

    func ringctl(_ arguments: String..., input: Data? = nil) throws -> Outcome {
        try attempt(
            Tree.program("ringctl"), arguments, environment: environment, isWhole: true, input: input)
    }

    /// A verb that is to succeed, with `--json`.
    @discardableResult
    func ask(_ arguments: String..., input: Data? = nil) throws -> JSONValue {
        let outcome = try attempt(
            Tree.program("ringctl"), arguments + ["--json"], environment: environment, isWhole: true, input: input)
        guard outcome.status == 0 else {
            throw ToolFailed(line: "ringctl \(arguments): \(outcome.status) \(outcome.all)\n\(log)")
        }
        return try JSONValue.parse(Array(outcome.out.utf8))
    }

    var gateway: String {
        get throws { try #require(try ask("status")["apns"]?.items.first?.string) }
    }

    var port: UInt16 { get throws { try #require(UInt16(try gateway.split(separator: ":").last ?? "")) } }

    /// A call of an unnamed kind, by `ringctl ring`; its id.
    @discardableResult
    func ring(_ caller: String = "Alice", _ more: String...) throws -> String {
        let outcome = try attempt(
            Tree.program("ringctl"), ["ring", "--json", "--caller", caller] + more, environment: environment,
            isWhole: true)
        guard outcome.status == 0 else { throw ToolFailed(line: "ringctl ring: \(outcome.all)\n\(log)") }
        return try #require(try JSONValue.parse(Array(outcome.out.utf8))["call"]?.string)
    }

    /// The newest row of the history.
    func lastCall() throws -> JSONValue { try #require(try ask("history", "--limit", "1").items.first) }

    /// The PHP sender of Examples, as it is.
    func php(token: String, message: String, _ more: [String] = [], cert: String? = nil) throws -> Outcome {
        let app = try ask("apps", "add", Self.app)
        let certificate = try cert ?? #require(app["certificate"]?.string)
        return try attempt(
            "php",
            [
                Tree.root.appending(path: "Examples/push.php").path, "--gateway", try gateway, "--token", token,
                "--cert", certificate, "--cafile", try #require(app["authority"]?.string), "--message", message,
            ] + more, environment: environment, isWhole: true)
    }

    func token(_ kind: String = "voip-production") throws -> String {
        try #require(try ask("apps", "add", Self.app)[kind]?.string)
    }

    // MARK: What happens

    /// Begins to follow the events; again, if the bus was away.
    func watch() throws {
        watcher?.kill()
        let seen = events.count
        watcher = try Program(
            Tree.program("ringctl"), ["watch", "--json"], environment: environment,
            output: scratch.at("watch.json"), complaints: scratch.at("watch.err"))
        // It has subscribed when it sees something.
        var tries = 0
        try until("ringctl watch to see events") {
            if tries % 40 == 0 { daemon.send(SIGHUP) }
            tries += 1
            return events.dropFirst(seen).contains { $0["kind"]?.string == "config.loaded" }
        }
    }

    /// Everything that `ringctl watch` has said so far.
    var events: [JSONValue] {
        watched.read()
        return watched.all
    }

    func events(_ kind: String, from start: Int = 0) -> [JSONValue] {
        events.dropFirst(start).filter { $0["kind"]?.string == kind }
    }

    /// The first event of that kind from the `start`th event on.
    @discardableResult
    func event(
        _ kind: String, from start: Int = 0, within limit: Double = 20, _ fits: (JSONValue) -> Bool = { _ in true }
    ) throws -> JSONValue {
        var found: JSONValue?
        do {
            try until(kind, within: limit) {
                found = events(kind, from: start).first(where: fits)
                return found != nil
            }
        } catch {
            throw ToolFailed(
                line: "no \(kind) that fits; events: \(events.dropFirst(start).map { $0.encoded() })\n\(log)")
        }
        return found!
    }

    /// The first line of ringd's log that has all these words.
    @discardableResult
    func logged(_ words: String..., within limit: Double = 20) throws -> String {
        var found: String?
        do {
            try until("\(words) in the log", within: limit) {
                found = log.split(separator: "\n").first { line in words.allSatisfy(line.contains) }.map(String.init)
                return found != nil
            }
        } catch {
            throw ToolFailed(line: "\(error)\n\(log)")
        }
        return found!
    }

    // MARK: The bus

    /// Listens to everything on the bus from now on.
    func listen() throws {
        spy = try Program(
            "/usr/bin/busctl", ["--address=\(desk.bus)", "monitor", "--json=short"], environment: environment,
            output: scratch.at("spy.json"), complaints: scratch.at("spy.err"))
        try until("busctl to listen") { spy!.complained.contains("Monitoring") }
    }

    /// Arguments of each call (or signal) of that name, as busctl writes them.
    func messages(_ member: String) -> [[JSONValue]] {
        spied.read()
        return spied.all.filter { $0["member"]?.string == member }.map { $0["payload"]?["data"]?.items ?? [] }
    }

    /// The newest message of that name, once `fits` holds for it: the spy hears of it later than ringd does.
    func message(_ member: String, _ fits: ([JSONValue]) -> Bool = { _ in true }) throws -> [JSONValue] {
        var found: [JSONValue] = []
        try until("\(member) on the bus") {
            guard let last = messages(member).last(where: fits) else { return false }
            found = last
            return true
        }
        return found
    }

    // MARK: What is seen and heard

    func dunstctl(_ arguments: String...) throws -> String {
        try run("dunstctl", arguments, environment: ["DBUS_SESSION_BUS_ADDRESS": desk.bus])
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    var displayed: Int { get throws { Int(try dunstctl("count", "displayed")) ?? -1 } }

    /// Chooses an action on what is displayed, by its label.
    func choose(_ label: String) throws {
        try scratchFile("choose", label)
        _ = try dunstctl("context")
    }

    private func scratchFile(_ name: String, _ text: String) throws {
        try desk.scratch.make(name, Data(text.utf8))
    }

    /// Streams that are heard, and not those that only hold the sound server for a call.
    var streams: String { get throws { try inputs.filter { !$0.contains(Self.hold) }.joined(separator: "\n") } }

    var holds: Int { get throws { try inputs.count { $0.contains(Self.hold) } } }

    private static let hold = "s16le 1ch 8000Hz"

    private var inputs: [Substring] {
        get throws { try desk.pactl("list", "short", "sink-inputs").split(separator: "\n") }
    }

    /// Neither seen nor heard, soon.
    func expectRest(_ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try until("silence and no banner", within: 10) { try streams.isEmpty && displayed == 0 }
    }
}
