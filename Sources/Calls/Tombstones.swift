import Base

/// Calls that are over, remembered so that a late or repeated push does not ring them again (callkit.md 5.2, T_tomb).
///
/// Bounded: the oldest is forgotten first. Expired ones go when the table is next written; no timer is kept for that.
struct Tombstones: Sendable {
    struct Stone: Sendable {
        var ended: Instant
        var until: Instant
        /// An invite was seen (rather than a cancel alone).
        var hadInvite: Bool
        var serial: Int64?
        var sentAt: Instant?
        var generation: UInt64
    }

    private var stones: [CallKey: Stone] = [:]
    private let capacity = 4096

    subscript(_ key: CallKey, at now: Instant) -> Stone? {
        guard let stone = stones[key], stone.until > now else { return nil }
        return stone
    }

    mutating func put(_ key: CallKey, _ stone: Stone, at now: Instant) {
        if stones.count >= capacity, stones[key] == nil {
            stones = stones.filter { $0.value.until > now }
            if stones.count >= capacity, let oldest = stones.min(by: { $0.value.until < $1.value.until }) {
                stones[oldest.key] = nil
            }
        }
        stones[key] = stone
    }

    var count: Int { stones.count }
}

extension Tombstones.Stone {
    /// The same provider id may be used for a new call: newer by counter, or sent after the old one had ended and not
    /// the very push that we know (callkit.md 5.3, `tomb`).
    func isOutdated(by invite: Invite) -> Bool {
        if let old = serial, let new = invite.serial { return new > old }
        if let sent = invite.sentAt { return hadInvite && sent > ended && sent != sentAt }
        return false
    }
}
