import Base

/// Who was dialled or spoken to, and who was kept from ringing lately. Bounded: the oldest is forgotten first.
struct Acquaintances: Sendable {
    private static let most = 1024
    private var order: [String] = []
    private var known: Set<String> = []
    private var screened: [(handle: String, at: Instant)] = []
    /// Those who are known stay known when it changes.
    var region: PhoneRegion? {
        didSet { if region != oldValue { respell() } }
    }

    private func key(_ handle: Handle) -> String { HandlePattern.normalise(handle.value, in: region) }

    private mutating func respell() {
        known = []
        order = order.map { HandlePattern.normalise($0, in: region) }.filter { known.insert($0).inserted }
        screened = screened.map { (HandlePattern.normalise($0.handle, in: region), $0.at) }
    }

    mutating func add(_ handle: Handle) {
        let key = key(handle)
        guard !key.isEmpty, known.insert(key).inserted else { return }
        order.append(key)
        // In one go now and then: taking the first of an array moves all others.
        guard order.count > Self.most * 2 else { return }
        for old in order.prefix(Self.most) { known.remove(old) }
        order.removeFirst(Self.most)
    }

    func contains(_ handle: Handle) -> Bool { known.contains(key(handle)) }

    mutating func screened(_ handle: Handle, at now: Instant) {
        let key = key(handle)
        // Nobody in particular: two who hide their number are not the same.
        guard !key.isEmpty else { return }
        screened.removeAll { $0.handle == key }
        screened.append((key, now))
        if screened.count > 256 { screened.removeFirst() }
    }

    func lastScreened(_ handle: Handle) -> Instant? {
        let key = key(handle)
        return screened.last { $0.handle == key }?.at
    }
}

extension Handle {
    /// The same address, however it is spelt.
    func isSame(as other: Handle, in region: PhoneRegion?) -> Bool {
        let mine = HandlePattern.normalise(value, in: region)
        return !mine.isEmpty && mine == HandlePattern.normalise(other.value, in: region)
    }
}
