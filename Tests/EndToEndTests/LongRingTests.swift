import Foundation
import JSON
import TestSupport
import Testing

extension EndToEnd {
    /// One ring in its full length.
    @Test func aRingLoopsSampleForSampleForThirtySeconds() throws {
        let rig = try Rig()
        // Too long to be given a pause: what is silent is a fault.
        let noise = Noise(seconds: 10)
        try rig.scratch.make("mine.wav", noise.wave)
        #expect(try rig.ask("sounds", "add", rig.scratch.at("mine.wav"))["name"]?.string == "mine")
        try rig.ask("config", "set", "sound.ringtone", "mine")
        let recording = try rig.desk.record()
        // A null sink works off its first two seconds in one block, whoever plays; a sound card does not.
        pause(2.5)
        let began = Date.now
        let id = try rig.ring("Alice")
        let ended = try rig.event("call.ended", within: 45)
        #expect(ended["reason"]?.string == "unanswered")
        #expect(Date.now.timeIntervalSince(began) > 29)
        pause(1)
        let heard = try recording.finish()
        let (start, place) = try #require(meet(heard, noise.samples))
        #expect(place < 2 * 48000 / 40, "the first \(place / 2) frames are missing")

        // Three turns, sample for sample, then silence.
        let turns = noise.samples + noise.samples + noise.samples + noise.samples.prefix(96_000)
        let last = try #require(heard.lastIndex { $0 != 0 }) + 1
        let played = last - start + place
        #expect(Double(played) / 96_000 > 29.4 && Double(played) / 96_000 < 30.5, "played \(played / 2) frames")
        let same = min(last - start, turns.count - place)
        let different = (0..<same).first { heard[start + $0] != turns[place + $0] }
        #expect(different == nil, "from frame \((different ?? 0) / 2) on something else is heard")

        let row = try rig.lastCall()
        #expect(row["id"]?.string == id && (29_900...31_500).contains(row["rang_ms"]?.integer ?? 0))
        // Raised every four seconds, seven times at most, and reported so.
        #expect((5...7).contains(rig.events("notification.raised").count))
        let report = try rig.ask("report", id)
        let kinds = report["events"]?.items.compactMap { $0["kind"]?.string } ?? []
        #expect(kinds.contains("sound.heard") && kinds.contains("call.ended"))
        #expect(try rig.ringctl("report", id, "--svg").out.contains("<svg"))
    }
}
