import CallKit
import Foundation
import Glibc
import PushKit

// An app of CallKit's and PushKit's, for Benchmarks/run: fulfils every action at once. Instants are of CLOCK_MONOTONIC in
// nanoseconds.
//
//   ringd-module-probe [LINES]      LINES: a file to write to; else standard output
//   ringd-module-probe --bare       links the modules and uses nothing: what they add is the difference
//
//   ready PID                       registered for pushes and calls
//   push NANOSECONDS                didReceiveIncomingPush
//   perform NANOSECONDS METHOD      perform, said after it was fulfilled
//
// Orders on standard input, each answered with "BEFORE AFTER":
//
//   report CALL CALLER              reportNewIncomingCall, until its completion
//   end CALL                        reportCall(endedAt:), until it is sent

func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

let isBare = CommandLine.arguments.contains("--bare")
let output: FileHandle = {
    guard CommandLine.arguments.count > 1, !isBare else { return .standardOutput }
    return FileHandle(forWritingAtPath: CommandLine.arguments[1]) ?? .standardOutput
}()

func say(_ line: String) { output.write(Data((line + "\n").utf8)) }

final class Probe: NSObject, CXProviderDelegate, PKPushRegistryDelegate {
    private let queue = DispatchQueue(label: "probe")
    private let provider = CXProvider(configuration: CXProviderConfiguration(localizedName: "Probe"))
    private let registry: PKPushRegistry

    override init() {
        registry = PKPushRegistry(queue: queue)
        super.init()
        provider.setDelegate(self, queue: queue)
        registry.delegate = self
        registry.desiredPushTypes = [.voIP]
    }

    private func took(_ action: CXCallAction, _ name: String) {
        let at = now()
        action.fulfill()
        say("perform \(at) \(name)")
    }

    func providerDidReset(_ provider: CXProvider) {}
    func providerDidBegin(_ provider: CXProvider) { say("ready \(getpid())") }
    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { took(action, "answer") }
    func provider(_ provider: CXProvider, perform action: CXEndCallAction) { took(action, "end") }

    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {}
    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping @Sendable () -> Void
    ) {
        say("push \(now())")
        completion()
    }

    func obey(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        guard words.count > 1, let call = UUID(uuidString: words[1]) else { return }
        let before = now()
        if words[0] == "end" {
            provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
            return say("\(before) \(now())")
        }
        let update = CXCallUpdate()
        update.localizedCallerName = words.count > 2 ? words[2] : "Caller"
        provider.reportNewIncomingCall(with: call, update: update) { _ in say("\(before) \(now())") }
    }
}

nonisolated(unsafe) let probe = isBare ? nil : Probe()
if isBare { say("ready \(getpid())") }
Thread.detachNewThread {
    while let line = readLine() { probe?.obey(line) }
    // Started by the bus it has no orders, and stays.
    if CommandLine.arguments.count < 2 || isBare { exit(0) }
}
dispatchMain()
