/// Why a call is over: the internal reasons of callkit.md 5.5, which say more than CXCallEndedReason can.
package enum EndReason: Sendable, Hashable {
    /// Answered here and handed to an app that does not report back.
    case handedOver
    /// Hung up here after it was connected.
    case local
    case declined
    /// Dialled here, and given up here before it was connected.
    case cancelled
    case ignored
    case remoteEnded
    case unanswered
    case answeredElsewhere
    case declinedElsewhere
    /// No room: as many calls are live as may be, or the app wants callers to hear busy.
    case busy
    /// The push came too late to ring.
    case expired
    case filtered(Filter)
    case failed(Failure)

    /// What kept a call from ringing (callkit.md 2.9).
    package enum Filter: String, Sendable, Hashable, CaseIterable {
        case doNotDisturb = "do-not-disturb"
        case blockList = "block-list"
        case unknownCaller = "unknown-caller"
    }

    package enum Failure: String, Sendable, Hashable, CaseIterable {
        /// The app refused or could not be started.
        case answer
        /// The app refused to dial.
        case start
        /// The app did not reply in time.
        case timeout
        /// The app vanished from the bus.
        case clientGone = "client-gone"
        /// The app never came.
        case clientUnavailable = "client-unavailable"
        /// The app could not log in to its service.
        case login
        /// A push came, and never the call itself.
        case noInvite = "no-invite"
        /// The app took the answer and never got through.
        case connect
        /// The app lost its service and did not find it again.
        case network
        /// The app could not make the audio ready.
        case audio
        /// The app was removed or its account logged out.
        case unbound
        /// The app said so.
        case reported
        /// The daemon stopped while the call was being answered or connected, or the app withdrew its provider.
        case reset
    }

    /// The stable word in history, events and JSON.
    package var word: String {
        switch self {
        case .handedOver: "answered"
        case .local: "hung-up"
        case .declined: "declined"
        case .cancelled: "cancelled"
        case .ignored: "ignored"
        case .remoteEnded: "remote-ended"
        case .unanswered: "unanswered"
        case .answeredElsewhere: "answered-elsewhere"
        case .declinedElsewhere: "declined-elsewhere"
        case .busy: "busy"
        case .expired: "expired"
        case .filtered(let by): "filtered-\(by.rawValue)"
        case .failed(let why): "failed-\(why.rawValue)"
        }
    }

    /// CXCallEndedReason (callkit.md 2.5): 1 failed, 2 remoteEnded, 3 unanswered, 4 answeredElsewhere,
    /// 5 declinedElsewhere; nil for what CallKit says by an end action.
    package var callKitReason: UInt32? {
        switch self {
        case .handedOver, .local, .declined, .cancelled: nil
        case .failed: 1
        case .remoteEnded: 2
        case .ignored, .unanswered, .busy, .expired, .filtered: 3
        case .answeredElsewhere: 4
        case .declinedElsewhere: 5
        }
    }

    /// From CXCallEndedReason, as an app reports it; nil for a number it does not have.
    package init?(callKit number: Int64) {
        switch number {
        case 1: self = .failed(.reported)
        case 2: self = .remoteEnded
        case 3: self = .unanswered
        case 4: self = .answeredElsewhere
        case 5: self = .declinedElsewhere
        default: return nil
        }
    }

    /// History category (callkit.md 5.5).
    package func category(of call: Call) -> String {
        switch self {
        case .handedOver, .local: "completed"
        case .declined: "declined"
        case .cancelled: "cancelled"
        case .remoteEnded: call.wasConnected ? "completed" : call.isOutgoing ? "declined" : "missed"
        case .unanswered where call.isOutgoing: "no answer"
        case .filtered(.blockList): "blocked"
        case .ignored, .unanswered, .busy, .expired, .filtered: "missed"
        case .answeredElsewhere: "answered on another device"
        case .declinedElsewhere: "declined on another device"
        // A call that only rang is missed whatever went wrong; one that was answered or dialled has failed.
        case .failed: call.wasConnected ? "interrupted" : call.isOutgoing || call.answered != nil ? "failed" : "missed"
        }
    }

    /// What the user is told of a call that is over (callkit.md 5.5).
    package enum Notice: Sendable, Hashable {
        case missed
        /// Without a sound or a place in front.
        case quietlyMissed
        /// The user had answered or dialled it.
        case failed
    }

    package func notice(of call: Call) -> Notice? {
        switch self {
        case .unanswered, .expired: call.isOutgoing ? nil : call.isQuiet ? .quietlyMissed : .missed
        case .busy, .filtered(.doNotDisturb), .filtered(.unknownCaller): .quietlyMissed
        case .remoteEnded: call.wasConnected || call.isOutgoing ? nil : call.isQuiet ? .quietlyMissed : .missed
        case .failed(.unbound), .failed(.reset): nil
        case .failed:
            call.isOutgoing || call.answered != nil ? .failed : call.isQuiet ? .quietlyMissed : .missed
        case .handedOver, .local, .declined, .cancelled, .ignored, .answeredElsewhere, .declinedElsewhere,
            .filtered(.blockList):
            nil
        }
    }
}
