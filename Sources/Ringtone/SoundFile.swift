internal import Base
internal import CSndFile
internal import Glibc

/// Sound files through libsndfile: WAV, AIFF, FLAC, Ogg Vorbis and Opus, MP3, AU, plain CAF and others.
package enum SoundFile {
    /// The largest file looked at, in bytes.
    package static let maxBytes: Int64 = 512 << 20

    /// Decodes a file, on any thread; may block. Nothing is taken on trust: it must be a regular file of bounded size,
    /// its rate within `PCM.rates`; what is longer than a minute is cut, more than two channels are mixed down.
    package static func decode(path: String) throws(SoundFailure) -> PCM {
        // O_NONBLOCK: opening a fifo in a sounds folder must not hang.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw SoundFailure(
                path, "cannot be read (\(String(cString: strerror(errno))))", cure: "check its name and permissions")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SoundFailure(path, "is not a regular file", cure: "name a sound file")
        }
        guard status.st_size <= maxBytes else {
            throw SoundFailure(path, "is larger than \(maxBytes >> 20) MiB", cure: "a ringtone is short: cut it first")
        }
        var info = SF_INFO()
        guard let file = sf_open_fd(descriptor, Int32(SFM_READ), &info, Int32(SF_FALSE)) else {
            throw SoundFailure(
                path, "is not a sound libsndfile reads (\(Text.clean(String(cString: sf_strerror(nil)))))",
                cure: "ringctl sounds add converts it")
        }
        defer { sf_close(file) }
        guard PCM.rates.contains(Int(info.samplerate)), (1...64).contains(info.channels) else {
            throw SoundFailure(
                path, "has \(info.channels) channels at \(info.samplerate) Hz",
                cure: "convert it to stereo at 48000 Hz")
        }
        let pcm = try read(file, info, path)
        guard pcm.frames > 0 else { throw SoundFailure(path, "is empty", cure: "name another sound") }
        return pcm
    }

    private static func read(_ file: OpaquePointer, _ info: SF_INFO, _ path: String) throws(SoundFailure) -> PCM {
        let channels = Int(info.channels)
        let rate = Int(info.samplerate)
        let limit = PCM.maxSeconds * rate
        let out = min(channels, 2)
        var samples: [Int16] = []
        samples.reserveCapacity(Int(max(0, min(info.frames, Int64(limit)))) * out)
        let block = 4096
        var floats: [Float] = Array(repeating: 0, count: block * channels)
        var frames = 0
        // As floats: libsndfile does not scale a float file read as integers. 16-bit samples come through exactly.
        while frames <= limit {
            let got = Int(sf_readf_float(file, &floats, sf_count_t(block)))
            if got <= 0 { break }
            frames += got
            if channels <= 2 {
                for value in floats[..<(got * channels)] { samples.append(quantised(value)) }
            } else {
                mixDown(floats[..<(got * channels)], channels, into: &samples)
            }
        }
        if frames == 0, sf_error(file) != Int32(SF_ERR_NO_ERROR) {
            throw SoundFailure(
                path, "is damaged (\(Text.clean(String(cString: sf_strerror(file)))))", cure: "fetch it again")
        }
        return PCM(samples: samples, channels: out, rate: rate)
    }

    private static func quantised(_ value: Float) -> Int16 {
        // A float file may hold anything, a NaN too.
        guard value.isFinite else { return 0 }
        return Int16(max(-32768, min(32767, (value * 32768).rounded())))
    }

    /// Front left and right as they are, the others equally to both sides, so scaled that nothing clips.
    private static func mixDown(_ floats: ArraySlice<Float>, _ channels: Int, into samples: inout [Int16]) {
        let side: Float = 0.7
        let scale = 1 / (1 + side * Float(channels - 2))
        for frame in stride(from: floats.startIndex, to: floats.endIndex, by: channels) {
            var shared: Float = 0
            for channel in 2..<channels { shared += floats[frame + channel] }
            samples.append(quantised((floats[frame] + side * shared) * scale))
            samples.append(quantised((floats[frame + 1] + side * shared) * scale))
        }
    }
}
