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
        return scanner.index == bytes.count && isUTF8(bytes)
    }

    private static func isUTF8(_ bytes: Bytes) -> Bool {
        // Eight bytes at a time while they are ASCII, which most payloads are throughout.
        let raw = UnsafeRawBufferPointer(bytes)
        var index = 0
        while index + 8 <= raw.count {
            if raw.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { break }
            index += 8
        }
        return String(validating: raw[index...], as: UTF8.self) != nil
    }

    private struct Scanner {
        let bytes: Bytes
        var index = 0

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
                let byte = bytes[index]
                index += 1
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

        private mutating func word(_ text: String) -> Bool {
            guard Bytes(rebasing: bytes[index...]).hasPrefix(text) else { return false }
            index += text.utf8.count
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
