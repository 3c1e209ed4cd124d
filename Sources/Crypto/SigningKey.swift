internal import COpenSSL

/// A P-256 key that signs: an APNs provider key, as the `.p8` file holds it. It never prints itself. To be used from one
/// thread.
package final class SigningKey {
    private let key: PrivateKey
    /// Its public half.
    package let verifyingKey: VerifyingKey

    private init(_ key: PrivateKey) throws(CryptoFailure) {
        verifyingKey = try VerifyingKey(key.pkey)
        self.key = key
    }

    package static func makeP256() throws(CryptoFailure) -> SigningKey { try SigningKey(.makeP256()) }

    /// The first private key of a PEM text, not encrypted. Throws `.pem` where there is none, `.algorithm` for one that is
    /// not on P-256.
    package convenience init(pem: [UInt8]) throws(CryptoFailure) { try self.init(PrivateKey(pem: pem)) }

    /// PKCS#8 as PEM, not encrypted, like Apple's `.p8`: for a file of mode 0600 and nothing else.
    package var pem: [UInt8] { get throws(CryptoFailure) { try key.pem } }

    /// ECDSA over the SHA-256 of `message`: 64 bytes, r and s (RFC 7518, 3.4).
    package func sign(_ message: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        guard let raw = ES256.raw(try signDER(message)) else {
            preconditionFailure("OpenSSL made a signature that is none")
        }
        return raw
    }

    /// The same as ASN.1 DER, at most 72 bytes: what Apple's sample and Pushy send (apns.md 1.5).
    package func signDER(_ message: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        let context = try CryptoFailure.check(EVP_MD_CTX_new(), "making ready to sign")
        defer { EVP_MD_CTX_free(context) }
        try CryptoFailure.check(
            EVP_DigestSignInit_ex(context, nil, "SHA256", nil, nil, key.pkey, nil), "making ready to sign")
        var signature = [UInt8](repeating: 0, count: ES256.derLimit)
        var count = signature.count
        try CryptoFailure.check(EVP_DigestSign(context, &signature, &count, message, message.count), "signing")
        return Array(signature[..<count])
    }
}
