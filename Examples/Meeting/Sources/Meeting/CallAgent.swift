import AVFoundation
import CallKit
import Foundation

struct CallerInfo {
    let displayName: String
    let identifier: String
}

/// How the app shows and calls back a caller whom the service knows by an identifier.
struct CallKitRemoteInfo {
    var displayName: String
    var cxHandle: CXHandle
}

struct CallKitOptions {
    let configuration: CXProviderConfiguration
    var provideRemoteInfo: ((CallerInfo) -> CallKitRemoteInfo)?
    /// Before a call is started, accepted or resumed; an error fails that.
    var configureAudioSession: (() -> (any Error)?)?

    init(with configuration: CXProviderConfiguration) { self.configuration = configuration }
}

/// What a push says.
struct PushNotificationInfo {
    let callId: UUID
    let caller: CallerInfo

    static func fromDictionary(_ payload: [AnyHashable: Any]) -> PushNotificationInfo? {
        guard let invite = VoiceClient.invite(in: payload), let id = UUID(uuidString: invite.callId) else { return nil }
        return PushNotificationInfo(
            callId: id, caller: CallerInfo(displayName: invite.caller, identifier: invite.caller))
    }
}

/// The session with the service: there is one once the log-in is through.
@MainActor final class CallAgent {
    private let client: VoiceClient

    private init(_ client: VoiceClient) { self.client = client }

    static func create(
        user: String, service: String, delegate: any VoiceClientDelegate, _ done: @escaping (CallAgent?) -> Void
    ) {
        let words = service.split(separator: ":")
        guard words.count == 2, let port = UInt16(words[1]),
            let client = VoiceClient(host: String(words[0]), port: port)
        else { return done(nil) }
        client.delegate = delegate
        client.createSession(user) { done(CallAgent(client)) }
    }

    func register(_ token: Data, of user: String, _ done: @escaping (String) -> Void) {
        client.registerVoipToken(token, of: user, done)
    }

    func accept(_ call: UUID, _ done: @escaping () -> Void) { client.answer(call.uuidString.lowercased(), done) }

    func hangUp(_ call: UUID) { client.hangup(call.uuidString.lowercased()) }
}

/// Where media would be: lines instead, and a check that they come only while the system gives the audio.
@MainActor final class Media {
    private(set) var isOn = false
    var isMuted: [UUID: Bool] = [:]

    func start(_ call: UUID) {
        guard !isOn else { return }
        isOn = true
        say("media-on \(call.uuidString.lowercased())\(isMuted[call] == true ? " muted" : "")")
    }

    func stop() {
        guard isOn else { return }
        isOn = false
        say("media-off")
    }
}
