internal import Base
internal import JSON

/// A key that signs provider tokens, as the developer's account would have it (apns.md 1.5). For the loop that owns the
/// service: what checks a signature may be of one thread only.
package struct ProviderKey {
    /// 10 characters.
    package let id: String
    /// 10 characters; nil: any team's.
    package let team: String?
    /// `.unknown`: both.
    package let environment: PushEnvironment
    /// Bundle ids that it may push to; empty: every one (a team key).
    package let topics: [String]
    /// The one other key that may share a connection with a topic key.
    package let related: String?
    /// Checks a signature (raw or DER) of a message.
    package let verify: (_ message: UnsafeRawBufferPointer, _ signature: UnsafeRawBufferPointer) -> Bool

    package init(
        id: String, team: String? = nil, environment: PushEnvironment = .unknown, topics: [String] = [],
        related: String? = nil,
        verify: @escaping (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    ) {
        self.id = id
        self.team = team
        self.environment = environment
        self.topics = topics
        self.related = related
        self.verify = verify
    }
}

/// A provider token whose signature holds: what it says, and what is odd about it.
package final class ProviderToken {
    package let key: ProviderKey
    package let team: String
    /// Seconds since 1970.
    package let issuedAt: Int64
    /// The form of it, e.g. `iat` in milliseconds; empty for most.
    let advice: [Finding]
    /// For the record, made once.
    let words: [UInt8]

    init(key: ProviderKey, team: String, issuedAt: Int64, advice: [Finding]) {
        self.key = key
        self.team = team
        self.issuedAt = issuedAt
        self.advice = advice
        let issued = WallTime(nanoseconds: min(issuedAt, 9_000_000_000) * 1_000_000_000)
        words = Array(
            "key \(key.id), team \(Text.clean(team, limit: 32)), issued \(issued.formatted("%Y-%m-%d %H:%M:%S"))".utf8)
    }
}

/// Reads provider tokens and remembers what came of it, because a signature costs a hundred times what the rest of a push
/// does, and senders show the same token for an hour.
package final class ProviderTokens {
    package var keys: [String: ProviderKey] {
        didSet {
            remembered = [:]
            generation += 1
        }
    }

    /// Changes with the keys: what was found of a token before does not hold any more.
    private(set) var generation = 0

    private var remembered: [[UInt8]: Result<ProviderToken, Refused>] = [:]

    package struct Refused: Error {
        package let finding: Finding
    }

    /// Tokens at a time, and bytes of one.
    private static let most = 512
    static let sizeLimit = 4096

    package init(keys: [ProviderKey] = []) {
        self.keys = Dictionary(keys.map { ($0.id, $0) }) { _, last in last }
    }

    /// `authorization`: the whole header.
    package func read(_ authorization: Bytes) -> Result<ProviderToken, Refused> {
        let bytes = Array(authorization)
        if let known = remembered[bytes] { return known }
        let result = verify(bytes)
        // Dropping all is rude to a few senders and cheap for everybody; a flood of tokens is no sender.
        if remembered.count >= Self.most { remembered = [:] }
        remembered[bytes] = result
        return result
    }

    private func verify(_ header: [UInt8]) -> Result<ProviderToken, Refused> {
        do throws(Refused) {
            return .success(try parse(header))
        } catch {
            return .failure(error)
        }
    }

    private static func invalid(_ code: String, _ text: String) -> Refused {
        Refused(finding: Finding(code, .invalidProviderToken, text))
    }

    private func parse(_ header: [UInt8]) throws(Refused) -> ProviderToken {
        // A blank at a value's end cannot come in HTTP/2 (RFC 9113, 8.2.1): a sender without a token sends the word alone.
        let word = header.prefix { $0 != UInt8(ascii: " ") }
        guard String(decoding: word, as: UTF8.self).lowercased() == "bearer" else {
            throw Self.invalid("no-bearer", "authorization is to be: bearer, a blank, the provider token")
        }
        let token = header[word.endIndex...].drop { $0 == UInt8(ascii: " ") }
        guard !token.isEmpty else {
            throw Refused(
                finding: Finding(
                    "empty-bearer", .missingProviderToken, "there is no token behind bearer in authorization"))
        }
        guard token.count <= Self.sizeLimit else {
            throw Self.invalid("token-size", "the provider token has \(token.count) bytes; one of APNs has about 200")
        }
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Base64URL.decode(parts[0]),
            let claims = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2])
        else {
            throw Self.invalid("token-form", "the provider token is no JWT: three parts in base64url with dots between")
        }
        guard let head = try? JSONValue.parse(head), let claims = try? JSONValue.parse(claims) else {
            throw Self.invalid("token-json", "the provider token's header or claims are not JSON")
        }
        guard let algorithm = head["alg"]?.string, algorithm == "ES256" else {
            let has = Text.clean(head["alg"]?.string ?? "none", limit: 16)
            throw Self.invalid("token-alg", "the provider token is signed with \(has); APNs takes ES256 only")
        }
        guard let kid = head["kid"]?.string, !kid.isEmpty else {
            throw Self.invalid(
                "token-kid", "the provider token's header has no kid (the 10 characters of the key's id)")
        }
        guard let team = claims["iss"]?.string, !team.isEmpty else {
            throw Self.invalid("token-iss", "the provider token has no iss (the 10 characters of the team's id)")
        }
        guard let key = keys[kid] else {
            let name = Text.clean(kid, limit: 32)
            let hint = Text.nearest(to: kid, in: keys.keys).map { "; did you mean \($0)?" } ?? ""
            throw Self.invalid(
                "unknown-key",
                "no key \(name) is known here\(hint); to trust yours, write [key \(name)] and file = …/AuthKey_\(name).p8 into ringd.conf"
            )
        }
        if let owner = key.team, owner != team {
            throw Self.invalid(
                "other-team", "key \(key.id) is of team \(owner), and the token says iss \(Text.clean(team, limit: 32))"
            )
        }
        let message = Array(token[token.startIndex..<parts[1].endIndex])
        let isGenuine = message.withUnsafeBytes { text in
            signature.withUnsafeBytes { key.verify(text, $0) }
        }
        guard isGenuine else {
            throw Self.invalid(
                "bad-signature", "the provider token's signature does not fit key \(key.id): another .p8?")
        }
        var advice: [Finding] = []
        if kid.utf8.count != 10 || team.utf8.count != 10 {
            advice.append(Finding("id-length", nil, "kid and iss have 10 characters each at Apple"))
        }
        guard var issued = Self.seconds(claims["iat"]) else {
            throw Self.invalid("token-iat", "the provider token has no iat, or one that is no number of seconds")
        }
        if issued > 100_000_000_000 {
            issued /= 1000
            advice.append(Finding("iat-unit", nil, "iat is in milliseconds; it is to be in seconds"))
        }
        return ProviderToken(key: key, team: team, issuedAt: issued, advice: advice)
    }

    /// `Double` reads hexadecimal too, which nobody else does.
    private static func isDecimal(_ text: String) -> Bool { !text.utf8.contains { $0 | 0x20 == UInt8(ascii: "x") } }

    /// Integer, float or a string of digits: all three come from libraries in use (apns.md 1.5).
    private static func seconds(_ value: JSONValue?) -> Int64? {
        let number: Double?
        switch value {
        case .integer(let seconds)?: number = Double(seconds)
        case .real(let seconds)?: number = seconds
        case .string(let text)?: number = text.utf8.count <= 32 && isDecimal(text) ? Double(text) : nil
        default: number = nil
        }
        guard let number, number >= 0, number < 1e15 else { return nil }
        return Int64(number)
    }
}
