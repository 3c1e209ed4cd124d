import CFuzzer
import Glibc

@testable import JSON
@testable import Pushes

/// Any bytes as an `.apns` file: headers fit for HTTP/2, and a payload that is JSON; or words why not.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzApnsFile(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    do {
        let file = try ApnsFile(text)
        precondition((try? JSONValue.parse(file.payload)) != nil, "a payload that is not JSON")
        for (name, value) in file.headers {
            precondition(name.hasPrefix("apns-") && name.utf8.count <= 64, "no header of ours")
            for byte in name.utf8 { precondition((0x21..<0x7f).contains(byte), "a byte that no header name may have") }
            precondition(!name.utf8.contains { (0x41...0x5a).contains($0) || $0 == 0x3a }, "a name that HTTP/2 refuses")
            for byte in value.utf8 { precondition((0x20..<0x7f).contains(byte), "a byte that no header may have") }
            precondition(value.utf8.count <= 256, "a header out of limits")
        }
    } catch {
        precondition(!error.description.isEmpty, "a fault without words")
    }
    return 0
}

var argc = CommandLine.argc
var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(LLVMFuzzerRunDriver(&argc, &argv, fuzzApnsFile))
