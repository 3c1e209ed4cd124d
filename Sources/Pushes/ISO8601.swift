internal import Base

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
            // Hours alone are ISO 8601, too, and what PostgreSQL writes.
            let isWhole = rest.isEmpty
            _ = skip(":")
            guard let minutes = isWhole ? 0 : number(2), minutes < 60 else { return nil }
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

    /// In UTC, with milliseconds.
    static func text(_ time: WallTime) -> String {
        let millis = max(0, time.nanoseconds) / 1_000_000
        let rest = millis % 86_400_000
        let (year, month, day) = date(millis / 86_400_000)
        func padded(_ value: Int64, _ width: Int) -> String { String(value).leftPadded(to: width, with: "0") }
        return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2) + "T" + padded(rest / 3_600_000, 2) + ":"
            + padded(rest / 60_000 % 60, 2) + ":" + padded(rest / 1000 % 60, 2) + "." + padded(rest % 1000, 3) + "Z"
    }

    /// The inverse of `daysSinceEpoch`.
    private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let z = days + 719_468
        let era = z / 146_097
        let dayOfEra = z - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted + (shifted < 10 ? 3 : -9)
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}
