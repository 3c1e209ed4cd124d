/// Bytes that came in and are not used up yet. Reading from the front costs nothing; the space is given back when it is
/// empty or when what was read outweighs what is left.
struct ByteQueue: Sendable {
    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }

    mutating func append(_ more: some Collection<UInt8>) {
        if start > 0 && start >= count {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    /// The byte at `offset` from the front; `offset` is less than `count`.
    subscript(offset: Int) -> UInt8 { bytes[start + offset] }

    /// Big-endian, at `offset` from the front.
    func number(at offset: Int, bytes width: Int) -> Int {
        var number = 0
        for index in 0..<width { number = number << 8 | Int(self[offset + index]) }
        return number
    }

    func slice(at offset: Int, count: Int) -> [UInt8] { Array(bytes[(start + offset)..<(start + offset + count)]) }

    mutating func drop(_ count: Int) {
        start += count
        if start == bytes.count {
            bytes = []
            start = 0
        }
    }
}
