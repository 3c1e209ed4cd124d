package import Foundation
import Glibc

/// The package's own tree, and the programs that were built with the tests.
package enum Tree {
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    package static let headless = root.appending(path: "Scripts/headless").path
    package static let sounds = root.appending(path: "Sounds").path
    package static var converter: String { program("ringd-decode") }

    /// Beside the test program, where the build puts every program.
    package static func program(_ name: String) -> String {
        let here = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: here).deletingLastPathComponent().appending(path: name).path
    }
}

package struct ToolFailed: Error, CustomStringConvertible {
    package let line: String

    package init(line: String) { self.line = line }

    package var description: String { line }
}

/// A program's end, and what it said.
package struct Outcome: Sendable {
    package let status: Int32
    package let out: String
    package let complaint: String

    package var all: String { out + complaint }
}

/// Runs a program to its end. `environment` replaces ours if `isWhole`, else is added to it.
package func attempt(
    _ tool: String, _ arguments: [String], environment: [String: String] = [:], isWhole: Bool = false,
    input: Data? = nil
) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [tool] + arguments
    process.environment =
        isWhole ? environment : ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let output = Pipe()
    // Complaints are short; a pipe that nobody reads meanwhile holds 64 KiB.
    let complaints = Pipe()
    process.standardOutput = output
    process.standardError = complaints
    if let input {
        let pipe = Pipe()
        process.standardInput = pipe
        try process.run()
        try pipe.fileHandleForWriting.write(contentsOf: input)
        try pipe.fileHandleForWriting.close()
    } else {
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }
    let said = output.fileHandleForReading.readDataToEndOfFile()
    let complained = complaints.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Outcome(
        status: process.terminationStatus, out: String(decoding: said, as: UTF8.self),
        complaint: String(decoding: complained, as: UTF8.self))
}

/// Runs a program that is to succeed; what it said.
@discardableResult
package func run(_ tool: String, _ arguments: [String], environment: [String: String] = [:]) throws -> String {
    let outcome = try attempt(tool, arguments, environment: environment)
    guard outcome.status == 0 else { throw ToolFailed(line: "\(tool) \(arguments): \(outcome.all)") }
    return outcome.all
}

/// A folder that goes with its owner.
package final class Scratch {
    package let path: String

    package init() {
        var template = Array(("/tmp/ringd-test." + String(repeating: "X", count: 6)).utf8CString)
        path = String(cString: mkdtemp(&template)!)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func at(_ name: String) -> String { path + "/" + name }

    package func make(_ name: String, _ content: Data = Data("x".utf8)) throws {
        let url = URL(filePath: at(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try content.write(to: url)
    }
}
