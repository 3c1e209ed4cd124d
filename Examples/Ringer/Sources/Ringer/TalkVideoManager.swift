import CallKit
import Foundation
import PushKit

protocol VideoCallbackDelegate: AnyObject {
    func onCallRing(_ caller: String, withInfo info: [AnyHashable: Any])
    func onCancelRing()
}

/// The pushes, and the calls behind them.
final class TalkVideoManager: NSObject, PKPushRegistryDelegate, CXProviderDelegate {
    static let sharedClient = TalkVideoManager()

    weak var delegate: VideoCallbackDelegate?
    private var registry: PKPushRegistry?
    private var provider: CXProvider?
    private let controller = CXCallController()
    private var call: UUID?

    func initWithServer() {
        // So that the system's own buttons reach us, too.
        provider = CXProvider(configuration: CXProviderConfiguration())
        provider?.setDelegate(self, queue: nil)
        registry = PKPushRegistry(queue: .main)
        registry?.delegate = self
        registry?.desiredPushTypes = [.voIP]
    }

    // MARK: The buttons of our own notification

    func takeCall() { request { CXAnswerCallAction(call: $0) } }

    func refuseCall() { request { CXEndCallAction(call: $0) } }

    private func request(_ action: (UUID) -> CXAction) {
        guard let call else { return say("too-late") }
        controller.requestTransaction(with: action(call)) { error in
            if let error { say("refused \(error.localizedDescription)") }
        }
    }

    private func over(_ word: String) {
        say(word)
        call = nil
        delegate?.onCancelRing()
    }

    // MARK: PushKit

    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {
        guard !pushCredentials.token.isEmpty else { return }
        let token = pushCredentials.token.map { String(format: "%02x", $0) }.joined()
        UserDefaults.standard.set(token, forKey: "deviceToken")
        say("token \(token)")
    }

    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping () -> Void
    ) {
        defer { completion() }
        let body = payload.dictionaryPayload
        guard let id = UUID(uuidString: body["callId"] as? String ?? "") else { return say("push unknown") }
        if body["kind"] as? String == "cancel" {
            guard id == call else { return }
            return over("cancelled")
        }
        let caller = (body["aps"] as? [String: Any])?["alert"] as? String ?? "Somebody"
        say("push \(caller)")
        call = id
        let update = CXCallUpdate()
        update.localizedCallerName = caller
        provider?.reportNewIncomingCall(with: id, update: update) { [self] error in
            // Screened, or over already: nothing of ours is to ring.
            guard error == nil else { return over("not-presented") }
            delegate?.onCallRing(caller, withInfo: body)
        }
    }

    // MARK: CallKit

    func providerDidReset(_ provider: CXProvider) { over("reset") }

    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        action.fulfill()
        say("taken")
        delegate?.onCancelRing()
    }

    func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        action.fulfill()
        over("over")
    }
}
