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

    func add(
        _ call: Call, _ reason: EndReason, _ kind: EndReason.Notice, appName: String, canOpen: Bool, canCallBack: Bool
    ) {
        let now = call.ended ?? .now
        recent = recent.filter { now - $0 < .seconds(5) } + [now]
        let caller = call.invite.caller
        let id = Self.id(of: call)
        if kind == .failed {
            calls[id] = call
            return notifications.show(
                .missed(id),
                Wording.failed(
                    caller: caller.display, app: appName, why: Self.words(reason) ?? "failed", canOpen: canOpen,
                    canCallBack: canCallBack), call: call.uuid)
        }
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
                why: Self.words(reason), canOpen: canOpen, canCallBack: canCallBack, isQuiet: kind == .quietlyMissed),
            call: call.uuid)
    }

    private static func id(of call: Call) -> String {
        call.app + "\n" + (call.invite.caller.handle?.value ?? call.invite.caller.display)
    }

    /// It was not missed after all: another device took it.
    func withdraw(_ call: Call) {
        let id = Self.id(of: call)
        guard calls[id]?.uuid == call.uuid, counts[id] == 1 else { return }
        forget(id)
        notifications.withdraw(.missed(id))
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
        case .busy: "another call was on"
        case .filtered(.doNotDisturb): "do not disturb"
        case .filtered(.unknownCaller): "unknown caller"
        case .failed(let why): words(why)
        case .handedOver, .local, .declined, .cancelled, .ignored, .remoteEnded, .unanswered, .answeredElsewhere,
            .declinedElsewhere, .filtered(.blockList):
            nil
        }
    }

    private static func words(_ failure: EndReason.Failure) -> String {
        switch failure {
        case .answer: "answered, but the app did not take it"
        case .start: "the app did not dial"
        case .timeout: "the app did not reply"
        case .clientGone: "the app went away"
        case .clientUnavailable: "answered, but the app did not start"
        case .login: "the app could not log in"
        case .noInvite: "answered, but the call itself never came"
        case .connect: "answered, but no connection came about"
        case .network: "the app lost its connection"
        case .audio: "the app could not make its audio ready"
        case .unbound, .reported, .reset: "failed"
        }
    }
}
