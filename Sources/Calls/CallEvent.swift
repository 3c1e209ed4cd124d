package import Base

/// Names one push within a run, so that it can be completed exactly once.
package struct PushID: Hashable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
}

/// Everything that can happen to calls from outside.
package enum CallEvent: Sendable, Hashable {
    /// A push arrived. `isBound`: its app is registered.
    case push(PushID, Signal, isBound: Bool)
    /// A call that was live when the daemon last stopped; `began` and `deadline` are its first ones.
    case restore(Invite, began: Instant, deadline: Instant, Restored)
    /// A call that was over, or cancelled unheard, when the daemon last stopped.
    case recall(CallKey, hadInvite: Bool, ended: Instant)
    case user(CallUUID, Intent)
    /// The banner went away without a button. `isDismissal`: the user closed it, the server did not expire it.
    case bannerClosed(CallUUID, isDismissal: Bool)
    /// The app did what the action asked. `tracks`: it will also say when the call ends.
    case fulfilled(ActionID, tracks: Bool)
    case failed(ActionID)
    /// The app says that its call is over.
    case reportedEnded(CallUUID, EndReason)
    /// The app left the bus.
    case clientGone(app: String)
    /// The app was removed.
    case unbound(app: String)
    /// `nextDeadline` has come.
    case timeUp

    /// How a call stood when the daemon last stopped.
    package enum Restored: Sendable, Hashable {
        case ringing
        /// It stays so.
        case silenced
        /// Being answered, or connected: nobody can take it up again.
        case answered
    }

    /// What a user can do to a call.
    package enum Intent: String, Sendable, Hashable, CaseIterable {
        case answer
        case decline
        /// Stop it here and tell nobody: other devices ring on.
        case ignore
        /// Stop the noise; the call stays answerable.
        case silence
        /// The banner's body was clicked: open the app and stop the noise. No answer, no decline.
        case open
        case hangUp = "hangup"
    }
}

/// What the edges are to do, in this order.
package enum CallAction: Sendable, Equatable {
    /// The push has had its effect; its sender may be told. Exactly once a push.
    case completePush(PushID, PushOutcome)
    /// The one sound to be heard from now on; nil for silence.
    case ring(RingWish?)
    case vibrate(CallUUID?)
    /// Have a banner for this call; an existing one is updated in place, without alerting again.
    case show(Call, isWaiting: Bool)
    /// Bring the banner back into sight and alert anew.
    case raise(CallUUID)
    /// Have no banner, neither shown nor on its way.
    case withdraw(CallUUID)
    /// Ask the app to take the call; reply with `fulfilled` or `failed`.
    case performAnswer(ActionID, Call)
    /// Tell the app that the user ended the call; reply with `fulfilled` or `failed`. Nothing waits for it.
    case performEnd(ActionID, Call, EndReason)
    /// Bring the app to the front.
    case open(Call)
    /// Media may run (or must stop) for this call.
    case audio(CallUUID, isOn: Bool)
    /// Tell the user of a call that was missed.
    case notice(Call, EndReason)
    /// The call began or ended: write its row.
    case record(Call)
    /// A cancel came before its call: to be known after a restart, too.
    case remember(CallKey)
    /// Something worth knowing happened.
    case note(Event.Kind, CallUUID?, Event.Level, String, [Event.Field])
}

/// The sound that is wanted: which call's, and whether quiet.
package struct RingWish: Sendable, Hashable {
    package var call: CallUUID
    package var app: String
    package var sound: String?
    package var isSoft: Bool

    package init(call: CallUUID, app: String, sound: String?, isSoft: Bool) {
        self.call = call
        self.app = app
        self.sound = sound
        self.isSoft = isSoft
    }
}

/// What became of a push.
package enum PushOutcome: Sendable, Hashable {
    case rings(CallUUID)
    case queued(CallUUID)
    case updated(CallUUID)
    case ended(CallUUID)
    /// It named a call that is not there (any more): remembered, nothing rings.
    case tombstone
    /// Its call is over.
    case alreadyOver
    /// It came too late to ring.
    case tooLate(CallUUID)
    case busy(CallUUID)
    case unknownApp
    case unusable(String)

    /// Stable word for JSON and logs.
    package var word: String {
        switch self {
        case .rings: "rings"
        case .queued: "queued"
        case .updated: "updated"
        case .ended: "ended"
        case .tombstone: "tombstone"
        case .alreadyOver: "already-over"
        case .tooLate: "too-late"
        case .busy: "busy"
        case .unknownApp: "unknown-app"
        case .unusable: "unusable"
        }
    }

    package var call: CallUUID? {
        switch self {
        case .rings(let id), .queued(let id), .updated(let id), .ended(let id), .tooLate(let id), .busy(let id): id
        case .tombstone, .alreadyOver, .unknownApp, .unusable: nil
        }
    }
}
