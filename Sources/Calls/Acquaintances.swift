import Base

/// Who was dialled or spoken to, and who was kept from ringing lately. Bounded: the oldest is forgotten first.
struct Acquaintances: Sendable {
    private static let most = 1024
    private var order: [String] = []
    private var known: Set<String> = []
    private var screened: [(handle: String, at: Instant)] = []

    mutating func add(_ handle: Handle) {
        let key = HandlePattern.normalise(handle.value)
        guard !key.isEmpty, known.insert(key).inserted else { return }
        order.append(key)
        // In one go now and then: taking the first of an array moves all others.
        guard order.count > Self.most * 2 else { return }
        for old in order.prefix(Self.most) { known.remove(old) }
        order.removeFirst(Self.most)
    }

    func contains(_ handle: Handle) -> Bool { known.contains(HandlePattern.normalise(handle.value)) }

    mutating func screened(_ handle: Handle, at now: Instant) {
        let key = HandlePattern.normalise(handle.value)
        // Nobody in particular: two who hide their number are not the same.
        guard !key.isEmpty else { return }
        screened.removeAll { $0.handle == key }
        screened.append((key, now))
        if screened.count > 256 { screened.removeFirst() }
    }

    func lastScreened(_ handle: Handle) -> Instant? {
        let key = HandlePattern.normalise(handle.value)
        return screened.first { $0.handle == key }?.at
    }
}

extension Handle {
    /// The same address, however it is spelt.
    func isSame(as other: Handle) -> Bool {
        let mine = HandlePattern.normalise(value)
        return !mine.isEmpty && mine == HandlePattern.normalise(other.value)
    }
}
