internal import COpenSSL

/// The two forms of an ECDSA signature on P-256: r and s as 32 bytes each (RFC 7518, 3.4), and a DER SEQUENCE of two
/// INTEGERs (RFC 3279, 2.2.3), which is what OpenSSL speaks.
enum ES256 {
    static let rawSize = 64
    /// SEQUENCE of two INTEGERs of 33 bytes.
    static let derLimit = 72
    /// SEQUENCE of two INTEGERs of 1 byte.
    static let derLeast = 8

    /// Writes the DER form of 64 raw bytes; `out` has room for `derLimit`. Returns its length.
    static func writeDER(_ raw: UnsafeRawBufferPointer, into out: UnsafeMutableRawBufferPointer) -> Int {
        var end = 2
        for half in 0..<2 {
            var from = half * 32
            let stop = from + 32
            while from < stop - 1 && raw[from] == 0 { from += 1 }
            // An INTEGER has a sign: a leading one needs a zero before it.
            let pad = raw[from] >= 0x80 ? 1 : 0
            out[end] = DERReader.Tag.integer
            out[end + 1] = UInt8(stop - from + pad)
            end += 2
            if pad == 1 {
                out[end] = 0
                end += 1
            }
            for index in from..<stop {
                out[end] = raw[index]
                end += 1
            }
        }
        out[0] = DERReader.Tag.sequence
        out[1] = UInt8(end - 2)
        return end
    }

    /// The 64 raw bytes of a DER signature; nil if it is none.
    static func raw(_ der: [UInt8]) -> [UInt8]? {
        var outer = DERReader(der)
        guard let sequence = outer.next(), sequence.tag == DERReader.Tag.sequence else { return nil }
        var inner = DERReader(sequence.content)
        var raw: [UInt8] = []
        for _ in 0..<2 {
            guard let number = inner.next(), number.tag == DERReader.Tag.integer else { return nil }
            let digits = number.content.drop { $0 == 0 }
            guard digits.count <= 32 else { return nil }
            raw += [UInt8](repeating: 0, count: 32 - digits.count) + digits
        }
        return raw
    }
}
