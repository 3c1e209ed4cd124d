internal import CSocket
internal import Glibc

/// An errno, with what was being done.
struct SocketFailure: Error {
    let code: Int32
    let doing: String

    init(_ doing: String, code: Int32 = errno) {
        self.code = code
        self.doing = doing
    }

    var text: String { "\(doing): \(String(cString: strerror(code)))" }
}

/// A TCP socket that listens and does not block: owner of one descriptor.
final class ListeningSocket {
    let fd: Int32

    /// A connection, whose descriptor is the caller's from now on, and a `sockaddr` of the other side.
    struct Connection {
        let fd: Int32
        let address: [UInt8]
        let peer: String
    }

    init(_ wish: WebhookServer.Listener) throws(SocketFailure) {
        guard let place = wish.socketAddress else { throw SocketFailure("reading \(wish)", code: EINVAL) }
        let family = Int32(place.withUnsafeBytes { $0.load(as: sa_family_t.self) })
        fd = csocket_stream(family)
        guard fd >= 0 else { throw SocketFailure("making a socket") }
        var one: Int32 = 1
        // A port stays in TIME_WAIT after a restart; that must not keep us out.
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        if family == AF_INET6 { setsockopt(fd, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one, 4) }
        // What the kernel holds of a sender that is not read from; accepted sockets inherit it.
        var bytes: Int32 = 131_072
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, 4)
        let bound = place.withUnsafeBytes {
            bind(fd, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        }
        guard bound == 0 else { throw SocketFailure("binding \(wish)") }
        guard listen(fd, 1024) == 0 else { throw SocketFailure("listening on \(wish)") }
    }

    deinit { if fd >= 0 { close(fd) } }

    /// Where it is, with the real port.
    var address: WebhookServer.Listener? { Self.ask(fd, getsockname).flatMap(WebhookServer.Listener.init) }

    /// The next connection; nil where none waits. Other failures are thrown.
    func accept() throws(SocketFailure) -> Connection? {
        while true {
            let made = csocket_accept(fd)
            if made >= 0 {
                let address = Self.ask(made, getpeername) ?? []
                let peer = WebhookServer.Listener(address)?.description ?? ""
                return Connection(fd: made, address: address, peer: peer)
            }
            switch errno {
            case EAGAIN: return nil
            // The one that waited is gone, or a network error came with it (accept(2)): try the next.
            case EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH, EOPNOTSUPP, ENOPROTOOPT:
                continue
            default: throw SocketFailure("accepting a connection")
            }
        }
    }

    private typealias Ask = (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32

    private static func ask(_ fd: Int32, _ ask: Ask) -> [UInt8]? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &storage) { bytes in
            guard ask(fd, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), &size) == 0 else { return nil }
            return Array(bytes.prefix(Int(size)))
        }
    }
}

extension WebhookServer.Listener {
    /// A `sockaddr_in` or `sockaddr_in6`; nil for what is no numeric address.
    var socketAddress: [UInt8]? {
        var v4 = sockaddr_in()
        if inet_pton(AF_INET, host, &v4.sin_addr) == 1 {
            v4.sin_family = sa_family_t(AF_INET)
            v4.sin_port = port.bigEndian
            return withUnsafeBytes(of: v4) { Array($0) }
        }
        var v6 = sockaddr_in6()
        guard inet_pton(AF_INET6, host, &v6.sin6_addr) == 1 else { return nil }
        v6.sin6_family = sa_family_t(AF_INET6)
        v6.sin6_port = port.bigEndian
        return withUnsafeBytes(of: v6) { Array($0) }
    }

    fileprivate init?(_ address: [UInt8]) {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let port = address.withUnsafeBytes { bytes -> UInt16? in
            guard bytes.count >= MemoryLayout<sockaddr_in>.size else { return nil }
            switch Int32(bytes.loadUnaligned(as: sa_family_t.self)) {
            case AF_INET:
                let raw = bytes.loadUnaligned(as: sockaddr_in.self)
                _ = withUnsafePointer(to: raw.sin_addr) { inet_ntop(AF_INET, $0, &text, socklen_t(text.count)) }
                return UInt16(bigEndian: raw.sin_port)
            case AF_INET6 where bytes.count >= MemoryLayout<sockaddr_in6>.size:
                let raw = bytes.loadUnaligned(as: sockaddr_in6.self)
                _ = withUnsafePointer(to: raw.sin6_addr) { inet_ntop(AF_INET6, $0, &text, socklen_t(text.count)) }
                return UInt16(bigEndian: raw.sin6_port)
            default: return nil
            }
        }
        guard let port else { return nil }
        self.init(
            host: String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self), port: port)
    }

    /// 127.0.0.0/8 and ::1.
    package var isLoopback: Bool {
        var v4 = in_addr()
        if inet_pton(AF_INET, host, &v4) == 1 { return UInt32(bigEndian: v4.s_addr) >> 24 == 127 }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, host, &v6) == 1 else { return false }
        return withUnsafeBytes(of: v6) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
    }
}
