internal import Glibc

/// Decodes the first audio track of `input` into the FLAC file `output`.
func convert(_ input: String, to output: String) throws(DecodeFailure) {
    var status = stat()
    guard stat(input, &status) == 0 else {
        throw DecodeFailure(
            file: input, cause: "cannot be read (\(String(cString: strerror(errno))))",
            cure: "name a file that is there")
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
        throw DecodeFailure(file: input, cause: "is not a regular file", cure: "name a sound file")
    }
    guard status.st_size <= Limit.inputBytes else {
        throw DecodeFailure(
            file: input, cause: "is larger than \(Limit.inputBytes >> 20) MiB",
            cure: "a ringtone is short: cut it first")
    }

    let source = try AudioSource(input)
    let table = CafPacketTable(path: input)
    var skip = table?.priming ?? 0
    // What the container says is to be heard; the last packet is often padded beyond it.
    var left = Int64(Limit.seconds) * Int64(source.rate)
    if let heard = table?.valid ?? source.editedFrames { left = min(left, source.outputFrames(heard)) }

    var file: FlacFile?
    try source.forEachBlock { (samples, frames, channels) throws(DecodeFailure) in
        let skipped = min(skip, Int64(frames))
        skip -= skipped
        let taken = min(Int64(frames) - skipped, left)
        left -= taken
        if taken > 0 {
            let target: FlacFile
            if let file {
                target = file
            } else {
                target = try FlacFile(output, rate: source.rate, channels: channels)
                file = target
            }
            try target.append(samples + Int(skipped) * Int(channels), frames: Int(taken))
        }
        return left > 0
    }
    guard let file else {
        throw DecodeFailure(
            file: input, cause: "has no sound that could be decoded",
            cure: "is it damaged or copy-protected? Try another")
    }
    try file.finish()
}
