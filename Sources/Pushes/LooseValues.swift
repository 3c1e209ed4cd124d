import Base
import JSON

/// Scalars as the field sends them: numbers as text, flags as numbers.
extension JSONValue {
    var looseText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .real, .bool, .null, .array, .object: nil
        }
    }

    /// A scalar as its letters stand: what values are compared by.
    var scalarText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .bool(let flag): flag ? "true" : "false"
        case .real(let number): number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : "\(number)"
        case .null, .array, .object: nil
        }
    }

    var looseInteger: Int64? {
        switch self {
        case .integer(let number): number
        case .string(let text): Int64(text)
        case .real, .bool, .null, .array, .object: nil
        }
    }

    var looseReal: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        case .string(let text): Double(text)
        case .bool, .null, .array, .object: nil
        }
    }

    var looseFlag: Bool? {
        switch self {
        case .bool(let flag): return flag
        case .integer(let number): return number != 0
        case .real(let number): return number != 0
        case .string(let text):
            switch text.lowercased() {
            case "1", "true", "yes": return true
            case "0", "false", "no", "": return false
            default: return nil
            }
        case .null, .array, .object: return nil
        }
    }

    /// ISO 8601 with or without fraction, or seconds or milliseconds since the epoch as number or text; 0 or nonsense
    /// is absent (callkit.md 3.14).
    var looseTime: WallTime? {
        if let number = looseReal {
            // 1e10 s is the year 2286, and 1e12 ms is 2001. What lies between is neither: 253402300799, the end of the
            // year 9999 in seconds, is how some say "never".
            let isMilliseconds = number >= 1e12
            let seconds = isMilliseconds ? number / 1000 : number
            guard seconds > 1e8, seconds < 9e9 else { return nil }
            return WallTime(nanoseconds: Int64(seconds * 1e9))
        }
        return string.flatMap { ISO8601.parse($0) }
    }
}
