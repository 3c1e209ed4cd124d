/// Base 64 with the URL-safe alphabet (RFC 4648, 5), as the parts of a JWT have it (RFC 7515, 2).
///
/// It takes memory in proportion to its input: the caller bounds that.
package enum Base64URL {
    /// Without padding.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        let done = bytes.withContiguousStorageIfAvailable { encode($0.span) }
        return done ?? encode(Array(bytes).span)
    }

    /// Without padding.
    package static func encode(_ bytes: Span<UInt8>) -> String {
        let (threes, left) = bytes.count.quotientAndRemainder(dividingBy: 3)
        let size = threes * 4 + (left == 0 ? 0 : left + 1)
        return String(unsafeUninitializedCapacity: size) { out in
            alphabet.withUTF8Buffer { digits in
                var write = 0
                var read = 0
                func put(_ group: UInt32, _ count: Int) {
                    for place in 0..<count {
                        out[write + place] = digits[Int(truncatingIfNeeded: group >> (18 - 6 * UInt32(place)) & 63)]
                    }
                    write += count
                }
                for _ in 0..<threes {
                    put(UInt32(bytes[read]) << 16 | UInt32(bytes[read + 1]) << 8 | UInt32(bytes[read + 2]), 4)
                    read += 3
                }
                if left == 1 { put(UInt32(bytes[read]) << 16, 2) }
                if left == 2 { put(UInt32(bytes[read]) << 16 | UInt32(bytes[read + 1]) << 8, 3) }
                return size
            }
        }
    }

    /// The bytes; nil for a character that is not in the alphabet, for a length that no bytes have, and for bits left
    /// over that are not zero, so that no two texts without padding are the same bytes. Padding may be there, whole,
    /// or be missing.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let done = text.withContiguousStorageIfAvailable { decode($0.span) }
        return done ?? decode(Array(text).span)
    }

    /// As for a collection.
    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        var count = text.count
        if count % 4 == 0, count > 0, text[count - 1] == UInt8(ascii: "=") {
            count -= text[count - 2] == UInt8(ascii: "=") ? 2 : 1
        }
        let (fours, left) = count.quotientAndRemainder(dividingBy: 4)
        guard left != 1 else { return nil }
        let size = fours * 3 + (left == 0 ? 0 : left - 1)
        var isGood = true
        let bytes = values.withUnsafeBufferPointer { values in
            [UInt8](unsafeUninitializedCapacity: size) { out, written in
                // A character that is none is 0xff: its upper bits stay in what all of them are gathered in.
                var seen: UInt32 = 0
                var write = 0
                var read = 0
                func digit(_ place: Int) -> UInt32 { UInt32(values[Int(text[read + place])]) }
                for _ in 0..<fours {
                    let (a, b, c, d) = (digit(0), digit(1), digit(2), digit(3))
                    seen |= a | b | c | d
                    let group = a << 18 | b << 12 | c << 6 | d
                    out[write] = UInt8(truncatingIfNeeded: group >> 16)
                    out[write + 1] = UInt8(truncatingIfNeeded: group >> 8)
                    out[write + 2] = UInt8(truncatingIfNeeded: group)
                    write += 3
                    read += 4
                }
                if left > 0 {
                    let (a, b, c) = (digit(0), digit(1), left == 3 ? digit(2) : 0)
                    seen |= a | b | c
                    let group = a << 18 | b << 12 | c << 6
                    out[write] = UInt8(truncatingIfNeeded: group >> 16)
                    if left == 3 { out[write + 1] = UInt8(truncatingIfNeeded: group >> 8) }
                    // Below the last byte nothing is to be left.
                    if group & (left == 3 ? 0xff : 0xffff) != 0 { isGood = false }
                }
                if seen > 63 { isGood = false }
                written = size
            }
        }
        return isGood ? bytes : nil
    }

    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    /// Of each byte its six bits, or 0xff.
    private static let values: [UInt8] = {
        var table = [UInt8](repeating: 0xff, count: 256)
        alphabet.withUTF8Buffer { for (value, digit) in $0.enumerated() { table[Int(digit)] = UInt8(value) } }
        return table
    }()
}
