// timespec is in both modules; with whole-module optimisation the compiler takes it for CPulse's.
internal import CPulse
internal import Glibc

/// Decoded ringtones, so that a ring starts without decoding. Bounded; the least recently used goes first.
struct SoundCache {
    /// A file as it is now: one that was replaced is another.
    struct Key: Hashable {
        let path: String
        let inode: UInt64
        let size: Int64
        let modified: Int

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            self.path = path
            inode = UInt64(status.st_ino)
            size = Int64(status.st_size)
            // Seconds and nanoseconds by their place: libpulse's module claims timespec's members in release builds.
            modified = withUnsafeBytes(of: &status.st_mtim) { bytes in
                bytes.load(as: Int.self) &* 1_000_000_000 &+ bytes.load(fromByteOffset: 8, as: Int.self)
            }
        }
    }

    /// Bytes of samples kept.
    var limit = 8 << 20
    /// Most recently used last.
    private var entries: [(key: Key, pcm: PCM)] = []

    init(limit: Int = 8 << 20) { self.limit = limit }

    mutating func find(_ key: Key) -> PCM? {
        guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
        let entry = entries.remove(at: index)
        entries.append(entry)
        return entry.pcm
    }

    mutating func keep(_ pcm: PCM, _ key: Key) {
        entries.removeAll { $0.key.path == key.path }
        guard pcm.size <= limit else { return }
        entries.append((key, pcm))
        while entries.reduce(0, { $0 + $1.pcm.size }) > limit { entries.removeFirst() }
    }
}
