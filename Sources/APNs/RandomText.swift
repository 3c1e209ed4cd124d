internal import Glibc

/// UUIDs by the thousand: the kernel is asked for 4 KiB of randomness at a time.
struct RandomText {
    private var pool = [UInt8](repeating: 0, count: 4096)
    private var used = 4096

    init() {}

    /// A random UUID (RFC 9562, version 4) in capital letters, as APNs makes them up.
    mutating func uuid() -> [UInt8] {
        if used + 16 > pool.count {
            pool.withUnsafeMutableBytes { bytes in
                for start in stride(from: 0, to: bytes.count, by: 256) {
                    // getentropy(3) gives at most 256 bytes, and fails on nothing but a kernel without it.
                    precondition(getentropy(bytes.baseAddress! + start, 256) == 0, "no randomness")
                }
            }
            used = 0
        }
        defer { used += 16 }
        let start = used
        return [UInt8](unsafeUninitializedCapacity: 36) { out, count in
            var place = 0
            for index in 0..<16 {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    out[place] = UInt8(ascii: "-")
                    place += 1
                }
                var byte = pool[start + index]
                if index == 6 { byte = byte & 0x0f | 0x40 }
                if index == 8 { byte = byte & 0x3f | 0x80 }
                out[place] = Self.digit(byte >> 4)
                out[place + 1] = Self.digit(byte & 15)
                place += 2
            }
            count = 36
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
