import Foundation

/// HTTP/2 frames written and read by hand (RFC 9113, 4.1), so that what no library would send can be sent.
struct H2Frame: Equatable, CustomStringConvertible {
    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let priority: UInt8 = 2
        static let reset: UInt8 = 3
        static let settings: UInt8 = 4
        static let pushPromise: UInt8 = 5
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7
        static let windowUpdate: UInt8 = 8
        static let continuation: UInt8 = 9
    }

    enum Flag {
        static let endStream: UInt8 = 1
        static let ack: UInt8 = 1
        static let endHeaders: UInt8 = 4
        static let padded: UInt8 = 8
    }

    var kind: UInt8
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload: [UInt8] = []

    var description: String { "frame \(kind) flags \(flags) stream \(stream) \(payload.count) bytes" }

    var bytes: [UInt8] { Self.head(payload.count, kind, flags, stream) + payload }

    static func head(_ length: Int, _ kind: UInt8, _ flags: UInt8, _ stream: UInt32) -> [UInt8] {
        [UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255), kind, flags] + number(stream)
    }

    static func number(_ value: UInt32) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    }

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    static func settings(_ values: [(UInt16, UInt32)] = [], ack: Bool = false) -> H2Frame {
        H2Frame(
            kind: Kind.settings, flags: ack ? Flag.ack : 0,
            payload: values.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 255)] + number($0.1) })
    }

    static func headers(_ stream: UInt32, _ block: [UInt8], end: Bool = false, whole: Bool = true) -> H2Frame {
        H2Frame(
            kind: Kind.headers, flags: (end ? Flag.endStream : 0) | (whole ? Flag.endHeaders : 0), stream: stream,
            payload: block)
    }

    static func data(_ stream: UInt32, _ body: [UInt8], end: Bool = true) -> H2Frame {
        H2Frame(kind: Kind.data, flags: end ? Flag.endStream : 0, stream: stream, payload: body)
    }

    static func reset(_ stream: UInt32, _ code: UInt32 = 8) -> H2Frame {
        H2Frame(kind: Kind.reset, stream: stream, payload: number(code))
    }

    static func ping(_ text: String = "ringring", ack: Bool = false) -> H2Frame {
        H2Frame(kind: Kind.ping, flags: ack ? Flag.ack : 0, payload: Array(text.utf8))
    }

    static func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> H2Frame {
        H2Frame(kind: Kind.windowUpdate, stream: stream, payload: number(increment))
    }

    static func priority(_ stream: UInt32, on other: UInt32 = 0) -> H2Frame {
        H2Frame(kind: Kind.priority, stream: stream, payload: number(other) + [15])
    }

    /// Cuts whole frames off the front of what came.
    static func take(from bytes: inout [UInt8]) -> [H2Frame] {
        var out: [H2Frame] = []
        while bytes.count >= 9 {
            let length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
            guard bytes.count >= 9 + length else { break }
            let stream = bytes[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7fff_ffff
            out.append(
                H2Frame(kind: bytes[3], flags: bytes[4], stream: stream, payload: Array(bytes[9..<(9 + length)])))
            bytes.removeFirst(9 + length)
        }
        return out
    }

    /// The error code of RST_STREAM and GOAWAY.
    var code: UInt32 {
        let from = kind == Kind.goAway ? 4 : 0
        return payload.dropFirst(from).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// GOAWAY's debug data.
    var debug: String { String(decoding: payload.dropFirst(8), as: UTF8.self) }
}

/// HPACK (RFC 7541) written by hand.
enum HPACK {
    /// Literal without indexing, new name (6.2.2).
    static func literal(_ name: String, _ value: String) -> [UInt8] { [0] + string(name) + string(value) }

    static func string(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        return integer(bytes.count, prefix: 7, first: 0) + bytes
    }

    static func integer(_ value: Int, prefix: Int, first: UInt8) -> [UInt8] {
        let most = (1 << prefix) - 1
        if value < most { return [first | UInt8(value)] }
        var out = [first | UInt8(most)]
        var rest = value - most
        while rest >= 128 {
            out.append(UInt8(rest & 127 | 128))
            rest >>= 7
        }
        return out + [UInt8(rest)]
    }

    static func block(_ fields: [(String, String)]) -> [UInt8] { fields.flatMap { literal($0.0, $0.1) } }
}
