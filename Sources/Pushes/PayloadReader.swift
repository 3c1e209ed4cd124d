internal import Base
internal import JSON

/// From the bytes of a push to what it says about a call.
package enum PayloadReader {
    /// The VoIP limit of APNs: 5120 bytes.
    package static let sizeLimit = 5120
    package static let longestKey = Dialect.longestKey

    /// Throws for what is no JSON object, too large, or no call.
    package static func read(
        _ bytes: [UInt8], book: DialectBook, _ choice: DialectBook.Choice = DialectBook.Choice()
    ) throws(PayloadFault) -> DialectBook.Reading {
        guard !bytes.isEmpty else { throw PayloadFault("the payload is empty") }
        guard bytes.count <= sizeLimit else {
            throw PayloadFault("the payload has \(bytes.count) bytes; VoIP pushes carry at most \(sizeLimit)")
        }
        let json: JSONValue
        do {
            json = try JSONValue.parse(bytes)
        } catch {
            throw PayloadFault("the payload is not JSON (\(error))")
        }
        return try book.read(json, choice)
    }
}
