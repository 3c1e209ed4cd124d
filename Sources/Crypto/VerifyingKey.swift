internal import COpenSSL

/// The public half of a P-256 key, ready to check signatures: what a gateway knows of an APNs provider key.
///
/// OpenSSL looks an algorithm up by name each time it is set up, which takes longer than a hash; here that happens once.
/// To be used from one thread.
package final class VerifyingKey {
    private let context: OpaquePointer
    private let digest: OpaquePointer
    private let digestContext: OpaquePointer

    /// Reads the first key of a PEM text: a public key (`PUBLIC KEY`), a certificate, or a private key such as Apple's
    /// `.p8`, of which the public half is taken.
    ///
    /// Throws `.pem` where there is no key in it, `.password` where it is encrypted, and `.algorithm` for a key that is
    /// not on P-256: APNs takes ES256 alone (apns.md 1.5).
    package convenience init(pem: [UInt8]) throws(CryptoFailure) {
        for block in try PEM.blocks(pem) {
            guard let pkey = try Self.key(of: block) else { continue }
            defer { EVP_PKEY_free(pkey) }
            try self.init(pkey)
            return
        }
        throw CryptoFailure(.pem, "there is no public key, certificate or private key in it")
    }

    /// Throws `.algorithm` for anything but P-256. Keeps a reference of its own.
    init(_ pkey: OpaquePointer) throws(CryptoFailure) {
        guard KeyKind.isP256(pkey) else {
            throw CryptoFailure(
                .algorithm,
                "the key is \(KeyKind.words(pkey)), and tokens for APNs are signed with P-256 (ES256) only")
        }
        ErrorStack.clear()
        let digest = try CryptoFailure.check(EVP_MD_fetch(nil, "SHA256", nil), "looking SHA-256 up")
        guard let digestContext = EVP_MD_CTX_new() else {
            EVP_MD_free(digest)
            throw CryptoFailure.library("making a hash")
        }
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, pkey, nil),
            EVP_PKEY_verify_init(context) == 1, EVP_PKEY_CTX_set_signature_md(context, digest) == 1
        else {
            EVP_MD_CTX_free(digestContext)
            EVP_MD_free(digest)
            throw CryptoFailure.library("making ready to verify")
        }
        self.context = context
        self.digest = digest
        self.digestContext = digestContext
    }

    deinit {
        EVP_PKEY_CTX_free(context)
        EVP_MD_CTX_free(digestContext)
        EVP_MD_free(digest)
    }

    /// True if `signature` is this key's over the SHA-256 of `message`. Takes the raw form of RFC 7518, 3.4 (64 bytes) and
    /// ASN.1 DER (70 to 72 bytes as a rule), which Apple's sample and Pushy send and APNs accepts (apns.md 1.5).
    package func verify(_ message: UnsafeRawBufferPointer, signature: UnsafeRawBufferPointer) -> Bool {
        guard signature.count == ES256.rawSize else {
            return (ES256.derLeast...ES256.derLimit).contains(signature.count) && verify(message, der: signature)
        }
        return withUnsafeTemporaryAllocation(byteCount: ES256.derLimit, alignment: 1) { der in
            let count = ES256.writeDER(signature, into: der)
            return verify(message, der: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(der)[..<count]))
        }
    }

    private func verify(_ message: UnsafeRawBufferPointer, der: UnsafeRawBufferPointer) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { hash in
            guard EVP_DigestInit_ex2(digestContext, digest, nil) == 1,
                EVP_DigestUpdate(digestContext, message.baseAddress, message.count) == 1,
                EVP_DigestFinal_ex(digestContext, hash.baseAddress, nil) == 1
            else { preconditionFailure("SHA-256 refused a message") }
            let signature = der.bindMemory(to: UInt8.self)
            let result = EVP_PKEY_verify(context, signature.baseAddress, signature.count, hash.baseAddress, 32)
            // A signature that is malformed leaves its words.
            if result != 1 { ErrorStack.clear() }
            return result == 1
        }
    }

    /// The key of a block, for its caller to free; nil for a block of another kind.
    private static func key(of block: PEM.Block) throws(CryptoFailure) -> OpaquePointer? {
        guard !block.isEncrypted, block.label != "ENCRYPTED PRIVATE KEY" else {
            throw CryptoFailure(
                .password, "the key is encrypted: take its password off (ringctl certs convert FILE --password-file …)")
        }
        return try block.der.withUnsafeBufferPointer { der throws(CryptoFailure) -> OpaquePointer? in
            var cursor = der.baseAddress
            switch block.label {
            case "PUBLIC KEY":
                return try CryptoFailure.check(d2i_PUBKEY(nil, &cursor, der.count), "reading a public key")
            case "CERTIFICATE", "X509 CERTIFICATE":
                let x509 = try CryptoFailure.check(d2i_X509(nil, &cursor, der.count), "reading a certificate")
                defer { X509_free(x509) }
                return try CryptoFailure.check(X509_get_pubkey(x509), "reading a certificate's key")
            case "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY":
                return try CryptoFailure.check(
                    d2i_AutoPrivateKey(nil, &cursor, der.count), "reading a private key")
            default: return nil
            }
        }
    }
}
