/// What people read of a handle. The handle itself keeps its scheme and parameters, for they are needed to call back.
package enum HandleText {
    /// Number, address or name without scheme, parameters, headers, angle brackets and the name before them; cleaned, at
    /// most 256 bytes. Never empty for a handle that is not.
    package static func shown(_ handle: String) -> String {
        // Cut twice: the address may stand behind a long name, and what is cut may lose a bracket.
        let clean = unwrapped(unwrapped(handle, longest), 256)
        return clean.isEmpty && !handle.isEmpty ? "?" : clean
    }

    private static func unwrapped(_ handle: String, _ limit: Int) -> String {
        var text = cleaned(handle, limit)
        while let less = unwrapped(text[...]) {
            let next = cleaned(less, limit)
            // `sip:` alone is all there is to be seen; and each step leaves less.
            guard !next.isEmpty, next.utf8.count < text.utf8.count else { break }
            text = next
        }
        return text
    }

    /// The same for a URL that has a scheme already: nothing is cleaned, and empty where there is nothing else.
    package static func address(_ handle: String) -> String { String(bare(handle[...])) }

    /// And for comparing.
    static func bare(_ handle: Substring) -> Substring {
        var text = handle.trimmed
        while let less = unwrapped(text) {
            let next = less[...].trimmed
            guard next.utf8.count < text.utf8.count else { break }
            text = next
        }
        return text
    }

    private static let longest = 1024

    /// A mark that stood behind a control character joins the blank before it, and goes with that the next time.
    private static func cleaned(_ text: String, _ limit: Int) -> String {
        var text = Text.clean(text, limit: limit)
        while true {
            let next = Text.clean(text, limit: limit)
            guard next.utf8.count < text.utf8.count else { return text }
            text = next
        }
    }

    /// Of handles as SIP, XMPP, Matrix, mail and the field's other systems write them; no others, since a colon may
    /// belong to a name.
    private static let schemes: Set<String> = [
        "acct", "callto", "client", "conference", "facetime", "facetime-audio", "h323", "iax", "iax2", "im", "jabber",
        "mailto", "matrix", "pres", "sip", "sips", "skype", "sms", "tel", "whatsapp", "xmpp",
    ]

    // MARK: One step

    /// Without the outermost of what stands around the address; nil if there is nothing.
    private static func unwrapped(_ text: Substring) -> String? {
        if let inner = bracketed(text) { return String(inner) }
        guard let (scheme, rest) = split(text) else {
            guard text.utf8.contains(UInt8(ascii: "@")) || PhoneDigits.isNumber(text.before(";")) else { return nil }
            return withoutParameters(text)
        }
        // RFC 3261 (19.1.1), RFC 3966 (3), RFC 6068 (2), RFC 5122 (2.2): headers and queries come last.
        let path = rest.before("?")
        switch scheme {
        case "matrix": return decoded(matrix(path))
        case "sip", "sips": return decoded(withoutParameters(withoutPassword(path)[...]))
        default: return decoded(withoutParameters(path))
        }
    }

    /// Of a name-addr (RFC 3261, 25.1): `"Alice" <sip:alice@example.com>;tag=1`.
    private static func bracketed(_ text: Substring) -> Substring? {
        guard let open = text.utf8.lastIndex(of: UInt8(ascii: "<")),
            let (inner, behind) = text[open...].dropByte.cut(">")
        else { return nil }
        let address = inner.trimmed
        guard behind.trimmed.utf8.isEmpty || behind.trimmed.utf8.first == UInt8(ascii: ";") else { return nil }
        // Others like brackets, too.
        let isAddress =
            split(address) != nil || address.utf8.contains(UInt8(ascii: "@")) || PhoneDigits.isNumber(address)
        return isAddress ? address : nil
    }

    /// A scheme that is known, in small letters, and what stands behind it.
    private static func split(_ text: Substring) -> (scheme: String, rest: Substring)? {
        guard let (word, rest) = text.cut(":"), word.utf8.count <= 20 else { return nil }
        let scheme = word.lowercased()
        guard schemes.contains(scheme) else { return nil }
        return (scheme, Substring(rest.utf8.drop { $0 == UInt8(ascii: "/") }))
    }

    /// What stands behind semicolons, unless it is of a user's name (`alice;day=tuesday@example.com`).
    private static func withoutParameters(_ text: Substring) -> String {
        guard let (user, host) = text.cut("@") else { return String(text.before(";")) }
        let number = user.before(";")
        return (PhoneDigits.isNumber(number) ? number : user) + "@" + host.before(";")
    }

    /// Which nobody should read over a shoulder: RFC 3261, 19.1.1.
    private static func withoutPassword(_ text: Substring) -> String {
        guard let (user, host) = text.cut("@") else { return String(text) }
        return user.before(":") + "@" + host
    }

    /// `u/alice:example.org` is @alice:example.org (Matrix's URI scheme, appendix 4 of its specification).
    private static func matrix(_ text: Substring) -> Substring {
        for (kind, sigil) in [("u/", "@"), ("user/", "@"), ("r/", "#"), ("room/", "#"), ("roomid/", "!")]
        where text.utf8.starts(with: kind.utf8) {
            return sigil + Substring(text.utf8.dropFirst(kind.utf8.count)).before("/")
        }
        return text
    }

    /// Percent signs of a URI; left alone where they make no text.
    private static func decoded(_ text: some StringProtocol) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var out: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            let pair = rest.prefix(2).compactMap { Hex.value(of: $0) }
            if byte == UInt8(ascii: "%"), pair.count == 2 {
                out.append(UInt8(truncatingIfNeeded: pair[0]) << 4 | UInt8(truncatingIfNeeded: pair[1]))
                rest = rest.dropFirst(2)
            } else {
                out.append(byte)
            }
        }
        return String(validating: out, as: UTF8.self) ?? String(text)
    }
}

extension Substring {
    var trimmed: Substring {
        var view = self
        while let first = view.first, first.isWhitespace { view = view.dropFirst() }
        while let last = view.last, last.isWhitespace { view = view.dropLast() }
        return view
    }

    /// Whole scalars: what is looked for is ASCII.
    fileprivate func before(_ mark: Unicode.Scalar) -> Substring { cut(mark)?.head ?? self }

    /// What stands before and behind the first `mark`, which is ASCII.
    fileprivate func cut(_ mark: Unicode.Scalar) -> (head: Substring, tail: Substring)? {
        guard let place = utf8.firstIndex(of: UInt8(ascii: mark)) else { return nil }
        return (self[..<place], self[utf8.index(after: place)...])
    }

    fileprivate var dropByte: Substring { Substring(utf8.dropFirst()) }
}
