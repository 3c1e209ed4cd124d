import Base
import EventLoop
import Foundation
import TestSupport

@testable import Ringtone

extension PCM {
    static func noise(seconds: Double, silence: Double = 0, channels: Int = 2, rate: Int = 48000) -> PCM {
        let noise = Noise(seconds: seconds, silence: silence, channels: channels, rate: rate)
        return PCM(samples: noise.samples, channels: channels, rate: rate)
    }

    var wave: Data { waveFile(samples, channels: channels, rate: rate) }
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
    func turn(_ limit: Double = 15, until done: () throws -> Bool) throws -> Bool {
        let end = Instant.now + .milliseconds(Int64(limit * 1000))
        while try !done() {
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
