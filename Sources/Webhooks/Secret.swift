internal import Base

/// What a sender has to show.
struct Secret {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// In a time that depends on the length of what is offered alone. Nothing fits an empty secret.
    func fits(_ offered: some Collection<UInt8>) -> Bool {
        guard !bytes.isEmpty else { return false }
        var difference = UInt8(bytes.count == offered.count ? 0 : 1)
        var place = 0
        for byte in offered {
            difference |= byte ^ bytes[place]
            place = place + 1 == bytes.count ? 0 : place + 1
        }
        return difference == 0
    }

    /// By an `Authorization` header: Bearer (RFC 6750, 2.1), or Basic (RFC 7617) with it as the password.
    func fits(authorization header: [UInt8]) -> Bool {
        guard let blank = header.firstIndex(of: UInt8(ascii: " ")) else { return false }
        let scheme = String(decoding: header[..<blank], as: UTF8.self).lowercased()
        let rest = header[blank...].drop { $0 == UInt8(ascii: " ") }
        switch scheme {
        case "bearer": return fits(rest)
        case "basic":
            let urlSafe = rest.map { byte in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                default: byte
                }
            }
            guard let pair = Base64URL.decode(urlSafe), let colon = pair.firstIndex(of: UInt8(ascii: ":")) else {
                return false
            }
            return fits(pair[(colon + 1)...])
        default: return false
        }
    }
}
