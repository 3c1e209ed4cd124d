import AVFoundation
import CallKit
import Foundation
import PushKit

/// An app that is started by a push: the call is reported first, the agent is made meanwhile.
@MainActor final class Meeting: NSObject {
    private struct Call {
        var isConnected = false
        var isOnHold = false
    }

    private let user: String
    private let service: String
    private let options: CallKitOptions
    private let provider: CXProvider
    private let registry = PKPushRegistry(queue: .main)
    private let media = Media()
    private var agent: CallAgent?
    private var waitingForAgent: [(CallAgent) -> Void] = []
    private var calls: [UUID: Call] = [:]

    init(user: String, service: String) {
        self.user = user
        self.service = service
        let configuration = CXProviderConfiguration()
        configuration.supportsVideo = true
        configuration.maximumCallGroups = 2
        configuration.maximumCallsPerCallGroup = 1
        configuration.includesCallsInRecents = true
        configuration.supportedHandleTypes = [.phoneNumber, .generic]
        var options = CallKitOptions(with: configuration)
        options.provideRemoteInfo = Self.remoteInfo
        options.configureAudioSession = Self.configureAudioSession
        self.options = options
        provider = CXProvider(configuration: options.configuration)
        super.init()
        provider.setDelegate(self, queue: nil)
        registry.delegate = self
        registry.desiredPushTypes = [.voIP]
        CallAgent.create(user: user, service: service, delegate: self) { [self] agent in
            guard let agent else {
                say("no-agent: does the service run at \(service)?")
                exit(1)
            }
            self.agent = agent
            say("agent")
            uploadToken()
            for body in waitingForAgent { body(agent) }
            waitingForAgent = []
        }
    }

    private func withAgent(_ body: @escaping (CallAgent) -> Void) {
        if let agent { body(agent) } else { waitingForAgent.append(body) }
    }

    private func uploadToken() {
        guard let token = registry.pushToken(for: .voIP) else { return }
        withAgent { [user] in $0.register(token, of: user) { say("token-uploaded \($0)") } }
    }

    // MARK: What the options say

    /// The app's own directory: "8:acs:bob" is nobody's name.
    private static func remoteInfo(_ caller: CallerInfo) -> CallKitRemoteInfo {
        let people = ["8:acs:bob": ("Bob Example", "+493055501"), "8:acs:carol": ("Carol Example", "+493055502")]
        guard let (name, number) = people[caller.identifier] else {
            return CallKitRemoteInfo(
                displayName: caller.displayName, cxHandle: CXHandle(type: .generic, value: caller.identifier))
        }
        return CallKitRemoteInfo(displayName: name, cxHandle: CXHandle(type: .phoneNumber, value: number))
    }

    private static func configureAudioSession() -> (any Error)? {
        let session = AVAudioSession.sharedInstance()
        do {
            if session.category != .playAndRecord {
                try session.setCategory(.playAndRecord, mode: .voiceChat, options: [.allowBluetoothHFP])
                say("audio-configured")
            }
            return nil
        } catch { return error }
    }

    // MARK: Calls

    private func report(_ info: PushNotificationInfo, _ done: () -> Void = {}) {
        guard calls[info.callId] == nil else { return done() }
        calls[info.callId] = Call()
        let remote = options.provideRemoteInfo?(info.caller)
        let update = CXCallUpdate()
        update.localizedCallerName = remote?.displayName ?? info.caller.displayName
        update.remoteHandle = remote?.cxHandle
        update.supportsHolding = true
        update.supportsGrouping = false
        // With the completion on the provider's queue, the main one; Incoming has the async form.
        provider.reportNewIncomingCall(with: info.callId, update: update) { [weak self] error in
            let text = error?.localizedDescription
            MainActor.assumeIsolated { self?.reported(info.callId, text) }
        }
        done()
    }

    private func reported(_ call: UUID, _ error: String?) {
        guard let error else { return say("reported \(call.uuidString.lowercased())") }
        calls[call] = nil
        say("not-presented \(call.uuidString.lowercased()) \(error)")
    }

    private func over(_ call: UUID, _ word: String) {
        guard calls.removeValue(forKey: call) != nil else { return }
        media.isMuted[call] = nil
        say("over \(call.uuidString.lowercased()) \(word)")
    }

    /// Whose audio it is: the one call that is connected and not held.
    private var active: UUID? { calls.first { $0.value.isConnected && !$0.value.isOnHold }?.key }
}

extension Meeting: @preconcurrency CXProviderDelegate {
    func providerDidReset(_ provider: CXProvider) {
        media.stop()
        for call in calls.keys { over(call, "reset") }
    }

    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        let call = action.callUUID
        calls[call] = calls[call] ?? Call()
        guard options.configureAudioSession?() == nil else { return action.fail() }
        say("accept \(call.uuidString.lowercased())\(agent == nil ? " (no agent yet)" : "")")
        withAgent { [self] agent in
            guard !action.isComplete, calls[call] != nil else { return }
            agent.accept(call) { [self] in
                calls[call]?.isConnected = true
                action.fulfill(withDateConnected: Date())
            }
        }
    }

    func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        let call = action.callUUID
        withAgent { $0.hangUp(call) }
        over(call, "hung-up")
        action.fulfill()
    }

    func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
        let call = action.callUUID
        if !action.isOnHold, options.configureAudioSession?() != nil { return action.fail() }
        calls[call]?.isOnHold = action.isOnHold
        say("\(action.isOnHold ? "held" : "resumed") \(call.uuidString.lowercased())")
        action.fulfill()
    }

    func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
        let call = action.callUUID
        media.isMuted[call] = action.isMuted
        say("\(action.isMuted ? "muted" : "unmuted") \(call.uuidString.lowercased())")
        action.fulfill()
    }

    func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
        guard let active else { return say("audio without a call") }
        media.start(active)
    }

    func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) { media.stop() }
}

extension Meeting: @preconcurrency PKPushRegistryDelegate {
    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {
        if agent != nil { uploadToken() }
    }

    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping () -> Void
    ) {
        guard let info = PushNotificationInfo.fromDictionary(payload.dictionaryPayload) else { return completion() }
        say("push \(info.callId.uuidString.lowercased())\(agent == nil ? " (killed state)" : "")")
        report(info, completion)
    }
}

extension Meeting: VoiceClientDelegate {
    func client(_ client: VoiceClient, didReceiveInviteForCall callId: String, from caller: String) {
        guard let call = UUID(uuidString: callId) else { return }
        report(PushNotificationInfo(callId: call, caller: CallerInfo(displayName: caller, identifier: caller)))
    }

    func client(_ client: VoiceClient, didReceiveInviteCancelForCall callId: String, reason: InviteCancelReason) {
        let reasons: [InviteCancelReason: CXCallEndedReason] = [
            .remoteCancel: .remoteEnded, .remoteTimeout: .unanswered, .answeredElsewhere: .answeredElsewhere,
            .rejectedElsewhere: .declinedElsewhere,
        ]
        ended(callId, reasons[reason] ?? .failed)
    }

    func client(_ client: VoiceClient, didReceiveHangupForCall callId: String) { ended(callId, .remoteEnded) }

    func client(_ client: VoiceClient, didReceiveSessionErrorWith text: String) {
        say("session-error \(text)")
        for call in calls.keys { ended(call.uuidString, .failed) }
        exit(1)
    }

    private func ended(_ callId: String, _ reason: CXCallEndedReason) {
        guard let call = UUID(uuidString: callId), calls[call] != nil else { return }
        over(call, "\(reason)")
        provider.reportCall(with: call, endedAt: nil, reason: reason)
    }
}
