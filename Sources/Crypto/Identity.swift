/// A certificate, its private key and the certificates above it: what one side of TLS shows of itself.
package final class Identity {
    package let certificate: Certificate
    /// From the issuer upwards, without the root where it was left out.
    package let chain: [Certificate]
    let key: PrivateKey

    /// Fails with `.keyMismatch` if the key is not the certificate's.
    package init(certificate: Certificate, chain: [Certificate] = [], key: PrivateKey) throws(CryptoFailure) {
        guard certificate.matches(key) else {
            throw CryptoFailure(
                .keyMismatch, "the private key does not belong to the certificate “\(certificate.facts.subject)”")
        }
        self.certificate = certificate
        self.chain = chain
        self.key = key
    }

    /// Reads a combined PEM: certificate and key in either order, as `cat cert.pem key.pem > ck.pem` makes it
    /// (callkit.md W33). The certificate that the key belongs to is the leaf, the others are its chain.
    package convenience init(pem: [UInt8], passphrase: String = "") throws(CryptoFailure) {
        let key = try PrivateKey(pem: pem, passphrase: passphrase)
        var all = try Certificate.all(pem: pem)
        let leaf = all.firstIndex { $0.matches(key) } ?? 0
        let certificate = all.remove(at: leaf)
        try self.init(certificate: certificate, chain: all, key: key)
    }

    /// Reads a combined PEM file, or a certificate file and a key file.
    package convenience init(path: String, keyPath: String? = nil, passphrase: String = "") throws(CryptoFailure) {
        var pem = try PrivateFile.read(path)
        if let keyPath { pem += [UInt8(ascii: "\n")] + (try PrivateFile.read(keyPath)) }
        do throws(CryptoFailure) {
            try self.init(pem: pem, passphrase: passphrase)
        } catch {
            throw CryptoFailure(error.code, "\(path): \(error.message)", reasons: error.reasons)
        }
    }

    /// Certificate, chain and key as one PEM text, in this order.
    package var pem: [UInt8] {
        get throws(CryptoFailure) {
            var text = try certificate.pem
            for above in chain { text += try above.pem }
            return text + (try key.pem)
        }
    }
}
