import Base
import JSON

/// Scalars as the field sends them: numbers as text, flags as numbers.
extension JSONValue {
    /// The value of the first of `names` that is there and not null.
    func first(_ names: [String]) -> JSONValue? {
        for name in names {
            if let value = self[name], value != .null { return value }
        }
        return nil
    }

    var looseText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .real, .bool, .null, .array, .object: nil
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
            // 1e11 s is the year 5138; 1e11 ms is 1973. Nobody sends either.
            let seconds = number > 1e11 ? number / 1000 : number
            guard seconds > 1e8, seconds < 9e9 else { return nil }
            return WallTime(nanoseconds: Int64(seconds * 1e9))
        }
        return string.flatMap { ISO8601.parse($0) }
    }
}

/// `2026-11-30T07:11:42Z`, `…42.5+01:00`, and a space for the `T` (RFC 3339, 5.6).
enum ISO8601 {
    static func parse(_ text: String) -> WallTime? {
        var rest = Substring(text)
        func number(_ digits: Int) -> Int64? {
            let head = rest.prefix(digits)
            guard head.utf8.count == digits, head.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(digits)
            return Int64(head)
        }
        func skip(_ options: String) -> Bool {
            guard let first = rest.first, options.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        guard text.utf8.count <= 40, let year = number(4), skip("-"), let month = number(2), skip("-"),
            let day = number(2), skip("Tt "), let hour = number(2), skip(":"), let minute = number(2),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60
        else { return nil }
        var second: Int64 = 0
        if skip(":") {
            guard let value = number(2), value < 61 else { return nil }
            second = value
        }
        var fraction: Int64 = 0
        if skip(".,") {
            var scale: Int64 = 100_000_000
            while let digit = number(1) {
                fraction += digit * scale
                scale /= 10
            }
        }
        var offset: Int64 = 0
        if let sign = rest.first, sign == "+" || sign == "-" {
            rest = rest.dropFirst()
            guard let hours = number(2), hours < 24 else { return nil }
            _ = skip(":")
            guard let minutes = number(2), minutes < 60 else { return nil }
            offset = (hours * 60 + minutes) * 60 * (sign == "-" ? -1 : 1)
        } else if !rest.isEmpty && !skip("Zz") {
            return nil
        }
        guard rest.isEmpty else { return nil }
        let seconds = daysSinceEpoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
        guard seconds > 0, seconds < 9_000_000_000 else { return nil }
        return WallTime(nanoseconds: seconds * 1_000_000_000 + fraction)
    }

    /// Days of the proleptic Gregorian calendar since 1970-01-01; March-based years make leap days the last of a year.
    private static func daysSinceEpoch(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let y = month <= 2 ? year - 1 : year
        let era = y / 400
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
