internal import Base
internal import Glibc

/// How loud a ring is at each moment of it.
struct Gain: Equatable {
    /// 0…1 as on a volume slider: cubic, as PulseAudio's own (half is -18 dB).
    var volume: Double
    /// Seconds from -30 dB to full, evenly in decibels; 0 for none.
    var ramp: Double = 0
    /// A ring that only says that somebody waits: a sixth of the amplitude (-16 dB).
    var isSoft = false

    static let rampFrom = -30.0

    /// The amplitude `seconds` after the ring's start.
    func amplitude(at seconds: Double) -> Double {
        let level = min(1, max(0, volume.isFinite ? volume : 0))
        let full = level * level * level * (isSoft ? 0.16 : 1)
        guard ramp > 0, seconds < ramp else { return full }
        return full * pow(10, Self.rampFrom * (1 - max(0, seconds) / ramp) / 20)
    }
}

/// The samples a stream gets: the sound from a given frame on, over and over or once, at the gain of the moment.
///
/// A value, so that any part of what was sent can be made again at another gain.
struct Feeder {
    let pcm: PCM
    let loops: Bool
    /// The frame of the sound at which the stream begins.
    var first: Int = 0
    /// Seconds of the ring that were over when the stream began, for the ramp.
    var elapsed: Double = 0
    var gain: Gain

    /// Frames of the stream in all; nil if it has no end.
    var length: Int? { loops ? nil : max(0, pcm.frames - first) }

    /// Writes `frames` frames of the stream from frame `at` on; silence beyond its end.
    func fill(_ out: UnsafeMutablePointer<Int16>, frames: Int, at: Int) {
        pcm.samples.withUnsafeBufferPointer { source in
            var done = 0
            while done < frames {
                var position = first + at + done
                if loops { position %= pcm.frames }
                let run = min(frames - done, pcm.frames - position)
                let target = out + done * pcm.channels
                if run <= 0 {
                    target.update(repeating: 0, count: (frames - done) * pcm.channels)
                    return
                }
                copy(source.baseAddress! + position * pcm.channels, to: target, frames: run, at: at + done)
                done += run
            }
        }
    }

    /// In steps of 10 ms, within which the gain moves in a straight line: no step can be heard.
    private func copy(_ source: UnsafePointer<Int16>, to target: UnsafeMutablePointer<Int16>, frames: Int, at: Int) {
        func amplitude(_ frame: Int) -> Double { gain.amplitude(at: elapsed + Double(frame) / Double(pcm.rate)) }
        let step = max(1, pcm.rate / 100)
        var done = 0
        while done < frames {
            // On a grid of the stream's own, so that made again the samples are the same.
            let block = (at + done) / step * step
            let run = min(frames - done, block + step - (at + done))
            let from = amplitude(block)
            let to = amplitude(block + step)
            let count = run * pcm.channels
            let input = source + done * pcm.channels
            let output = target + done * pcm.channels
            if from == 1, to == 1 {
                output.update(from: input, count: count)
            } else if from == to {
                // 16.16 fixed point; an amplitude is at most 1.
                let factor = Int32((from * 65536).rounded())
                for n in 0..<count { output[n] = Int16(truncatingIfNeeded: (Int32(input[n]) &* factor) >> 16) }
            } else {
                for frame in 0..<run {
                    let t = Double(at + done + frame - block) / Double(step)
                    let factor = Int32(((from + (to - from) * t) * 65536).rounded())
                    for channel in 0..<pcm.channels {
                        let n = frame * pcm.channels + channel
                        output[n] = Int16(truncatingIfNeeded: (Int32(input[n]) &* factor) >> 16)
                    }
                }
            }
            done += run
        }
    }
}
