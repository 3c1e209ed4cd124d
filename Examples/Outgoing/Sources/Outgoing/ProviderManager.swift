import AVFoundation
import CallKit
import Foundation

protocol ProviderManagerDelegate: AnyObject {
    func callReported(_ provider: CXProvider, action: CXStartCallAction)
    func callEnded(_ call: UUID)
    func callHeld(_ call: UUID, _ isOnHold: Bool)
    func toneSent(_ call: UUID, _ digits: String)
    func audioChanged(_ isOn: Bool)
    func providerReset()
}

final class ProviderManager: NSObject, CXProviderDelegate {
    weak var delegate: ProviderManagerDelegate?
    let provider: CXProvider

    override init() {
        let configuration = CXProviderConfiguration()
        configuration.supportsVideo = false
        configuration.maximumCallsPerCallGroup = 1
        configuration.supportedHandleTypes = [.generic, .phoneNumber]
        provider = CXProvider(configuration: configuration)
        super.init()
        provider.setDelegate(self, queue: nil)
    }

    func providerDidBegin(_ provider: CXProvider) { say("begin") }

    func providerDidReset(_ provider: CXProvider) { delegate?.providerReset() }

    func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
        provider.reportOutgoingCall(with: action.callUUID, startedConnectingAt: Date())
        delegate?.callReported(provider, action: action)
        action.fulfill()
    }

    /// From the system's own buttons as from ours: without it, nobody could hang up there.
    func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        delegate?.callEnded(action.callUUID)
        action.fulfill(withDateEnded: Date())
    }

    func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
        delegate?.callHeld(action.callUUID, action.isOnHold)
        action.fulfill()
    }

    func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) {
        delegate?.toneSent(action.callUUID, action.digits)
        action.fulfill()
    }

    func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) { delegate?.audioChanged(true) }

    func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) { delegate?.audioChanged(false) }
}
