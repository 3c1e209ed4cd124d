internal import APNs
internal import Base
internal import Calls
internal import Pushes

/// What there is to say of a push that reached this desktop, beside its outcome: for the developer of its sender.
enum PushAdvice {
    /// `before`: the calls that were live then.
    static func findings(
        _ reading: DialectBook.Reading, _ outcome: PushOutcome, before: [Call], after: CallCenter, via: String
    ) -> [Finding] {
        let signal = reading.signal
        var out: [Finding] = []
        func say(_ code: String, _ text: String) { out.append(Finding(code, nil, text)) }
        switch outcome {
        case .updated(let uuid) where !signal.isEnd:
            let live = after[uuid]?.state.isRinging == true ? "ringing" : "live"
            if before.first(where: { $0.uuid == uuid })?.invite == after[uuid]?.invite {
                say("duplicate", "call is \(live) already: duplicate; nothing in it is new")
            } else {
                say(
                    "second-push",
                    "call is \(live) already: its name and number were changed in place, it does not ring anew")
            }
        case .updated: say("answered-here", "the call was answered here, so this changes nothing")
        case .alreadyOver: say("call-over", "the call is over, and an id rings once in ten minutes: send a new one")
        case .tombstone:
            say("no-such-call", "no live call has this id: remembered, so that it does not ring if it comes late")
        case .tooLate: say("too-late", "came too late to ring: its time was over, so it is a missed call")
        case .busy: say("busy", "as many calls are live as may be: it is a missed call")
        case .silent: say("silent", "it rings without a sound: screened, or its app shows it itself")
        case .filtered(_, .blockList):
            say("screened", "the user has blocked this caller: nothing rings, nothing is missed")
        case .filtered(_, let by):
            say("screened", "the user keeps this caller from ringing (\(by.rawValue)): it is a missed call")
        case .crossed: say("crossed", "both sides called at once: the other call decides")
        case .toApp: say("must-report", "given to the app, which has to report the call (must-report = strict)")
        case .suspended:
            say("suspended", "the app left too many pushes unreported and gets none: start it, or ringctl apps reset")
        case .rings, .queued, .ended, .unknownApp, .unusable: break
        }
        if let why = reading.plainBecause {
            say("plain-form", "\(why): read in the plain form (ringctl dialects explain)")
        }
        if let kind = signal.unknownKind {
            let known = CallSignal.Kind.allCases.map(\.rawValue)
            let hint = Text.nearest(to: kind, in: known).map { "; did you mean \($0)?" } ?? ""
            say(
                "unknown-kind",
                "kind \"\(Text.clean(kind, limit: 40))\" is not known, so it was taken for a call\(hint)")
        }
        if signal.isEnd, ![PushRequest.Transport.bus, .webhook].map(\.word).contains(via) {
            say(
                "cancel-by-push",
                "a \(signal.kind.rawValue) by push may come first, late or never, and iOS wants a call reported for each VoIP push: tell the app over its own connection"
            )
        }
        if signal.key == nil && !signal.meansOnlyCall {
            say("no-call-id", "no call id in the payload: it cannot be cancelled, nor known again")
        }
        return out
    }
}
