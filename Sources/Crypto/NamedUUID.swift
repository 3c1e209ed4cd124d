package import Base

extension CallUUID {
    /// The UUID of a name: version 5 (RFC 9562, 5.5). Equal parts give equal calls, on every machine and after every
    /// restart, so that a second push for one call finds the first.
    ///
    /// Each part goes in behind its length (8 bytes, big-endian), so ("a", "bc") and ("ab", "c") are two names.
    package static func named(namespace: CallUUID = .calls, client: String, account: String, key: String) -> CallUUID {
        var message: [UInt8] = []
        append(namespace.high, to: &message)
        append(namespace.low, to: &message)
        for part in [client, account, key] {
            append(UInt64(part.utf8.count), to: &message)
            message.append(contentsOf: part.utf8)
        }
        return stamped(digest: Digest.sha1(message), version: 5)
    }

    /// The namespace of ringd's calls: a random UUID, fixed for ever.
    package static let calls = CallUUID(high: 0x8f0c_6d1e_53b7_4a29, low: 0x9e6a_41d2_c07f_3b58)

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}
