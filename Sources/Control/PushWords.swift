internal import Base
internal import JSON
internal import Pushes

/// What became of a push, for people. The words in `--json` are those on the left.
enum PushWords {
    private static let outcomes = [
        "rings": "rings",
        "queued": "waits behind the call that is ringing",
        "updated": "its call is live already: updated in place, it does not ring anew",
        "ended": "its call is ended",
        "tombstone": "no live call has this id: remembered, so that it does not ring if it comes late",
        "already-over": "its call is over, and an id rings once in ten minutes: send a new one",
        "too-late": "came too late to ring: a missed call",
        "busy": "as many calls are live as may be: a missed call",
        "unusable": "taken, but its payload is no call",
        "recorded": "taken; an alert rings nothing",
        "delivered": "delivered to an emulated device, which rings nothing",
    ]

    /// Nil for those whose detail says more. `id`: what the sender calls the call.
    static func outcome(_ word: String, id: String? = nil) -> String? {
        guard word == "already-over", let id, !id.isEmpty else { return outcomes[word] }
        return "call \(Text.clean(id, limit: 80)) is over, and an id rings once in ten minutes: send a new one"
    }

    /// The id that a payload gives its call.
    static func id(in payload: [UInt8]) -> String? {
        guard let json = try? JSONValue.parse(payload) else { return nil }
        return (try? DialectBook.builtIn.read(json))?.signal.key
    }

    /// Without "a fault was asked for", where a finding says which.
    static func short(_ outcome: String, beside findings: [String]) -> String {
        let asked = "a fault was asked for"
        guard outcome.hasSuffix(": " + asked), findings.contains(where: { $0.hasPrefix(asked) }) else { return outcome }
        return String(outcome.dropLast(asked.count + 2))
    }

    /// Whether a finding says no more than the outcome does.
    static func repeats(_ finding: String, _ outcome: String) -> Bool {
        switch outcome {
        case "already-over": finding.hasPrefix("the call is over")
        case "tombstone": finding.hasPrefix("no live call has this id")
        case "too-late": finding.hasPrefix("came too late to ring")
        case "busy": finding.hasPrefix("as many calls are live")
        default: false
        }
    }
}
