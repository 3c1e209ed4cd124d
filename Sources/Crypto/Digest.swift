internal import COpenSSL

/// Hashes of whole messages.
package enum Digest {
    /// 20 bytes. For name-based UUIDs (RFC 9562, 5.5), which prescribe it; nothing here relies on it for security.
    package static func sha1(_ bytes: [UInt8]) -> [UInt8] { hash(bytes, EVP_sha1(), size: 20) }

    /// 32 bytes.
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] { hash(bytes, EVP_sha256(), size: 32) }

    private static func hash(_ bytes: [UInt8], _ kind: OpaquePointer?, size: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            let done = EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, kind, nil)
            precondition(done == 1, "EVP_Digest refused a built-in digest")
            count = size
        }
    }
}
