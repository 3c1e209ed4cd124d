package import Base

/// Where a call stands (callkit.md 5.1). A state's comment says what it can become; everything can become `ended`.
package enum CallState: Sendable, Hashable {
    /// Incoming, not answered. Can become: another loudness, `deferred`, `answering`.
    case ringing(Loudness)
    /// The user accepted; the app is not there, not logged in, or another call has to make room first. Can become:
    /// `answering`, or `ringing` again if no room could be made.
    case deferred
    /// The app has been asked to answer and has not said yes. Can become: `connecting`, `active`, `ending`.
    case answering(ActionID)
    /// The app took the answer and is not through yet. Can become: `active`, `ending`.
    case connecting
    /// Outgoing; the app has been asked to dial. Can become: `dialing`, `active`, `ending`.
    case requested(ActionID)
    /// Outgoing, and on its way. Can become: `active`, `ending`.
    case dialing
    /// Connected. Can become: `held`, `ending`.
    case active
    /// Connected, on hold. Can become: `active`, `ending`.
    case held(Holder)
    /// Over for the user; the app has been asked to end it and has not said that it did. Can become nothing else.
    case ending(ActionID, EndReason)
    /// Over. Can become nothing: the first reason wins.
    case ended(EndReason)

    /// How a ringing call makes itself known.
    package enum Loudness: String, Sendable, Hashable {
        /// Full ringtone, vibration, banner raised again and again.
        case loud
        /// A quiet tone and a banner, beside a call that is being answered or active.
        case soft
        /// Nothing is heard; it can still be answered.
        case silent
        /// Not presented: another call is ringing.
        case queued
    }

    /// Who put a call on hold. Only what another call held may be resumed when that one ends (callkit.md 2.10).
    package enum Holder: Sendable, Hashable {
        case user
        /// The call that took its place.
        case auto(CallUUID)
    }

    package var isRinging: Bool { if case .ringing = self { true } else { false } }

    package var isEnded: Bool { if case .ended = self { true } else { false } }

    package var isHeld: Bool { if case .held = self { true } else { false } }

    package var isEnding: Bool { endingReason != nil }

    /// Why a call is `ending`.
    package var endingReason: EndReason? { if case .ending(_, let reason) = self { reason } else { nil } }

    /// Accepted here, and not through yet.
    package var isAnswering: Bool {
        switch self {
        case .answering, .connecting: true
        default: false
        }
    }

    /// Connected, on hold or not.
    package var isConnected: Bool { self == .active || isHeld }

    /// Somebody is, or is about to be, spoken to: others only knock.
    package var takesTheUser: Bool {
        switch self {
        case .deferred, .answering, .connecting, .requested, .dialing, .active: true
        case .ringing, .held, .ending, .ended: false
        }
    }

    /// It is one of the calls that `maximumCallGroups` speaks of.
    package var countsAsGroup: Bool { takesTheUser || isHeld }

    /// Its word for `ringctl calls` and JSON.
    package var word: String {
        switch self {
        case .ringing(.loud): "ringing"
        case .ringing(.soft): "waiting"
        case .ringing(.silent): "silenced"
        case .ringing(.queued): "queued"
        case .deferred: "deferred"
        case .answering: "answering"
        case .connecting: "connecting"
        case .requested: "requested"
        case .dialing: "dialing"
        case .active: "active"
        case .held: "held"
        case .ending: "ending"
        case .ended: "ended"
        }
    }
}

/// Names one request to an app; never used twice in a run. Not a call's id (callkit.md 2.4).
package struct ActionID: Hashable, Sendable, Comparable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
    package static func < (a: ActionID, b: ActionID) -> Bool { a.number < b.number }
}
