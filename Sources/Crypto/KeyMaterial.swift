internal import Base

/// Certificates and private keys out of files of any form and in any order: what people have after a developer site, a
/// keychain and three tutorials, to be made into the one file that a sender wants (callkit.md W30–W33).
package struct KeyMaterial {
    /// What a file turned out to be.
    package enum Form: String, Sendable {
        case pem = "PEM"
        case der = "DER"
        case pkcs12 = "PKCS#12"
    }

    /// Each once, in the order of the files.
    package private(set) var certificates: [Certificate] = []
    /// Each once, in the order of the files.
    package private(set) var keys: [PrivateKey] = []
    /// Kinds of public keys that were there alone, e.g. `P-256`.
    package private(set) var publicKeys: [String] = []
    package private(set) var forms: [Form] = []

    /// A file's largest size in bytes: more than a keychain of hundreds of certificates.
    package static let sizeLimit = 1 << 20
    /// Certificates, and keys.
    private static let limit = 64

    package init() {}

    /// Takes in what `file` (its name, for words) holds: PEM with any number of blocks, a certificate or key in DER, or
    /// PKCS#12 of any age. What is encrypted is tried with each of `passwords`, then with none.
    ///
    /// Throws `.pem` for bytes of no such form, `.password`, `.oldAlgorithm` and `.tooMuch`, with the file's name.
    @discardableResult
    package mutating func add(
        _ bytes: [UInt8], file: String, passwords: [String] = []
    ) throws(CryptoFailure) -> Form {
        let passwords = passwords.isEmpty ? [""] : passwords + [""]
        do throws(CryptoFailure) {
            guard bytes.count <= Self.sizeLimit else { throw CryptoFailure(.tooMuch, "it is over 1 MiB") }
            let form = try take(bytes, passwords)
            forms.append(form)
            return form
        } catch {
            throw CryptoFailure(error.code, "\(file): \(error.message)", reasons: error.reasons)
        }
    }

    private mutating func take(_ bytes: [UInt8], _ passwords: [String]) throws(CryptoFailure) -> Form {
        if Self.isPEM(bytes) {
            try takePEM(bytes, passwords)
            return .pem
        }
        if let certificate = try? Certificate(der: bytes) {
            try add(certificate)
            return .der
        }
        if PKCS12.isOne(bytes) {
            let content = try Self.first(passwords) { password throws(CryptoFailure) in
                try PKCS12.decode(bytes, password: password)
            }
            for certificate in content.certificates { try add(certificate) }
            for key in content.keys { try add(key) }
            return .pkcs12
        }
        if let key = try? PrivateKey(der: bytes) {
            try add(key)
            return .der
        }
        do throws(CryptoFailure) {
            try add(
                Self.first(passwords) { password throws(CryptoFailure) in
                    try PrivateKey(encrypted: bytes, password: password)
                })
            return .der
        } catch {
            guard error.code == .pem else { throw error }
            throw CryptoFailure(
                .pem, bytes.isEmpty ? "it is empty" : "it is no certificate and no key: neither PEM nor DER nor PKCS#12"
            )
        }
    }

    private static func isPEM(_ bytes: [UInt8]) -> Bool {
        let mark = Array("-----BEGIN ".utf8)
        return bytes.indices.contains { bytes[$0] == mark[0] && bytes[$0...].starts(with: mark) }
    }

    private mutating func takePEM(_ text: [UInt8], _ passwords: [String]) throws(CryptoFailure) {
        let blocks = try PEM.blocks(text)
        var unknown: [String] = []
        for block in blocks {
            switch block.label {
            case "CERTIFICATE", "X509 CERTIFICATE": try add(Certificate(der: block.der))
            case "TRUSTED CERTIFICATE": try add(Certificate.all(pem: block.text)[0])
            case "ENCRYPTED PRIVATE KEY":
                try add(
                    Self.first(passwords) { password throws(CryptoFailure) in
                        try PrivateKey(encrypted: block.der, password: password)
                    })
            case let label where label.hasSuffix("PRIVATE KEY") && block.isEncrypted:
                try add(
                    Self.first(passwords) { password throws(CryptoFailure) in
                        try PrivateKey(locked: block, password: password)
                    })
            case let label where label.hasSuffix("PRIVATE KEY"): try add(PrivateKey(der: block.der))
            case "PUBLIC KEY": publicKeys.append(try KeyKind.words(publicKey: block.der))
            case "EC PARAMETERS", "DH PARAMETERS": continue
            default: unknown.append(block.label)
            }
        }
        guard let label = unknown.first, blocks.count == unknown.count else {
            if blocks.isEmpty { throw CryptoFailure(.pem, "there is no whole PEM block in it") }
            return
        }
        throw CryptoFailure(
            .pem,
            label.hasSuffix("CERTIFICATE REQUEST")
                ? "it is a signing request, not a certificate: the certificate (.cer) is what the issuer gives for it"
                : "there is no certificate and no key in it, only “\(Text.clean(label))”")
    }

    /// What the first password that opens it opens.
    private static func first<T>(
        _ passwords: [String], _ open: (String) throws(CryptoFailure) -> T
    ) throws(CryptoFailure) -> T {
        var failure: CryptoFailure?
        for password in passwords {
            do throws(CryptoFailure) {
                return try open(password)
            } catch {
                guard error.code == .password else { throw error }
                // The words for the password that was given, not for the empty one after it.
                failure = failure ?? error
            }
        }
        throw failure!
    }

    private mutating func add(_ certificate: Certificate) throws(CryptoFailure) {
        let fingerprint = certificate.facts.fingerprint
        guard !certificates.contains(where: { $0.facts.fingerprint == fingerprint }) else { return }
        guard certificates.count < Self.limit else { throw CryptoFailure(.tooMuch, "more than 64 certificates") }
        certificates.append(certificate)
    }

    private mutating func add(_ key: PrivateKey) throws(CryptoFailure) {
        guard !keys.contains(where: { $0.isSame(as: key) }) else { return }
        guard keys.count < Self.limit else { throw CryptoFailure(.tooMuch, "more than 64 private keys") }
        keys.append(key)
    }

    // MARK: One of them

    /// The certificate that one of the keys belongs to, with that key and with the certificates above it that are there,
    /// from its issuer upwards. Of several the first one.
    ///
    /// Throws `.pem` where a half is missing and `.keyMismatch` where no key belongs to any certificate.
    package func identity() throws(CryptoFailure) -> Identity {
        guard !certificates.isEmpty else {
            throw CryptoFailure(.pem, "there is a private key and no certificate: give the .cer file, too")
        }
        guard !keys.isEmpty else {
            throw CryptoFailure(
                .pem,
                "there is a certificate and no private key: that is in the keychain that the signing request was made "
                    + "with; export both from there as .p12, or give the key's file, too")
        }
        for certificate in certificates {
            guard let key = keys.first(where: certificate.matches) else { continue }
            return try Identity(certificate: certificate, chain: chain(above: certificate), key: key)
        }
        throw CryptoFailure(
            .keyMismatch,
            "the private key (\(keys[0].kind)) does not belong to the certificate "
                + "“\(certificates[0].facts.subject)”: it was made for another signing request; export certificate and "
                + "key together from the keychain")
    }

    /// The certificate that is meant where there is no key: the first that is no authority's.
    package var leaf: Certificate? { certificates.first { !$0.isAuthority } ?? certificates.first }

    /// From the issuer of `leaf` upwards, as far as they are there.
    package func chain(above leaf: Certificate) -> [Certificate] {
        var chain: [Certificate] = []
        var last = leaf
        while chain.count < 8 {
            let next = certificates.first { candidate in
                candidate !== last && candidate !== leaf && !chain.contains { $0 === candidate }
                    && last.isIssued(by: candidate)
            }
            guard let next else { break }
            chain.append(next)
            last = next
        }
        return chain
    }
}
