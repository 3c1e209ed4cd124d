import APNs
import Foundation
import Gateway
import Testing

/// Everything that comes out of `bytes`, fed in pieces of `piece` bytes, up to and including a fault.
func outcomes(
    _ bytes: [UInt8], piece: Int = .max, limits: BinaryParser.Limits = .init()
) -> [BinaryParser.Outcome] {
    var parser = BinaryParser(limits: limits)
    var found: [BinaryParser.Outcome] = []
    var rest = bytes[...]
    while !rest.isEmpty {
        parser.append(rest.prefix(piece))
        rest = rest.dropFirst(piece)
        inner: while true {
            switch parser.next() {
            case .push(let push): found.append(.push(push))
            case .failed(let fault): return found + [.failed(fault)]
            case .needMore: break inner
            }
        }
    }
    return found
}

@Suite struct BinaryParserTests {
    @Test func simpleFrame() {
        let expected = BinaryPush(command: 0, token: Frames.token, payload: Frames.payload)
        #expect(outcomes(Frames.simple()) == [.push(expected)])
    }

    @Test func enhancedFrame() {
        let expected = BinaryPush(
            command: 1, token: Frames.token, payload: Frames.payload, identifier: 0xdead_beef, expiry: 77)
        #expect(outcomes(Frames.enhanced(id: 0xdead_beef, expiry: 77)) == [.push(expected)])
    }

    @Test func framedItemsComeInAnyOrder() {
        let items = [
            Frames.item(5, [5]), Frames.item(4, Frames.number(99, 4)), Frames.item(3, Frames.number(7, 4)),
            Frames.item(2, Frames.payload), Frames.item(1, Frames.token),
        ]
        let expected = BinaryPush(
            command: 2, token: Frames.token, payload: Frames.payload, identifier: 7, expiry: 99, priority: 5)
        #expect(outcomes(Frames.framed(items)) == [.push(expected)])
        #expect(outcomes(Frames.framed(items.reversed())) == [.push(expected)])
    }

    @Test func framedNeedsTokenAndPayloadOnly() {
        let frame = Frames.framed([Frames.item(1, Frames.token), Frames.item(2, Frames.payload)])
        #expect(outcomes(frame) == [.push(BinaryPush(command: 2, token: Frames.token, payload: Frames.payload))])
    }

    @Test(arguments: [1, 2, 3, 7, 64, 1000])
    func splitAndJoinedFramesAreOneStream(piece: Int) {
        let stream = Frames.simple() + Frames.enhanced(id: 1) + Frames.framed(id: 2) + Frames.simple()
        let whole = outcomes(stream)
        #expect(whole.count == 4)
        #expect(outcomes(stream, piece: piece) == whole)
    }

    struct Bad: Sendable {
        let name: String
        let bytes: [UInt8]
        let status: BinaryStatus
        let packet: [UInt8]?
    }

    static let bad: [Bad] = [
        Bad(name: "command 0 token length 0", bytes: Frames.simple([]), status: .missingDeviceToken, packet: nil),
        Bad(
            name: "command 0 payload length 0", bytes: Frames.simple(Frames.token, []), status: .missingPayload,
            packet: nil),
        Bad(
            name: "command 0 token of 31", bytes: Frames.simple([UInt8](repeating: 1, count: 31)),
            status: .invalidTokenSize, packet: nil),
        Bad(
            name: "command 0 payload of 5121", bytes: [0] + Frames.sized(Frames.token) + [0x14, 0x01],
            status: .invalidPayloadSize, packet: nil),
        Bad(
            name: "command 1 token length 0", bytes: Frames.enhanced(id: 5, []), status: .missingDeviceToken,
            packet: [8, 2, 0, 0, 0, 5]),
        Bad(
            name: "command 1 token of 33", bytes: Frames.enhanced(id: 0x0102_0304, [UInt8](repeating: 1, count: 33)),
            status: .invalidTokenSize, packet: [8, 5, 1, 2, 3, 4]),
        Bad(
            name: "command 1 payload length 0", bytes: Frames.enhanced(id: 6, Frames.token, []),
            status: .missingPayload,
            packet: [8, 4, 0, 0, 0, 6]),
        Bad(
            name: "command 1 payload too large",
            bytes: Frames.enhanced(id: 6, Frames.token, [UInt8](repeating: 1, count: 5121)),
            status: .invalidPayloadSize,
            packet: [8, 7, 0, 0, 0, 6]),
        Bad(
            name: "command 2 without token",
            bytes: Frames.framed([Frames.item(2, [1]), Frames.item(3, [0, 0, 0, 9])]),
            status: .missingDeviceToken, packet: [8, 2, 0, 0, 0, 9]),
        Bad(
            name: "command 2 without payload",
            bytes: Frames.framed([Frames.item(3, [0, 0, 0, 9]), Frames.item(1, Frames.token)]), status: .missingPayload,
            packet: [8, 4, 0, 0, 0, 9]),
        Bad(
            name: "command 2 oversize payload, identifier behind it",
            bytes: Frames.framed(id: 9, Frames.token, [UInt8](repeating: 1, count: 60_000)),
            status: .invalidPayloadSize,
            packet: [8, 7, 0, 0, 0, 9]),
        Bad(
            name: "command 2 empty frame", bytes: [2, 0, 0, 0, 0], status: .missingDeviceToken,
            packet: [8, 2, 0, 0, 0, 0]),
        Bad(
            name: "command 2 item twice",
            bytes: Frames.framed([Frames.item(3, [0, 0, 0, 9]), Frames.item(3, [0, 0, 0, 9])]), status: .protocolError,
            packet: [8, 128, 0, 0, 0, 0]),
        Bad(
            name: "command 2 item over the frame's end", bytes: [2, 0, 0, 0, 4, 1, 0, 32, 1], status: .protocolError,
            packet: [8, 128, 0, 0, 0, 0]),
        Bad(
            name: "command 2 two bytes left over", bytes: [2, 0, 0, 0, 2, 1, 0], status: .protocolError,
            packet: [8, 128, 0, 0, 0, 0]),
        Bad(
            name: "command 2 unknown item", bytes: Frames.framed([Frames.item(9, [1])]), status: .protocolError,
            packet: [8, 128, 0, 0, 0, 0]),
        Bad(
            name: "command 2 identifier of 3", bytes: Frames.framed([Frames.item(3, [1, 2, 3])]),
            status: .protocolError,
            packet: [8, 128, 0, 0, 0, 0]),
        Bad(
            name: "command 2 priority 7",
            bytes: Frames.framed([Frames.item(1, Frames.token), Frames.item(2, [1]), Frames.item(5, [7])]),
            status: .protocolError, packet: [8, 128, 0, 0, 0, 0]),
        Bad(
            name: "command 2 huge frame", bytes: [2, 0xff, 0xff, 0xff, 0xff], status: .protocolError,
            packet: [8, 128, 0, 0, 0, 0]),
        Bad(name: "command 3", bytes: [3], status: .protocolError, packet: [8, 128, 0, 0, 0, 0]),
        Bad(name: "text", bytes: Array("hello".utf8), status: .protocolError, packet: [8, 128, 0, 0, 0, 0]),
    ]

    @Test(arguments: bad)
    func faultsHaveTheirStatus(_ bad: Bad) throws {
        for piece in [1, Int.max] {
            // A good push before it is still delivered.
            let found = outcomes(Frames.simple() + bad.bytes + Frames.simple(), piece: piece)
            #expect(found.count == 2, "\(bad.name)")
            guard case .push? = found.first, case .failed(let fault)? = found.last else {
                Issue.record("\(bad.name): \(found)")
                continue
            }
            #expect(fault.status == bad.status, "\(bad.name)")
            #expect(fault.packet == bad.packet, "\(bad.name)")
            #expect(!fault.words.isEmpty)
        }
    }

    @Test func limitsAreTheCallers() {
        let long = [UInt8](repeating: 1, count: 100)
        #expect(outcomes(Frames.framed(id: 1, long), limits: .init(token: 1...100)).count == 1)
        let found = outcomes(Frames.simple(), limits: .init(payload: 10))
        let fault = BinaryFault(cause: .payloadSize(Frames.payload.count, limit: 10), command: 0, identifier: nil)
        #expect(found == [.failed(fault)])
    }

    @Test func aFaultIsFinal() {
        var parser = BinaryParser()
        parser.append([7])
        let first = parser.next()
        parser.append(Frames.simple())
        #expect(parser.next() == first)
        #expect(parser.buffered == 0)
    }

    /// Any bytes in any pieces: the same outcomes as in one piece, and never more held than a frame needs.
    @Test func anyBytesInAnyPieces() {
        let seed = UInt64.random(in: .min ... .max)
        var random = Seeded(seed)
        for round in 0..<3000 {
            var stream: [UInt8] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                var frame: [UInt8] =
                    switch Int.random(in: 0...4, using: &random) {
                    case 0: Frames.simple()
                    case 1: Frames.enhanced(id: Int.random(in: 0...9, using: &random))
                    case 2: Frames.framed(id: Int.random(in: 0...9, using: &random))
                    case 3: Frames.framed([Frames.item(1, Frames.token), Frames.item(5, [10])])
                    default: (0..<40).map { _ in UInt8.random(in: 0...3, using: &random) }
                    }
                if Bool.random(using: &random) {
                    frame[Int.random(in: 0..<frame.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                stream += frame
            }
            let whole = outcomes(stream)
            var parser = BinaryParser()
            var found: [BinaryParser.Outcome] = []
            var rest = stream[...]
            var isOver = false
            while !rest.isEmpty && !isOver {
                let piece = Int.random(in: 1...50, using: &random)
                parser.append(rest.prefix(piece))
                rest = rest.dropFirst(piece)
                inner: while true {
                    switch parser.next() {
                    case .needMore: break inner
                    case .push(let push): found.append(.push(push))
                    case .failed(let fault):
                        found.append(.failed(fault))
                        isOver = true
                        break inner
                    }
                }
                #expect(parser.buffered <= 5120 + 64, "seed \(seed), round \(round)")
            }
            if found != whole {
                Issue.record("seed \(seed), round \(round): \(found) is not \(whole)")
                return
            }
        }
    }

    /// Inputs that broke the parser once, or that stand for a kind that must not. Found by `Scripts/fuzz`.
    @Test func failCasesAreHarmless() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz")
        var count = 0
        for folder in ["FailCases/binary", "corpus/binary"] {
            let directory = root.appending(path: folder)
            for file in try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil) {
                let bytes = [UInt8](try Data(contentsOf: file))
                #expect(outcomes(bytes, piece: 1) == outcomes(bytes), "\(file.lastPathComponent)")
                count += 1
            }
        }
        #expect(count > 0)
    }
}
