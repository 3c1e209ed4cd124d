internal import COpenSSL

/// The settings that TLS sessions share: owner of one `SSL_CTX`, which its sessions keep alive.
///
/// TLS 1.2 or 1.3. No tickets and no session cache: a ticket after the handshake makes the socket of a sender readable,
/// and the select()-style ones take that for an error packet and die (apns.md 2.4). No renegotiation, no compression.
package final class TLSContext {
    let context: OpaquePointer

    /// Whom a server believes.
    package enum Clients {
        /// A certificate is asked for and not required, of any issuer, ended or not: on loopback one from Apple and one
        /// that was made at home are both good. Whoever shows one proves to have its key.
        case any
        /// One that is shown must lead to one of these; one must be shown where `isRequired`.
        case trusted([Certificate], isRequired: Bool)
    }

    /// A server that shows `identity`, and speaks HTTP/2 with those who ask for it by ALPN.
    package static func server(_ identity: Identity, clients: Clients = .any) throws(CryptoFailure) -> TLSContext {
        let made = try TLSContext(method: TLS_server_method())
        try made.use(identity)
        copenssl_ctx_accept_any_name(made.context)
        SSL_CTX_set_alpn_select_cb(
            made.context,
            { _, out, outSize, offered, size, _ in
                // Who offers everything but h2 is not told of it by an alert: words follow, in the way it understands.
                TLSContext.choose(UnsafeBufferPointer(start: offered, count: Int(size)), out!, outSize!)
                    ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK
            }, nil)
        switch clients {
        case .any: SSL_CTX_set_verify(made.context, SSL_VERIFY_PEER) { _, _ in 1 }
        case .trusted(let authorities, let isRequired):
            let mode = isRequired ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT : SSL_VERIFY_PEER
            SSL_CTX_set_verify(made.context, mode, nil)
            try made.trust(authorities)
        }
        return made
    }

    /// Picks `h2` out of a client's list (RFC 7301, 3.1).
    private static func choose(
        _ offered: UnsafeBufferPointer<UInt8>, _ out: UnsafeMutablePointer<UnsafePointer<UInt8>?>,
        _ size: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        var place = 0
        while place < offered.count {
            let length = Int(offered[place])
            guard place + 1 + length <= offered.count else { return false }
            if length == 2, offered[place + 1] == UInt8(ascii: "h"), offered[place + 2] == UInt8(ascii: "2") {
                out.pointee = offered.baseAddress! + place + 1
                size.pointee = 2
                return true
            }
            place += 1 + length
        }
        return false
    }

    /// A client that trusts `authorities` and nobody else, or what the system trusts where there are none; shows
    /// `identity` if it has one; and asks for HTTP/2 by ALPN where `isHTTP2`.
    package static func client(
        _ identity: Identity? = nil, trusting authorities: [Certificate] = [], isHTTP2: Bool = false
    ) throws(CryptoFailure) -> TLSContext {
        let made = try TLSContext(method: TLS_client_method())
        if let identity { try made.use(identity) }
        if authorities.isEmpty {
            try CryptoFailure.check(
                SSL_CTX_set_default_verify_paths(made.context), "finding the system's certificates")
        }
        try made.trust(authorities)
        SSL_CTX_set_verify(made.context, SSL_VERIFY_PEER, nil)
        if isHTTP2 {
            let list: [UInt8] = [2, UInt8(ascii: "h"), UInt8(ascii: "2")]
            // 0 is success here.
            guard SSL_CTX_set_alpn_protos(made.context, list, 3) == 0 else {
                throw CryptoFailure(.library, "asking for HTTP/2 failed")
            }
        }
        return made
    }

    private init(method: OpaquePointer?) throws(CryptoFailure) {
        ErrorStack.clear()
        context = try CryptoFailure.check(SSL_CTX_new(method), "making a TLS context")
        try CryptoFailure.check(
            copenssl_ctx_protocols(context, TLS1_2_VERSION, TLS1_3_VERSION), "limiting TLS to 1.2 and 1.3")
        copenssl_ctx_harden(context)
        copenssl_ctx_session_cache_off(context)
        copenssl_ctx_release_buffers(context)
        // A peer's chain: 32 KiB instead of OpenSSL's 100.
        copenssl_ctx_max_cert_list(context, 32_768)
        try CryptoFailure.check(SSL_CTX_set_num_tickets(context, 0), "turning tickets off")
    }

    deinit { SSL_CTX_free(context) }

    private func use(_ identity: Identity) throws(CryptoFailure) {
        try CryptoFailure.check(
            SSL_CTX_use_certificate(context, identity.certificate.x509), "taking a certificate into use")
        for above in identity.chain {
            try CryptoFailure.check(copenssl_ctx_add_chain(context, above.x509), "adding to a chain")
        }
        try CryptoFailure.check(SSL_CTX_use_PrivateKey(context, identity.key.pkey), "taking a key into use")
    }

    private func trust(_ authorities: [Certificate]) throws(CryptoFailure) {
        let store = SSL_CTX_get_cert_store(context)
        for authority in authorities {
            try CryptoFailure.check(X509_STORE_add_cert(store, authority.x509), "trusting a certificate")
        }
    }
}
