internal import COpenSSL

/// What kind a key is of.
enum KeyKind {
    /// True for a key on P-256 (prime256v1), public or private.
    static func isP256(_ pkey: OpaquePointer?) -> Bool { curve(pkey) == SN_X9_62_prime256v1 }

    /// `P-256`, `RSA 2048`, `ED25519`; `unreadable` for none, which is what a certificate with a damaged key has.
    static func words(_ pkey: OpaquePointer?) -> String {
        guard let pkey else { return "unreadable" }
        if let curve = curve(pkey) {
            return EC_curve_nid2nist(OBJ_sn2nid(curve)).map { String(cString: $0) } ?? curve
        }
        let name = EVP_PKEY_get0_type_name(pkey).map { String(cString: $0) } ?? "unknown"
        return name.hasPrefix("RSA") ? "\(name) \(EVP_PKEY_get_bits(pkey))" : name
    }

    /// The same of a public key in DER form. Throws `.pem` for anything else.
    static func words(publicKey der: [UInt8]) throws(CryptoFailure) -> String {
        let pkey = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_PUBKEY(nil, &cursor, bytes.count)
        }
        guard let pkey else {
            throw CryptoFailure(.pem, "its public key is damaged", reasons: ErrorStack.drain().map(\.text))
        }
        defer { EVP_PKEY_free(pkey) }
        return words(pkey)
    }

    /// Below what OpenSSL takes at the level that Debian sets: RSA of 2048 bits, elliptic curves of 224.
    static func isWeak(_ pkey: OpaquePointer?) -> Bool {
        defer { ErrorStack.clear() }
        guard let pkey else { return false }
        return EVP_PKEY_get_security_bits(pkey) < 112
    }

    private static func curve(_ pkey: OpaquePointer?) -> String? {
        guard let pkey, EVP_PKEY_is_a(pkey, "EC") == 1 else { return nil }
        defer { ErrorStack.clear() }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 80) { buffer in
            EVP_PKEY_get_group_name(pkey, buffer.baseAddress, buffer.count, nil) == 1
                ? String(cString: buffer.baseAddress!) : nil
        }
    }
}
