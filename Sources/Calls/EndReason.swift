/// Why a call is over: the internal reasons of callkit.md 5.5, which say more than CXCallEndedReason can.
package enum EndReason: Sendable, Hashable {
    /// Answered here and handed to an app that does not report back.
    case handedOver
    /// Hung up here after it was connected.
    case local
    case declined
    case ignored
    case remoteEnded
    case unanswered
    case answeredElsewhere
    case declinedElsewhere
    /// No room: as many calls are live as may be.
    case busy
    /// The push came too late to ring.
    case expired
    case failed(Failure)

    package enum Failure: String, Sendable, Hashable {
        /// The app refused or could not be started.
        case answer
        /// The app did not reply in time.
        case timeout
        /// The app vanished from the bus.
        case clientGone
        /// The app was removed or its account logged out.
        case unbound
        /// The app said so.
        case reported
        /// The daemon stopped while the call was being answered or connected.
        case reset
    }

    /// The stable word in history, events and JSON.
    package var word: String {
        switch self {
        case .handedOver: "answered"
        case .local: "hung-up"
        case .declined: "declined"
        case .ignored: "ignored"
        case .remoteEnded: "remote-ended"
        case .unanswered: "unanswered"
        case .answeredElsewhere: "answered-elsewhere"
        case .declinedElsewhere: "declined-elsewhere"
        case .busy: "busy"
        case .expired: "expired"
        case .failed(let why): "failed-\(why.rawValue)"
        }
    }

    /// History category (callkit.md 5.5).
    package func category(wasConnected: Bool) -> String {
        switch self {
        case .handedOver, .local: "completed"
        case .declined: "declined"
        case .remoteEnded: wasConnected ? "completed" : "missed"
        case .ignored, .unanswered, .busy, .expired: "missed"
        case .answeredElsewhere: "answered on another device"
        case .declinedElsewhere: "declined on another device"
        case .failed: wasConnected ? "interrupted" : "failed"
        }
    }

    /// Whether the user gets a missed-call notice (callkit.md 5.5).
    package func leavesNotice(wasConnected: Bool) -> Bool {
        switch self {
        case .unanswered, .busy, .expired: true
        case .remoteEnded: !wasConnected
        case .failed(let why): why != .unbound && why != .reset && !wasConnected
        case .handedOver, .local, .declined, .ignored, .answeredElsewhere, .declinedElsewhere: false
        }
    }
}
