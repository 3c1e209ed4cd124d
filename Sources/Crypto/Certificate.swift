package import Base
internal import COpenSSL
internal import Glibc

/// An X.509 certificate: owner of one `X509`, which OpenSSL counts references of and never changes here.
package final class Certificate {
    let x509: OpaquePointer

    /// Takes over one reference.
    init(owning x509: OpaquePointer) { self.x509 = x509 }

    deinit { X509_free(x509) }

    /// The certificates of a PEM text, in its order; keys and other blocks are passed over. At most 16.
    package static func all(pem: [UInt8]) throws(CryptoFailure) -> [Certificate] {
        let input = try MemoryBIO(pem)
        var found: [Certificate] = []
        while found.count < 16, let x509 = PEM_read_bio_X509(input.bio, nil, nil, nil) {
            found.append(Certificate(owning: x509))
        }
        let reasons = ErrorStack.drain()
        guard !found.isEmpty else {
            throw CryptoFailure(.pem, "there is no certificate in it", reasons: reasons.map(\.text))
        }
        return found
    }

    /// One certificate in DER form, as Apple's `.cer` files are. Throws `.pem` for anything else.
    package convenience init(der: [UInt8]) throws(CryptoFailure) {
        let x509 = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_X509(nil, &cursor, bytes.count)
        }
        guard let x509 else {
            throw CryptoFailure(.pem, "it is no certificate", reasons: ErrorStack.drain().map(\.text))
        }
        self.init(owning: x509)
    }

    /// The DER form.
    package var der: [UInt8] {
        get throws(CryptoFailure) {
            var out: UnsafeMutablePointer<UInt8>?
            let count = i2d_X509(x509, &out)
            try CryptoFailure.check(count, "writing a certificate as DER")
            defer { CRYPTO_free(out, nil, 0) }
            return Array(UnsafeBufferPointer(start: out, count: Int(count)))
        }
    }

    /// The PEM text, with its line end.
    package var pem: [UInt8] {
        get throws(CryptoFailure) {
            let output = try MemoryBIO()
            try CryptoFailure.check(PEM_write_bio_X509(output.bio, x509), "writing a certificate as PEM")
            return output.contents
        }
    }

    /// True if `key` is the private half of this certificate's key.
    package func matches(_ key: PrivateKey) -> Bool {
        defer { ErrorStack.clear() }
        return X509_check_private_key(x509, key.pkey) == 1
    }

    /// True if `issuer` signed this one: name, key identifier and signature agree.
    package func isIssued(by issuer: Certificate) -> Bool {
        defer { ErrorStack.clear() }
        return X509_check_issued(issuer.x509, x509) == X509_V_OK
            && X509_verify(x509, X509_get0_pubkey(issuer.x509)) == 1
    }

    /// What it says.
    package var facts: PeerCertificate {
        var facts = PeerCertificate()
        facts.subject = Self.line(X509_get_subject_name(x509))
        facts.issuer = Self.line(X509_get_issuer_name(x509))
        facts.commonName = entry(NID_commonName)
        facts.userID = entry(NID_userId)
        facts.organizationalUnit = entry(NID_organizationalUnitName)
        facts.fingerprint = fingerprint
        facts.notBefore = Self.time(X509_get0_notBefore(x509))
        facts.notAfter = Self.time(X509_get0_notAfter(x509))
        for index in 0..<min(X509_get_ext_count(x509), 64) {
            guard let item = X509_get_ext(x509, index), let data = X509_EXTENSION_get_data(item) else { continue }
            let oid = Self.dotted(X509_EXTENSION_get_object(item))
            guard oid.hasPrefix(PeerCertificate.pushArc) else { continue }
            let tail = String(oid.dropFirst(PeerCertificate.pushArc.count))
            facts.take(extension: tail, der: Self.bytes(data))
        }
        ErrorStack.clear()
        return facts
    }

    /// The instant it ends.
    package var notAfter: WallTime { Self.time(X509_get0_notAfter(x509)) }

    private var fingerprint: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            count = X509_digest(x509, EVP_sha256(), buffer.baseAddress, nil) == 1 ? 32 : 0
        }
    }

    private func entry(_ nid: Int32) -> String? {
        let name = X509_get_subject_name(x509)
        let index = X509_NAME_get_index_by_NID(name, nid, -1)
        guard index >= 0, let entry = X509_NAME_get_entry(name, index) else { return nil }
        return Self.text(X509_NAME_ENTRY_get_data(entry))
    }

    /// Most significant part first, as people read it.
    private static func line(_ name: OpaquePointer?) -> String {
        var parts: [String] = []
        for index in 0..<min(X509_NAME_entry_count(name), 16) {
            guard let entry = X509_NAME_get_entry(name, index) else { continue }
            let nid = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry))
            let label = OBJ_nid2sn(nid).map { String(cString: $0) } ?? "?"
            parts.append(label + "=" + (text(X509_NAME_ENTRY_get_data(entry)) ?? "?"))
        }
        return parts.joined(separator: ", ")
    }

    private static func text(_ string: UnsafePointer<ASN1_STRING>?) -> String? {
        var out: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&out, string)
        guard count >= 0, let out else { return nil }
        defer { CRYPTO_free(out, nil, 0) }
        return PeerCertificate.text(UnsafeBufferPointer(start: out, count: Int(min(count, 1024))))
    }

    static func bytes(_ string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
        Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
    }

    private static func dotted(_ object: OpaquePointer?) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            OBJ_obj2txt(buffer.baseAddress, 128, object, 1) > 0 ? String(cString: buffer.baseAddress!) : ""
        }
    }

    private static func time(_ time: UnsafePointer<ASN1_TIME>?) -> WallTime {
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else { return WallTime(nanoseconds: 0) }
        // Clamped: a certificate may claim the year 9999, which nanoseconds do not reach.
        let seconds = min(max(Int64(timegm(&parts)), 0), Int64.max / 1_000_000_000)
        return WallTime(nanoseconds: seconds * 1_000_000_000)
    }
}
