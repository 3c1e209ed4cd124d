internal import Base
internal import Calls
internal import Desktop

/// One notice per caller with a count, as GNOME Calls has it; one for all of them when they come in a burst, as after a
/// night of being offline.
final class MissedNotices {
    /// Ready to be called back: the last missed call of a notice.
    private(set) var calls: [String: Call] = [:]
    private var counts: [String: Int] = [:]
    private let notifications: NotificationClient
    private var recent: [Instant] = []
    private static let burst = 4
    private static let burstKey = "many"

    init(_ notifications: NotificationClient) { self.notifications = notifications }

    func add(_ call: Call, _ reason: EndReason, appName: String, canOpen: Bool, canCallBack: Bool) {
        let now = call.ended ?? .now
        recent = recent.filter { now - $0 < .seconds(5) } + [now]
        let caller = call.invite.caller
        let id = call.invite.app + "\n" + (caller.handle?.value ?? caller.display)
        if calls.count >= 64, calls[id] == nil { forgetAll() }
        calls[id] = call
        counts[id, default: 0] += 1
        if recent.count >= Self.burst {
            for key in calls.keys { notifications.withdraw(.missed(key)) }
            notifications.show(.missed(Self.burstKey), Wording.missedMany(count: counts.values.reduce(0, +)))
            return
        }
        notifications.show(
            .missed(id),
            Wording.missed(
                caller: caller.display, count: counts[id] ?? 1, last: .now, rang: now - call.began, app: appName,
                why: Self.words(reason), canOpen: canOpen, canCallBack: canCallBack), call: call.uuid)
    }

    /// The notice was clicked or closed: it starts from one again.
    func forget(_ id: String) {
        if id == Self.burstKey { return forgetAll() }
        calls[id] = nil
        counts[id] = nil
    }

    private func forgetAll() {
        calls = [:]
        counts = [:]
    }

    private static func words(_ reason: EndReason) -> String? {
        switch reason {
        case .expired: "came too late to ring"
        case .busy: "too many calls at once"
        case .failed(.answer): "answered, but the app did not take it"
        case .failed(.timeout): "answered, but the app did not reply"
        case .failed: "failed"
        default: nil
        }
    }
}
