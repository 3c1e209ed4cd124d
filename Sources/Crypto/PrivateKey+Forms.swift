internal import COpenSSL

extension PrivateKey {
    /// A private key in DER form that is not encrypted: PKCS#8, or the older forms of RSA and EC keys. Throws `.pem` for
    /// anything else.
    convenience init(der: [UInt8]) throws(CryptoFailure) {
        // All of them are a SEQUENCE that begins with a version. OpenSSL would try twenty decoders on anything.
        var outer = DERReader(der)
        guard let sequence = outer.next(), sequence.tag == DERReader.Tag.sequence,
            sequence.content.first == DERReader.Tag.integer
        else { throw CryptoFailure(.pem, "it is no private key") }
        let pkey = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_AutoPrivateKey(nil, &cursor, bytes.count)
        }
        guard let pkey else {
            throw CryptoFailure(.pem, "it is no private key", reasons: ErrorStack.drain().map(\.text))
        }
        ErrorStack.clear()
        self.init(owning: pkey)
    }

    /// The content of an unencrypted PKCS#8 structure, in a key of the library's own context.
    convenience init(info: OpaquePointer) throws(CryptoFailure) {
        guard let pkey = EVP_PKCS82PKEY(info) else {
            throw CryptoFailure(
                .pem, "it holds a private key of an unknown kind", reasons: ErrorStack.drain().map(\.text))
        }
        self.init(owning: pkey)
    }

    /// Opens an encrypted PKCS#8 key (`ENCRYPTED PRIVATE KEY`). Throws `.password` for a wrong password, `.pem` for bytes
    /// that are none, `.oldAlgorithm` and `.tooMuch`.
    convenience init(encrypted der: [UInt8], password: String) throws(CryptoFailure) {
        let locked = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_X509_SIG(nil, &cursor, bytes.count)
        }
        guard let locked else {
            throw CryptoFailure(.pem, "it is no encrypted private key", reasons: ErrorStack.drain().map(\.text))
        }
        defer { X509_SIG_free(locked) }
        var algorithm: UnsafePointer<X509_ALGOR>?
        X509_SIG_get0(locked, &algorithm, nil)
        var budget = HashingBudget()
        try budget.spend(algorithm)
        let info = try LegacyAlgorithms.ifNeeded { context throws(CryptoFailure) -> OpaquePointer in
            guard let info = PKCS8_decrypt_ex(locked, password, Int32(password.utf8.count), context, nil) else {
                throw CryptoFailure.opening("its private key is encrypted, and this password does not open it")
            }
            return info
        }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        try self.init(info: info)
    }

    /// Opens a PEM block that is encrypted as a whole (`Proc-Type: 4,ENCRYPTED`), as OpenSSL 0.9 wrote keys. Throws
    /// `.password`, and `.oldAlgorithm` for single DES: such a block is opened in the library's own context only.
    convenience init(locked block: PEM.Block, password: String) throws(CryptoFailure) {
        let input = try MemoryBIO(block.text)
        let pkey = password.withCString { text in
            PEM_read_bio_PrivateKey(input.bio, nil, nil, UnsafeMutableRawPointer(mutating: text))
        }
        guard let pkey else {
            throw CryptoFailure.opening("its private key is encrypted, and this password does not open it")
        }
        ErrorStack.clear()
        self.init(owning: pkey)
    }

    /// PKCS#8 as PEM, encrypted with `password` (PBES2, AES-256); not encrypted if that is empty.
    package func pem(password: String) throws(CryptoFailure) -> [UInt8] {
        guard !password.isEmpty else { return try pem }
        let output = try MemoryBIO()
        try CryptoFailure.check(
            PEM_write_bio_PKCS8PrivateKey(
                output.bio, pkey, EVP_aes_256_cbc(), password, Int32(password.utf8.count), nil, nil),
            "writing an encrypted key as PEM")
        return output.contents
    }

    /// `P-256`, `RSA 2048`.
    package var kind: String { KeyKind.words(pkey) }

    /// True for P-256, the only kind that tokens are signed with.
    package var isP256: Bool { KeyKind.isP256(pkey) }

    func isSame(as other: PrivateKey) -> Bool {
        defer { ErrorStack.clear() }
        return EVP_PKEY_eq(pkey, other.pkey) == 1
    }
}

extension CryptoFailure {
    /// The failure of something that a password should have opened: `.oldAlgorithm` where the algorithm was missing, else
    /// `.password`.
    static func opening(_ words: String) -> CryptoFailure {
        let entries = ErrorStack.drain()
        guard entries.contains(where: \.isUnsupported) else { return CryptoFailure(.password, words) }
        return CryptoFailure(
            .oldAlgorithm, "it is encrypted in a way that this OpenSSL does not know", reasons: entries.map(\.text))
    }
}
