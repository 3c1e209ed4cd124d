/// A decoded sound: interleaved signed 16-bit samples in memory, at most a minute.
package struct PCM: Sendable, Equatable {
    /// Interleaved; the count is a multiple of `channels`.
    package let samples: [Int16]
    /// 1 or 2.
    package let channels: Int
    /// Frames per second, in `rates`.
    package let rate: Int
    /// True if the source was longer and its end was left out.
    package let wasCut: Bool

    /// The rates every sound server takes.
    package static let rates = 8000...192_000
    /// The longest sound kept, in seconds: a call rings 30 s, at most 90.
    package static let maxSeconds = 60

    /// More than `maxSeconds` is cut (`wasCut`); an incomplete last frame is dropped. Traps on channels or rate out of
    /// range: whoever decodes checks them first.
    package init(samples: [Int16], channels: Int, rate: Int, wasCut: Bool = false) {
        precondition((1...2).contains(channels) && Self.rates.contains(rate), "PCM: \(channels) channels at \(rate) Hz")
        let limit = Self.maxSeconds * rate * channels
        let count = min(limit, samples.count - samples.count % channels)
        self.samples = count == samples.count ? samples : Array(samples[..<count])
        self.channels = channels
        self.rate = rate
        self.wasCut = wasCut || samples.count > limit
    }

    package var frames: Int { samples.count / channels }

    package var duration: Duration { .microseconds(Int64(frames) * 1_000_000 / Int64(rate)) }

    /// Bytes held.
    package var size: Int { samples.count * MemoryLayout<Int16>.size }

    /// Peaks 0…1 of consecutive steps of `step` (at least a millisecond), for drawing; the last may be a part of one.
    package func envelope(step: Duration) -> [Double] {
        let millis = max(1, Int(step / .milliseconds(1)))
        let stride = max(1, rate * millis / 1000) * channels
        return Swift.stride(from: 0, to: samples.count, by: stride).map { start in
            let peak = samples[start..<min(start + stride, samples.count)].reduce(0) { max($0, $1.magnitude) }
            return min(1, Double(peak) / 32767)
        }
    }
}
