internal import COpenSSL

/// How often a password may be hashed while one file is opened. The file says how often, and may say two thousand
/// million times: minutes of work for a few bytes.
struct HashingBudget {
    /// Firefox asks for 600,000 for each of three parts, others for 2048; a million takes half a second.
    private var left: Int64 = 5_000_000

    mutating func spend(_ rounds: Int64) throws(CryptoFailure) {
        left -= min(max(rounds, 0), left + 1)
        guard left >= 0 else {
            throw CryptoFailure(.tooMuch, "it asks for millions of rounds of password hashing: nobody makes such files")
        }
    }

    /// What `algorithm` will ask for: the largest number among its parameters (PBES1: RFC 8018, A.3; PBES2 with PBKDF2:
    /// A.2), or the product of scrypt's three (RFC 7914, 7).
    mutating func spend(_ algorithm: UnsafePointer<X509_ALGOR>?) throws(CryptoFailure) {
        var kind: Int32 = 0
        var value: UnsafeRawPointer?
        X509_ALGOR_get0(nil, &kind, &value, algorithm)
        guard kind == V_ASN1_SEQUENCE, let value else { return }
        let string = value.assumingMemoryBound(to: ASN1_STRING.self)
        var numbers: [Int64] = []
        var isScrypt = false
        var cost: Int64 = 1
        Self.walk(Certificate.bytes(string), depth: 0, &numbers, &isScrypt)
        for number in numbers where isScrypt {
            let (product, overflow) = cost.multipliedReportingOverflow(by: max(1, number))
            cost = overflow ? .max : product
        }
        try spend(isScrypt ? cost : numbers.max() ?? 0)
    }

    private static func walk(
        _ der: some Sequence<UInt8>, depth: Int, _ numbers: inout [Int64], _ isScrypt: inout Bool
    ) {
        var reader = DERReader(der)
        while numbers.count < 16, let element = reader.next() {
            switch element.tag {
            case DERReader.Tag.integer:
                let digits = element.content.drop { $0 == 0 }
                numbers.append(digits.count > 7 ? .max : digits.reduce(0) { $0 << 8 | Int64($1) })
            case DERReader.Tag.objectIdentifier: isScrypt = isScrypt || element.content.elementsEqual(scrypt)
            case DERReader.Tag.sequence where depth < 8: walk(element.content, depth: depth + 1, &numbers, &isScrypt)
            default: break
            }
        }
    }

    /// 1.3.6.1.4.1.11591.4.11
    private static let scrypt: [UInt8] = [0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x04, 0x0b]
}
