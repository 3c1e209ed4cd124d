import CFuzzer
import Glibc

@testable import Base
@testable import JSON
@testable import Pushes

/// Any text as a dialect file, and behind a line of dashes any payload: a dialect that reads, or words why not. What a
/// dialect writes is JSON, and what it reads is fit to show and within limits.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDialect(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let cut = lines.firstIndex { $0 == "---" } ?? lines.count
    let file = lines[..<cut].joined(separator: "\n")
    let payload = lines[min(cut + 1, lines.count)...].joined(separator: "\n")
    let (book, faults) = DialectBook.builtIn.adding([("mine", file)])
    guard let dialect = book["mine"] else {
        precondition(!faults.isEmpty, "no dialect, and no words why")
        for (_, fault) in faults { precondition(!fault.reason.isEmpty, "a fault without words") }
        return 0
    }
    precondition(faults.isEmpty, "a dialect with faults is used")
    var call = CallSignal()
    call.key = "k"
    call.callerName = "Alice"
    call.handle = "+49301234567"
    call.video = true
    call.ringTime = .seconds(20)
    call.sentAt = WallTime(nanoseconds: 1_764_486_702_000_000_000)
    for kind in CallSignal.Kind.allCases {
        call.kind = kind
        guard let written = try? dialect.write(call) else { continue }
        guard let again = try? JSONValue.parse(written.encoded()) else {
            preconditionFailure("what was written is no JSON: \(written.encoded())")
        }
        _ = try? book.read(again, .init(dialect: "mine"))
    }
    guard let json = try? JSONValue.parse(payload), json.members != nil else { return 0 }
    for choice in [DialectBook.Choice(), .init(dialect: "mine", allowsPlain: false)] {
        guard let reading = try? book.read(json, choice) else { continue }
        for text in [reading.signal.callerName, reading.signal.handle] {
            precondition(text.map { !$0.isEmpty && $0.utf8.count <= 1024 } ?? true, "a text out of limits")
        }
        precondition(reading.signal.key.map { (1...16_384).contains($0.utf8.count) } ?? true, "a key out of limits")
    }
    return 0
}

var argc = CommandLine.argc
var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(LLVMFuzzerRunDriver(&argc, &argv, fuzzDialect))
