import CFuzzer
import Glibc

@testable import APNs
@testable import JSON

/// Any bytes as JSON: the scanner that builds nothing and jansson, which builds all, must have the same opinion, but for
/// what jansson cannot hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSONText(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let mine = bytes.withUnsafeBufferPointer { JSONText.isObject($0) }
    do throws(JSONFailure) {
        let isObject = try JSONValue.parse(bytes).members != nil
        precondition(mine == isObject, "an object for one of them only")
    } catch {
        let isBeyondJansson = [
            "too big integer", "too big negative integer", "real number overflow", "NUL byte in object key",
        ].contains { error.description.contains($0) }
        precondition(!mine || isBeyondJansson, "an object that jansson refuses: \(error)")
    }
    // A payload may ask for a fault; nothing of it may be anything but a list of known ones.
    if let faults = bytes.withUnsafeBufferPointer({ try? FaultRules.inPayload($0) }), !faults.isEmpty {
        precondition((1...8).contains(faults.count), "a list out of limits")
        for fault in faults { precondition(!fault.words.isEmpty, "a fault without words") }
    }
    return 0
}

var argc = CommandLine.argc
var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(LLVMFuzzerRunDriver(&argc, &argv, fuzzJSONText))
