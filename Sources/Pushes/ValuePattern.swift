internal import Base
internal import JSON

/// What a value in a payload is held against: words as people write them, compared by their letters and digits alone
/// and without case, so that `call.cancel`, `Call-Cancel` and `CALL_CANCEL` are one. `*` stands for any number of them.
struct ValuePattern: Sendable, Hashable {
    /// As it was written.
    let text: String
    /// What stands between the stars.
    private let pieces: [BytePiece]

    static let any = ValuePattern("*")!

    /// Nil for a pattern of which nothing is left, and for more than eight stars.
    init?(_ text: String) {
        self.text = text
        pieces = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map {
            BytePiece(Self.folded($0))
        }
        let isEmpty = pieces.allSatisfy(\.bytes.isEmpty)
        guard pieces.count <= 9, text == "*" || !isEmpty else { return nil }
    }

    var isAny: Bool { pieces.count == 2 && pieces.allSatisfy(\.bytes.isEmpty) }

    /// Lower-case letters and digits, and whatever is beyond ASCII; of a long text its beginning.
    static func folded(_ text: some Sequence<UInt8>) -> [UInt8] {
        var out: [UInt8] = []
        for byte in text {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...: out.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): out.append(byte | 0x20)
            default: break
            }
            if out.count == 8192 { break }
        }
        return out
    }

    func matches(_ value: JSONValue) -> Bool {
        guard let text = value.scalarText else { return false }
        return matches(folded: Self.folded(text.utf8))
    }

    func matches(folded text: [UInt8]) -> Bool {
        guard let first = pieces.first?.bytes, let last = pieces.last?.bytes else { return false }
        guard pieces.count > 1 else { return first == text }
        guard text.count >= first.count + last.count, text.starts(with: first),
            text.suffix(last.count).elementsEqual(last)
        else { return false }
        var rest = text[first.count..<(text.count - last.count)]
        for piece in pieces.dropFirst().dropLast() {
            guard let end = piece.end(in: rest) else { return false }
            rest = rest[end...]
        }
        return true
    }
}

/// Something that a payload has, or has not.
struct Condition: Sendable, Hashable, CustomStringConvertible {
    var path: Path
    /// Nil: it is enough that there is a value.
    var pattern: ValuePattern?
    /// `POINTER not PATTERN`: there is a value, and it is another.
    var isNot = false

    func holds(in view: inout PayloadView) -> Bool {
        guard let value = view.value(at: path) else { return false }
        guard let pattern else { return true }
        return pattern.matches(value) != isNot
    }

    var description: String {
        path.pointer.description + (pattern.map { (isNot ? " not " : " is ") + $0.text } ?? "")
    }
}
