import CFuzzer
import Glibc

@testable import Webhooks

/// A webhook's headers, a line each: method, version, target, Authorization, Content-Length, Transfer-Encoding, Origin; empty
/// lines are headers that did not come. Nothing comes in without the secret, and what does is bounded text.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebhook(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let secret = Array("the secret of fuzzers".utf8)
    let lines = UnsafeBufferPointer(start: start, count: count)
        .split(separator: 10, maxSplits: 6, omittingEmptySubsequences: false).map(Array.init)
    func line(_ index: Int) -> [UInt8]? { index < lines.count && !lines[index].isEmpty ? lines[index] : nil }
    let head = RequestHead(
        method: String(decoding: line(0) ?? [], as: UTF8.self), version: String(decoding: line(1) ?? [], as: UTF8.self),
        target: line(2) ?? []
    ) { name in
        switch "\(name)" {
        case "Authorization": line(3)
        case "Content-Length": line(4)
        case "Transfer-Encoding": line(5)
        case "Origin": line(6)
        default: nil
        }
    }
    switch Gatekeeper(secret: Secret(secret), bodyLimit: 1000).judge(head) {
    case .take(let target, let size):
        precondition(head.method == "POST" && line(6) == nil, "a method or a page too many")
        precondition(target.path.count <= Target.mostSegments && target.query.count <= Target.mostFields, "unbounded")
        for text in target.path + target.query.flatMap({ [$0.name, $0.value] }) {
            precondition(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }, "a control character")
        }
        precondition((size ?? 0) <= 1000 && (size == nil) == (line(5) != nil), "a length that is none")
        // Base64 may hide it; what is plain must be whole.
        let shown = line(3).map { String(decoding: $0, as: UTF8.self) }
        let isBasic = shown?.lowercased().hasPrefix("basic ") == true
        let isBearer = shown?.hasSuffix(String(decoding: secret, as: UTF8.self)) == true
        let isInTarget = shown == nil && target["token"].map { Array($0.utf8) } == secret
        precondition(isBasic || isBearer || isInTarget, "somebody without the secret")
    case .refuse(let turndown):
        precondition((400...599).contains(turndown.status) && !turndown.error.isEmpty, "a refusal without words")
    }
    return 0
}

var argc = CommandLine.argc
var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(LLVMFuzzerRunDriver(&argc, &argv, fuzzWebhook))
