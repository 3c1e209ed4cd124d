/// What became of a push, for people. The words in `--json` are those on the left.
enum PushWords {
    private static let outcomes = [
        "rings": "rings",
        "queued": "waits behind the call that is ringing",
        "updated": "its call is live already: updated in place, it does not ring anew",
        "ended": "its call is ended",
        "tombstone": "no live call has this id: remembered, so that it does not ring if it comes late",
        "already-over": "its call is over, so nothing rings",
        "too-late": "came too late to ring: a missed call",
        "busy": "as many calls are live as may be: a missed call",
        "unusable": "taken, but its payload is no call",
        "recorded": "taken; an alert rings nothing",
        "delivered": "delivered to an emulated device, which rings nothing",
    ]

    /// Nil for those whose detail says more.
    static func outcome(_ word: String) -> String? { outcomes[word] }
}
