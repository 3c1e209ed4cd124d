/// The last thing said of each of many keys, in the order in which those were said.
struct LastWords<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var words: [Key: (order: Int, value: Value?)] = [:]
    private var lastOrder = 0

    /// `nil`: it is gone.
    mutating func say(_ value: Value?, of key: Key) {
        lastOrder += 1
        words[key] = (lastOrder, value)
    }

    var inOrder: [(key: Key, value: Value?)] {
        words.sorted { $0.value.order < $1.value.order }.map { ($0.key, $0.value.value) }
    }
}
