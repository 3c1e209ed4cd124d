import Base
import Foundation
import TestSupport
import Testing

@testable import Ringtone

@Suite struct PCMTests {
    @Test func lengthIsBounded() {
        let long = PCM(samples: Array(repeating: 1, count: 61 * 8000 * 2 + 1), channels: 2, rate: 8000)
        #expect(long.frames == 60 * 8000)
        #expect(long.wasCut)
        let short = PCM(samples: [1, 2, 3], channels: 2, rate: 8000)
        #expect(short.frames == 1)
        #expect(!short.wasCut)
    }

    /// (seconds of sound, seconds of silence in the file) → seconds of one turn of the ring.
    @Test(arguments: [
        (1.5, 0.0, 3.0), (1.5, 0.9, 3.0), (1.5, 1.0, 2.5), (1.5, 3.0, 4.5), (0.3, 0.0, 1.3), (6.0, 0.0, 10.0),
        (9.9, 0.0, 13.9), (10.0, 0.0, 10.0), (12.0, 0.5, 12.5),
    ])
    func cadence(sound: Double, silence: Double, turn: Double) {
        let pcm = PCM.noise(seconds: sound, silence: silence, channels: 1, rate: 8000)
        let looped = pcm.looped
        #expect(looped.frames == Int((turn * 8000).rounded()))
        #expect(looped.samples.starts(with: pcm.samples.prefix(pcm.audibleFrames)))
        #expect(looped.samples.dropFirst(pcm.frames).allSatisfy { $0 == 0 })
        #expect(looped.looped == looped)
    }

    @Test func silenceStaysAsItIs() {
        let silent = PCM(samples: Array(repeating: 3, count: 8000), channels: 1, rate: 8000)
        #expect(silent.looped == silent)
    }

    @Test func envelope() {
        let peaksOfEachStep: [Int16] = [32767, 0, -32768, 16384, 0]
        // 8 frames a millisecond; the last step is half of one.
        let samples = peaksOfEachStep.flatMap { (peak: Int16) -> [Int16] in [0, 0, 0, peak, 0, 0, 0, 0] }
        let pcm = PCM(samples: Array(samples.dropLast(4)), channels: 1, rate: 8000)
        let peaks = pcm.envelope(step: .milliseconds(1))
        #expect(peaks.count == 5)
        #expect(peaks[0] == 1 && peaks[1] == 0 && peaks[2] == 1 && peaks[4] == 0)
        #expect(abs(peaks[3] - 0.5) < 0.01)
    }

    @Test func theGeneratedChimeIsFitToRing() {
        let chime = PCM.generated
        #expect(chime.samples.first == 0)
        #expect(chime.samples.contains { $0.magnitude > 4000 })
        #expect(chime.samples.allSatisfy { $0.magnitude < 20000 })
        #expect(chime.looped == chime)
    }
}

@Suite struct GainTests {
    private func fill(_ feeder: Feeder, _ frames: Int, at: Int) -> [Int16] {
        Array(unsafeUninitializedCapacity: frames * feeder.pcm.channels) { buffer, count in
            feeder.fill(buffer.baseAddress!, frames: frames, at: at)
            count = frames * feeder.pcm.channels
        }
    }

    @Test func aLoopIsExactAcrossItsSeam() {
        let pcm = PCM.noise(seconds: 0.1)
        let feeder = Feeder(pcm: pcm, loops: true, first: 1000, gain: Gain(volume: 1))
        let endless = pcm.samples + pcm.samples + pcm.samples
        #expect(fill(feeder, 9000, at: 0) == Array(endless[2000..<20000]))
        // In pieces it is the same.
        let pieces = stride(from: 0, to: 9000, by: 37).flatMap { fill(feeder, min(37, 9000 - $0), at: $0) }
        #expect(pieces == Array(endless[2000..<20000]))
    }

    @Test func onceEndsInSilence() {
        let pcm = PCM.noise(seconds: 0.01)
        let feeder = Feeder(pcm: pcm, loops: false, first: 80, gain: Gain(volume: 1))
        #expect(feeder.length == 400)
        #expect(fill(feeder, 500, at: 0) == Array(pcm.samples[160...]) + Array(repeating: 0, count: 200))
        #expect(fill(feeder, 5, at: 1_000_000) == Array(repeating: 0, count: 10))
    }

    @Test func aRampRisesInDecibelsWithoutSteps() {
        let gain = Gain(volume: 1, ramp: 10)
        #expect(abs(gain.amplitude(at: 0) - pow(10, -1.5)) < 1e-9)
        #expect(abs(gain.amplitude(at: 5) - pow(10, -0.75)) < 1e-9)
        #expect(gain.amplitude(at: 10) == 1 && gain.amplitude(at: 1000) == 1)
        let flat = PCM(samples: Array(repeating: 30000, count: 48000), channels: 1, rate: 48000)
        let samples = fill(Feeder(pcm: flat, loops: true, gain: gain), 96000, at: 0)
        let steps = zip(samples, samples.dropFirst()).map { Int($1) - Int($0) }
        #expect(steps.allSatisfy { (0...2).contains($0) })
        #expect(samples.last! > samples.first!)
    }

    @Test func aRampMadeAgainIsTheSame() {
        let feeder = Feeder(pcm: .noise(seconds: 0.1), loops: true, elapsed: 0.3, gain: Gain(volume: 0.7, ramp: 2))
        let whole = fill(feeder, 20000, at: 0)
        #expect(fill(feeder, 5001, at: 7777) == Array(whole[15554..<25556]))
    }

    @Test func volumesOutOfRangeAreHarmless() {
        #expect(Gain(volume: 7).amplitude(at: 0) == 1)
        #expect(Gain(volume: -1).amplitude(at: 0) == 0)
        #expect(Gain(volume: .nan).amplitude(at: 0) == 0)
        #expect(Gain(volume: 0.5).amplitude(at: 0) == 0.125)
        #expect(Gain(volume: 1, isSoft: true).amplitude(at: 0) < 0.2)
    }

    @Test func theCacheIsBounded() throws {
        let scratch = Scratch()
        for name in ["a", "b", "c"] { try scratch.make(name) }
        let keys = try ["a", "b", "c"].map { try #require(SoundCache.Key(scratch.at($0))) }
        let pcm = PCM.noise(seconds: 1)
        var cache = SoundCache(limit: pcm.size * 2)
        cache.keep(pcm, keys[0])
        cache.keep(pcm, keys[1])
        #expect(cache.find(keys[0]) != nil)
        cache.keep(pcm, keys[2])
        #expect(cache.find(keys[1]) == nil)
        #expect(cache.find(keys[0]) != nil && cache.find(keys[2]) != nil)
        try scratch.make("a", Data("another".utf8))
        #expect(cache.find(try #require(SoundCache.Key(scratch.at("a")))) == nil)
    }
}
