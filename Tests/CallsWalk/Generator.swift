/// SplitMix64 (Steele, Lea, Flood 2014): small, seedable, good enough to walk at random.
package struct Generator: RandomNumberGenerator, Sendable {
    package var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    package mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    /// One time in so many.
    package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    package mutating func one<T>(of values: [T]) -> T { values[below(values.count)] }
}
