import Foundation
import Glibc

/// parec on the sink's monitor: 48 kHz stereo, the sink's own format, so that nothing is converted.
package final class Recording {
    private let process = Process()
    private let path: String

    package init(_ server: String, _ path: String) throws {
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
    package var seconds: Double { Double(size) / 192_000 }

    /// Interleaved samples so far.
    package func samples() throws -> [Int16] {
        let data = try Data(contentsOf: URL(filePath: path))
        return data.prefix(data.count / 4 * 4).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }

    /// Ends it; interleaved samples.
    package func finish() throws -> [Int16] {
        end()
        return try samples()
    }
}
