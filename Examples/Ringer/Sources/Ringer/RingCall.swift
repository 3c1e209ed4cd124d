import Foundation
import UserNotifications

/// Our own banner for a call, beside the system's ring.
final class RingCall: NSObject, VideoCallbackDelegate, UNUserNotificationCenterDelegate {
    static let shared = RingCall()

    private let center = UNUserNotificationCenter.current()
    private let identifier = "Voip_Push"

    private enum Action {
        static let take = "TAKE"
        static let refuse = "REFUSE"
    }

    func registerPush() {
        center.delegate = self
        let take = UNNotificationAction(identifier: Action.take, title: "Take it", options: [.foreground])
        let refuse = UNNotificationAction(identifier: Action.refuse, title: "Not now", options: [.destructive])
        center.setNotificationCategories([
            UNNotificationCategory(
                identifier: "CALL", actions: [take, refuse], intentIdentifiers: [], options: [.customDismissAction])
        ])
        center.requestAuthorization(options: [.badge, .sound, .alert]) { granted, _ in
            say(granted ? "authorized" : "not-authorized")
        }
    }

    func onCallRing(_ caller: String, withInfo info: [AnyHashable: Any]) {
        let content = UNMutableNotificationContent()
        content.title = caller
        content.body = "\(caller) invites you to a call"
        content.userInfo = info
        content.sound = UNNotificationSound(named: UNNotificationSoundName("weixin.m4a"))
        content.categoryIdentifier = "CALL"
        let trigger = UNTimeIntervalNotificationTrigger(timeInterval: 1, repeats: false)
        // Vibration and the loop of the ringtone are the system's.
        center.add(UNNotificationRequest(identifier: identifier, content: content, trigger: trigger)) { error in
            say(error.map { "not-added \($0.localizedDescription)" } ?? "pending")
        }
    }

    /// The one that is to come goes as well as the one that is there.
    func onCancelRing() {
        center.removePendingNotificationRequests(withIdentifiers: [identifier])
        center.removeDeliveredNotifications(withIdentifiers: [identifier])
        say("withdrawn")
    }

    // MARK: UNUserNotificationCenterDelegate

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        say("shown \(notification.request.content.title)")
        completionHandler([.banner, .sound])
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        let call = response.notification.request.content.userInfo["callId"] as? String ?? ""
        switch response.actionIdentifier {
        case Action.take:
            say("button take \(call)")
            TalkVideoManager.sharedClient.takeCall()
        case Action.refuse:
            say("button refuse \(call)")
            TalkVideoManager.sharedClient.refuseCall()
        default: say("tapped \(call)")
        }
        completionHandler()
    }
}
