import AVFoundation
import CallKit
import Foundation

/// What a view would show, and what its buttons do.
final class CallModel: ProviderManagerDelegate {
    private struct Call {
        let number: String
        /// The network's own; nil until it is known.
        var id: String?
        var connected: Date?
    }

    private let network = FakeNetwork()
    private let manager = ProviderManager()
    private let controller = CXCallController()
    private var calls: [UUID: Call] = [:]

    init() {
        manager.delegate = self
        network.onRinging = { [unowned self] id in
            if let call = uuid(id) { say("ringback \(call.text)") }
        }
        network.onAnswered = { [unowned self] id in
            guard let call = uuid(id) else { return }
            calls[call]?.connected = Date()
            manager.provider.reportOutgoingCall(with: call, connectedAt: Date())
            say("connected \(call.text)")
        }
        network.onHangup = { [unowned self] id in
            guard let call = uuid(id) else { return }
            manager.provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
            forget(call, "remote-hangup")
        }
    }

    // MARK: The buttons

    func startCall(_ number: String) {
        let call = UUID()
        let handle = CXHandle(type: .phoneNumber, value: number)
        controller.request(CXTransaction(action: CXStartCallAction(call: call, handle: handle))) { error in
            say(error.map { "refused \(number) \($0.localizedDescription)" } ?? "requested \(call.text) \(number)")
        }
    }

    func endCall() {
        guard let call = calls.keys.first else { return say("no-call") }
        controller.request(CXTransaction(action: CXEndCallAction(call: call))) { error in
            if let error { say("not-ended \(call.text) \(error.localizedDescription)") }
        }
    }

    // MARK: What the system asks for

    func callReported(_ provider: CXProvider, action: CXStartCallAction) {
        let call = action.callUUID
        calls[call] = Call(number: action.handle.value)
        say("dial \(call.text) \(action.handle.value)")
        network.serverCall(to: action.handle.value) { [self] error, id in
            guard calls[call] != nil else {
                // Given up before the network knew the call: now it can be told.
                if let id { network.hangup(id) }
                return
            }
            calls[call]?.id = id
            guard let error else { return }
            provider.reportCall(with: call, endedAt: nil, reason: .failed)
            forget(call, "failed (\(error.localizedDescription))")
        }
    }

    func callEnded(_ call: UUID) {
        if let id = calls[call]?.id { network.hangup(id) }
        forget(call, "hung-up")
    }

    func callHeld(_ call: UUID, _ isOnHold: Bool) { say("\(isOnHold ? "held" : "resumed") \(call.text)") }

    func toneSent(_ call: UUID, _ digits: String) {
        if let id = calls[call]?.id { network.sendDTMF(digits, in: id) }
        say("tones \(call.text) \(digits)")
    }

    func audioChanged(_ isOn: Bool) { say(isOn ? "audio-on" : "audio-off") }

    func providerReset() {
        for call in calls.values { call.id.map(network.hangup) }
        calls = [:]
        say("reset")
    }

    private func uuid(_ id: String) -> UUID? { calls.first { $0.value.id == id }?.key }

    private func forget(_ call: UUID, _ why: String) {
        guard let old = calls.removeValue(forKey: call) else { return }
        let duration = old.connected.map { String(format: "%.1f s", Date().timeIntervalSince($0)) } ?? "not connected"
        say("over \(call.text) \(why), \(duration)")
    }
}

extension UUID {
    var text: String { uuidString.lowercased() }
}
