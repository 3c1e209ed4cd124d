internal import COpenSSL

/// PKCS#12 files (RFC 7292), `.p12` and `.pfx`: a certificate with its key, encrypted with a password.
package enum PKCS12 {
    /// How to encrypt.
    package enum Strength: Sendable {
        /// AES-256 with PBKDF2, MAC of SHA-256: OpenSSL 1.1 and later, macOS 12, Java 17, Windows 10 1709.
        case modern
        /// Triple DES and SHA-1, for what is older. Not RC2-40, which such files have as a rule: all that read it read this.
        case old

        var cipher: Int32 { self == .modern ? NID_aes_256_cbc : NID_pbe_WithSHA1And3_Key_TripleDES_CBC }
        var mac: OpaquePointer? { self == .modern ? EVP_sha256() : EVP_sha1() }
        /// What is old is slow.
        var iterations: Int32 { self == .modern ? 100_000 : 2048 }
    }

    /// The file's bytes: certificate, chain and key. An empty `password` is none: whoever has the file has the key.
    /// Throws `.password` for one with a zero in it.
    package static func encode(
        _ identity: Identity, password: String, strength: Strength = .modern
    ) throws(CryptoFailure) -> [UInt8] {
        guard !password.utf8.contains(0) else { throw CryptoFailure(.password, "a password cannot hold a zero byte") }
        let name = identity.certificate.facts.commonName ?? identity.certificate.facts.subject
        var above: [OpaquePointer?] = identity.chain.map(\.x509)
        let made = try CryptoFailure.check(
            copenssl_pkcs12(
                password, name, identity.key.pkey, identity.certificate.x509, &above, Int32(above.count),
                strength.cipher, strength.iterations, strength.mac),
            "making a PKCS#12 file")
        defer { PKCS12_free(made) }
        var out: UnsafeMutablePointer<UInt8>?
        let count = i2d_PKCS12(made, &out)
        try CryptoFailure.check(count, "writing a PKCS#12 file")
        defer { CRYPTO_clear_free(out, Int(count), nil, 0) }
        return Array(UnsafeBufferPointer(start: out, count: Int(count)))
    }
}
