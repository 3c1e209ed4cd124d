/// A row of `RegionTable`: how numbers of a country, or of a calling code of no country, look and are dialled.
struct PhonePlan: Sendable, Hashable {
    private let row: Int

    private static let rowSize = 22
    private static let ruleSize = 10
    private static var rows: Range<Int> { 0..<RegionTable.rows.utf8CodeUnitCount / rowSize }

    private init(_ row: Int) { self.row = row }

    /// By ISO 3166-1 alpha-2, two capitals.
    init?(code: String) {
        guard let row = Self.rows.first(where: { PhonePlan($0).code == code }) else { return nil }
        self.init(row)
    }

    /// The main plan of the calling code that `digits` begin with; none begins another.
    init?(callingCodeOf digits: PhoneDigits) {
        guard digits[0] != 0 else { return nil }
        var code = 0
        for index in 0..<min(3, digits.count) {
            code = code * 10 + Int(digits[index])
            if let row = Self.rows.first(where: { PhonePlan($0).callingCode == code && PhonePlan($0).isMain }) {
                self.init(row)
                return
            }
        }
        return nil
    }

    /// Countries that have a plan.
    static var codes: [String] { rows.map { PhonePlan($0).code }.filter { $0 != "00" } }

    // MARK: The row

    var code: String { characters(0, 2) }
    var callingCode: Int { number(2, 2) }
    /// Of all numbers of the plan.
    private var shape: Int { number(4, 3) }
    private var outwardPrefix: Int { number(7, 3) }
    /// A bit for each possible length.
    private var lengths: Int { number(10, 3) }
    /// Likewise of numbers that only their own town understands.
    private var localLengths: Int { number(13, 3) }
    /// Digits that a number without any prefix has, lest it be an extension or one of the same town.
    var least: Int { number(16, 1) }
    private var isMain: Bool { number(17, 1) & 1 != 0 }
    /// Numbers are written with the national prefix.
    var isPrefixWritten: Bool { number(17, 1) & 2 != 0 }
    private var rules: Range<Int> {
        let first = number(18, 2)
        return first..<first + number(17, 1) >> 2
    }
    /// What is dialled before a number of another town; empty for nothing.
    var nationalPrefix: String { String(characters(20, 2).prefix { $0 != "_" }) }

    private func number(_ place: Int, _ size: Int) -> Int {
        TableText.number(RegionTable.rows, at: row * Self.rowSize + place, size)
    }

    private func characters(_ place: Int, _ size: Int) -> String {
        TableText.characters(RegionTable.rows, at: row * Self.rowSize + place, size)
    }

    // MARK: Numbers

    enum Fit {
        case possible
        /// Without the town's own digits.
        case local
        case tooShort
        case tooLong
        /// Between two possible lengths.
        case impossible
    }

    func fit(_ digits: PhoneDigits) -> Fit {
        let bit = digits.count < 18 ? 1 << digits.count : 0
        if localLengths & bit != 0 { return .local }
        if lengths & bit != 0 { return .possible }
        if bit != 0, lengths & (bit - 1) == 0 { return .tooShort }
        return bit == 0 || lengths < bit ? .tooLong : .impossible
    }

    /// Looks like a number of the plan, whose ranges are known.
    func isShaped(_ digits: PhoneDigits) -> Bool { Automaton.longest(shape, digits) == digits.count }

    /// Digits of the prefix that leads abroad; nil if there is none, or nothing behind it that could be abroad.
    func outwardPrefix(_ digits: PhoneDigits) -> Int? {
        guard outwardPrefix != 0, let size = Automaton.longest(outwardPrefix, digits), size > 0,
            // No calling code begins with 0.
            size < digits.count, digits[size] != 0
        else { return nil }
        return size
    }

    /// Without national prefix and carrier, unless the whole makes better sense. `isAbroad`: it stood behind the calling
    /// code.
    func stripped(_ digits: PhoneDigits, isAbroad: Bool) -> PhoneDigits {
        for rule in rules {
            guard let found = Self.apply(rule, to: digits, isAbroad: isAbroad) else { continue }
            return isShaped(digits) && !isShaped(found) ? digits : found
        }
        return digits
    }

    /// The national (significant) number in what was dialled: it is taken off what leaves enough.
    func significant(_ digits: PhoneDigits, isAbroad: Bool) -> PhoneDigits {
        let found = stripped(digits, isAbroad: isAbroad)
        switch fit(found) {
        case .possible, .tooLong: return found
        case .local, .tooShort, .impossible: return digits
        }
    }

    /// nil if the rule does not fit. Its kind is 0 for the front, 1 for a whole number, 3 for one behind the calling code.
    private static func apply(_ rule: Int, to digits: PhoneDigits, isAbroad: Bool) -> PhoneDigits? {
        func number(_ place: Int, _ size: Int) -> Int {
            TableText.number(RegionTable.rules, at: rule * ruleSize + place, size)
        }
        let kind = number(0, 1)
        guard let matched = Automaton.longest(number(1, 3), digits), matched > 0,
            kind & 1 == 0 || matched == digits.count, kind != 3 || isAbroad
        else { return nil }
        var out = PhoneDigits()
        for place in 0..<min(4, number(5, 1)) { out.append(UInt8(truncatingIfNeeded: number(6 + place, 1))) }
        if kind == 2 {
            // Argentina's mobile numbers: 0 area 15 number.
            let area = digits.prefix(matched - 2).dropFirst(digits[0] == 0 ? 1 : 0)
            return out.appending(area).appending(digits.dropFirst(matched))
        }
        let stay = number(4, 1)
        return out.appending(digits.dropFirst(stay == 15 ? 0 : matched - stay))
    }
}

/// The states of `RegionTable`: a header (32: accepts; and the number of edges), then edges of four characters, which are
/// ten bits of digits under the offset of the next state.
private enum Automaton {
    /// Digits of the longest beginning that is accepted.
    static func longest(_ start: Int, _ digits: PhoneDigits) -> Int? {
        var state = start
        var found: Int?
        for index in 0...digits.count {
            let header = TableText.number(RegionTable.states, at: state, 1)
            if header & 32 != 0 { found = index }
            guard index < digits.count, let next = edge(state, header & 31, digits[index]) else { break }
            state = next
        }
        return found
    }

    private static func edge(_ state: Int, _ count: Int, _ digit: UInt8) -> Int? {
        for index in 0..<count {
            let edge = TableText.number(RegionTable.states, at: state + 1 + index * 4, 4)
            if edge & 1 << Int(digit) != 0 { return edge >> 10 }
        }
        return nil
    }
}

/// Numbers in text: six bits a character from `0` on, the most significant first.
private enum TableText {
    static func number(_ text: StaticString, at start: Int, _ size: Int) -> Int {
        text.withUTF8Buffer { bytes in
            var out = 0
            for byte in bytes[start..<start + size] { out = out << 6 | Int(byte &- 48) }
            return out
        }
    }

    static func characters(_ text: StaticString, at start: Int, _ size: Int) -> String {
        text.withUTF8Buffer { String(decoding: $0[start..<start + size], as: UTF8.self) }
    }
}
