/// The identity of a call: 128 bits, compared as bits and printed in lower case (RFC 9562).
///
/// CallKit's `UUID` prints upper case and VoIP SDKs want lower; comparing text is the classic bug (callkit.md V20).
package struct CallUUID: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Parses 32 hex digits with or without dashes (or underscores, the form in a D-Bus path), any case.
    package init?(_ text: some StringProtocol) {
        var digits = 0
        var high: UInt64 = 0
        var low: UInt64 = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") { continue }
            guard let value = Hex.value(of: byte), digits < 32 else { return nil }
            if digits < 16 { high = high << 4 | UInt64(value) } else { low = low << 4 | UInt64(value) }
            digits += 1
        }
        guard digits == 32 else { return nil }
        self.init(high: high, low: low)
    }

    /// A random UUID, version 4. The system's generator is cryptographic on Linux (getrandom(2)).
    package static func random() -> CallUUID {
        stamped(high: .random(in: .min ... .max), low: .random(in: .min ... .max), version: 4)
    }

    /// The first 16 bytes of `digest` as a UUID of `version` (RFC 9562, 4.1 and 4.2).
    package static func stamped(digest: [UInt8], version: UInt64) -> CallUUID {
        precondition(digest.count >= 16)
        let high = digest[0..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let low = digest[8..<16].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return stamped(high: high, low: low, version: version)
    }

    private static func stamped(high: UInt64, low: UInt64, version: UInt64) -> CallUUID {
        CallUUID(
            high: high & 0xffff_ffff_ffff_0fff | version << 12,
            low: low & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000)
    }

    package var description: String { joined(by: "-") }

    /// The element of a D-Bus object path, which allows no dash.
    package var pathElement: String { joined(by: "_") }

    private func joined(by separator: String) -> String {
        let digits = Array((Hex.text(high) + Hex.text(low)).utf8)
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        return groups.map { String(decoding: digits[$0], as: UTF8.self) }.joined(separator: separator)
    }

    /// Enough to tell live calls apart on a screen.
    package var short: String { String(description.prefix(8)) }
}

/// Hexadecimal text, lower case.
package enum Hex {
    @inlinable package static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    package static func text(_ number: UInt64) -> String { String(number, radix: 16).leftPadded(to: 16, with: "0") }

    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        let digits: [UInt8] = Array("0123456789abcdef".utf8)
        var out: [UInt8] = []
        for byte in bytes {
            out.append(digits[Int(byte >> 4)])
            out.append(digits[Int(byte & 15)])
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Bytes of an even number of hex digits; nil for anything else. Spaces and `<>` are skipped, because tokens are
    /// pasted as `<0123 4567 …>` from old device logs (callkit.md W22).
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var out: [UInt8] = []
        var pending: UInt8?
        for byte in text.utf8 {
            if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") { continue }
            guard let value = Hex.value(of: byte) else { return nil }
            if let high = pending {
                out.append(high << 4 | value)
                pending = nil
            } else {
                pending = value
            }
        }
        return pending == nil ? out : nil
    }
}
