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
    }

    /// Each app has its own: one that floods forgets its own calls and nobody else's.
    private var yards: [String: Yard] = [:]
    private var count = 0
    private static let most = 8192

    private struct Yard: Sendable {
        var stones: [CallKey: Stone] = [:]
        /// Keys in order of their first burial; those before `oldest` are gone.
        var order: [CallKey] = []
        var oldest = 0
        static let most = 1024

        /// The one that was buried first.
        mutating func forgetOldest() {
            stones[order[oldest]] = nil
            oldest += 1
            guard oldest > Self.most else { return }
            order.removeFirst(oldest)
            oldest = 0
        }

        var first: CallKey? { oldest < order.count ? order[oldest] : nil }
    }

    subscript(_ key: CallKey, at now: Instant) -> Stone? {
        guard let stone = yards[key.app]?.stones[key], stone.until > now else { return nil }
        return stone
    }

    mutating func put(_ key: CallKey, _ stone: Stone, at now: Instant) {
        guard yards[key.app, default: Yard()].stones.updateValue(stone, forKey: key) == nil else { return }
        yards[key.app]?.order.append(key)
        count += 1
        // The oldest go when they are over or when there are too many; a refreshed one keeps its place in the queue.
        while isOldestDue(of: key.app, at: now) { forgetOldest(of: key.app) }
        while count > Self.most, let largest = yards.max(by: { $0.value.stones.count < $1.value.stones.count })?.key {
            forgetOldest(of: largest)
        }
    }

    /// When a call of the app last ended, of those that are remembered.
    func lastEnd(of app: String) -> Instant? { yards[app]?.stones.values.map(\.ended).max() }

    /// Asked in a function of its own: a copy that lived on would make the next write copy the whole yard.
    private func isOldestDue(of app: String, at now: Instant) -> Bool {
        guard let yard = yards[app], let first = yard.first else { return false }
        return yard.stones.count > Yard.most || yard.stones[first].map { $0.until <= now } ?? true
    }

    private mutating func forgetOldest(of app: String) {
        yards[app]?.forgetOldest()
        count -= 1
        if yards[app]?.stones.isEmpty == true { yards[app] = nil }
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
