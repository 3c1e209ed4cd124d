internal import Glibc

/// The frames of a Core Audio Format file that are meant to be heard: libavformat reads past its packet table.
///
/// An encoder puts `priming` frames before the sound and pads the last packet; a loop that played them would stutter.
/// (Apple, Core Audio Format Specification 1.0: the chunk `pakt`.)
struct CafPacketTable {
    let priming: Int64
    let valid: Int64

    /// Nil for other formats and for a file without such a table.
    init?(path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        func big(_ count: Int, at offset: Int64) -> UInt64? {
            var bytes: [UInt8] = Array(repeating: 0, count: count)
            guard pread(descriptor, &bytes, count, off_t(offset)) == count else { return nil }
            return bytes.reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard big(4, at: 0) == 0x6361_6666 else { return nil }  // caff
        var offset: Int64 = 8
        // A chunk has a type of 4 bytes and a size of 8; a sound has a handful of them.
        for _ in 0..<64 {
            guard let type = big(4, at: offset), let size = big(8, at: offset + 4) else { return nil }
            if type == 0x7061_6b74 {  // pakt
                guard let valid = big(8, at: offset + 20), let priming = big(4, at: offset + 28) else { return nil }
                guard valid > 0, valid < 1 << 40, priming < 1 << 20 else { return nil }
                self.valid = Int64(valid)
                self.priming = Int64(priming)
                return
            }
            guard size < 1 << 40 else { return nil }
            offset += 12 + Int64(size)
        }
        return nil
    }
}
