package import Base

/// Names one push within a run, so that it can be completed exactly once.
package struct PushID: Hashable, Sendable, Comparable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
    package static func < (a: PushID, b: PushID) -> Bool { a.number < b.number }
}

/// Names one question of an app or a user; answered by `CallAction.complete`, at once.
package struct RequestID: Hashable, Sendable {
    package let number: UInt64
    package init(_ number: UInt64) { self.number = number }
}

/// Everything that can happen to calls from outside.
package enum CallEvent: Sendable, Hashable {
    /// A push arrived. `isBound`: its app is registered, and its account logged in.
    case push(PushID, app: String, Signal, isBound: Bool)
    /// A call without any push, for whatever app; completed like a push.
    case ring(PushID, Invite)
    /// The caller gave up, as somebody says who is not its app.
    case cancelled(CallUUID)
    /// A call that was live when the daemon last stopped; `began` and `deadline` are its first ones.
    case restore(Invite, began: Instant, deadline: Instant, Restored)
    /// A call that was over, or cancelled unheard, when the daemon last stopped.
    /// `serial`, `stamp`: its counter, and when it was sent.
    case recall(CallKey, hadInvite: Bool, ended: Instant, serial: Int64? = nil, stamp: Int64? = nil)
    case user(CallUUID, Intent)
    /// The banner went away without a button. `isDismissal`: the user closed it, the server did not expire it.
    case bannerClosed(CallUUID, isDismissal: Bool)
    /// What happens to an app rather than to a call.
    case app(String, AppEvent)
    /// What an app says of a call of its own.
    case report(RequestID, app: String, CallUUID, Report)
    /// A transaction, by an app for its own calls or (nil) by the user for any.
    case request(RequestID, app: String?, [CallRequest])
    /// The app did what the action asked, at `at` if it said when. `isConnecting`: an answer that is not through yet.
    case fulfilled(ActionID, at: Instant?, isConnecting: Bool)
    case failed(ActionID)
    /// The app's audio can be configured, or not; asked by `CallAction.configureAudio`.
    case configured(ActionID, Bool)
    /// Calls that are handed over: there is nobody to say when they end.
    case handedOver(ActionID)
    /// The app was given this push and has completed it.
    case delivered(PushID)
    /// The user or the desktop wants no disturbance, or wants it again.
    case disturbance(isForbidden: Bool)
    /// A caller that was dialled or spoken to earlier; newest last.
    case acquaintance(Handle)
    /// The machine was asleep until now.
    case resumed
    /// `nextDeadline` has come.
    case timeUp

    /// How a call stood when the daemon last stopped.
    package enum Restored: Sendable, Hashable {
        case ringing
        /// It stays so.
        case silenced
        /// Being answered, or dialled: nobody can take it up again.
        case answered
        /// Connected since.
        case connected(Instant, isOutgoing: Bool)
        case dialled
    }

    /// What a user can do to a call.
    package enum Intent: String, Sendable, Hashable, CaseIterable {
        /// End & Accept, if another call is on.
        case answer
        /// Hold & Accept, if that is possible; else as `answer`.
        case holdAndAnswer = "hold-answer"
        case decline
        /// Stop it here and tell nobody: other devices ring on.
        case ignore
        /// Stop the noise; the call stays answerable.
        case silence
        /// The banner's body was clicked: open the app and stop the noise. No answer, no decline.
        case open
        case hangUp = "hangup"
        /// Ask for the audio once more (callkit.md Z21).
        case startAudio = "start-audio"
    }

    package enum AppEvent: Sendable, Hashable {
        /// It takes calls over the bus, like this; or (nil) no longer.
        case provider(ProviderConfiguration?)
        case rules(AppRules)
        /// It is on the bus and has registered.
        case attached
        /// It left the bus (transitions 32, 67).
        case gone
        /// It could not be started.
        case wakeFailed
        case session(Session)
        case foreground(Bool)
        case account(String)
        /// It withdrew its provider: CXProvider.invalidate (transition 69).
        case invalidated
        /// It was removed, or its account logged out (transition 33).
        case unbound
        /// Its pushes were stopped in an earlier run, or are let through again.
        case suspended(Bool)
    }

    package enum Report: Sendable, Hashable {
        /// CXProvider.reportNewIncomingCall; the invite's UUID is the call's.
        case newIncoming(Invite, CallUpdate)
        case updated(CallUpdate)
        case ended(EndReason, at: Instant?, detail: String)
        case startedConnecting(at: Instant?)
        case connected(at: Instant?)
        /// Its audio runs.
        case audioRuns
        /// It wants to be told again that audio may run.
        case wantsAudio
        /// It shows the call itself.
        case presented
    }
}

/// One action of a transaction: CXCallAction's subclasses (callkit.md 2.4).
package enum CallRequest: Sendable, Hashable {
    /// The invite's UUID, app, handle and video.
    case start(Invite)
    case answer(CallUUID)
    case end(CallUUID)
    case setHeld(CallUUID, Bool)
    case setMuted(CallUUID, Bool)
    /// Nil: leave the group.
    case setGroup(CallUUID, with: CallUUID?)
    case playDTMF(CallUUID, String, DTMF)

    package enum DTMF: Int, Sendable, Hashable {
        case singleTone = 1
        case softPause = 2
        case hardPause = 3
    }

    package var call: CallUUID {
        switch self {
        case .start(let invite): invite.uuid
        case .answer(let call), .end(let call), .setHeld(let call, _), .setMuted(let call, _), .setGroup(let call, _),
            .playDTMF(let call, _, _):
            call
        }
    }
}
