package import Foundation

/// Interleaved 16-bit samples that a recording can be compared with.
package struct Noise: Sendable {
    package var samples: [Int16] = []
    package let channels: Int
    package let rate: Int

    /// Noise that is never silent and never twice the same, so that every place of it can be recognised; then silence.
    package init(seconds: Double, silence: Double = 0, channels: Int = 2, rate: Int = 48000) {
        self.channels = channels
        self.rate = rate
        var state: UInt32 = 12345
        for _ in 0..<Int(seconds * Double(rate)) * channels {
            state = state &* 1_664_525 &+ 1_013_904_223
            let value = Int16(1000 + state >> 16 % 8000)
            samples.append(state >> 8 & 1 == 0 ? value : -value)
        }
        samples += Array(repeating: 0, count: Int(silence * Double(rate)) * channels)
    }

    package var wave: Data { waveFile(samples, channels: channels, rate: rate) }
}

/// A WAV file (RIFF, PCM 16 bit).
package func waveFile(_ samples: [Int16], channels: Int, rate: Int) -> Data {
    let size = samples.count * 2
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

/// Where `part` begins in interleaved stereo `samples`.
package func find(_ part: ArraySlice<Int16>, in samples: ArraySlice<Int16>) -> Int? {
    stride(from: samples.startIndex, to: samples.endIndex - part.count, by: 2).first {
        samples[$0] == part.first && samples[$0..<$0 + part.count].elementsEqual(part)
    }
}

/// The first frame of interleaved stereo that is not silence.
package func onset(_ samples: [Int16]) -> Int? { samples.firstIndex { $0 != 0 }.map { $0 / 2 } }

/// Where a recording and the sound in it meet: an index into each. The null sink's monitor has handed out its current
/// block (some milliseconds of silence) when a stream starts, so the first frames cannot be in the recording.
package func meet(_ heard: [Int16], _ samples: [Int16]) -> (heard: Int, sound: Int)? {
    guard let start = onset(heard).map({ $0 * 2 }), start + 64 <= heard.count,
        let place = find(heard[start..<start + 64], in: samples.prefix(96000))
    else { return nil }
    return (start, place)
}
