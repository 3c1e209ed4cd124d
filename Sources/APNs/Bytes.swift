internal import Base
internal import Glibc

/// Text as it stands on the wire, borrowed from the buffer that it came in: no String is made of it.
package typealias Bytes = UnsafeBufferPointer<UInt8>

extension Bytes {
    package func equals(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && hasPrefix(text)
    }

    package func hasPrefix(_ text: StaticString) -> Bool {
        let size = text.utf8CodeUnitCount
        return count >= size && memcmp(baseAddress!, text.utf8Start, size) == 0
    }

    package func hasSuffix(_ bytes: [UInt8]) -> Bool {
        count >= bytes.count && memcmp(baseAddress! + (count - bytes.count), bytes, bytes.count) == 0
    }

    package func equals(string text: String) -> Bool {
        count == text.utf8.count && elementsEqual(text.utf8)
    }

    /// Whether it is `lower` but for the case of ASCII letters.
    func equalsFolded(_ lower: String) -> Bool {
        guard count == lower.utf8.count else { return false }
        var index = 0
        for byte in lower.utf8 {
            let mine = self[index]
            let isCapital = mine &- UInt8(ascii: "A") < 26
            if (isCapital ? mine + 32 : mine) != byte { return false }
            index += 1
        }
        return true
    }

    package func equals(_ bytes: [UInt8]) -> Bool {
        count == bytes.count && (count == 0 || memcmp(baseAddress!, bytes, count) == 0)
    }

    /// Whether `text`, which has a hyphen, stands anywhere in it: the hyphen, rare in JSON, is looked for first.
    func contains(hyphenated text: StaticString) -> Bool {
        let size = text.utf8CodeUnitCount
        let before = (0..<size).first { text.utf8Start[$0] == UInt8(ascii: "-") } ?? 0
        guard let start = baseAddress, count >= size else { return false }
        var place = start + before
        let end = start + (count - size + before + 1)
        while place < end, let found = memchr(place, Int32(UInt8(ascii: "-")), end - place) {
            let hit = found.assumingMemoryBound(to: UInt8.self)
            if memcmp(hit - before, text.utf8Start, size) == 0 { return true }
            place = UnsafePointer(hit) + 1
        }
        return false
    }

    package var text: String { String(decoding: self, as: UTF8.self) }

    /// A decimal number with nothing else around it, or nil; at most 18 digits and a minus.
    package var decimal: Int64? {
        let isNegative = count > 0 && self[0] == UInt8(ascii: "-")
        let start = isNegative ? 1 : 0
        guard count > start, count - start <= 18 else { return nil }
        var value: Int64 = 0
        for index in start..<count {
            let digit = self[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value * 10 + Int64(digit)
        }
        return isNegative ? -value : value
    }

    /// 8-4-4-4-12 hexadecimal digits of either case.
    package var isUUID: Bool {
        guard count == 36 else { return false }
        for index in 0..<36 {
            let byte = self[index]
            switch index {
            case 8, 13, 18, 23: if byte != UInt8(ascii: "-") { return false }
            default: if Hex.value(of: byte) == nil { return false }
            }
        }
        return true
    }
}
