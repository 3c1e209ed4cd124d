internal import CSocket
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

    /// The legacy gateway's home: 127.0.0.1:2195.
    package static let `default` = ListenAddress(host: [127, 0, 0, 1], port: 2195)

    /// `127.0.0.1:2195`, `[::1]:2195`, `localhost:2195`. No other names: looking one up may block, and may lie.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = String(text[..<colon])
        if host.hasPrefix("[") && host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            var raw = [UInt8](repeating: 0, count: 16)
            guard inet_pton(AF_INET6, host, &raw) == 1 else { return nil }
            self.init(host: raw, port: port)
        } else {
            var raw = [UInt8](repeating: 0, count: 4)
            guard inet_pton(AF_INET, host == "localhost" ? "127.0.0.1" : host, &raw) == 1 else { return nil }
            self.init(host: raw, port: port)
        }
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
