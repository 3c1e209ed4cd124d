import Base
import Foundation
import TestSupport
import Testing

@testable import Store

extension StoreTests {
    /// A process that writes is killed at any moment, and what it had been told to be on disk is there.
    @Suite(.serialized) struct Kill {
        private static let states = ["ringing", "active", "ended"]

        /// Starts a writer, kills it `after` so many microseconds; what it said was written, by number of call.
        private func life(of path: String, first: UInt64, after microseconds: UInt32) throws -> [UInt64: Int] {
            let writer = Process()
            writer.executableURL = URL(filePath: Tree.program("ringd-store-writer"))
            writer.arguments = [path, String(first)]
            let said = Pipe()
            writer.standardOutput = said
            try writer.run()
            usleep(microseconds)
            kill(writer.processIdentifier, SIGKILL)
            let bytes = said.fileHandleForReading.readDataToEndOfFile()
            writer.waitUntilExit()
            #expect(writer.terminationReason == .uncaughtSignal && writer.terminationStatus == SIGKILL)
            var written: [UInt64: Int] = [:]
            // What stands behind the last line's end was not said in full.
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
                .dropLast()
            {
                let words = line.split(separator: " ")
                let number = try #require(UInt64(words[0]))
                let state: Int = try #require(Self.states.firstIndex(of: String(words[1])))
                written[number] = state
            }
            return written
        }

        /// The state of each call's row and of its live row.
        private func read(_ database: Database) throws -> [UInt64: (call: Int, live: Int?)] {
            var found: [UInt64: (call: Int, live: Int?)] = [:]
            var rows = 0
            try database.query(
                """
                SELECT call.key, call.connected, call.ended, live.state, call.reason FROM call
                LEFT JOIN live ON live.uuid = call.uuid
                """
            ) { row in
                rows += 1
                let state = row.optionalInteger(2) != nil ? 2 : row.optionalInteger(1) != nil ? 1 : 0
                found[UInt64(row.text(0).dropFirst()) ?? 0] = (
                    state, row.optionalText(3).flatMap { Self.states.firstIndex(of: $0) }
                )
                #expect(row.text(4) == (state == 2 ? "hung-up" : ""))
            }
            #expect(rows == found.count, "a call has more than one row")
            return found
        }

        @Test func whatWasAcknowledgedOutlivesAKill() throws {
            var random = Seeded(state: 20_260_101)
            var acknowledged = 0
            var first: UInt64 = 1
            for _ in 0..<4 {
                let scratch = Scratch()
                let path = scratch.at("ringd.sqlite")
                var all: [UInt64: Int] = [:]
                for life in 0..<10 {
                    let after = UInt32.random(in: 1000...90_000, using: &random)
                    let written = try self.life(of: path, first: first, after: after)
                    acknowledged += written.count
                    all.merge(written) { _, new in new }
                    guard FileManager.default.fileExists(atPath: path) else { continue }
                    let database = try Database(path: path)
                    try Schema.migrate(database)
                    var verdict: [String] = []
                    try database.query("PRAGMA integrity_check") { row in verdict.append(row.text(0)) }
                    #expect(verdict == ["ok"], "life \(life), killed after \(after) µs")
                    let found = try read(database)
                    for (number, state) in all {
                        #expect(found[number]?.call ?? -1 >= state, "call \(number), killed after \(after) µs")
                    }
                    for (number, state) in found {
                        #expect(state.live == (state.call == 2 ? nil : state.call), "live row of call \(number)")
                    }
                    first = (found.keys.max() ?? first) + 1
                }
            }
            #expect(acknowledged > 100)
        }
    }

    /// SplitMix64 (Steele, Lea and Flood 2014).
    struct Seeded: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var z = state
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            return z ^ (z >> 31)
        }
    }
}
