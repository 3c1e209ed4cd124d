import CFuzzer
import Glibc

@testable import Gateway

/// Any bytes as a stream of binary frames: in one piece and in pieces (of as many bytes as the last byte says) they must
/// come to the same, and the parser must never hold more than a frame needs.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzBinary(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let stream = Array(UnsafeBufferPointer(start: start, count: count))
    let piece = max(1, Int(stream.last ?? 1))
    precondition(outcomes(stream, piece: piece) == outcomes(stream, piece: .max), "pieces change the outcome")
    return 0
}

private func outcomes(_ stream: [UInt8], piece: Int) -> [BinaryParser.Outcome] {
    var parser = BinaryParser()
    var found: [BinaryParser.Outcome] = []
    var rest = stream[...]
    while !rest.isEmpty {
        let next = rest.prefix(piece)
        rest = rest.dropFirst(piece)
        parser.append(next)
        var isHungry = false
        while !isHungry {
            let outcome = parser.next()
            switch outcome {
            case .needMore: isHungry = true
            case .push(let push):
                precondition(push.token.count == 32 && (1...5120).contains(push.payload.count), "out of limits")
                found.append(outcome)
            case .failed(let fault):
                precondition(fault.packet?.count ?? 6 == 6 && !fault.words.isEmpty, "a fault without an answer")
                return found + [outcome]
            }
        }
        precondition(parser.buffered <= 5120 + 64, "more is held than a frame needs")
    }
    return found
}

var argc = CommandLine.argc
var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(LLVMFuzzerRunDriver(&argc, &argv, fuzzBinary))
