package import Base

/// Where a call stands. A state's comment says what it can become.
package enum CallState: Sendable, Hashable {
    /// Incoming, not answered. Can become: another loudness, `answering`, `ended`.
    case ringing(Loudness)
    /// The user accepted; the app has been asked and has not said yes. Can become: `active`, `ended`.
    case answering(ActionID)
    /// Connected. Can become: `ended`.
    case active
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

    package var isRinging: Bool { if case .ringing = self { true } else { false } }

    package var isEnded: Bool { if case .ended = self { true } else { false } }

    /// Its word for `ringctl calls` and JSON.
    package var word: String {
        switch self {
        case .ringing(.loud): "ringing"
        case .ringing(.soft): "waiting"
        case .ringing(.silent): "silenced"
        case .ringing(.queued): "queued"
        case .answering: "answering"
        case .active: "active"
        case .ended: "ended"
        }
    }
}

/// Names one request to an app; never used twice in a run. Not a call's id (callkit.md 2.4).
package struct ActionID: Hashable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
}

/// A call and everything the core knows of it.
package struct Call: Sendable, Hashable {
    package internal(set) var invite: Invite
    package internal(set) var state: CallState
    /// When its ring began: the first entry into any ringing state.
    package let began: Instant
    /// When it stops ringing; set once, never restarted (callkit.md N13).
    package let deadline: Instant
    /// When the banner is due again.
    package internal(set) var nextRaise: Instant?
    /// A banner is wanted for it at present.
    package internal(set) var isShown = false
    package internal(set) var answered: Instant?
    package internal(set) var connected: Instant?
    package internal(set) var ended: Instant?

    package var uuid: CallUUID { invite.uuid }
}
