import CFuzzer
import Glibc

@testable import Base

/// Any text as a pattern, and any as a caller's handle, with a line end between them.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHandle(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    let handle = parts.count > 1 ? String(parts[1]) : ""
    let normal = HandlePattern.normalise(handle)
    precondition(normal.utf8.count <= 1024, "a handle out of limits")
    precondition(HandlePattern.normalise(normal) == normal, "what is normalised changes")
    do {
        let pattern = try HandlePattern(parts[0])
        precondition(pattern.matches(handle) == pattern.matches(normal), "the spelling matters")
        let again = try HandlePattern(pattern.description)
        precondition(again == pattern, "a pattern does not read back")
        let list = try HandlePattern.list(pattern.description + ", *")
        precondition(list.count == 2 && list[1].matches(handle), "a list is not what was put in")
        let listAgain = try HandlePattern.list(HandlePattern.text(list))
        precondition(listAgain == list, "a list does not read back")
    } catch let fault as HandlePattern.Fault {
        precondition(!fault.words.isEmpty, "a fault without words")
    } catch {
        preconditionFailure("\(error)")
    }
    // A handle without stars is a pattern for itself.
    if !normal.contains("*"), let own = try? HandlePattern(normal), !normal.isEmpty {
        precondition(own.matches(handle), "a caller is not matched by its own handle")
    }
    return 0
}

var argc = CommandLine.argc
var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(LLVMFuzzerRunDriver(&argc, &argv, fuzzHandle))
