import CFuzzer
import Glibc

@testable import APNs
@testable import Config

/// Any bytes as a configuration file: every fault names a line of it, in order, and what is in force is within limits
/// and says the same when it is written and read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzConfig(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    let (configuration, faults) = Configuration.read(text)
    let lines = text.utf8.count { $0 == UInt8(ascii: "\n") } + 1
    var last = 1
    for fault in faults {
        precondition((last...lines).contains(fault.line) && !fault.reason.isEmpty, "a fault of no line: \(fault)")
        last = fault.line
    }
    precondition(configuration.ring.time <= configuration.ring.longest, "a ring longer than the longest")
    let written = Setting.all.map { "[\($0.section)]\n\($0.key) = \($0.text(configuration))" }.joined(separator: "\n")
    let (read, more) = Configuration.read(written)
    var again = read
    again.apps = configuration.apps
    again.apns.keys = configuration.apns.keys
    again.apns.faults = configuration.apns.faults
    precondition(more.isEmpty, "what was written is not understood: \(more)")
    precondition(again == configuration, "not the same when read again: \(written)")
    for key in configuration.apns.keys.values { precondition(key.file.hasPrefix("/"), "a key without a file") }
    for rule in configuration.apns.faults { precondition((1...8).contains(rule.actions.count), "a fault of nothing") }
    if configuration.apns.certificates == .any {
        let open = [configuration.apns.binary, configuration.apns.http2, configuration.apns.feedback]
        let hosts = Set((open.flatMap { $0 } + configuration.apns.proxy).map(\.host))
        precondition(hosts.allSatisfy { $0.hasPrefix("127.") || $0.contains(":") }, "open to all: \(hosts)")
    }
    for app in configuration.apps.values {
        for case .url(let template)? in [app.answer, app.open, app.callBack, app.end] {
            let filled = Handoff.fill(template) { _ in "://\u{0}\n?&#" }
            let scheme = String(filled.prefix { $0 != ":" }).lowercased()
            precondition(Handoff.schemes.contains(scheme), "another scheme: \(filled)")
        }
        for case .run(let words)? in [app.answer, app.open, app.callBack, app.end] {
            precondition(words.first?.hasPrefix("/") == true, "no whole path")
        }
    }
    return 0
}

var argc = CommandLine.argc
var argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(LLVMFuzzerRunDriver(&argc, &argv, fuzzConfig))
