internal import Base
package import Crypto
internal import Glibc

/// One TLS connection to a gateway, for a program that may wait: bytes out, bytes in.
package final class Channel {
    package let address: GatewayAddress
    private let session: TLSSession
    private let fd: Int32
    private var unsent: [UInt8] = []
    private var sent = 0
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    /// The other side has ended its direction.
    package private(set) var isEnded = false

    /// How long connecting and the handshake may take each.
    private static let patience: Duration = .seconds(10)

    /// Connects and shakes hands. `name`: sent as SNI, and what the certificate must be for; the host, if nil.
    package init(_ address: GatewayAddress, name: String? = nil, context: TLSContext) throws(SendFailure) {
        self.address = address
        do throws(CryptoFailure) {
            session = try .client(context, name: name ?? address.host)
        } catch {
            throw SendFailure("TLS cannot begin: \(error)")
        }
        fd = try address.connect(timeout: Int32(Self.patience.nanoseconds / 1_000_000))
        try shakeHands()
    }

    deinit {
        buffer.deallocate()
        close(fd)
    }

    private func shakeHands() throws(SendFailure) {
        let end = Instant.now + Self.patience
        while !session.isOpen {
            _ = try read()
            try flush()
            guard !isEnded else { throw SendFailure("\(address) ended the connection in the TLS handshake") }
            guard Instant.now < end else { throw SendFailure("\(address) does not finish the TLS handshake") }
            if !session.isOpen { wait(.milliseconds(100)) }
        }
    }

    /// Whether the two agreed on HTTP/2 by ALPN.
    package var isHTTP2: Bool { session.isHTTP2 }

    /// Encrypts and queues.
    package func send(_ bytes: [UInt8]) throws(SendFailure) {
        do throws(TLSFailure) { try session.send(bytes) } catch { throw failure(error) }
    }

    /// Bytes that wait to be sent.
    package var backlog: Int { unsent.count - sent + session.pendingOutput }

    /// Sends what the kernel takes now.
    package func flush() throws(SendFailure) {
        while true {
            if unsent.isEmpty {
                unsent = session.takeOutput()
                sent = 0
                if unsent.isEmpty { return }
            }
            let count = unsent.withUnsafeBytes {
                Glibc.send(fd, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0 {
                if errno == EAGAIN || errno == EINTR { return }
                throw SendFailure("\(address) was lost while writing: \(String(cString: strerror(errno)))")
            }
            sent += count
            if sent == unsent.count { unsent = [] }
        }
    }

    /// What came, decrypted; empty if nothing did.
    package func read() throws(SendFailure) -> [UInt8] {
        var out: [UInt8] = []
        while true {
            let count = recv(fd, buffer.baseAddress, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            if count < 0 && errno == EAGAIN { break }
            if count < 0 {
                throw SendFailure("\(address) was lost while reading: \(String(cString: strerror(errno)))")
            }
            if count == 0 {
                isEnded = true
                break
            }
            try take { session throws(TLSFailure) in
                try session.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
            try decrypt(into: &out)
        }
        // The first flight is ours, and nothing was read for it.
        if !session.isOpen { try decrypt(into: &out) }
        return out
    }

    private func decrypt(into out: inout [UInt8]) throws(SendFailure) {
        while !isEnded {
            var progress = TLSSession.Progress.needMore
            try take { session throws(TLSFailure) in progress = try session.read(into: buffer) }
            switch progress {
            case .bytes(let count): out.append(contentsOf: buffer[..<count])
            case .needMore: return
            case .closed: isEnded = true
            }
        }
    }

    private func take(_ work: (TLSSession) throws(TLSFailure) -> Void) throws(SendFailure) {
        do throws(TLSFailure) { try work(session) } catch {
            // An alert of ours says why.
            try? flush()
            throw failure(error)
        }
    }

    /// Waits until something can be read or written, at most so long.
    package func wait(_ time: Duration) {
        var waiting = pollfd(fd: fd, events: Int16(POLLIN) | (backlog > 0 ? Int16(POLLOUT) : 0), revents: 0)
        _ = poll(&waiting, 1, Int32(clamping: time.nanoseconds / 1_000_000))
    }

    /// Says goodbye.
    package func finish() {
        session.shutDown()
        try? flush()
        shutdown(fd, Int32(SHUT_WR))
    }

    private func failure(_ failure: TLSFailure) -> SendFailure {
        switch failure.kind {
        case .certificateRefused:
            SendFailure(
                "\(address) shows a certificate that is not trusted, or not for that name (\(failure)): name its authority with --ca FILE; ringd's is certs/ca.pem"
            )
        case .notTLS, .plainHTTP: SendFailure("\(address) does not speak TLS")
        case .ourCertificateRefused, .noCertificate:
            SendFailure("\(address) does not take our certificate (\(failure)): --cert FILE")
        default: SendFailure("TLS with \(address) failed: \(failure)")
        }
    }
}
