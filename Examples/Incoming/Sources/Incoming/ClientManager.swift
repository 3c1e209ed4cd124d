import CallKit
import Foundation
import PushKit

/// Session, push token and calls of one user.
@MainActor final class ClientManager: NSObject {
    private enum Session {
        case down
        case loggingIn
        case up
    }

    private let client: VoiceClient
    private let user: String
    private let calls: ProviderDelegate
    private var session = Session.down
    private var pushRegistry: PKPushRegistry?
    private var pushToken: Data?
    private var isUploading = false
    /// What the user wants of a call before there is a session: one thing per call, the latest.
    private var deferred: [UUID: () -> Void] = [:]

    private enum Constants {
        static let pushToken = "pushToken"
        static let deviceId = "deviceId"
    }

    init(_ client: VoiceClient, user: String) {
        self.client = client
        self.user = user
        calls = ProviderDelegate()
        super.init()
        client.delegate = self
        calls.manager = self
    }

    // MARK: Login

    func login(isPushLogin: Bool = false) {
        guard session == .down else { return }
        session = .loggingIn
        say(isPushLogin ? "push-login" : "login")
        client.createSession(user) { [self] in
            session = .up
            say("logged-in")
            uploadTokenIfNeeded()
            let waiting = deferred.values
            deferred = [:]
            for action in waiting { action() }
        }
    }

    /// Now, or as soon as there is a session.
    func whenLoggedIn(_ call: UUID, _ action: @escaping () -> Void) {
        guard session != .up else { return action() }
        say("deferred \(call.text)")
        deferred[call] = action
        login(isPushLogin: true)
    }

    /// The call is over: what was wanted of it is void.
    func forget(_ call: UUID) { deferred[call] = nil }

    func answer(_ call: UUID, _ connected: @escaping () -> Void) {
        whenLoggedIn(call) { [self] in client.answer(call.text, connected) }
    }

    func end(_ call: UUID, isAnswered: Bool) {
        whenLoggedIn(call) { [self] in isAnswered ? client.hangup(call.text) : client.reject(call.text) }
    }

    // MARK: Token

    func registerForVoIPPushes() {
        let registry = PKPushRegistry(queue: .main)
        registry.delegate = self
        registry.desiredPushTypes = [.voIP]
        pushRegistry = registry
    }

    /// Either may come last, the token or the session.
    private func uploadTokenIfNeeded() {
        guard session == .up, let pushToken, !isUploading else { return }
        let stored = UserDefaults.standard
        guard stored.data(forKey: Constants.pushToken) != pushToken else { return say("token-known") }
        isUploading = true
        client.registerVoipToken(pushToken, of: user) { [self] deviceId in
            isUploading = false
            stored.set(pushToken, forKey: Constants.pushToken)
            stored.set(deviceId, forKey: Constants.deviceId)
            say("token-uploaded \(deviceId)")
            uploadTokenIfNeeded()
        }
    }
}

extension ClientManager: @preconcurrency PKPushRegistryDelegate {
    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {
        pushToken = pushCredentials.token
        uploadTokenIfNeeded()
    }

    func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType) {
        pushToken = nil
        UserDefaults.standard.removeObject(forKey: Constants.pushToken)
        UserDefaults.standard.removeObject(forKey: Constants.deviceId)
        say("token-invalid")
    }

    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping () -> Void
    ) {
        guard let invite = VoiceClient.invite(in: payload.dictionaryPayload), let call = UUID(uuidString: invite.callId)
        else {
            // Of another kind: completed all the same.
            say("push unknown")
            return completion()
        }
        say("push \(call.text) \(invite.caller)")
        login(isPushLogin: true)
        calls.report(call, from: invite.caller, completion)
    }
}

extension ClientManager: VoiceClientDelegate {
    func client(_ client: VoiceClient, didReceiveInviteForCall callId: String, from caller: String) {
        guard let call = UUID(uuidString: callId) else { return }
        say("invite \(call.text)")
        calls.report(call, from: caller) {}
    }

    func client(_ client: VoiceClient, didReceiveInviteCancelForCall callId: String, reason: InviteCancelReason) {
        guard let call = UUID(uuidString: callId) else { return }
        let ended: CXCallEndedReason =
            switch reason {
            case .remoteCancel: .remoteEnded
            case .remoteTimeout: .unanswered
            case .answeredElsewhere: .answeredElsewhere
            case .rejectedElsewhere: .declinedElsewhere
            }
        calls.ended(call, ended)
    }

    func client(_ client: VoiceClient, didReceiveHangupForCall callId: String) {
        if let call = UUID(uuidString: callId) { calls.ended(call, .remoteEnded) }
    }

    func client(_ client: VoiceClient, didReceiveSessionErrorWith text: String) {
        say("session-error \(text)")
        session = .down
        deferred = [:]
        calls.endAll(.failed)
        exit(1)
    }
}

extension UUID {
    /// As the service spells it.
    var text: String { uuidString.lowercased() }
}
