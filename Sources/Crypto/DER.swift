/// The little of DER (X.690) that Apple's certificate extensions need: definite lengths, single-byte tags.
struct DERReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) { rest = ArraySlice(Array(bytes)) }

    enum Tag {
        static let integer: UInt8 = 0x02
        static let null: UInt8 = 0x05
        static let objectIdentifier: UInt8 = 0x06
        static let utf8String: UInt8 = 0x0c
        static let sequence: UInt8 = 0x30
    }

    /// The next element, or nil at the end and at anything malformed.
    mutating func next() -> (tag: UInt8, content: ArraySlice<UInt8>)? {
        var cursor = rest
        guard let tag = cursor.popFirst(), tag & 0x1f != 0x1f, let first = cursor.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7f)
            guard (1...3).contains(count), cursor.count >= count else { return nil }
            length = 0
            for _ in 0..<count { length = length << 8 | Int(cursor.removeFirst()) }
        }
        guard cursor.count >= length else { return nil }
        rest = cursor.dropFirst(length)
        return (tag, cursor.prefix(length))
    }
}

/// The other direction, for the certificates that we make.
enum DERWriter {
    static let null: [UInt8] = [DERReader.Tag.null, 0]

    static func utf8String(_ text: String) -> [UInt8] { element(DERReader.Tag.utf8String, Array(text.utf8)) }

    static func sequence(_ content: [UInt8]) -> [UInt8] { element(DERReader.Tag.sequence, content) }

    /// An element of at most 65535 bytes.
    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        precondition(content.count <= 0xffff)
        let length: [UInt8] =
            switch content.count {
            case 0..<0x80: [UInt8(content.count)]
            case 0x80..<0x100: [0x81, UInt8(content.count)]
            default: [0x82, UInt8(content.count >> 8), UInt8(content.count & 0xff)]
            }
        return [tag] + length + content
    }
}
