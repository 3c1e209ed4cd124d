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

/// A non-blocking TCP socket: owner of one descriptor.
final class Socket {
    let fd: Int32

    /// Takes over `fd`.
    init(owning fd: Int32) { self.fd = fd }

    /// The end is to be a reset: what is under way is lost.
    var resetsOnClose = false

    deinit {
        if resetsOnClose {
            var lingering = linger(l_onoff: 1, l_linger: 0)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
        }
        close(fd)
    }

    // MARK: Listening

    /// Bound and listening. The port is the kernel's choice where it is 0.
    static func listening(on address: ListenAddress) throws(SocketFailure) -> Socket {
        let family = address.host.count == 4 ? AF_INET : AF_INET6
        let fd = csocket_stream(family)
        guard fd >= 0 else { throw SocketFailure("making a socket") }
        let socket = Socket(owning: fd)
        var one: Int32 = 1
        // A port stays in TIME_WAIT after a restart; that must not keep us out.
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        if family == AF_INET6 { setsockopt(fd, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one, 4) }
        guard socket.bind(address) == 0 else { throw SocketFailure("binding \(address)") }
        guard listen(fd, 1024) == 0 else { throw SocketFailure("listening on \(address)") }
        socket.boundInput()
        return socket
    }

    /// A socket from outside, e.g. from systemd: must be a listening TCP socket.
    static func inherited(_ fd: Int32) throws(SocketFailure) -> Socket {
        var isListening: Int32 = 0
        var size: socklen_t = 4
        guard getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0 else {
            throw SocketFailure("looking at descriptor \(fd)")
        }
        guard isListening != 0 else { throw SocketFailure("descriptor \(fd) is not listening", code: EINVAL) }
        let flags = fcntl(fd, F_GETFL, 0)
        guard flags >= 0, fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0, fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 else {
            throw SocketFailure("setting flags of descriptor \(fd)")
        }
        let socket = Socket(owning: fd)
        socket.boundInput()
        return socket
    }

    /// What the kernel holds of a sender that is not read from: 256 KiB with its own bookkeeping, where it would go up
    /// to megabytes by itself. Accepted sockets inherit it.
    private func boundInput() {
        var bytes: Int32 = 131_072
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, 4)
    }

    private func bind(_ address: ListenAddress) -> Int32 {
        if address.host.count == 4 {
            var raw = sockaddr_in()
            raw.sin_family = sa_family_t(AF_INET)
            raw.sin_port = address.port.bigEndian
            withUnsafeMutableBytes(of: &raw.sin_addr) { $0.copyBytes(from: address.host) }
            return withUnsafeBytes(of: &raw) { bytes in
                Glibc.bind(fd, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
            }
        }
        var raw = sockaddr_in6()
        raw.sin6_family = sa_family_t(AF_INET6)
        raw.sin6_port = address.port.bigEndian
        withUnsafeMutableBytes(of: &raw.sin6_addr) { $0.copyBytes(from: address.host) }
        return withUnsafeBytes(of: &raw) { bytes in
            Glibc.bind(fd, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
    }

    /// The next connection; nil where none waits. Other failures are thrown.
    func accept() throws(SocketFailure) -> Socket? {
        while true {
            let made = csocket_accept(fd)
            if made >= 0 { return Socket(owning: made) }
            switch errno {
            case EAGAIN: return nil
            // The one that waited is gone, or a network error came with it (accept(2)): try the next.
            case EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH, EOPNOTSUPP, ENOPROTOOPT:
                continue
            default: throw SocketFailure("accepting a connection")
            }
        }
    }

    // MARK: Addresses

    /// Its own address; nil for anything but IP.
    var localAddress: ListenAddress? { address(of: getsockname) }

    /// The other side's.
    var peerAddress: ListenAddress? { address(of: getpeername) }

    private typealias Ask = (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32

    private func address(of ask: Ask) -> ListenAddress? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &storage) { bytes in
            let base = bytes.baseAddress!
            guard ask(fd, base.assumingMemoryBound(to: sockaddr.self), &size) == 0 else { return nil }
            switch Int32(base.load(as: sa_family_t.self)) {
            case AF_INET:
                let raw = base.load(as: sockaddr_in.self)
                return ListenAddress(
                    host: withUnsafeBytes(of: raw.sin_addr) { Array($0) }, port: UInt16(bigEndian: raw.sin_port))
            case AF_INET6:
                let raw = base.load(as: sockaddr_in6.self)
                return ListenAddress(
                    host: withUnsafeBytes(of: raw.sin6_addr) { Array($0) }, port: UInt16(bigEndian: raw.sin6_port))
            default: return nil
            }
        }
    }

    // MARK: Bytes

    enum Received {
        case bytes(Int)
        case wouldBlock
        case end
    }

    /// Reads what is there, once.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SocketFailure) -> Received {
        while true {
            let count = recv(fd, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            if errno == EAGAIN { return .wouldBlock }
            if errno != EINTR { throw SocketFailure("reading") }
        }
    }

    /// How many bytes the kernel took; fewer than given when its buffer is full. Never raises SIGPIPE.
    func send(_ bytes: [UInt8], from start: Int = 0) throws(SocketFailure) -> Int {
        while true {
            let count = bytes.withUnsafeBytes {
                Glibc.send(fd, $0.baseAddress! + start, $0.count - start, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 { return count }
            if errno == EAGAIN { return 0 }
            if errno != EINTR { throw SocketFailure("writing") }
        }
    }

    /// Ends our direction (FIN), so that the other side sees the end and we may still read.
    func endWriting() { shutdown(fd, Int32(SHUT_WR)) }
}
