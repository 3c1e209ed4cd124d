internal import CNGHTTP2

/// Why a session cannot go on, in nghttp2's words.
package struct HTTP2Failure: Error, Sendable, Equatable, CustomStringConvertible {
    /// nghttp2's own number, negative.
    package let code: Int32
    package let description: String

    init(_ code: Int) {
        self.code = Int32(clamping: code)
        description = String(cString: nghttp2_strerror(self.code))
    }

    /// The first bytes were no HTTP/2 client preface.
    package var isBadPreface: Bool { code == NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue }
    /// The other side makes us answer and does not read, or otherwise floods.
    package var isFlood: Bool { code == NGHTTP2_ERR_FLOODED.rawValue }
}

/// Of RFC 9113, 7, those that are said here; the others are nghttp2's to say.
package enum HTTP2Code: UInt32, Sendable {
    case noError = 0
    case protocolError = 1
    case internalError = 2
    case refusedStream = 7
    case cancel = 8
    case enhanceYourCalm = 11
}
