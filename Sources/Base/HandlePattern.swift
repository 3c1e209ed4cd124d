/// A pattern for callers, as lists of blocked or favoured ones have them: a handle in which `*` stands for anything.
///
/// Both sides are normalised, so that it does not matter how a number is written; the word `anonymous` is for callers
/// that have no handle. Matching takes time in proportion to the handle's length, whatever the pattern.
package struct HandlePattern: Sendable, Hashable, CustomStringConvertible {
    /// As it was written, without the blanks around it.
    package let description: String
    /// What stands between the stars, in UTF-8; one piece where there is no star.
    private let pieces: [BytePiece]

    /// Bytes that a pattern may have, and patterns that a list may have.
    package static let longest = 256
    package static let mostInList = 1000

    /// What a pattern is not.
    package enum Fault: Error, Sendable, Equatable {
        case empty
        /// More than `longest` bytes.
        case tooLong
        /// A comma, which parts a list, or a control character.
        case badCharacter
        /// More than `mostInList` in one list.
        case tooMany

        /// For people: what is wrong, and what to do.
        package var words: String {
            switch self {
            case .empty: "is empty; write a number, an address, * or anonymous"
            case .tooLong: "is longer than \(HandlePattern.longest) bytes; put a * for what callers differ in"
            case .badCharacter: "has a comma or a control character; give each pattern by itself"
            case .tooMany:
                "is one too many: a list has at most \(HandlePattern.mostInList); put a * for what they share"
            }
        }
    }

    package init(_ text: some StringProtocol) throws(Fault) {
        let bare = Substring(text).trimmed
        guard bare.utf8.count <= Self.longest else { throw .tooLong }
        guard !bare.unicodeScalars.contains(where: { $0 == "," || $0.properties.generalCategory == .control }) else {
            throw .badCharacter
        }
        guard !bare.isEmpty else { throw .empty }
        description = String(bare)
        let normal = Self.normalise(bare, isPattern: true)
        // `tel:` alone is not meant as "nobody".
        guard !normal.isEmpty else { throw .empty }
        // What `normalise` makes of such a handle.
        let text = normal == Self.anonymous ? "" : normal
        pieces = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map {
            BytePiece(Array($0))
        }
    }

    /// Patterns with commas between them; empty for none.
    package static func list(_ text: String) throws(Fault) -> [HandlePattern] {
        guard !Substring(text).trimmed.isEmpty else { return [] }
        var out: [HandlePattern] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard out.count < mostInList else { throw .tooMany }
            out.append(try HandlePattern(part))
        }
        return out
    }

    package static func text(_ list: [HandlePattern]) -> String {
        list.map(\.description).joined(separator: ", ")
    }

    /// Two are the same if they match the same callers.
    package static func == (a: HandlePattern, b: HandlePattern) -> Bool { a.pieces == b.pieces }
    package func hash(into hasher: inout Hasher) { hasher.combine(pieces) }

    // MARK: Matching

    /// `handle` as the app gave it; empty for a caller without one.
    package func matches(_ handle: String) -> Bool { matches(normalised: Self.normalise(handle)) }

    /// For one handle and many patterns: what `normalise` gave.
    package func matches(normalised handle: String) -> Bool {
        let text = Array(handle.utf8)
        guard let first = pieces.first, let last = pieces.last else { return false }
        guard pieces.count > 1 else { return text == first.bytes }
        guard text.count >= first.bytes.count + last.bytes.count, text.starts(with: first.bytes),
            text.suffix(last.bytes.count).elementsEqual(last.bytes)
        else { return false }
        // Each piece at its first place behind the one before leaves the most room for those that follow.
        var rest = text[first.bytes.count..<text.count - last.bytes.count]
        for piece in pieces.dropFirst().dropLast() {
            guard let end = piece.end(in: rest) else { return false }
            rest = rest[end...]
        }
        return true
    }

    // MARK: Regions

    /// The pattern for one region: a number without stars is international, however it was written. The others stay;
    /// `spellings` brings the handle to them.
    package func resolved(in region: PhoneRegion?) -> HandlePattern {
        guard let region, pieces.count == 1, let number = Self.number(description, in: region) else { return self }
        return HandlePattern(description, BytePiece(Array(number.utf8)))
    }

    private init(_ description: String, _ piece: BytePiece) {
        self.description = description
        pieces = [piece]
    }

    /// `matches`, with both sides written in whatever way the region has.
    package func matches(_ handle: String, in region: PhoneRegion?) -> Bool {
        let pattern = resolved(in: region)
        return Self.spellings(handle, in: region).contains { pattern.matches(normalised: $0) }
    }

    /// The forms of a handle that a pattern may be written for: international, as it came, and as the region writes it,
    /// normalised.
    package static func spellings(_ handle: String, in region: PhoneRegion?) -> [String] {
        let plain = normalise(handle)
        guard let region, let number = number(handle, in: region) else { return [plain] }
        var out = [number]
        for spelling in [plain] + PhoneNumber.national(number, in: region) where !out.contains(spelling) {
            out.append(spelling)
        }
        return out
    }

    /// The one form in which the handles of a region are compared with each other.
    package static func normalise(_ handle: String, in region: PhoneRegion?) -> String {
        region.flatMap { number(handle, in: $0) } ?? normalise(handle)
    }

    /// A leading 00 leads abroad in most regions, and is a + wherever else it says nothing.
    private static func number(_ handle: String, in region: PhoneRegion) -> String? {
        PhoneNumber.e164(String(HandleText.bare(bounded(handle[...]))), in: region)
            ?? PhoneNumber.e164(normalise(handle), in: region)
    }

    // MARK: Normalising

    private static let anonymous = "anonymous"

    /// Bytes of a handle that count. Nobody's is longer; an app that sends more has them cut.
    private static let longestHandle = 1024

    /// The form in which handles are compared. Telephone numbers are bare digits, behind a + where they are international
    /// (a leading 00 becomes one); schemes and what a URI has behind its address are gone; letters are small. A caller
    /// who withholds the handle has the empty one, also where RFC 3323 has a word for it.
    package static func normalise(_ handle: String) -> String {
        if isPlainNumber(handle) { return handle }
        let text = normalise(Substring(handle), isPattern: false)
        // RFC 3323, section 4.1.1.3; SIP and H.323 gateways leave out the host.
        return text == anonymous || text == "anonymous@anonymous.invalid" ? "" : text
    }

    /// As most are written, and as it is to be: a start looks at a thousand.
    private static func isPlainNumber(_ text: String) -> Bool {
        let bytes = text.utf8
        guard bytes.count < longestHandle, !bytes.starts(with: "00".utf8) else { return false }
        let digits = bytes.first == UInt8(ascii: "+") ? bytes.dropFirst() : bytes[...]
        return !digits.isEmpty && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private static func normalise(_ handle: Substring, isPattern: Bool) -> String {
        // What was normalised stays as it is, so every scheme has to go.
        let text = HandleText.bare(bounded(handle))
        return number(text, isPattern: isPattern) ?? String(bounded(text.lowercased()[...]).trimmed)
    }

    /// Whole scalars only.
    private static func bounded(_ text: Substring) -> Substring {
        guard text.utf8.count > longestHandle else { return text }
        var size = 0
        let kept = text.unicodeScalars.prefix { scalar in
            size += Unicode.UTF8.width(scalar)
            return size <= longestHandle
        }
        return Substring(kept)
    }

    /// A telephone number's digits; nil for any other handle.
    private static func number(_ text: Substring, isPattern: Bool) -> String? {
        var out = ""
        var hasDigit = false
        for scalar in text.unicodeScalars {
            switch scalar {
            case "0"..."9":
                hasDigit = true
                out.unicodeScalars.append(scalar)
            case "+": out.unicodeScalars.append(scalar)
            case "*" where isPattern: out.unicodeScalars.append(scalar)
            case ".", "(", ")", "[", "]", "/": break
            default:
                switch scalar.properties.generalCategory {
                // What address books put between digits, and around them: hyphens and narrow blanks of any kind, marks
                // of direction.
                case .dashPunctuation, .spaceSeparator, .format: break
                default: return nil
                }
            }
        }
        guard hasDigit else { return nil }
        return out.hasPrefix("00") ? "+" + out.dropFirst(2) : out
    }
}
