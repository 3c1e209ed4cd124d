/// The digits of a telephone number, at most 32, without memory of their own.
struct PhoneDigits: Sendable, Hashable {
    /// Four bits a digit, the first in the lowest.
    private var bits: UInt128 = 0
    private(set) var count = 0

    /// Digits that are read: an international prefix and a number have fewer.
    private static let most = 24

    init() {}

    /// A calling code.
    init(number: Int) {
        for byte in String(number).utf8 { append(byte &- UInt8(ascii: "0")) }
    }

    /// 0 behind the last.
    subscript(index: Int) -> UInt8 { UInt8(truncatingIfNeeded: bits >> (4 * index)) & 15 }

    /// What does not fit is left out.
    mutating func append(_ digit: UInt8) {
        guard count < 32, digit < 10 else { return }
        bits |= UInt128(digit) << (4 * count)
        count += 1
    }

    func appending(_ other: PhoneDigits) -> PhoneDigits {
        var out = self
        for index in 0..<other.count { out.append(other[index]) }
        return out
    }

    func dropFirst(_ number: Int) -> PhoneDigits {
        var out = self
        let number = min(max(0, number), count)
        out.bits >>= 4 * number
        out.count -= number
        return out
    }

    func prefix(_ number: Int) -> PhoneDigits {
        var out = PhoneDigits()
        for index in 0..<min(max(0, number), count) { out.append(self[index]) }
        return out
    }

    func starts(with other: PhoneDigits) -> Bool { count >= other.count && prefix(other.count) == other }

    var text: String {
        var out = ""
        for index in 0..<count { out.unicodeScalars.append(Unicode.Scalar(UInt8(ascii: "0") + self[index])) }
        return out
    }

    // MARK: Reading

    /// Bytes of what is neither blank nor invisible; no number has more.
    private static let longest = 64

    /// The digits of a text that is a number and nothing else, and whether a plus stands before them. Digits of any
    /// script count; nil for letters, `*`, `#`, pauses and whatever else is dialled or said beside a number.
    static func read(_ text: String) -> (digits: PhoneDigits, isInternational: Bool)? {
        guard text.utf8.count <= longest * 8 else { return nil }
        var digits = PhoneDigits()
        var isInternational = false
        var size = 0
        for scalar in text.unicodeScalars {
            switch kind(scalar) {
            case .digit(let digit):
                guard digits.count < most else { return nil }
                digits.append(digit)
            case .plus:
                guard !isInternational, digits.count == 0 else { return nil }
                isInternational = true
            case .mark: break
            case .nothing: continue
            case .other: return nil
            }
            size += Unicode.UTF8.width(scalar)
            guard size <= longest else { return nil }
        }
        return digits.count > 0 ? (digits, isInternational) : nil
    }

    static func isNumber(_ text: Substring) -> Bool { read(String(text)) != nil }

    private enum Kind {
        case digit(UInt8)
        case plus
        /// Stands between digits.
        case mark
        /// A blank, or invisible.
        case nothing
        case other
    }

    private static func kind(_ scalar: Unicode.Scalar) -> Kind {
        switch scalar {
        case "0"..."9": return .digit(UInt8(truncatingIfNeeded: scalar.value &- 0x30))
        case "+", "\u{ff0b}": return .plus
        case " ": return .nothing
        // And their full-width forms; the minus sign, and the tilde for a second dialling tone (8~10).
        case ".", "(", ")", "[", "]", "/", "~", "\u{2212}", "\u{223c}", "\u{30fc}", "\u{ff08}", "\u{ff09}", "\u{ff0e}",
            "\u{ff0f}", "\u{ff3b}", "\u{ff3d}", "\u{ff5e}":
            return .mark
        default:
            switch scalar.properties.generalCategory {
            // What address books put between digits, and around them: hyphens and narrow blanks of any kind, marks of
            // direction.
            case .dashPunctuation: return .mark
            case .spaceSeparator, .format: return .nothing
            case .decimalNumber:
                guard let value = scalar.properties.numericValue, (0...9).contains(value) else { return .other }
                return .digit(UInt8(value))
            default: return .other
            }
        }
    }
}
