import APNs
import Gateway

/// Frames as old senders write them, and a random source whose seed a failing test prints.
enum Frames {
    static let token = [UInt8](repeating: 0xab, count: 32)
    static let tokens: [(TokenKind, PushEnvironment, [UInt8])] = [
        (.voip, .production, token), (.voip, .sandbox, [UInt8](repeating: 0xcd, count: 32)),
        (.alert, .production, [UInt8](repeating: 0x12, count: 32)),
        (.alert, .sandbox, [UInt8](repeating: 0x34, count: 32)),
    ]
    static let payload = Array(#"{"aps":{"alert":"Alice"}}"#.utf8)

    static func number(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    static func sized(_ bytes: [UInt8]) -> [UInt8] { number(bytes.count, 2) + bytes }

    static func simple(_ token: [UInt8] = token, _ payload: [UInt8] = payload) -> [UInt8] {
        [0] + sized(token) + sized(payload)
    }

    static func enhanced(
        id: Int, expiry: Int = 0, _ token: [UInt8] = token, _ payload: [UInt8] = payload
    ) -> [UInt8] {
        [1] + number(id, 4) + number(expiry, 4) + sized(token) + sized(payload)
    }

    static func item(_ id: UInt8, _ data: [UInt8]) -> [UInt8] { [id] + sized(data) }

    static func framed(_ items: [[UInt8]]) -> [UInt8] {
        let body = items.flatMap { $0 }
        return [2] + number(body.count, 4) + body
    }

    static func framed(id: Int, _ token: [UInt8] = token, _ payload: [UInt8] = payload) -> [UInt8] {
        framed([item(1, token), item(2, payload), item(3, number(id, 4))])
    }
}

/// SplitMix64.
struct Seeded: RandomNumberGenerator {
    var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
