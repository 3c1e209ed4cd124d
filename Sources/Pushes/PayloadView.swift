internal import Base
internal import JSON

/// How a text inside a payload is to be read as a value.
enum Unpacking: String, Sendable, CaseIterable {
    /// JSON as text, which is read as if it stood there itself; what is no text stays as it is.
    case json
    /// The same, and written as an object: some senders of the family do, and some do not.
    case jsonOrObject = "json or object"
    /// `a=b&c=d` (URL query): an object of texts.
    case query
}

/// A place in a payload, with the texts that are opened on the way to it.
struct Path: Sendable, Hashable {
    var pointer: JSONPointer
    /// After so many tokens; in order.
    var openings: [Opening] = []

    struct Opening: Sendable, Hashable {
        var depth: Int
        var form: Unpacking
    }
}

/// A payload while it is read: its value, and the texts in it that were opened, each once for all dialects.
struct PayloadView {
    let root: JSONValue
    private var opened: [String: JSONValue] = [:]

    /// Where each field was found, by its name in dialect files; nil: nobody asks.
    private(set) var places: [String: String]?

    init(_ root: JSONValue, tellsPlaces: Bool = false) {
        self.root = root
        if tellsPlaces { places = [:] }
    }

    mutating func found(_ field: @autoclosure () -> String, at path: Path) {
        if places != nil { places?[field()] = path.pointer.description }
    }

    /// The value there; nil where there is none, or null.
    mutating func value(at path: Path) -> JSONValue? { walk(root, path, 0..<path.pointer.tokens.count) }

    /// Every value there, for a path with `*`; at most a thousand.
    mutating func values(at path: Path) -> [JSONValue] {
        let tokens = path.pointer.tokens
        guard let star = tokens.firstIndex(of: .each) else { return value(at: path).map { [$0] } ?? [] }
        var list = walk(root, path, 0..<star)
        if let held = list, let opening = path.openings.first(where: { $0.depth == star }) {
            list = open(held, opening.form)
        }
        guard case .array(let elements)? = list else { return [] }
        return elements.prefix(1000).compactMap { walk($0, path, (star + 1)..<tokens.count) }
    }

    private mutating func walk(_ start: JSONValue, _ path: Path, _ steps: Range<Int>) -> JSONValue? {
        var here = start
        for depth in steps {
            if let opening = path.openings.first(where: { $0.depth == depth }) {
                guard let inner = open(here, opening.form) else { return nil }
                here = inner
            }
            guard let next = JSONPointer.step(here, path.pointer.tokens[depth]) else { return nil }
            here = next
        }
        return here == .null ? nil : here
    }

    private mutating func open(_ value: JSONValue, _ form: Unpacking) -> JSONValue? {
        guard case .string(let text) = value else { return form == .query ? nil : value }
        let key = (form == .query ? "?" : "{") + text
        if let known = opened[key] { return known == .null ? nil : known }
        let inner = form == .query ? QueryText.parse(text) : Self.json(text)
        // No payload has more; what is hostile is read anew and costs its sender's pushes, not our memory.
        if opened.count < 32 { opened[key] = inner ?? .null }
        return inner
    }

    private static func json(_ text: String) -> JSONValue? {
        // Mostly it is no JSON at all, which is cheaper to see than to let a parser say.
        guard let first = text.utf8.first(where: { $0 > 0x20 }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        else { return nil }
        return try? JSONValue.parse(text)
    }
}

/// `a=b&c=d%20e+f`: application/x-www-form-urlencoded, as in URLs.
enum QueryText {
    static func parse(_ text: String) -> JSONValue? {
        var members: [JSONValue.Member] = []
        for pair in text.utf8.split(separator: UInt8(ascii: "&")).prefix(64) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = plain(parts[0]), !name.isEmpty else { continue }
            members.append(.init(name, .string(parts.count > 1 ? plain(parts[1]) ?? "" : "")))
        }
        return members.isEmpty ? nil : .object(members)
    }

    private static func plain(_ part: some Sequence<UInt8>) -> String? {
        var out: [UInt8] = []
        var iterator = part.makeIterator()
        while let byte = iterator.next() {
            switch byte {
            case UInt8(ascii: "+"): out.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = iterator.next().flatMap(Hex.value(of:)),
                    let low = iterator.next().flatMap(Hex.value(of:))
                else {
                    return nil
                }
                out.append(high << 4 | low)
            default: out.append(byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    static func text(_ value: JSONValue) -> String {
        (value.members ?? []).map { encoded($0.name) + "=" + encoded($0.value.looseText ?? "") }.joined(separator: "&")
    }

    private static func encoded(_ text: String) -> String {
        var out = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                out.unicodeScalars.append(Unicode.Scalar(byte))
            default: out += "%" + Hex.text([byte]).uppercased()
            }
        }
        return out
    }
}
