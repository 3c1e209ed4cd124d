extension Identity {
    /// Certificate, chain and key as one PEM text: in this order, or with the key first. With a password the key is
    /// encrypted (PKCS#8, AES-256), as PHP's `passphrase` opens it.
    package func pem(keyFirst: Bool, password: String = "") throws(CryptoFailure) -> [UInt8] {
        var certificates = try certificate.pem
        for above in chain { certificates += try above.pem }
        let key = try key.pem(password: password)
        return keyFirst ? key + certificates : certificates + key
    }

    /// `P-256`, `RSA 2048`.
    package var keyKind: String { key.kind }
}
