internal import COpenSSL

/// One TLS connection as bytes in and bytes out: owner of one `SSL`. It never sees a socket.
///
/// Feed it with `receive(_:)`, then call `read(into:)` until it needs more, then send `takeOutput()`. Held bytes are
/// bounded: encrypted input by `inputLimit`, and output by a caller who stops feeding above `outputLimit`. What is held
/// is given back as soon as it is used, so that an idle session costs little more than OpenSSL's own state.
package final class TLSSession {
    /// What `read(into:)` came to.
    package enum Progress: Sendable, Equatable {
        /// So many bytes of plaintext are in the buffer.
        case bytes(Int)
        /// Everything fed was used up.
        case needMore
        /// The other side closed its direction properly (close_notify).
        case closed
    }

    /// The most encrypted bytes that may wait: eight records of the largest size.
    package static let inputLimit = 131_072
    /// Above this much unsent output a caller should feed no more: the other side asks and does not listen.
    package static let outputLimit = 65_536

    private let ssl: OpaquePointer
    private let wire = TLSWire()
    private let context: TLSContext
    /// True once the handshake is done.
    package private(set) var isOpen = false
    private var hasFailed = false

    /// The server's side.
    package static func server(_ context: TLSContext) throws(CryptoFailure) -> TLSSession {
        let made = try TLSSession(context)
        SSL_set_accept_state(made.ssl)
        return made
    }

    /// The client's side. `name`: sent as SNI, and what the server's certificate must be for.
    package static func client(_ context: TLSContext, name: String) throws(CryptoFailure) -> TLSSession {
        let made = try TLSSession(context)
        SSL_set_connect_state(made.ssl)
        try CryptoFailure.check(copenssl_set_server_name(made.ssl, name), "naming the server")
        try CryptoFailure.check(SSL_set1_host(made.ssl, name), "naming the server")
        return made
    }

    private init(_ context: TLSContext) throws(CryptoFailure) {
        self.context = context
        ErrorStack.clear()
        ssl = try CryptoFailure.check(SSL_new(context.context), "making a TLS session")
        let bio = try wire.makeBIO()
        // Takes over the one reference, for both directions: SSL_free() frees it.
        SSL_set_bio(ssl, bio, bio)
    }

    deinit { SSL_free(ssl) }

    // MARK: In

    /// Encrypted bytes waiting to be used.
    package var pendingInput: Int { wire.input.count - wire.inputStart }

    /// Takes encrypted bytes from the other side.
    package func receive(_ bytes: UnsafeRawBufferPointer) throws(TLSFailure) {
        guard pendingInput + bytes.count <= Self.inputLimit else { throw TLSFailure(.overflow) }
        wire.append(bytes)
    }

    package func receive(_ bytes: [UInt8]) throws(TLSFailure) {
        guard pendingInput + bytes.count <= Self.inputLimit else { throw TLSFailure(.overflow) }
        bytes.withUnsafeBytes { wire.append($0) }
    }

    /// Goes on with the handshake, then decrypts into `buffer`. To be called until it says `.needMore` or `.closed`.
    /// A failure is final; an alert that explains it to the other side is in `pendingOutput`.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(TLSFailure) -> Progress {
        if !isOpen {
            ErrorStack.clear()
            let result = SSL_do_handshake(ssl)
            guard result == 1 else { return try progress(after: result) }
            isOpen = true
        }
        ErrorStack.clear()
        let count = SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
        return count > 0 ? .bytes(Int(count)) : try progress(after: count)
    }

    private func progress(after result: Int32) throws(TLSFailure) -> Progress {
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return .needMore
        case SSL_ERROR_ZERO_RETURN: return .closed
        default:
            hasFailed = true
            throw TLSFailure.fromStack()
        }
    }

    // MARK: Out

    /// Encrypts `bytes` into `pendingOutput`; only once `isOpen`.
    package func send(_ bytes: [UInt8]) throws(TLSFailure) {
        guard !bytes.isEmpty else { return }
        ErrorStack.clear()
        guard SSL_write(ssl, bytes, Int32(bytes.count)) == bytes.count else {
            hasFailed = true
            throw TLSFailure.fromStack()
        }
    }

    /// Says close_notify, if the session is in a state to say anything.
    package func shutDown() {
        guard isOpen, !hasFailed else { return }
        SSL_shutdown(ssl)
        ErrorStack.clear()
    }

    /// How many encrypted bytes are to be sent.
    package var pendingOutput: Int { wire.output.count }

    /// All encrypted bytes for the other side.
    package func takeOutput() -> [UInt8] {
        defer { wire.output = [] }
        return wire.output
    }

    // MARK: Facts

    /// The host name that a client asked for (SNI), in lower case; clients that dial an address send none.
    package var serverName: String? {
        SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0).lowercased() }
    }

    /// True if the two agreed on HTTP/2 by ALPN.
    package var isHTTP2: Bool {
        var name: UnsafePointer<UInt8>?
        var size: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &size)
        return size == 2 && name?[0] == UInt8(ascii: "h") && name?[1] == UInt8(ascii: "2")
    }

    /// `TLSv1.3`, `TLSv1.2`.
    package var version: String { String(cString: SSL_get_version(ssl)) }

    /// What the other side's certificate says; nil before the handshake is done.
    package var peerCertificate: PeerCertificate? {
        guard isOpen, let x509 = SSL_get1_peer_certificate(ssl) else { return nil }
        return Certificate(owning: x509).facts
    }
}
