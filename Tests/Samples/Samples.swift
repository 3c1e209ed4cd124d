// What well-known VoIP samples write (Apple's Speakerbox and those of providers' SDKs), in Swift 5 and without
// concurrency. It has to compile without a warning, and is not run.

import AVFoundation
import CallKit
import Foundation
import PushKit
import UserNotifications

final class CallManager: NSObject {
    let callController = CXCallController()
    var callsChangedHandler: (() -> Void)?
    var calls = [UUID]()
    func start(handle: String, video: Bool = false) {
        let startCallAction = CXStartCallAction(call: UUID(), handle: CXHandle(type: .phoneNumber, value: handle))
        startCallAction.isVideo = video
        startCallAction.contactIdentifier = "talk"
        let transaction = CXTransaction()
        transaction.addAction(startCallAction)
        requestTransaction(transaction)
    }
    func requestTransaction(_ transaction: CXTransaction) {
        callController.request(transaction) { error in
            if let error = error as? CXErrorCodeRequestTransactionError {
                switch error.code {
                case .unknownCallUUID, .callUUIDAlreadyExists: print("a")
                case .maximumCallGroupsReached: print("b")
                default: print("c")
                }
                switch error {
                case CXErrorCodeRequestTransactionError.unknownCallProvider: break
                default: break
                }
            } else if let error = error as NSError?, error.domain == CXErrorDomainRequestTransaction,
                error.code == CXErrorCodeRequestTransactionError.Code.emptyTransaction.rawValue
            {
                print(CXErrorCodeRequestTransactionError.emptyTransaction.rawValue)
            }
            self.callsChangedHandler?()
        }
    }
}
class ProviderDelegate: NSObject, CXProviderDelegate {
    let callManager = CallManager()
    private let provider: CXProvider
    static var providerConfiguration: CXProviderConfiguration {
        let providerConfiguration = CXProviderConfiguration(localizedName: "Speakerbox")
        providerConfiguration.supportsVideo = true
        providerConfiguration.maximumCallsPerCallGroup = 1
        providerConfiguration.supportedHandleTypes = [.phoneNumber]
        providerConfiguration.ringtoneSound = "Ringtone.caf"
        providerConfiguration.iconTemplateImageData = Data()
        return providerConfiguration
    }
    override init() {
        provider = CXProvider(configuration: type(of: self).providerConfiguration)
        super.init()
        provider.setDelegate(self, queue: DispatchQueue.main)
    }
    func reportIncomingCall(uuid: UUID, handle: String, hasVideo: Bool = false, completion: ((Error?) -> Void)? = nil) {
        let update = CXCallUpdate()
        update.remoteHandle = CXHandle(type: .phoneNumber, value: handle)
        update.hasVideo = hasVideo
        provider.reportNewIncomingCall(with: uuid, update: update) { error in
            if error == nil { self.callManager.calls.append(uuid) }
            completion?(error)
        }
    }
    func providerDidReset(_ provider: CXProvider) {}
    func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) {
        switch action.type {
        case .singleTone, .softPause, .hardPause: break;
        @unknown default: break
        }
        action.fulfill()
    }
    func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool { false }
    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        let session = AVAudioSession.sharedInstance()
        do {
            try session.setCategory(
                .playAndRecord, mode: .voiceChat, options: [.allowBluetooth, .allowBluetoothA2DP, .duckOthers])
            try session.setCategory(AVAudioSession.Category.playAndRecord)
            try session.setPreferredSampleRate(44_100)
            try session.setPreferredIOBufferDuration(0.005)
            try session.setMode(.voiceChat)
            try session.setActive(true)
            try session.setActive(false, options: .notifyOthersOnDeactivation)
            try session.overrideOutputAudioPort(.speaker)
            for output in session.currentRoute.outputs where output.portType == .builtInReceiver {
                print(output.portName, output.uid)
            }
            if session.currentRoute.outputs.contains(where: {
                $0.portType == AVAudioSession.Port.airPlay || $0.portType == .carAudio || $0.portType == .usbAudio
                    || $0.portType == .HDMI
            }) {
            }
            _ = session.preferredInput
            _ = session.inputNumberOfChannels + session.outputNumberOfChannels
            _ = session.inputLatency + session.outputLatency
            _ = session.recordPermission == .granted
        } catch { print(error) }
        action.fulfill(withDateConnected: Date())
    }
    func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) {}
    func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {}
}
class Observer: NSObject, CXCallObserverDelegate {
    let o = CXCallObserver()
    override init() { super.init(); o.setDelegate(self, queue: nil) }
    func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall) {
        if call.hasEnded == true { print("over") }
        if call.isOutgoing == true && call.hasConnected == false && call.hasEnded == false {}
        _ = callObserver.calls.first(where: { $0.uuid == call.uuid && $0.isOnHold })
    }
}
class Pushes: NSObject, PKPushRegistryDelegate {
    let voipRegistry = PKPushRegistry(queue: DispatchQueue.main)
    let delegate = ProviderDelegate()
    override init() {
        super.init()
        voipRegistry.delegate = self
        voipRegistry.desiredPushTypes = Set([PKPushType.voIP])
    }
    func pushRegistry(_ registry: PKPushRegistry, didUpdate credentials: PKPushCredentials, for type: PKPushType) {
        print(credentials.token.reduce("", { $0 + String(format: "%02X", $1) }))
        guard type == .voIP else { return }
        _ = registry.pushToken(for: .voIP)
    }
    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping () -> Void
    ) {
        guard type == .voIP else { return }
        if let uuidString = payload.dictionaryPayload["UUID"] as? String,
            let handle = payload.dictionaryPayload["handle"] as? String,
            let uuid = UUID(uuidString: uuidString)
        {
            let aps = payload.dictionaryPayload["aps"] as? [String: AnyObject]
            print(aps?["alert"] as? String ?? "")
            delegate.reportIncomingCall(uuid: uuid, handle: handle) { _ in completion() }
        }
    }
}
class Notes: NSObject, UNUserNotificationCenterDelegate {
    func go() {
        let center = UNUserNotificationCenter.current()
        center.delegate = self
        center.requestAuthorization(options: [.alert, .badge, .sound]) { granted, error in print(granted, error as Any)
        }
        center.getNotificationSettings { settings in
            if settings.authorizationStatus == .authorized && settings.soundSetting == .enabled {}
        }
        let content = UNMutableNotificationContent()
        content.title = "Alice"
        content.sound = .default
        content.badge = NSNumber(value: 1)
        content.targetContentIdentifier = "talk"
        let request = UNNotificationRequest(
            identifier: UUID().uuidString, content: content,
            trigger: UNTimeIntervalNotificationTrigger(timeInterval: 1, repeats: false))
        center.add(request)
        center.add(request) { error in if let error = error { print(error.localizedDescription) } }
        center.add(request, withCompletionHandler: nil)
        let reply = UNNotificationAction(identifier: "r", title: "Reply", options: [.foreground])
        let category = UNNotificationCategory(
            identifier: "c", actions: [reply], intentIdentifiers: [], hiddenPreviewsBodyPlaceholder: "",
            options: .customDismissAction)
        center.setNotificationCategories([category])
    }
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        completionHandler([.alert, .sound])
        if notification.request.trigger is UNPushNotificationTrigger {}
    }
}
