internal import COpenSSL

/// The settings that TLS sessions share: owner of one `SSL_CTX`, which its sessions keep alive.
///
/// TLS 1.2 or 1.3. No tickets and no session cache: a ticket after the handshake makes the socket of a sender readable,
/// and the select()-style ones take that for an error packet and die (apns.md 2.4). No renegotiation, no compression.
package final class TLSContext {
    let context: OpaquePointer

    /// Whom a server believes.
    package enum Clients {
        /// A certificate is required, of any issuer, ended or not: on loopback one from Apple and one that was made at
        /// home are both good. Whoever holds it proves to have its key.
        case anyIssuer
        /// A certificate is required, and a chain from it to one of these.
        case issued(by: [Certificate])
    }

    /// A server that shows `identity`.
    package static func server(_ identity: Identity, clients: Clients = .anyIssuer) throws(CryptoFailure) -> TLSContext
    {
        let made = try TLSContext(method: TLS_server_method())
        try made.use(identity)
        copenssl_ctx_accept_any_name(made.context)
        let require = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
        switch clients {
        case .anyIssuer:
            SSL_CTX_set_verify(made.context, require) { _, _ in 1 }
        case .issued(let authorities):
            SSL_CTX_set_verify(made.context, require, nil)
            try made.trust(authorities)
        }
        return made
    }

    /// A client that trusts `authorities` and nobody else, and shows `identity` if it has one.
    package static func client(
        _ identity: Identity? = nil, trusting authorities: [Certificate]
    ) throws(CryptoFailure) -> TLSContext {
        let made = try TLSContext(method: TLS_client_method())
        if let identity { try made.use(identity) }
        try made.trust(authorities)
        SSL_CTX_set_verify(made.context, SSL_VERIFY_PEER, nil)
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
