internal import Base
internal import Glibc

/// A point of the past as people type it.
enum PastTime {
    /// `2025-12-31`, `2025-12-31 18:30` or `2025-12-31T18:30:05`, local time; or nanoseconds since 1970, as in JSON.
    static func read(_ text: String) -> WallTime? {
        if let nanoseconds = Int64(text), text.utf8.count > 8 { return WallTime(nanoseconds: nanoseconds) }
        let halves = text.split(omittingEmptySubsequences: false) { $0 == " " || $0 == "T" }
        guard let day = halves.first, let date = numbers(day, "-", [4, 2, 2]), halves.count <= 2 else { return nil }
        var time = [0, 0, 0]
        if halves.count == 2 {
            guard let given = numbers(halves[1], ":", [2, 2]) ?? numbers(halves[1], ":", [2, 2, 2]) else { return nil }
            time = given + Array(repeating: 0, count: 3 - given.count)
        }
        guard (1970...2200).contains(date[0]), (1...12).contains(date[1]), (1...31).contains(date[2]),
            (0...23).contains(time[0]), (0...59).contains(time[1]), (0...60).contains(time[2])
        else { return nil }
        var parts = tm()
        parts.tm_year = Int32(date[0] - 1900)
        parts.tm_mon = Int32(date[1] - 1)
        parts.tm_mday = Int32(date[2])
        parts.tm_hour = Int32(time[0])
        parts.tm_min = Int32(time[1])
        parts.tm_sec = Int32(time[2])
        // Whether that day had summer time is the time zone's to say.
        parts.tm_isdst = -1
        let seconds = mktime(&parts)
        // 31 February would be a day of March.
        guard parts.tm_mday == Int32(date[2]) else { return nil }
        return WallTime(nanoseconds: Int64(seconds) * 1_000_000_000)
    }

    /// Digits and nothing else, so many in each part.
    private static func numbers(_ text: Substring, _ separator: Character, _ digits: [Int]) -> [Int]? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.count == digits.count,
            zip(parts, digits).allSatisfy({ part, count in
                part.utf8.count == count && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
            })
        else { return nil }
        return parts.compactMap { Int($0) }
    }
}
