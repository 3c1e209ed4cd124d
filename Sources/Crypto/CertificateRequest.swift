internal import Base
internal import COpenSSL

/// What a new certificate shall say, and the making of it.
struct CertificateRequest {
    /// Short names of X.520 and their values, most significant first.
    var subject: [(name: String, value: String)]
    var notBefore: WallTime
    var notAfter: WallTime
    /// Extensions that x509v3_config(5) knows: NID and value, in order.
    var extensions: [(nid: Int32, value: String)]
    /// Others: dotted OID and DER content; never critical.
    var rawExtensions: [(oid: String, der: [UInt8])] = []

    /// Signs a certificate for `key`; self-signed where there is no `issuer`.
    func sign(key: PrivateKey, issuer: (certificate: Certificate, key: PrivateKey)?) throws(CryptoFailure)
        -> Certificate
    {
        let made = Certificate(owning: try CryptoFailure.check(X509_new(), "making a certificate"))
        let x509 = made.x509
        let above = issuer?.certificate.x509 ?? x509
        try CryptoFailure.check(X509_set_version(x509, Int(X509_VERSION_3)), "setting the version")
        try setSerial(x509)
        try CryptoFailure.check(X509_set_pubkey(x509, key.pkey), "setting the key")
        let name = try CryptoFailure.check(X509_get_subject_name(x509), "setting the subject")
        for (field, value) in subject {
            // V_ASN1_UTF8STRING, not MBSTRING_UTF8: that one cuts a CN off at 64 characters by refusing it, and an
            // app id behind "VoIP Services: " is longer now and then.
            try CryptoFailure.check(
                X509_NAME_add_entry_by_txt(name, field, V_ASN1_UTF8STRING, value, Int32(value.utf8.count), -1, 0),
                "setting \(field)")
        }
        try CryptoFailure.check(
            X509_set_issuer_name(x509, X509_get_subject_name(above)), "setting the issuer")
        _ = try CryptoFailure.check(
            ASN1_TIME_set(X509_getm_notBefore(x509), Int(notBefore.seconds)), "setting the start")
        _ = try CryptoFailure.check(
            ASN1_TIME_set(X509_getm_notAfter(x509), Int(notAfter.seconds)), "setting the end")
        for (nid, value) in extensions {
            try CryptoFailure.check(copenssl_add_extension(x509, above, nid, value), "adding extension \(value)")
        }
        for (oid, der) in rawExtensions { try add(oid, der, to: x509) }
        let signer = issuer?.key ?? key
        try CryptoFailure.check(X509_sign(x509, signer.pkey, EVP_sha256()), "signing a certificate")
        return made
    }

    /// 127 random bits: RFC 5280, 4.1.2.2 wants a positive number of at most 20 bytes that is never used twice.
    private func setSerial(_ x509: OpaquePointer) throws(CryptoFailure) {
        var bytes = [UInt8](repeating: 0, count: 16)
        try CryptoFailure.check(RAND_bytes(&bytes, 16), "drawing a serial number")
        bytes[0] = bytes[0] & 0x7f | 0x01
        let number = try CryptoFailure.check(BN_bin2bn(bytes, 16, nil), "making a serial number")
        defer { BN_free(number) }
        _ = try CryptoFailure.check(
            BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x509)), "setting the serial number")
    }

    private func add(_ oid: String, _ der: [UInt8], to x509: OpaquePointer) throws(CryptoFailure) {
        let object = try CryptoFailure.check(OBJ_txt2obj(oid, 1), "naming extension \(oid)")
        defer { ASN1_OBJECT_free(object) }
        let content = try CryptoFailure.check(ASN1_OCTET_STRING_new(), "making extension \(oid)")
        defer { ASN1_OCTET_STRING_free(content) }
        try CryptoFailure.check(
            ASN1_OCTET_STRING_set(content, der, Int32(der.count)), "filling extension \(oid)")
        let item = try CryptoFailure.check(
            X509_EXTENSION_create_by_OBJ(nil, object, 0, content), "making extension \(oid)")
        defer { X509_EXTENSION_free(item) }
        try CryptoFailure.check(X509_add_ext(x509, item, -1), "adding extension \(oid)")
    }
}
