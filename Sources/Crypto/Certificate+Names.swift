internal import COpenSSL
internal import Glibc

extension Certificate {
    /// The host names and addresses that a server's certificate is for (subjectAltName, RFC 5280, 4.2.1.6), at most 64 of
    /// them, as they are written: `api.push.apple.com`, `127.0.0.1`, `::1`.
    package var serverNames: [String] {
        defer { ErrorStack.clear() }
        guard let raw = X509_get_ext_d2i(x509, NID_subject_alt_name, nil, nil) else { return [] }
        let names = OpaquePointer(raw)
        defer { GENERAL_NAMES_free(names) }
        return (0..<min(copenssl_names_count(names), 64)).compactMap { Self.text(copenssl_name(names, $0)) }
    }

    private static func text(_ name: UnsafePointer<GENERAL_NAME>?) -> String? {
        var type: Int32 = 0
        guard let value = GENERAL_NAME_get0_value(name, &type) else { return nil }
        let string = value.assumingMemoryBound(to: ASN1_STRING.self)
        switch type {
        case GEN_DNS: return PeerCertificate.text(bytes(string))
        case GEN_IPADD: return address(bytes(string))
        default: return nil
        }
    }

    private static func address(_ bytes: [UInt8]) -> String? {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            inet_ntop(
                bytes.count == 4 ? AF_INET : AF_INET6, bytes, buffer.baseAddress!, socklen_t(INET6_ADDRSTRLEN)
            ).map { String(cString: $0) }
        }
    }
}

extension Certificate {
    /// True if it may issue others (basicConstraints, RFC 5280, 4.2.1.9).
    package var isAuthority: Bool {
        defer { ErrorStack.clear() }
        return X509_check_ca(x509) == 1
    }

    /// `P-256`, `RSA 2048`.
    package var keyKind: String {
        defer { ErrorStack.clear() }
        return KeyKind.words(X509_get0_pubkey(x509))
    }
}
