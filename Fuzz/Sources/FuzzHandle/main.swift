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
    if !normal.utf8.contains(UInt8(ascii: "*")), let own = try? HandlePattern(normal), !normal.isEmpty {
        precondition(own.matches(handle), "a caller is not matched by its own handle")
    }
    checkNumber(handle)
    checkShown(handle)
    return 0
}

private let regions: [PhoneRegion?] = [nil] + PhoneRegion.codes.map(PhoneRegion.init)

/// What is told of a number is a number, and the same when it is read again.
private func checkNumber(_ text: String) {
    guard PhoneDigits.read(text) != nil else {
        precondition(PhoneNumber.e164(text, in: regions.last ?? nil) == nil, "a number that is none")
        return
    }
    for region in regions {
        guard let number = PhoneNumber.e164(text, in: region) else { continue }
        let digits = Array(number.utf8.dropFirst())
        precondition(
            number.hasPrefix("+") && (5...15).contains(digits.count) && digits[0] != UInt8(ascii: "0")
                && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }, "no number: \(number)")
        precondition(PhoneNumber.e164(number, in: region) == number, "a number changes")
        precondition(PhoneNumber.e164(number, in: nil) == number, "a number is one of its region only")
        precondition(HandlePattern.normalise(number, in: region) == number, "a number is no normal form")
        guard let region else { continue }
        let own = (try? HandlePattern(text))?.resolved(in: region)
        precondition(own?.matches(text, in: region) ?? true, "a caller is not matched by its own number")
        precondition(own?.matches(number, in: region) ?? true, "a caller is not matched by its own number in E.164")
        for national in PhoneNumber.national(number, in: region) {
            precondition(!national.isEmpty && national.utf8.allSatisfy { $0 < 0x80 }, "no national number")
        }
    }
}

/// Never empty, always the same, and nothing in it that steers a terminal or turns the line around.
private func checkShown(_ handle: String) {
    let shown = HandleText.shown(handle)
    precondition(shown.isEmpty == handle.isEmpty, "nothing is shown")
    precondition(shown.utf8.count <= 260, "too much is shown")
    precondition(HandleText.shown(shown) == shown, "what is shown changes: \(shown.debugDescription)")
    for scalar in shown.unicodeScalars {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0, 0x61c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069:
            preconditionFailure("shown as it came: \(scalar.value)")
        default: break
        }
    }
}

var argc = CommandLine.argc
var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(LLVMFuzzerRunDriver(&argc, &argv, fuzzHandle))
