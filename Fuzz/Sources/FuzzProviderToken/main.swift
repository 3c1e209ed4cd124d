import CFuzzer
import Glibc

@testable import APNs
@testable import Base

/// Any bytes as an `authorization` header; and three lines as a token's parts, so that what is behind base 64 is reached.
/// It is a token or words why not, the same each time, and its time is one that a clock can hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzProviderToken(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    check(bytes)
    let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
    if parts.count == 3 {
        check(Array(("bearer " + parts.map { Base64URL.encode($0) }.joined(separator: ".")).utf8))
    }
    return 0
}

/// Every other signature is good.
nonisolated(unsafe) private let tokens = ProviderTokens(
    keys: ["ABC123DEFG", "K"].map { id in
        ProviderKey(id: id, team: id == "K" ? nil : "TEAM000001") { _, signature in signature.count % 2 == 0 }
    })

private func check(_ header: [UInt8]) {
    let first = header.withUnsafeBufferPointer { tokens.read($0) }
    let again = header.withUnsafeBufferPointer { tokens.read($0) }
    switch (first, again) {
    case (.success(let token), .success(let other)):
        precondition(token === other, "read twice")
        precondition((0..<Int64(1e15)).contains(token.issuedAt) && !token.team.isEmpty, "out of limits")
        precondition(String(validating: token.words, as: UTF8.self) != nil && token.words.count < 256, "words unfit")
        for finding in token.advice { precondition(finding.reason == nil && !finding.text.isEmpty, "a strange advice") }
    case (.failure(let refused), .failure(let other)):
        precondition(refused.finding == other.finding, "another opinion")
        precondition(!refused.finding.text.isEmpty && refused.finding.text.utf8.count <= 1024, "words out of limits")
        precondition(
            [.invalidProviderToken, .missingProviderToken].contains(refused.finding.reason), "a strange reason")
    default: preconditionFailure("taken once and refused once")
    }
}

var argc = CommandLine.argc
var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(LLVMFuzzerRunDriver(&argc, &argv, fuzzProviderToken))
