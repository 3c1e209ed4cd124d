import CFuzzer
import Glibc

@testable import Gateway

/// Any bytes at the CONNECT door: in one piece and in pieces (of as many bytes as the last byte says) they must come to the
/// same, and nothing but Apple's names on their ports may ever be let through.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzConnect(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let whole = outcome(bytes, piece: .max)
    let pieces = outcome(bytes, piece: max(1, Int(bytes.last ?? 1)))
    switch (whole, pieces) {
    case (.tunnel(let name, let port, _), .tunnel(let other, let same, _)):
        precondition(name == other && port == same, "pieces change the outcome")
        precondition(ConnectParser.names.contains(name) && ConnectParser.ports.contains(port), "a door too many")
    case (.needMore, .needMore): precondition(bytes.count <= ConnectParser.sizeLimit, "more is held than may be")
    case (.refused(let refusal), .refused):
        precondition(!refusal.words.isEmpty && refusal.status.first == "4", "a refusal without words")
        precondition(!refusal.words.unicodeScalars.contains { $0.value < 0x20 }, "a control character in an answer")
    default: preconditionFailure("pieces change the outcome")
    }
    return 0
}

private func outcome(_ bytes: [UInt8], piece: Int) -> ConnectParser.Outcome {
    var parser = ConnectParser()
    var rest = bytes[...]
    while !rest.isEmpty {
        let outcome = rest.prefix(piece).withUnsafeBytes { parser.take($0) }
        if outcome != .needMore { return outcome }
        rest = rest.dropFirst(piece)
    }
    return .needMore
}

var argc = CommandLine.argc
var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(LLVMFuzzerRunDriver(&argc, &argv, fuzzConnect))
