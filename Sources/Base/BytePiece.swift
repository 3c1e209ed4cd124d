/// Bytes to be found in others, by Knuth, Morris and Pratt: no byte of the text is looked at twice.
package struct BytePiece: Sendable, Hashable {
    package let bytes: [UInt8]
    /// For each prefix, the length of the longest border: where to go on when the next byte does not fit.
    private let borders: [Int]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var borders = [Int](repeating: 0, count: bytes.count)
        var length = 0
        for index in bytes.indices.dropFirst() {
            while length > 0, bytes[index] != bytes[length] { length = borders[length - 1] }
            if bytes[index] == bytes[length] { length += 1 }
            borders[index] = length
        }
        self.borders = borders
    }

    /// Behind its first place in `text`.
    package func end(in text: ArraySlice<UInt8>) -> Int? {
        guard !bytes.isEmpty else { return text.startIndex }
        var length = 0
        for index in text.indices {
            while length > 0, text[index] != bytes[length] { length = borders[length - 1] }
            if text[index] == bytes[length] { length += 1 }
            if length == bytes.count { return index + 1 }
        }
        return nil
    }
}
