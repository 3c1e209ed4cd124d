extension Configuration.APNs.Listener {
    /// What a list of listeners may be, for help and for faults.
    static let grammar = "none, or HOST:PORT [auto|sandbox|production] [optional], …"

    /// `HOST:PORT [PROFILE] [optional], …`, at most 8; `none` for none. Hosts are numeric, or `localhost`.
    static func list(_ text: String, hasProfile: Bool = true) -> [Self]? {
        if text == "none" { return [] }
        var out: [Self] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard out.count < 8, let one = read(part, hasProfile) else { return nil }
            out.append(one)
        }
        return out
    }

    private static func read(_ part: Substring, _ hasProfile: Bool) -> Self? {
        var words = part.split(whereSeparator: \.isWhitespace)
        guard let address = words.first, let colon = address.lastIndex(of: ":"),
            let port = UInt16(address[address.index(after: colon)...])
        else { return nil }
        var host = String(address[..<colon])
        if host == "localhost" { host = "127.0.0.1" }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = String(host.dropFirst().dropLast()) }
        guard let ip = IPAddress(host), ip.bytes.count == 4 || isBracketed || host == "::1" else { return nil }
        var out = Self(host: host, port: port, profile: .auto)
        words.removeFirst()
        if words.last == "optional" {
            out.isOptional = true
            words.removeLast()
        }
        guard words.count <= (hasProfile ? 1 : 0) else { return nil }
        if let word = words.first {
            guard let named = Configuration.APNs.Profile(rawValue: String(word)) else { return nil }
            out.profile = named
        }
        return out
    }

    static func text(_ list: [Self], hasProfile: Bool = true) -> String {
        if list.isEmpty { return "none" }
        return list.map { one in
            (one.host.contains(":") ? "[\(one.host)]" : one.host) + ":\(one.port)"
                + (hasProfile ? " \(one.profile.rawValue)" : "") + (one.isOptional ? " optional" : "")
        }.joined(separator: ", ")
    }

    var isLoopback: Bool { IPAddress(host)?.isLoopback ?? false }
}
