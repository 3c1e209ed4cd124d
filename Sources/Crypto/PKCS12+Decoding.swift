internal import COpenSSL

extension PKCS12 {
    /// What a file holds, in its order.
    struct Content {
        var certificates: [Certificate] = []
        var keys: [PrivateKey] = []
    }

    /// Deeper nesting than any program makes.
    private static let depthLimit = 4
    private static let partLimit = 64

    /// True if `der` has the outer form of a PKCS#12 file.
    static func isOne(_ der: [UInt8]) -> Bool {
        defer { ErrorStack.clear() }
        guard let file = try? read(der, context: nil) else { return false }
        PKCS12_free(file)
        return true
    }

    /// Opens a file. All of its keys and certificates, at most 64 each: `PKCS12_parse()` gives the first key only, and a
    /// keychain exports many.
    ///
    /// Throws `.pem` for what is none or is damaged, `.password`, `.oldAlgorithm`, and `.tooMuch`.
    static func decode(_ der: [UInt8], password: String) throws(CryptoFailure) -> Content {
        try LegacyAlgorithms.ifNeeded { context throws(CryptoFailure) -> Content in
            var budget = HashingBudget()
            let file = try read(der, context: context)
            defer { PKCS12_free(file) }
            let secret = try checkedSecret(file, password, &budget)
            guard let safes = PKCS12_unpack_authsafes(file) else { throw damage() }
            defer { copenssl_safes_free(safes) }
            var content = Content()
            for index in 0..<min(copenssl_safes_count(safes), Int32(partLimit)) {
                let safe = copenssl_safe(safes, index)
                guard let bags = try unpack(safe, secret, &budget) else { continue }
                defer { copenssl_bags_free(bags) }
                try take(bags, secret, context, depth: 0, &budget, &content)
            }
            return content
        }
    }

    /// A password as OpenSSL wants it; nil is none at all, which some programs write instead of an empty one.
    private typealias Secret = (text: String?, count: Int32)

    private static func read(_ der: [UInt8], context: OpaquePointer?) throws(CryptoFailure) -> OpaquePointer {
        // The context goes along from here into whatever is unpacked.
        var file = PKCS12_init_ex(NID_pkcs7_data, context, nil)
        guard file != nil else { throw CryptoFailure.library("making ready to read a PKCS#12 file") }
        let read = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_PKCS12(&file, &cursor, bytes.count)
        }
        // On failure it is freed already.
        guard let read else { throw damage() }
        return read
    }

    /// The password in the form that the file's checksum (MAC) agrees with; as it is where there is no checksum.
    private static func checkedSecret(
        _ file: OpaquePointer, _ password: String, _ budget: inout HashingBudget
    ) throws(CryptoFailure) -> Secret {
        let given: Secret = (password, Int32(password.utf8.count))
        guard PKCS12_mac_present(file) == 1 else { return given }
        var rounds: UnsafePointer<ASN1_INTEGER>?
        PKCS12_get0_mac(nil, nil, nil, &rounds, file)
        try budget.spend(rounds.map { Int64(ASN1_INTEGER_get($0)) }.map { $0 < 0 ? .max : $0 } ?? 1)
        if PKCS12_verify_mac(file, password, given.count) == 1 { return given }
        if password.isEmpty, PKCS12_verify_mac(file, nil, 0) == 1 { return (nil, 0) }
        throw CryptoFailure.opening(
            password.isEmpty ? "it has a password" : "this password does not open it, or the file is damaged")
    }

    private static func unpack(
        _ safe: UnsafeMutablePointer<PKCS7>?, _ secret: Secret, _ budget: inout HashingBudget
    ) throws(CryptoFailure) -> OpaquePointer? {
        if copenssl_safe_is_plain(safe) == 1 {
            guard let bags = PKCS12_unpack_p7data(safe) else { throw damage() }
            return bags
        }
        // Encrypted for a certificate's owner, which nobody does, or of an unknown kind.
        guard let algorithm = copenssl_safe_algorithm(safe) else { return nil }
        try budget.spend(algorithm)
        guard let bags = PKCS12_unpack_p7encdata(safe, secret.text, secret.count) else {
            throw CryptoFailure.opening("this password does not open its certificates")
        }
        return bags
    }

    private static func take(
        _ bags: OpaquePointer, _ secret: Secret, _ context: OpaquePointer?, depth: Int, _ budget: inout HashingBudget,
        _ content: inout Content
    ) throws(CryptoFailure) {
        for index in 0..<copenssl_bags_count(bags) {
            guard content.certificates.count < partLimit, content.keys.count < partLimit else { return }
            let bag = copenssl_bag(bags, index)
            switch PKCS12_SAFEBAG_get_nid(bag) {
            case NID_certBag:
                // Through its bytes: nothing may hold on to the context.
                guard let held = PKCS12_SAFEBAG_get1_cert(bag) else { continue }
                content.certificates.append(try Certificate(der: Certificate(owning: held).der))
            case NID_keyBag:
                guard let info = PKCS12_SAFEBAG_get0_p8inf(bag) else { continue }
                content.keys.append(try PrivateKey(info: info))
            case NID_pkcs8ShroudedKeyBag:
                var algorithm: UnsafePointer<X509_ALGOR>?
                guard let locked = PKCS12_SAFEBAG_get0_pkcs8(bag) else { continue }
                X509_SIG_get0(locked, &algorithm, nil)
                try budget.spend(algorithm)
                guard let info = PKCS12_decrypt_skey_ex(bag, secret.text, secret.count, context, nil) else {
                    throw CryptoFailure.opening("this password does not open its private key")
                }
                defer { PKCS8_PRIV_KEY_INFO_free(info) }
                content.keys.append(try PrivateKey(info: info))
            case NID_safeContentsBag where depth < depthLimit:
                guard let inner = PKCS12_SAFEBAG_get0_safes(bag) else { continue }
                try take(inner, secret, context, depth: depth + 1, &budget, &content)
            default: continue
            }
        }
        ErrorStack.clear()
    }

    private static func damage() -> CryptoFailure {
        CryptoFailure(.pem, "it is no PKCS#12 file, or a damaged one", reasons: ErrorStack.drain().map(\.text))
    }
}
