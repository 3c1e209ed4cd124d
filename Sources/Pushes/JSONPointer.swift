internal import Base
internal import JSON

/// A place in a JSON value (RFC 6901). Written as there, with `%XX` for bytes that a dialect file has other uses for
/// (section 6), and one addition: `*` stands for each element of an array.
package struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
    enum Token: Sendable, Hashable {
        case name(String)
        /// An element of an array, or a member whose name is this number.
        case index(Int, String)
        case each
    }

    let tokens: [Token]
    /// As it was written.
    package let description: String

    /// No pointer goes deeper.
    static let deepest = 12
    /// Bytes of one.
    static let longest = 256

    /// Nil for what is no pointer: it begins with a slash.
    package init?(_ text: some StringProtocol) {
        guard text.first == "/", text.utf8.count <= Self.longest else { return nil }
        var tokens: [Token] = []
        for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard tokens.count < Self.deepest, let name = Self.plain(part), !name.isEmpty else { return nil }
            if part == "*" {
                tokens.append(.each)
            } else if let index = Self.index(name) {
                tokens.append(.index(index, name))
            } else {
                tokens.append(.name(name))
            }
        }
        self.tokens = tokens
        description = String(text)
    }

    /// `0`, `7`, `12`: no signs, no leading zeros, at most four digits.
    private static func index(_ name: String) -> Int? {
        guard name.utf8.count <= 4, name.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            name == "0" || name.first != "0"
        else { return nil }
        return Int(name)
    }

    /// `~1` is a slash, `~0` a tilde, `%2C` a comma.
    private static func plain(_ part: some StringProtocol) -> String? {
        var out: [UInt8] = []
        let bytes = Array(part.utf8)
        var at = 0
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "~"):
                guard at + 1 < bytes.count, bytes[at + 1] == 0x30 || bytes[at + 1] == 0x31 else { return nil }
                out.append(bytes[at + 1] == 0x31 ? UInt8(ascii: "/") : UInt8(ascii: "~"))
                at += 2
            case UInt8(ascii: "%"):
                guard at + 2 < bytes.count,
                    let byte = UInt8(String(decoding: bytes[at + 1...at + 2], as: UTF8.self), radix: 16), byte != 0
                else { return nil }
                out.append(byte)
                at += 3
            default:
                out.append(bytes[at])
                at += 1
            }
        }
        return String(validating: out, as: UTF8.self)
    }

    /// The member on top that it goes through.
    var first: String? {
        switch tokens.first {
        case .name(let name)?, .index(_, let name)?: name
        case .each?, nil: nil
        }
    }

    /// `other` goes on from here.
    func isPrefix(of other: JSONPointer) -> Bool {
        tokens.count <= other.tokens.count && tokens.elementsEqual(other.tokens.prefix(tokens.count))
    }

    static func step(_ value: JSONValue, _ token: Token) -> JSONValue? {
        switch token {
        case .name(let name): value[name]
        case .index(let index, let name):
            if case .array(let elements) = value {
                index < elements.count ? elements[index] : nil
            } else {
                value[name]
            }
        case .each: nil
        }
    }

    /// `value` with `leaf` put at this place; objects on the way are made, and an array where a number or `*` is asked for.
    /// Nil where something else is in the way.
    func put(_ leaf: JSONValue, in value: JSONValue) -> JSONValue? { Self.put(leaf, in: value, tokens[...]) }

    private static func put(_ leaf: JSONValue, in value: JSONValue?, _ path: ArraySlice<Token>) -> JSONValue? {
        guard let token = path.first else { return leaf }
        let rest = path.dropFirst()
        switch token {
        case .name(let name): return member(name, leaf, in: value, rest)
        case .index(_, let name) where value?.members != nil: return member(name, leaf, in: value, rest)
        case .index(let index, _): return element(index, leaf, in: value, rest)
        case .each: return element(0, leaf, in: value, rest)
        }
    }

    private static func member(
        _ name: String, _ leaf: JSONValue, in value: JSONValue?, _ rest: ArraySlice<Token>
    ) -> JSONValue? {
        guard var members = value.map({ $0.members }) ?? [] else { return nil }
        let place = members.firstIndex { $0.name == name }
        guard let made = put(leaf, in: place.map { members[$0].value }, rest) else { return nil }
        if let place { members[place] = .init(name, made) } else { members.append(.init(name, made)) }
        return .object(members)
    }

    private static func element(
        _ index: Int, _ leaf: JSONValue, in value: JSONValue?, _ rest: ArraySlice<Token>
    ) -> JSONValue? {
        var elements: [JSONValue] = []
        switch value {
        case nil: break
        case .array(let held)?: elements = held
        default: return nil
        }
        // A dialect may fill an array, not make one of a thousand.
        guard index <= elements.count else { return nil }
        guard let made = put(leaf, in: index < elements.count ? elements[index] : nil, rest) else { return nil }
        if index < elements.count { elements[index] = made } else { elements.append(made) }
        return .array(elements)
    }
}
