internal import Base

/// A device token: 32 bytes, as a value that is cheap to hash and to compare.
package struct DeviceToken: Hashable, Sendable {
    private let a: UInt64
    private let b: UInt64
    private let c: UInt64
    private let d: UInt64

    /// What Apple's tokens have been since 2009, and all that ringd mints. Apple warns not to count on it; a token of
    /// another length is none of ours, so it needs no place here.
    package static let size = 32

    /// Nil unless there are 32.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        let array = Array(bytes)
        (a, b, c, d) = array.withUnsafeBytes { Self.words($0) }
    }

    /// From 64 hexadecimal digits of either case, as a path has them; nil for anything else.
    package init?(hex: Bytes) {
        guard hex.count == 2 * Self.size else { return nil }
        var bad: UInt8 = 0
        func word(_ start: Int) -> UInt64 {
            var value: UInt64 = 0
            for index in start..<(start + 16) {
                let byte = hex[index]
                // Without branches: a push has 64 of these. Letters have bit 6, and their low half begins with 1.
                let isDigit = byte &- UInt8(ascii: "0") < 10
                let isLetter = (byte | 0x20) &- UInt8(ascii: "a") < 6
                bad |= isDigit || isLetter ? 0 : 1
                value = value << 4 | UInt64((byte & 0x0f) &+ (byte >> 6) &* 9)
            }
            return value.bigEndian
        }
        let words = (word(0), word(16), word(32), word(48))
        guard bad == 0 else { return nil }
        (a, b, c, d) = words
    }

    private static func words(_ raw: UnsafeRawBufferPointer) -> (UInt64, UInt64, UInt64, UInt64) {
        (
            raw.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
            raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
            raw.loadUnaligned(fromByteOffset: 16, as: UInt64.self),
            raw.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
        )
    }

    package var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.size) { buffer, count in
            let raw = UnsafeMutableRawBufferPointer(buffer)
            for (index, word) in [a, b, c, d].enumerated() {
                raw.storeBytes(of: word, toByteOffset: index * 8, as: UInt64.self)
            }
            count = Self.size
        }
    }

    /// 64 lower-case digits: a key to the user's attention, not for logs.
    package var hex: String { Hex.text(bytes) }

    /// Enough to tell it apart, for logs.
    package var short: String { Hex.text(bytes.prefix(4)) }

    /// What a sender wrote, fit to be shown: a token that stands where none belongs, as in a path with a slip in it, is cut
    /// to its beginning.
    static func hidden(in text: String, limit: Int = 256) -> String {
        var out: [UInt8] = []
        var run = 0
        // Behind the last byte, one that ends a run.
        for byte in Array(text.utf8.prefix(16_384)) + [0] {
            if Hex.value(of: byte) != nil {
                run += 1
            } else {
                if run >= size {
                    out.removeLast(run - 8)
                    out += Array("…".utf8)
                }
                run = 0
            }
            out.append(byte)
        }
        return Text.clean(String(decoding: out.dropLast(), as: UTF8.self), limit: limit)
    }

    /// A new one; the system's generator is getrandom(2), asked four times a token.
    package static func random() -> DeviceToken {
        DeviceToken(
            .random(in: .min ... .max), .random(in: .min ... .max), .random(in: .min ... .max),
            .random(in: .min ... .max))
    }

    private init(_ a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64) {
        self.a = a
        self.b = b
        self.c = c
        self.d = d
    }
}
