import AVFoundation
import CallKit
import Foundation
import Glibc
import PushKit
import TestSupport

/// The call layer of an iOS app: a delegate for everything, which remembers what happened, in order.
final class ModuleApp: NSObject, CXProviderDelegate, PKPushRegistryDelegate, CXCallObserverDelegate, @unchecked Sendable
{
    // Unchecked: what changes is behind the lock.

    static let id = "com.example.modules"
    private let lock = NSLock()
    private var lines: [String] = []
    private var kept: [CXCallAction] = []
    private var token: Data?

    /// What is done with an action; else it is fulfilled.
    var onAction: (@Sendable (CXCallAction) -> Void)?
    var onPush: (@Sendable (PKPushPayload, @escaping @Sendable () -> Void) -> Void)?

    func note(_ line: String) { lock.withLock { lines.append(line) } }

    var story: [String] { lock.withLock { lines } }
    var actions: [CXCallAction] { lock.withLock { kept } }
    var pushToken: Data? { lock.withLock { token } }

    /// The lines about a call, without its id.
    func story(of call: UUID) -> [String] {
        story.filter { $0.contains(call.uuidString) }.map {
            $0.replacingOccurrences(of: " \(call.uuidString)", with: "")
        }
    }

    func await(_ line: String, from start: Int = 0) throws {
        try until("\(line) in \(story)") { story.dropFirst(start).contains(line) }
    }

    private func took(_ name: String, _ action: CXCallAction) {
        note("\(name) \(action.callUUID.uuidString)")
        lock.withLock { kept.append(action) }
        if let onAction { onAction(action) } else { action.fulfill() }
    }

    // MARK: CallKit

    func providerDidReset(_ provider: CXProvider) { note("reset") }
    func providerDidBegin(_ provider: CXProvider) { note("begin") }
    func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
        note("handle \(action.handle.value)")
        took("start", action)
    }
    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { took("answer", action) }
    func provider(_ provider: CXProvider, perform action: CXEndCallAction) { took("end", action) }
    func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
        took(action.isOnHold ? "hold" : "unhold", action)
    }
    func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
        took(action.isMuted ? "mute" : "unmute", action)
    }
    func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) {
        took("dtmf \(action.digits)", action)
    }
    func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) {
        note("timed out \((action as? CXCallAction)?.callUUID.uuidString ?? "")")
    }
    func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) { note("audio on") }
    func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) { note("audio off") }
    func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall) {
        note(
            "changed \(call.uuid.uuidString) \(call.hasEnded ? "ended" : call.isOnHold ? "held" : call.hasConnected ? "connected" : "there")"
        )
    }

    // MARK: PushKit

    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {
        lock.withLock { token = pushCredentials.token }
        note("token")
    }
    func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType) { note("invalid") }
    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping @Sendable () -> Void
    ) {
        note("push \(payload.dictionaryPayload["callId"] as? String ?? "")")
        if let onPush { onPush(payload, completion) } else { completion() }
    }
}

/// One desktop for all tests of the modules: a process has one session bus and one identity. It goes with the process.
enum ModuleDesk {
    /// Used by one test at a time: they are serialized.
    nonisolated(unsafe) private static var made: Result<Rig, any Error>?

    static var rig: Result<Rig, any Error> {
        if let made { return made }
        let rig = Result {
            let rig = try Rig(["bus", "sound", "display", "notify"])
            setenv("DBUS_SESSION_BUS_ADDRESS", rig.desk.bus, 1)
            setenv("RINGD_APP_ID", ModuleApp.id, 1)
            return rig
        }
        made = rig
        // Nothing else outlives the tests: a static is never deinitialized.
        atexit { ModuleDesk.made = nil }
        return rig
    }
}
