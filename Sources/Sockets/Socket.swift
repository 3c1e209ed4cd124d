internal import CSocket
internal import Glibc

/// A non-blocking TCP socket: owner of one descriptor.
package final class Socket {
    package let fd: Int32

    /// Takes over `fd`.
    init(owning fd: Int32) { self.fd = fd }

    /// The end is to be a reset: what is under way is lost.
    package var resetsOnClose = false

    private var isGivenUp = false

    /// The descriptor, which is the caller's from now on, e.g. a library's that closes it. This object is over.
    package func giveUp() -> Int32 {
        isGivenUp = true
        return fd
    }

    deinit {
        guard !isGivenUp else { return }
        if resetsOnClose {
            var lingering = linger(l_onoff: 1, l_linger: 0)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
        }
        close(fd)
    }

    // MARK: Listening

    /// Bound and listening. The port is the kernel's choice where it is 0.
    package static func listening(on address: ListenAddress) throws(SocketFailure) -> Socket {
        let fd = csocket_stream(address.family)
        guard fd >= 0 else { throw SocketFailure("making a socket") }
        let socket = Socket(owning: fd)
        var one: Int32 = 1
        // A port stays in TIME_WAIT after a restart; that must not keep us out.
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        if address.family == AF_INET6 { setsockopt(fd, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one, 4) }
        socket.boundInput()
        let bound = address.socketAddress.withUnsafeBytes {
            bind(fd, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        }
        guard bound == 0 else { throw SocketFailure("binding \(address)") }
        guard listen(fd, 1024) == 0 else { throw SocketFailure("listening on \(address)") }
        return socket
    }

    /// A socket from outside, e.g. from systemd: must be a listening TCP socket.
    package static func inherited(_ fd: Int32) throws(SocketFailure) -> Socket {
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

    /// The next connection; nil where none waits. Other failures are thrown.
    package func accept() throws(SocketFailure) -> Socket? {
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

    /// Gives out those that wait, but not more than 32, so that a flood leaves room for the connections that are there:
    /// an IOSource tells of the rest again. Ends early once `goesOn` is false.
    package func acceptSome(
        while goesOn: () -> Bool = { true }, _ admit: (Socket) -> Void
    ) throws(SocketFailure) {
        for _ in 0..<32 where goesOn() {
            guard let made = try accept() else { return }
            admit(made)
        }
    }

    // MARK: Addresses

    /// Its own address; nil for anything but IP.
    package var localAddress: ListenAddress? { address(of: getsockname) }

    /// The other side's.
    package var peerAddress: ListenAddress? { address(of: getpeername) }

    private typealias Ask = (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32

    private func address(of ask: Ask) -> ListenAddress? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isKnown = withUnsafeMutableBytes(of: &storage) {
            ask(fd, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), &size) == 0
        }
        return isKnown ? ListenAddress(storage) : nil
    }

    // MARK: Bytes

    package enum Received {
        case bytes(Int)
        case wouldBlock
        case end
    }

    /// Reads what is there, once.
    package func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SocketFailure) -> Received {
        while true {
            let count = recv(fd, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            if errno == EAGAIN { return .wouldBlock }
            if errno != EINTR { throw SocketFailure("reading") }
        }
    }

    /// How many bytes the kernel took; fewer than given when its buffer is full. Never raises SIGPIPE.
    package func send(_ bytes: [UInt8], from start: Int = 0) throws(SocketFailure) -> Int {
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
    package func endWriting() { shutdown(fd, Int32(SHUT_WR)) }
}
