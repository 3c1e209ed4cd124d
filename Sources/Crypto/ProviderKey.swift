/// A provider's key for token authentication: what Apple's developer site calls an APNs key.
package struct ProviderKey: Sendable, Equatable {
    /// The `kid` of its tokens: 10 characters of A–Z and 0–9.
    package let keyID: String
    /// The `iss` of its tokens: 10 characters of A–Z and 0–9.
    package let teamID: String
    /// The `.p8` file: PKCS#8 as PEM.
    package let path: String

    package init(keyID: String, teamID: String, path: String) {
        self.keyID = keyID
        self.teamID = teamID
        self.path = path
    }

    /// The key itself. Throws `.file`, `.pem` or `.algorithm` for a file that is not there, no key, or not on P-256.
    package func load() throws(CryptoFailure) -> SigningKey { try SigningKey(pem: PrivateFile.read(path)) }
}
