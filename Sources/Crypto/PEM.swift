internal import COpenSSL

/// The blocks of a PEM text (RFC 7468): what stands between its BEGIN and END lines. Text around them, as
/// `openssl pkcs12` writes it, indentation and line ends of any kind are passed over.
enum PEM {
    struct Block {
        /// E.g. `CERTIFICATE`, `PRIVATE KEY`.
        let label: String
        /// The whole block with its BEGIN and END lines.
        let text: [UInt8]
        /// Its content; still encrypted where `isEncrypted`.
        let der: [UInt8]
        /// Encrypted as a whole, as OpenSSL did before PKCS#8 (`Proc-Type: 4,ENCRYPTED`).
        let isEncrypted: Bool
    }

    /// More than a certificate chain with its key has.
    static let blockLimit = 64

    /// In the order of the text. Throws `.tooMuch` for more than `blockLimit`, `.pem` for a block that is cut off or damaged,
    /// and says which.
    static func blocks(_ text: [UInt8]) throws(CryptoFailure) -> [Block] {
        var found: [Block] = []
        var label: ArraySlice<UInt8>?
        var body: [UInt8] = []
        let separator = text.contains(UInt8(ascii: "\n")) ? UInt8(ascii: "\n") : UInt8(ascii: "\r")
        var isAfterHeader = false
        for line in text.split(separator: separator, omittingEmptySubsequences: false) {
            let line = trimmed(line)
            guard let open = label else {
                if let name = between(begin, line) {
                    label = name
                    body = begin + name + dashes + newline
                    isAfterHeader = false
                }
                continue
            }
            // An empty line means something behind headers only.
            if !line.isEmpty || isAfterHeader { body += line + newline }
            isAfterHeader = line.contains(UInt8(ascii: ":"))
            if between(end, line) == open {
                guard found.count < blockLimit else {
                    throw CryptoFailure(.tooMuch, "there are more than \(blockLimit) PEM blocks in it")
                }
                found.append(try block(String(decoding: open, as: UTF8.self), body))
                label = nil
            }
        }
        if let label {
            throw CryptoFailure(.pem, "its \(shown(label)) is cut off: there is no END line")
        }
        return found
    }

    private static func block(_ label: String, _ text: [UInt8]) throws(CryptoFailure) -> Block {
        let input = try MemoryBIO(text)
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var data: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard PEM_read_bio(input.bio, &name, &header, &data, &count) == 1 else {
            throw CryptoFailure(
                .pem, "its \(shown(label.utf8)) is damaged", reasons: ErrorStack.drain().map(\.text))
        }
        defer {
            CRYPTO_free(name, nil, 0)
            CRYPTO_free(header, nil, 0)
            // It may be a key.
            CRYPTO_clear_free(data, max(0, count), nil, 0)
        }
        return Block(
            label: label, text: text, der: Array(UnsafeBufferPointer(start: data, count: max(0, count))),
            isEncrypted: header.map { $0.pointee != 0 } ?? false)
    }

    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)
    private static let newline = [UInt8(ascii: "\n")]

    /// The label of a BEGIN or END line.
    private static func between(_ start: [UInt8], _ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard line.count > start.count + dashes.count, line.count <= 80, line.starts(with: start),
            line.suffix(dashes.count).elementsEqual(dashes)
        else { return nil }
        return line.dropFirst(start.count).dropLast(dashes.count)
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
        }
        var line = line.drop(while: isBlank)
        while let last = line.last, isBlank(last) { line.removeLast() }
        return line
    }

    private static func shown(_ label: some Sequence<UInt8>) -> String { PeerCertificate.text(label) }
}
