/// Pushes that were taken and are not with their device yet: late, held back, or waiting to come together. In memory only,
/// and bounded: a sender may ask for an hour's delay with every push.
struct UnderWay {
    static let most = 4096

    /// All of them.
    private(set) var count = 0
    /// Waiting to come together, by device, oldest first.
    private var groups: [String: [StoredPush]] = [:]
    /// One push a device that waits for the next to overtake it.
    private var overtaken: [String: StoredPush] = [:]

    private var hasRoom: Bool { count < Self.most }

    /// Counts one that is late; false: there are too many.
    mutating func start() -> Bool {
        guard hasRoom else { return false }
        count += 1
        return true
    }

    mutating func end() { count -= 1 }

    enum Joined {
        /// Its device's first: somebody must see to their delivery.
        case first
        case next
        /// It took the place of that one, which had the same collapse id.
        case collapsed(StoredPush)
        case full
    }

    mutating func join(_ push: StoredPush) -> Joined {
        var group = groups[push.device] ?? []
        if !push.collapseID.isEmpty,
            let index = group.firstIndex(where: { $0.collapseID == push.collapseID && $0.app == push.app })
        {
            let before = group.remove(at: index)
            groups[push.device] = nil
            group.append(push)
            groups[push.device] = group
            return .collapsed(before)
        }
        guard start() else { return .full }
        let isFirst = group.isEmpty
        groups[push.device] = nil
        group.append(push)
        groups[push.device] = group
        return isFirst ? .first : .next
    }

    mutating func takeGroup(device: String) -> [StoredPush] {
        let group = groups.removeValue(forKey: device) ?? []
        count -= group.count
        return group
    }

    /// Holds a push back until another comes to its device; false if one is held already, or there are too many.
    mutating func holdBack(_ push: StoredPush) -> Bool {
        guard overtaken[push.device] == nil, start() else { return false }
        overtaken[push.device] = push
        return true
    }

    mutating func takeOvertaken(device: String) -> StoredPush? {
        guard !overtaken.isEmpty, let push = overtaken.removeValue(forKey: device) else { return nil }
        count -= 1
        return push
    }
}
