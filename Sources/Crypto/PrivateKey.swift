internal import COpenSSL

/// A private key: owner of one `EVP_PKEY`. It never prints itself.
package final class PrivateKey {
    let pkey: OpaquePointer

    /// Takes over one reference.
    init(owning pkey: OpaquePointer) { self.pkey = pkey }

    deinit { EVP_PKEY_free(pkey) }

    /// A new key on P-256: 26,500 signatures a second where RSA-2048 does 1,600.
    package static func makeP256() throws(CryptoFailure) -> PrivateKey {
        PrivateKey(owning: try CryptoFailure.check(copenssl_p256(), "making a P-256 key"))
    }

    /// The first private key of a PEM text, wherever it stands in it.
    package convenience init(pem: [UInt8], passphrase: String = "") throws(CryptoFailure) {
        let input = try MemoryBIO(pem)
        // A passphrase is always given: without one OpenSSL would ask on the terminal.
        let pkey = passphrase.withCString { text in
            PEM_read_bio_PrivateKey(input.bio, nil, nil, UnsafeMutableRawPointer(mutating: text))
        }
        guard let pkey else {
            let reasons = ErrorStack.drain().map(\.text)
            throw CryptoFailure(.pem, "there is no private key in it that this passphrase opens", reasons: reasons)
        }
        ErrorStack.clear()
        self.init(owning: pkey)
    }

    /// PKCS#8 as PEM, not encrypted: for a file of mode 0600 and nothing else.
    package var pem: [UInt8] {
        get throws(CryptoFailure) {
            let output = try MemoryBIO()
            try CryptoFailure.check(
                PEM_write_bio_PKCS8PrivateKey(output.bio, pkey, nil, nil, 0, nil, nil), "writing a key as PEM")
            return output.contents
        }
    }
}
