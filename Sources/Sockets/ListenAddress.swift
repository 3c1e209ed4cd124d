internal import Glibc

/// A numeric IP address and a TCP port to listen on.
package struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// 4 or 16 bytes, network order.
    package let host: [UInt8]
    /// 0: any free port; the listener tells which it became.
    package let port: UInt16

    package init(host: [UInt8], port: UInt16) {
        precondition(host.count == 4 || host.count == 16)
        self.host = host
        self.port = port
    }

    /// `host` is `127.0.0.1` or `::1`, without brackets; nil for a name: looking one up may block, and may lie.
    package init?(host: String, port: UInt16) {
        var v4 = [UInt8](repeating: 0, count: 4)
        if inet_pton(AF_INET, host, &v4) == 1 {
            self.init(host: v4, port: port)
            return
        }
        var v6 = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, host, &v6) == 1 else { return nil }
        self.init(host: v6, port: port)
    }

    /// `127.0.0.1:2195`, `[::1]:2195`, `localhost:2195`. No other names.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = String(text[..<colon])
        if host == "localhost" { host = "127.0.0.1" }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = String(host.dropFirst().dropLast()) }
        self.init(host: host, port: port)
        guard isBracketed == (self.host.count == 16) else { return nil }
    }

    /// 127.0.0.0/8 and ::1.
    package var isLoopback: Bool {
        host.count == 4 ? host[0] == 127 : host.dropLast().allSatisfy { $0 == 0 } && host.last == 1
    }

    package var description: String {
        if host.count == 4 { return host.map { String($0) }.joined(separator: ".") + ":\(port)" }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(AF_INET6, host, &text, socklen_t(text.count))
        return "[" + text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) } + "]:\(port)"
    }
}

// MARK: As C has it

extension ListenAddress {
    /// AF_INET or AF_INET6.
    var family: Int32 { host.count == 4 ? AF_INET : AF_INET6 }

    /// A `sockaddr_in` or `sockaddr_in6`.
    package var socketAddress: [UInt8] {
        if host.count == 4 {
            var raw = sockaddr_in()
            raw.sin_family = sa_family_t(AF_INET)
            raw.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &raw.sin_addr) { $0.copyBytes(from: host) }
            return withUnsafeBytes(of: raw) { Array($0) }
        }
        var raw = sockaddr_in6()
        raw.sin6_family = sa_family_t(AF_INET6)
        raw.sin6_port = port.bigEndian
        withUnsafeMutableBytes(of: &raw.sin6_addr) { $0.copyBytes(from: host) }
        return withUnsafeBytes(of: raw) { Array($0) }
    }

    /// Nil for anything but IP.
    init?(_ raw: sockaddr_storage) {
        let made: ListenAddress? = withUnsafeBytes(of: raw) { bytes in
            switch Int32(raw.ss_family) {
            case AF_INET:
                let raw = bytes.load(as: sockaddr_in.self)
                return ListenAddress(
                    host: withUnsafeBytes(of: raw.sin_addr) { Array($0) }, port: UInt16(bigEndian: raw.sin_port))
            case AF_INET6:
                let raw = bytes.load(as: sockaddr_in6.self)
                return ListenAddress(
                    host: withUnsafeBytes(of: raw.sin6_addr) { Array($0) }, port: UInt16(bigEndian: raw.sin6_port))
            default: return nil
            }
        }
        guard let made else { return nil }
        self = made
    }
}
