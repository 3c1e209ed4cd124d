package import Base

/// What the edges are to do, in this order.
package enum CallAction: Sendable, Equatable {
    /// The push has had its effect; its sender may be told. Exactly once a push.
    case completePush(PushID, PushOutcome)
    /// The answer to a report or a request. Exactly once each.
    case complete(RequestID, CallError?)
    /// The one sound to be heard from now on; nil for silence.
    case ring(RingWish?)
    case vibrate(CallUUID?)
    /// Have a banner for this call; an existing one is updated in place, without alerting again.
    case show(Call, Waiting)
    /// Bring the banner back into sight and alert anew.
    case raise(CallUUID)
    /// Have no banner, neither shown nor on its way.
    case withdraw(CallUUID)
    /// Ask the app; reply with `fulfilled` or `failed`.
    case perform(ActionID, Call, ActionKind, by: Instant)
    /// The app's time for an action is over.
    case timedOut(ActionID, Call)
    /// Ask the app to make its audio ready before an action is performed; reply with `configured`.
    case configureAudio(ActionID, Call)
    /// Hand the call to whatever takes it where no provider does: link, program; reply with `handedOver` or `failed`.
    case handOver(ActionID, Call)
    /// Tell whatever took it that it is over. Nobody waits.
    case sayEnded(Call, EndReason)
    /// Tell the app that its call is over without its doing.
    case tellEnded(Call, EndReason)
    /// Start the app: there is something for it.
    case wake(app: String)
    /// Give the app this push, which was kept for it; reply with `delivered`.
    case deliver(PushID, app: String, call: CallUUID?, mustReport: Bool)
    /// Nobody will want this push any more.
    case drop(PushID)
    /// Bring the app to the front.
    case open(Call)
    /// Media may run for this call from now on, or must have stopped.
    case audio(Call, isOn: Bool)
    /// Some call wants the machine awake, or none.
    case stayAwake(Bool)
    /// Tell the user of a call that was missed, or failed.
    case notice(Call, EndReason, EndReason.Notice)
    /// Take that back: it was answered or declined on another device.
    case withdrawNotice(Call)
    /// The row of this call, which is over, says what is known now.
    case annotate(Call, EndReason)
    /// The call began or changed: write its row, and publish it.
    case record(Call)
    /// A cancel came before its call: to be known after a restart, too.
    case remember(CallKey, serial: Int64?)
    /// The app failed its duties once more; or so often that it gets no pushes.
    case strike(app: String, count: Int, isSuspended: Bool)
    /// Something worth knowing happened.
    case note(Event.Kind, CallUUID?, Event.Level, String, [Event.Field])

    /// How a banner stands beside another call.
    package enum Waiting: Sendable, Hashable {
        case no
        /// Answering ends the other one.
        case endsOther
        /// … or holds it.
        case mayHoldOther
    }
}

/// What an app is asked to do: CXCallAction's subclasses (callkit.md 2.4).
package enum ActionKind: Sendable, Hashable {
    case start
    case answer
    case end(EndReason)
    case setHeld(Bool, CallState.Holder)
    case setMuted(Bool)
    case setGroup(CallUUID?)
    case playDTMF(String, CallRequest.DTMF)

    /// Actions of one lane of a call come one after the other.
    enum Lane { case life, hold, mute, group, dtmf }

    var lane: Lane {
        switch self {
        case .start, .answer, .end: .life
        case .setHeld: .hold
        case .setMuted: .mute
        case .setGroup: .group
        case .playDTMF: .dtmf
        }
    }

    package var word: String {
        switch self {
        case .start: "start"
        case .answer: "answer"
        case .end: "end"
        case .setHeld(true, _): "hold"
        case .setHeld(false, _): "resume"
        case .setMuted(true): "mute"
        case .setMuted(false): "unmute"
        case .setGroup(nil): "ungroup"
        case .setGroup: "group"
        case .playDTMF: "dtmf"
        }
    }
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
    /// Seen or known, and not heard.
    case silent(CallUUID)
    case updated(CallUUID)
    case ended(CallUUID)
    /// It named a call that is not there (any more): remembered, nothing rings.
    case tombstone
    /// Its call is over.
    case alreadyOver
    /// It came too late to ring.
    case tooLate(CallUUID)
    case busy(CallUUID)
    case filtered(CallUUID, EndReason.Filter)
    /// Two calls crossed, and the other one survived (callkit.md 5.6, glare).
    case crossed(CallUUID)
    /// Given to an app that must report the call itself.
    case toApp
    /// The app failed its duties too often: it gets no pushes.
    case suspended
    case unknownApp
    case unusable(String)

    /// Stable word for JSON and logs.
    package var word: String {
        switch self {
        case .rings: "rings"
        case .queued: "queued"
        case .silent: "silent"
        case .updated: "updated"
        case .ended: "ended"
        case .tombstone: "tombstone"
        case .alreadyOver: "already-over"
        case .tooLate: "too-late"
        case .busy: "busy"
        case .filtered: "filtered"
        case .crossed: "crossed"
        case .toApp: "to-app"
        case .suspended: "suspended"
        case .unknownApp: "unknown-app"
        case .unusable: "unusable"
        }
    }

    package var call: CallUUID? {
        switch self {
        case .rings(let id), .queued(let id), .silent(let id), .updated(let id), .ended(let id), .tooLate(let id),
            .busy(let id), .filtered(let id, _), .crossed(let id):
            id
        case .tombstone, .alreadyOver, .toApp, .suspended, .unknownApp, .unusable: nil
        }
    }
}
