internal import Base

/// Whether bytes are a JSON object (RFC 8259), without making anything of them: a parser that builds values costs more
/// than the rest of a push together.
package enum JSONText {
    private static let deepest = 64

    package static func isObject(_ bytes: Bytes) -> Bool {
        var scanner = Scanner(bytes: bytes)
        scanner.skipBlanks()
        guard scanner.peek == UInt8(ascii: "{"), scanner.value() else { return false }
        scanner.skipBlanks()
        guard scanner.index == bytes.count else { return false }
        // Only strings may hold anything else than ASCII, and the scanner has looked at each byte of them.
        return !scanner.sawMore || String(validating: bytes, as: UTF8.self) != nil
    }

    private struct Scanner {
        let bytes: Bytes
        var index = 0
        /// All bytes of strings, or'ed together.
        private var seen: UInt64 = 0

        init(bytes: Bytes) { self.bytes = bytes }

        /// A string holds bytes that are not ASCII.
        var sawMore: Bool { seen & Self.highs != 0 }

        private static let ones: UInt64 = 0x0101_0101_0101_0101
        private static let highs: UInt64 = 0x8080_8080_8080_8080

        /// Passes over what needs no look within a string, eight bytes at a time: up to a quote, a backslash or a control
        /// character (the lowest bit of `stop` is exact; those above it may be false).
        private mutating func skipPlain() {
            let raw = UnsafeRawBufferPointer(bytes)
            while index + 8 <= raw.count {
                let word = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let quotes = word ^ (Self.ones &* UInt64(UInt8(ascii: "\"")))
                let slashes = word ^ (Self.ones &* UInt64(UInt8(ascii: "\\")))
                let stop =
                    ((word &- Self.ones &* 0x20) & ~word | (quotes &- Self.ones) & ~quotes
                        | (slashes &- Self.ones) & ~slashes) & Self.highs
                seen |= word
                guard stop == 0 else {
                    index += UInt64(littleEndian: stop).trailingZeroBitCount / 8
                    return
                }
                index += 8
            }
        }

        var peek: UInt8 { index < bytes.count ? bytes[index] : 0 }

        mutating func skipBlanks() {
            while index < bytes.count {
                switch bytes[index] {
                case 0x20, 0x09, 0x0a, 0x0d: index += 1
                default: return
                }
            }
        }

        /// One value; not recursive: a stack of one bit a level says what is open.
        mutating func value() -> Bool {
            var objects: UInt64 = 0
            var depth = 0
            while true {
                // A value begins here.
                skipBlanks()
                switch peek {
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    guard depth < JSONText.deepest else { return false }
                    let isObject = peek == UInt8(ascii: "{")
                    objects = objects << 1 | (isObject ? 1 : 0)
                    depth += 1
                    index += 1
                    skipBlanks()
                    if peek == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) { break }
                    if isObject { guard key() else { return false } }
                    continue
                case UInt8(ascii: "\""): guard string() else { return false }
                case UInt8(ascii: "t"): guard word("true") else { return false }
                case UInt8(ascii: "f"): guard word("false") else { return false }
                case UInt8(ascii: "n"): guard word("null") else { return false }
                default: guard number() else { return false }
                }
                // A value has ended; so may what it stands in.
                while true {
                    guard depth > 0 else { return true }
                    skipBlanks()
                    let isObject = objects & 1 == 1
                    if peek == UInt8(ascii: ",") {
                        index += 1
                        if isObject {
                            skipBlanks()
                            guard key() else { return false }
                        }
                        break
                    }
                    guard peek == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { return false }
                    index += 1
                    depth -= 1
                    objects >>= 1
                }
            }
        }

        private mutating func key() -> Bool {
            guard string() else { return false }
            skipBlanks()
            guard peek == UInt8(ascii: ":") else { return false }
            index += 1
            return true
        }

        private mutating func string() -> Bool {
            guard peek == UInt8(ascii: "\"") else { return false }
            index += 1
            while index < bytes.count {
                skipPlain()
                guard index < bytes.count else { return false }
                let byte = bytes[index]
                index += 1
                seen |= UInt64(byte)
                if byte == UInt8(ascii: "\"") { return true }
                if byte < 0x20 { return false }
                guard byte == UInt8(ascii: "\\") else { continue }
                switch peek {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
                    UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
                    index += 1
                case UInt8(ascii: "u"):
                    guard let unit = escapedUnit() else { return false }
                    // Half a character outside the basic plane is none (RFC 8259, 8.2): parsers differ or refuse.
                    if unit & 0xfc00 == 0xdc00 { return false }
                    guard unit & 0xfc00 == 0xd800 else { continue }
                    guard peek == UInt8(ascii: "\\") else { return false }
                    index += 1
                    guard let low = escapedUnit(), low & 0xfc00 == 0xdc00 else { return false }
                default: return false
                }
            }
            return false
        }

        /// `uXXXX`.
        private mutating func escapedUnit() -> UInt16? {
            guard peek == UInt8(ascii: "u"), index + 5 <= bytes.count else { return nil }
            var unit: UInt16 = 0
            for byte in bytes[(index + 1)..<(index + 5)] {
                guard let digit = Hex.value(of: byte) else { return nil }
                unit = unit << 4 | UInt16(digit)
            }
            index += 5
            return unit
        }

        private mutating func word(_ text: StaticString) -> Bool {
            guard Bytes(rebasing: bytes[index...]).hasPrefix(text) else { return false }
            index += text.utf8CodeUnitCount
            return true
        }

        private mutating func digits() -> Bool {
            let start = index
            while index < bytes.count, bytes[index] &- UInt8(ascii: "0") < 10 { index += 1 }
            return index > start
        }

        private mutating func number() -> Bool {
            if peek == UInt8(ascii: "-") { index += 1 }
            if peek == UInt8(ascii: "0") {
                index += 1
            } else {
                guard digits() else { return false }
            }
            if peek == UInt8(ascii: ".") {
                index += 1
                guard digits() else { return false }
            }
            if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
                index += 1
                if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { index += 1 }
                guard digits() else { return false }
            }
            return true
        }
    }
}
