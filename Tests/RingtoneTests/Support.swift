import Base
import EventLoop
import Foundation
import Glibc

@testable import Ringtone

enum Tree {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let headless = root.appending(path: "Scripts/headless").path
    static let sounds = root.appending(path: "Sounds").path
    /// Beside the test program, where the build puts every program.
    static var converter: String {
        let here = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: here).deletingLastPathComponent().appending(path: "ringd-decode").path
    }
}

struct ToolFailed: Error {
    let line: String
}

@discardableResult
func run(_ tool: String, _ arguments: [String], environment: [String: String] = [:]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [tool] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw ToolFailed(line: "\(tool) \(arguments): \(said)") }
    return said
}

/// A folder that goes with its owner.
final class Scratch {
    let path: String

    init() {
        var template = Array("/tmp/ringd-test.XXXXXX".utf8CString)
        path = String(cString: mkdtemp(&template)!)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func at(_ name: String) -> String { path + "/" + name }

    func make(_ name: String, _ content: Data = Data("x".utf8)) throws {
        let url = URL(filePath: at(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try content.write(to: url)
    }
}

extension PCM {
    /// Noise that is never silent and never twice the same, so that every place of it can be recognised.
    static func noise(seconds: Double, silence: Double = 0, channels: Int = 2, rate: Int = 48000) -> PCM {
        var state: UInt32 = 12345
        var samples: [Int16] = []
        for _ in 0..<Int(seconds * Double(rate)) * channels {
            state = state &* 1_664_525 &+ 1_013_904_223
            let value = Int16(1000 + state >> 16 % 8000)
            samples.append(state >> 8 & 1 == 0 ? value : -value)
        }
        samples += Array(repeating: 0, count: Int(silence * Double(rate)) * channels)
        return PCM(samples: samples, channels: channels, rate: rate)
    }

    /// As a WAV file (RIFF, PCM 16 bit).
    var wave: Data {
        var data = Data("RIFF".utf8)
        func little<T: FixedWidthInteger>(_ value: T) {
            withUnsafeBytes(of: value.littleEndian) { data.append(contentsOf: $0) }
        }
        little(UInt32(36 + size))
        data.append(contentsOf: Data("WAVEfmt ".utf8))
        little(UInt32(16))
        little(UInt16(1))
        little(UInt16(channels))
        little(UInt32(rate))
        little(UInt32(rate * channels * 2))
        little(UInt16(channels * 2))
        little(UInt16(16))
        data.append(contentsOf: Data("data".utf8))
        little(UInt32(size))
        samples.withUnsafeBytes { data.append(contentsOf: $0) }
        return data
    }
}

/// A bus and a sound server of the test's own.
final class Desk {
    let scratch = Scratch()
    var server: String { "unix:\(scratch.path)/pulse.sock" }

    init() throws { try up() }

    deinit { _ = try? run(Tree.headless, ["down", scratch.path]) }

    func up() throws { try run(Tree.headless, ["up", scratch.path, "sound"]) }

    var pid: pid_t {
        let text = (try? String(contentsOfFile: scratch.at("sound.pid"), encoding: .utf8)) ?? ""
        return pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    func exit() throws {
        try pactl("exit")
        awaitEnd()
    }

    func kill() throws {
        Glibc.kill(pid, SIGKILL)
        awaitEnd()
    }

    private func awaitEnd() {
        // The stale pid file is what a crash leaves behind: up must cope.
        while (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe")) != nil { usleep(1000) }
    }

    @discardableResult
    func pactl(_ arguments: String...) throws -> String {
        try run("pactl", arguments, environment: ["PULSE_SERVER": server])
    }

    /// What a mixer's close button does. pactl has no verb for it, pacmd wants the command-line protocol.
    func killStream(_ index: String) throws {
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
    func record() throws -> Recording {
        try Recording(server, scratch.at("heard-\(UInt32.random(in: 0 ... .max)).raw"))
    }
}

/// parec on the sink's monitor: 48 kHz stereo, the sink's own format, so that nothing is converted.
final class Recording {
    private let process = Process()
    private let path: String

    init(_ server: String, _ path: String) throws {
        self.path = path
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "parec", "-d", "ring.monitor", "--latency-msec=5", "--raw", "--rate=48000", "--channels=2",
            "--format=s16le",
        ]
        process.environment = ProcessInfo.processInfo.environment.merging(["PULSE_SERVER": server]) { $1 }
        process.standardOutput = FileHandle(forWritingAtPath: path)
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        for _ in 0..<5000 where size == 0 { usleep(1000) }
        guard size > 0 else { throw ToolFailed(line: "parec records nothing") }
    }

    deinit { end() }

    /// By SIGKILL: the child inherits a blocked SIGTERM from the pool's thread. It writes without a buffer of its own.
    private func end() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private var size: Int { (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0 }

    /// Seconds recorded so far.
    var seconds: Double { Double(size) / 192_000 }

    /// Ends it; interleaved samples.
    func finish() throws -> [Int16] {
        end()
        let data = try Data(contentsOf: URL(filePath: path))
        return data.prefix(data.count / 4 * 4).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }
}

/// A player on a loop of its own, turned by the test's thread.
final class Stage {
    let loop: EventLoop
    let worker = Worker(name: "test-worker")
    let player: RingPlayer
    private let log = Log()

    final class Log {
        var events: [Event] = []
    }

    var events: [Event] { log.events }

    init(_ server: String, device: String? = nil) throws {
        loop = try EventLoop()
        let log = log
        player = try RingPlayer(loop, worker: worker, output: SoundOutput(device: device, server: server)) {
            log.events.append($0)
        }
    }

    deinit { worker.finish() }

    func first(_ kind: Event.Kind) -> Event? { log.events.first { $0.kind == kind } }

    func count(_ kind: Event.Kind) -> Int { log.events.count { $0.kind == kind } }

    /// Turns the loop until `done`; false if that does not come within `limit` seconds.
    @discardableResult
    func turn(_ limit: Double = 15, until done: () -> Bool) throws -> Bool {
        let end = Instant.now + .milliseconds(Int64(limit * 1000))
        while !done() {
            guard .now < end else { return false }
            try loop.turn(timeout: .milliseconds(20))
        }
        return true
    }

    func turn(seconds: Double) throws {
        let end = Instant.now + .milliseconds(Int64(seconds * 1000))
        try turn(seconds + 5) { .now >= end }
    }
}

extension RingWish {
    /// A ring with these files, best first.
    static func files(_ paths: String..., volume: Double = 1, soft: Bool = false) -> RingWish {
        let candidates = paths.map { ResolvedSound.Candidate(step: .user, name: "test", path: $0) }
        return RingWish(
            id: CallUUID.random(), sound: ResolvedSound(candidates: candidates), volume: volume, soft: soft)
    }
}
