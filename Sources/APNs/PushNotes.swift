/// What became known of pushes after their records were written. Few have any, so they are kept apart; bounded, because a
/// flood to a device that is off makes one for each push.
struct PushNotes {
    static let most = 4096
    static let mostEach = 16

    private var texts: [UInt64: [String]] = [:]
    /// Numbers in the order of their first note; what is gone from `texts` is passed over.
    private var order: [UInt64] = []
    private var first = 0

    subscript(number: UInt64) -> [String] { texts[number] ?? [] }

    /// `oldest`: the oldest record that is still here.
    mutating func add(_ text: String, to number: UInt64, oldest: UInt64) {
        if texts[number] == nil {
            order.append(number)
            while first < order.count, order[first] < oldest || texts.count >= Self.most {
                texts[order[first]] = nil
                first += 1
            }
            if first > Self.most {
                order.removeFirst(first)
                first = 0
            }
        }
        guard texts[number]?.count ?? 0 < Self.mostEach else { return }
        texts[number, default: []].append(text)
    }

    mutating func forget(_ number: UInt64) {
        if !texts.isEmpty { texts[number] = nil }
    }
}
