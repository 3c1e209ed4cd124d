import APNs
import Base
import EventLoop
import Foundation
import Gateway
import HTTP2
import Testing

/// The cases of h2spec that apply to a server of requests with a body, with frames written by hand.
@Suite struct HTTP2SpecTests {
    enum Wanted: Sendable {
        /// The connection ends; with one of these codes, if there was time to say so.
        case connectionError([UInt32])
        /// This stream ends with one of these codes, or the connection does.
        case streamError(UInt32, [UInt32])
        /// The connection goes on: a PING is answered.
        case alive
        /// A request is answered: a response of `:status` begins on this stream.
        case response(UInt32)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let frames: [UInt8]
        let wanted: Wanted
        var testDescription: String { name }

        init(_ name: String, _ frames: [H2Frame], _ wanted: Wanted) {
            self.name = name
            self.frames = frames.flatMap(\.bytes)
            self.wanted = wanted
        }

        init(_ name: String, raw: [UInt8], _ wanted: Wanted) {
            self.name = name
            frames = raw
            self.wanted = wanted
        }
    }

    // RFC 9113, 7.
    static let protocolError: UInt32 = 1
    static let flowControl: UInt32 = 3
    static let streamClosed: UInt32 = 5
    static let frameSize: UInt32 = 6
    static let refused: UInt32 = 7
    static let compression: UInt32 = 9

    static let good: [(String, String)] = [
        (":method", "POST"), (":scheme", "https"), (":authority", "localhost"),
        (":path", "/3/device/" + Hex.text(Frames.token)), ("apns-topic", "org.example.App.voip"),
    ]
    static let block = HPACK.block(good)
    static func without(_ name: String) -> [UInt8] { HPACK.block(good.filter { $0.0 != name }) }
    static func with(_ name: String, _ value: String) -> [UInt8] { block + HPACK.literal(name, value) }
    static func bad(_ name: String, _ block: [UInt8]) -> Case {
        Case(name, [.headers(1, block, end: true)], .streamError(1, [protocolError]))
    }
    static let ended = H2Frame.headers(1, block, end: true)
    static let open = H2Frame.headers(1, block)

    static let framing: [Case] = [
        Case("4.1 a frame of unknown type is ignored", [H2Frame(kind: 0xfa, payload: [0, 0])], .alive),
        Case("4.1 unknown flags are ignored", [H2Frame(kind: 6, flags: 0x16, payload: Array("ringring".utf8))], .alive),
        Case(
            "4.1 the reserved bit is ignored", raw: H2Frame.head(8, 6, 0, 0x8000_0000) + Array("ringring".utf8), .alive),
        Case(
            "4.2 DATA of 16,384 bytes is taken", [open, .data(1, [UInt8](repeating: 32, count: 16_384))], .response(1)),
        Case(
            "4.2 a larger DATA frame is refused", [open, .data(1, [UInt8](repeating: 32, count: 16_385))],
            .streamError(1, [frameSize])),
        Case(
            "4.2 a larger HEADERS frame is refused", [.headers(1, [UInt8](repeating: 0, count: 16_385))],
            .connectionError([frameSize])),
        Case(
            "4.3 a broken header block", [.headers(1, [0x40, 0x01, 0x61], end: true)], .connectionError([compression])),
        Case(
            "4.3 PRIORITY inside a header block", [.headers(1, block, whole: false), .priority(1)],
            .connectionError([protocolError])),
        Case(
            "4.3 another stream's HEADERS inside a header block",
            [.headers(1, block, whole: false), .headers(3, block)], .connectionError([protocolError])),
        Case(
            "5.5 an unknown frame inside a header block",
            [.headers(1, block, whole: false), H2Frame(kind: 0xfa, stream: 1)], .connectionError([protocolError])),
    ]

    static let streams: [Case] = [
        Case("5.1 DATA on an idle stream", [.data(1, [1])], .connectionError([protocolError, streamClosed])),
        Case("5.1 RST_STREAM on an idle stream", [.reset(1)], .connectionError([protocolError])),
        Case("5.1 WINDOW_UPDATE on an idle stream", [.windowUpdate(1, 100)], .connectionError([protocolError])),
        Case(
            "5.1 CONTINUATION on an idle stream", [H2Frame(kind: 9, flags: 4, stream: 1, payload: block)],
            .connectionError([protocolError])),
        Case("5.1 DATA after the end", [ended, .data(1, [1])], .streamError(1, [streamClosed])),
        Case("5.1 HEADERS after the end", [ended, ended], .streamError(1, [streamClosed])),
        Case(
            "5.1 CONTINUATION after the end", [ended, H2Frame(kind: 9, flags: 4, stream: 1, payload: block)],
            .connectionError([protocolError, streamClosed])),
        Case("5.1 DATA on a stream that was reset is ignored", [open, .reset(1), .data(1, [1])], .alive),
        Case("5.1.1 an even stream number", [.headers(2, block, end: true)], .connectionError([protocolError])),
        Case(
            "5.1.1 a smaller stream number is ignored", [.headers(5, block, end: true), .headers(3, block, end: true)],
            .alive),
        Case("5.3 PRIORITY is ignored", [.priority(3, on: 1), .ping()], .alive),
        Case("8.1 a second HEADERS without an end", [open, open], .streamError(1, [protocolError])),
        Case(
            "8.4 PUSH_PROMISE from a client",
            [H2Frame(kind: 5, flags: 4, stream: 1, payload: H2Frame.number(2) + block)],
            .connectionError([protocolError])),
    ]

    static let frames: [Case] = [
        Case("6.1 DATA on stream 0", [.data(0, [1])], .connectionError([protocolError])),
        Case(
            "6.1 DATA with more padding than payload", [open, H2Frame(kind: 0, flags: 9, stream: 1, payload: [9, 1])],
            .connectionError([protocolError])),
        Case("6.2 HEADERS on stream 0", [.headers(0, block, end: true)], .connectionError([protocolError])),
        Case(
            "6.2 HEADERS with more padding than payload",
            [H2Frame(kind: 1, flags: 13, stream: 1, payload: [250] + block.prefix(9))],
            .connectionError([protocolError])),
        Case("6.3 PRIORITY on stream 0", [.priority(0)], .connectionError([protocolError])),
        Case(
            "6.3 PRIORITY of 4 bytes", [H2Frame(kind: 2, stream: 1, payload: [0, 0, 0, 0])],
            .streamError(1, [frameSize])),
        Case("6.4 RST_STREAM on stream 0", [.reset(0)], .connectionError([protocolError])),
        Case(
            "6.4 RST_STREAM of 3 bytes", [open, H2Frame(kind: 3, stream: 1, payload: [0, 0, 0])],
            .connectionError([frameSize])),
        Case(
            "6.5 SETTINGS with ACK and a payload", [H2Frame(kind: 4, flags: 1, payload: [0])],
            .connectionError([frameSize])),
        Case("6.5 SETTINGS on a stream", [H2Frame(kind: 4, stream: 1, payload: [])], .connectionError([protocolError])),
        Case("6.5 SETTINGS of 3 bytes", [H2Frame(kind: 4, payload: [0, 3, 0])], .connectionError([frameSize])),
        Case("6.5.2 ENABLE_PUSH of 2", [.settings([(2, 2)])], .connectionError([protocolError])),
        Case(
            "6.5.2 INITIAL_WINDOW_SIZE beyond 2^31-1", [.settings([(4, 0x8000_0000)])], .connectionError([flowControl])),
        Case("6.5.2 MAX_FRAME_SIZE below 16,384", [.settings([(5, 16_383)])], .connectionError([protocolError])),
        Case("6.5.2 MAX_FRAME_SIZE beyond 2^24-1", [.settings([(5, 1 << 24)])], .connectionError([protocolError])),
        Case("6.5.2 an unknown setting is ignored", [.settings([(0xff, 1)])], .alive),
        Case(
            "6.7 PING on a stream", [H2Frame(kind: 6, stream: 1, payload: Array("ringring".utf8))],
            .connectionError([protocolError])),
        Case("6.7 PING of 6 bytes", [H2Frame(kind: 6, payload: [0, 0, 0, 0, 0, 0])], .connectionError([frameSize])),
        Case("6.7 PING with ACK is not answered", [.ping("wrongone", ack: true)], .alive),
        Case(
            "6.8 GOAWAY on a stream", [H2Frame(kind: 7, stream: 1, payload: H2Frame.number(0) + H2Frame.number(0))],
            .connectionError([protocolError])),
        Case("6.9 WINDOW_UPDATE of 0", [.windowUpdate(0, 0)], .connectionError([protocolError])),
        Case("6.9 WINDOW_UPDATE of 0 on a stream", [open, .windowUpdate(1, 0)], .streamError(1, [protocolError])),
        Case("6.9 WINDOW_UPDATE of 3 bytes", [H2Frame(kind: 8, payload: [0, 0, 1])], .connectionError([frameSize])),
        Case(
            "6.9.1 a window beyond 2^31-1", [.windowUpdate(0, 0x7fff_ffff), .windowUpdate(0, 0x7fff_ffff)],
            .connectionError([flowControl])),
        Case(
            "6.9.1 a stream's window beyond 2^31-1",
            [open, .windowUpdate(1, 0x7fff_ffff), .windowUpdate(1, 0x7fff_ffff)], .streamError(1, [flowControl])),
        Case(
            "6.10 CONTINUATION on stream 0",
            [.headers(1, block, whole: false), H2Frame(kind: 9, flags: 4, payload: [])],
            .connectionError([protocolError])),
        Case(
            "6.10 CONTINUATION without HEADERS", [open, H2Frame(kind: 9, flags: 4, stream: 1, payload: block)],
            .connectionError([protocolError])),
        Case(
            "6.10 several CONTINUATION frames are taken",
            [
                .headers(1, Array(block.prefix(10)), end: true, whole: false),
                H2Frame(kind: 9, stream: 1, payload: Array(block.dropFirst(10).prefix(10))),
                H2Frame(kind: 9, flags: 4, stream: 1, payload: Array(block.dropFirst(20))),
            ], .response(1)),
        Case("7 an unknown error code in RST_STREAM", [open, .reset(1, 0xff)], .alive),
    ]

    static let requests: [Case] = [
        bad("8.2.1 a capital letter in a name", with("X-Ring", "1")),
        bad("8.3 an unknown pseudo-header", HPACK.literal(":ring", "1") + block),
        bad("8.3 a response's pseudo-header", HPACK.literal(":status", "200") + block),
        bad("8.3 a pseudo-header behind a regular one", HPACK.literal("x-ring", "1") + block),
        bad("8.2.2 a connection header", with("connection", "keep-alive")),
        bad("8.2.2 TE other than trailers", with("te", "gzip")),
        bad("8.3.1 no :method", without(":method")),
        bad("8.3.1 no :scheme", without(":scheme")),
        bad("8.3.1 no :path", without(":path")),
        bad("8.3.1 an empty :path", HPACK.literal(":path", "") + without(":path")),
        bad("8.3.1 :method twice", HPACK.literal(":method", "POST") + block),
        bad("8.3.1 :path twice", HPACK.literal(":path", "/") + block),
        Case(
            "8.1.1 a wrong content-length", [.headers(1, with("content-length", "1")), .data(1, [1, 2])],
            .streamError(1, [protocolError])),
        Case(
            "8.1 a pseudo-header in trailers",
            [open, .data(1, [1], end: false), .headers(1, HPACK.literal(":method", "POST"), end: true)],
            .streamError(1, [protocolError])),
        Case(
            "8.1 trailers are taken",
            [open, .data(1, Array("{}".utf8), end: false), .headers(1, HPACK.literal("x-ring", "1"), end: true)],
            .response(1)),
        Case(
            "8.3.1 host instead of :authority",
            [.headers(1, without(":authority") + HPACK.literal("host", "localhost"), end: true)], .response(1)),
    ]

    static let hpack: [Case] = [
        Case(
            "HPACK 2.3.3 an index that is not there", [.headers(1, [0xff, 0x80, 0x01], end: true)],
            .connectionError([compression])),
        Case("HPACK 6.1 index 0", [.headers(1, [0x80], end: true)], .connectionError([compression])),
        Case(
            "HPACK 4.2 a size update behind a field", [.headers(1, block + [0x20], end: true)],
            .connectionError([compression])),
        Case(
            "HPACK 6.3 a size update beyond the limit",
            [.headers(1, HPACK.integer(65_536, prefix: 5, first: 0x20) + block, end: true)],
            .connectionError([compression])),
        Case(
            "HPACK 6.3 a size update in front is taken",
            [.headers(1, HPACK.integer(0, prefix: 5, first: 0x20) + block, end: true)], .response(1)),
        Case(
            "HPACK 5.2 Huffman padding of more than 7 bits",
            [.headers(1, [0x00, 0x85, 0xf2, 0xb2, 0x4a, 0x84, 0xff, 0x84, 0x49, 0x50, 0x9f, 0xff], end: true)],
            .connectionError([compression])),
        Case(
            "HPACK 5.2 Huffman padding of zeros",
            [.headers(1, [0x00, 0x85, 0xf2, 0xb2, 0x4a, 0x87, 0xff, 0x83, 0x49, 0x50, 0x90], end: true)],
            .connectionError([compression])),
        Case(
            "HPACK 5.2 EOS in a Huffman string",
            [
                .headers(
                    1,
                    [0x00, 0x85, 0xf2, 0xb2, 0x4a, 0x87, 0xff, 0x88, 0x49, 0x51, 0xff, 0xff, 0xff, 0xfa, 0x7f, 0xff],
                    end: true)
            ], .connectionError([compression])),
        Case(
            "HPACK 5.1 an integer without end",
            [.headers(1, [0x00, 0x7f] + [UInt8](repeating: 0xff, count: 20), end: true)],
            .connectionError([compression])),
    ]

    @Test(arguments: framing + streams + frames + requests + hpack)
    func asTheStandardSays(_ one: Case) throws {
        let rig = try Rig()
        let other = try rig.sender()
        let client = try rig.frameClient()
        client.send(one.frames)
        // Another sender is not disturbed by any of it.
        let push = try other.push(Frames.token, ["authorization": "bearer " + rig.providerToken()])
        #expect(try rig.answer(other, push).status == 200)
        var bytes: [UInt8] = []
        var seen: [H2Frame] = []
        var taken = 0
        func frames() -> [H2Frame] {
            bytes += client.received[taken...]
            taken = client.received.count
            seen += H2Frame.take(from: &bytes)
            return seen
        }
        switch one.wanted {
        case .connectionError(let codes):
            try rig.turn("the connection ends: \(one.name)") {
                _ = frames()
                return client.isEnded
            }
            if let goAway = seen.last(where: { $0.kind == H2Frame.Kind.goAway }) {
                #expect(codes.contains(goAway.code), "GOAWAY \(goAway.code)")
            }
        case .streamError(let stream, let codes):
            try rig.turn("the stream ends: \(one.name)") {
                frames().contains {
                    $0.kind == H2Frame.Kind.reset && $0.stream == stream || $0.kind == H2Frame.Kind.goAway
                }
            }
            let end = try #require(seen.last { $0.kind == H2Frame.Kind.reset || $0.kind == H2Frame.Kind.goAway })
            #expect(codes.contains(end.code), "\(end) code \(end.code)")
        case .alive:
            client.send(H2Frame.ping("stillher").bytes)
            try rig.turn("PING is answered: \(one.name)") {
                frames().contains(H2Frame.ping("stillher", ack: true))
            }
        case .response(let stream):
            try rig.turn("an answer: \(one.name)") {
                frames().contains { $0.kind == H2Frame.Kind.headers && $0.stream == stream }
            }
        }
        #expect(!seen.contains { $0 == H2Frame.ping("wrongone", ack: true) })
    }

    @Test func aWrongPrefaceEndsIt() throws {
        let rig = try Rig()
        let client = try rig.frameClient()
        client.send(Array("garbage that is no frame".utf8))
        try rig.turn("the connection ends") { client.isEnded }
        let context = try rig.rawPreface("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n")
        try rig.turn("the connection ends") { context.isEnded }
        #expect(rig.causes().contains("http2-broken"))
    }
}
