import Base

/// Calls that are over, remembered so that a late or repeated push does not ring them again (callkit.md 5.2, T_tomb).
///
/// Bounded: the oldest is forgotten first. Those whose time is over go when the table is next written; no timer is kept.
struct Tombstones: Sendable {
    struct Stone: Sendable {
        var ended: Instant
        var until: Instant
        /// An invite was seen (rather than a cancel alone).
        var hadInvite: Bool
        var serial: Int64?
        var stamp: Int64?
        var generation: UInt64
    }

    private var stones: [CallKey: Stone] = [:]
    /// Keys in order of their first burial; those before `oldest` are gone.
    private var order: [CallKey] = []
    private var oldest = 0
    private let capacity = 4096

    subscript(_ key: CallKey, at now: Instant) -> Stone? {
        guard let stone = stones[key], stone.until > now else { return nil }
        return stone
    }

    mutating func put(_ key: CallKey, _ stone: Stone, at now: Instant) {
        let isNew = stones.updateValue(stone, forKey: key) == nil
        guard isNew else { return }
        order.append(key)
        // The oldest go when they are over or when there are too many; a refreshed one keeps its place in the queue.
        while let first = order.dropFirst(oldest).first, let known = stones[first],
            known.until <= now || stones.count > capacity
        {
            stones[first] = nil
            oldest += 1
        }
        if oldest > capacity {
            order.removeFirst(oldest)
            oldest = 0
        }
    }
}

extension Tombstones.Stone {
    /// The same provider id may be used for a new call: newer by counter, or sent after the old one had ended and not
    /// the very push that we know (callkit.md 5.3, `tomb`).
    func isOutdated(by invite: Invite) -> Bool {
        if let old = serial, let new = invite.serial { return new > old }
        if let sent = invite.sentAt { return hadInvite && sent > ended && invite.stamp != stamp }
        return false
    }
}
