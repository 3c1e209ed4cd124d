internal import Glibc

/// Where a gateway is: a host name or an address, and a port.
package struct GatewayAddress: Sendable, Equatable, CustomStringConvertible {
    package let host: String
    package let port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// `HOST`, `HOST:PORT`, `[::1]:PORT`, with `https://` in front if one likes; nil for anything else.
    package init?(_ text: String, defaultPort: UInt16) {
        var rest = text[...]
        for scheme in ["https://", "ssl://"] where rest.hasPrefix(scheme) { rest = rest.dropFirst(scheme.count) }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        var host = rest
        var port = defaultPort
        if rest.hasPrefix("["), let close = rest.firstIndex(of: "]") {
            host = rest[rest.index(after: rest.startIndex)..<close]
            let tail = rest[rest.index(after: close)...]
            if !tail.isEmpty {
                guard tail.hasPrefix(":"), let number = UInt16(tail.dropFirst()) else { return nil }
                port = number
            }
        } else if let colon = rest.lastIndex(of: ":"), rest.firstIndex(of: ":") == colon {
            guard let number = UInt16(rest[rest.index(after: colon)...]) else { return nil }
            host = rest[..<colon]
            port = number
        }
        // Nothing else stands in a name, and what is in here is shown.
        let isName = host.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "/") }
        guard !host.isEmpty, host.utf8.count <= 253, isName, port > 0 else { return nil }
        self.init(host: String(host), port: port)
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// True for names that can only mean this computer.
    package var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

    /// A connected socket, non-blocking; each address of the name is tried for up to `timeout` milliseconds.
    func connect(timeout: Int32) throws(SendFailure) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let found = getaddrinfo(host, String(port), &hints, &list)
        guard found == 0 else {
            throw SendFailure("cannot look up \(host): \(String(cString: gai_strerror(found)))")
        }
        defer { freeaddrinfo(list) }
        var last: Int32 = 0
        var entry = list
        while let info = entry?.pointee {
            entry = info.ai_next
            let fd = socket(info.ai_family, info.ai_socktype, 0)
            guard fd >= 0 else { continue }
            _ = fcntl(fd, F_SETFD, FD_CLOEXEC)
            _ = fcntl(fd, F_SETFL, O_NONBLOCK)
            var one: Int32 = 1
            setsockopt(fd, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
            if Glibc.connect(fd, info.ai_addr, info.ai_addrlen) == 0 { return fd }
            last = errno
            if last == EINPROGRESS {
                var waiting = pollfd(fd: fd, events: Int16(POLLOUT), revents: 0)
                last = ETIMEDOUT
                if poll(&waiting, 1, timeout) == 1 {
                    var size = socklen_t(4)
                    getsockopt(fd, SOL_SOCKET, SO_ERROR, &last, &size)
                    if last == 0 { return fd }
                }
            }
            close(fd)
        }
        let cure =
            last == ECONNREFUSED && isLoopback ? " (does ringd run, and listen there? ringctl doctor)" : ""
        throw SendFailure("cannot connect to \(self): \(String(cString: strerror(last)))\(cure)")
    }
}
