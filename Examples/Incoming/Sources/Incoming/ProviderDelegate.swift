import AVFoundation
import CallKit
import Foundation

/// The calls, as the system has them.
@MainActor final class ProviderDelegate: NSObject {
    private struct Call {
        var isAnswered = false
        /// The answer that waits for the service.
        var open: CXAnswerCallAction?
    }

    weak var manager: ClientManager?
    private let provider: CXProvider
    private var calls: [UUID: Call] = [:]

    override init() {
        let configuration = CXProviderConfiguration()
        configuration.maximumCallsPerCallGroup = 1
        configuration.supportedHandleTypes = [.generic, .phoneNumber]
        provider = CXProvider(configuration: configuration)
        super.init()
        provider.setDelegate(self, queue: nil)
    }

    /// A push and the session's own invite tell of the same call: the second one changes nothing.
    func report(_ call: UUID, from caller: String, _ done: @escaping () -> Void) {
        guard calls[call] == nil else { return done() }
        calls[call] = Call()
        let update = CXCallUpdate()
        update.localizedCallerName = caller
        update.remoteHandle = CXHandle(type: .generic, value: caller)
        Task {
            do {
                try await provider.reportNewIncomingCall(with: call, update: update)
                say("reported \(call.text)")
            } catch {
                calls[call] = nil
                say("not-presented \(call.text) \(error.localizedDescription)")
            }
            done()
        }
    }

    /// By the other side, or on another device.
    func ended(_ call: UUID, _ reason: CXCallEndedReason) {
        say("ended \(call.text) \(reason)")
        manager?.forget(call)
        calls.removeValue(forKey: call)?.open?.fail()
        provider.reportCall(with: call, endedAt: nil, reason: reason)
    }

    func endAll(_ reason: CXCallEndedReason) {
        for call in calls.keys { ended(call, reason) }
    }
}

extension ProviderDelegate: @preconcurrency CXProviderDelegate {
    func providerDidReset(_ provider: CXProvider) {
        say("reset")
        for call in calls.keys { manager?.forget(call) }
        calls = [:]
    }

    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        let call = action.callUUID
        say("answer \(call.text)")
        // The answer may be there before the push.
        calls[call, default: Call()].open = action
        manager?.answer(call) { [self] in
            calls[call]?.isAnswered = true
            calls[call]?.open = nil
            action.fulfill()
            say("connected \(call.text)")
        }
    }

    func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        let call = action.callUUID
        say("end \(call.text)")
        manager?.forget(call)
        let old = calls.removeValue(forKey: call)
        old?.open?.fail()
        manager?.end(call, isAnswered: old?.isAnswered ?? false)
        // Over for the user, whatever the service says.
        action.fulfill()
    }

    func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) {
        guard let call = (action as? CXCallAction)?.callUUID else { return }
        say("timed-out \(call.text)")
        manager?.forget(call)
        calls[call] = nil
    }

    func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) { say("audio-on") }

    func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) { say("audio-off") }
}
