internal import Glibc

extension PCM {
    /// What is below this (-60 dBFS) counts as silence.
    static let silence: UInt16 = 32

    /// Frames up to the last one that can be heard; 0 for a silent sound.
    package var audibleFrames: Int {
        guard let last = samples.lastIndex(where: { $0.magnitude > Self.silence }) else { return 0 }
        return last / channels + 1
    }

    /// This sound as one turn of a ring: what is short and has no pause of its own gets one.
    ///
    /// A stock tone of 1.5 s looped bare is a nag. With less than 1 s of silence at its end and less than 10 s in all,
    /// it is followed by as much silence as it sounds, at least 1 s and at most 4 s. Longer ones are music: they go on.
    package var looped: PCM {
        let audible = audibleFrames
        guard audible > 0, frames - audible < rate, frames < 10 * rate else { return self }
        let pause = min(max(audible, rate), 4 * rate)
        var all = samples
        all.append(contentsOf: repeatElement(0, count: (audible + pause - frames) * channels))
        return PCM(samples: all, channels: channels, rate: rate, wasCut: wasCut)
    }

    /// A two-note chime made in memory, for when no sound file can be had: 1.2 s, then a pause.
    package static let generated: PCM = {
        let rate = 48000
        var samples: [Int16] = Array(repeating: 0, count: rate * 12 / 5)
        for (start, hertz) in [(0, 659.26), (rate * 35 / 100, 523.25)] {
            for n in 0..<rate * 85 / 100 {
                let t = Double(n) / Double(rate)
                // 5 ms attack, then a bell's decay to silence.
                let level = min(1, t / 0.005) * exp(-5 * t) * (1 - t / 0.85)
                let value = level * (sin(2 * .pi * hertz * t) + 0.25 * sin(4 * .pi * hertz * t))
                samples[start + n] += Int16(9000 * value)
            }
        }
        return PCM(samples: samples, channels: 1, rate: rate)
    }()
}
