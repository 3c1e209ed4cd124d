internal import Base

/// A request's target (RFC 9112, 3.2.1), taken apart and decoded.
struct Target: Equatable {
    var path: [String]
    var query: [WebhookServer.Request.Field]

    /// More than any sender has.
    static let mostSegments = 16
    static let mostFields = 32

    /// nil for anything but a path of text: bad escapes, control characters, what is not UTF-8, other forms.
    init?(_ raw: some Collection<UInt8>) {
        let parts = raw.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, first.first == UInt8(ascii: "/") else { return nil }
        path = []
        for segment in first.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard path.count < Self.mostSegments, let text = Self.decode(segment) else { return nil }
            path.append(text)
        }
        query = []
        guard parts.count == 2 else { return }
        for field in parts[1].split(separator: UInt8(ascii: "&")) {
            let sides = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard query.count < Self.mostFields, let name = Self.decode(sides[0]),
                let value = sides.count == 2 ? Self.decode(sides[1]) : ""
            else { return nil }
            query.append(.init(name: name, value: value))
        }
    }

    /// A plus stays one: these are no forms.
    private static func decode(_ raw: some Collection<UInt8>) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(raw.count)
        var rest = raw[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Hex.value(of:)), let low = rest.popFirst().flatMap(Hex.value(of:))
            else { return nil }
            bytes.append(high << 4 | low)
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
