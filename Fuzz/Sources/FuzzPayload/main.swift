import CFuzzer
import Glibc

@testable import JSON
@testable import Pushes

/// Any bytes as a push payload: a call, fit to show and within limits, or words why not. What is JSON stays the same
/// value when it is written and read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPayload(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    do {
        check(try PayloadReader.read(bytes, book: .builtIn).signal)
    } catch {
        precondition(!error.description.isEmpty, "a fault without words")
    }
    if let value = try? JSONValue.parse(bytes) {
        let text = value.encoded()
        guard let again = try? JSONValue.parse(text) else {
            preconditionFailure("what was written is not read: \(text)")
        }
        precondition(again.encoded() == text, "not the same when read again: \(text)")
        _ = value.encoded(pretty: true)
    }
    return 0
}

private func check(_ signal: CallSignal) {
    if let key = signal.key {
        precondition((1...16_384).contains(key.utf8.count), "a key out of limits")
    } else {
        precondition(signal.kind == .invite || signal.meansOnlyCall, "a cancel of nothing")
    }
    // The sound is checked where names of sounds are.
    for text in [signal.callerName, signal.handle] {
        guard let text else { continue }
        precondition(!text.isEmpty && text.utf8.count <= 1024, "a text out of limits")
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .surrogate, .lineSeparator, .paragraphSeparator:
                preconditionFailure("unfit to show: \(text)")
            default: break
            }
        }
    }
    if let time = signal.ringTime { precondition(time > .zero, "a ring that takes no time") }
}

var argc = CommandLine.argc
var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(LLVMFuzzerRunDriver(&argc, &argv, fuzzPayload))
