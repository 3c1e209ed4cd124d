internal import Base

/// A numeric IP address: no name is ever looked up, which may block and may lie.
struct IPAddress: Sendable, Equatable {
    /// 4 or 16, in network order.
    let bytes: [UInt8]

    /// `192.0.2.1` (four decimal numbers) or RFC 4291's forms of IPv6; nil for anything else.
    init?(_ text: some StringProtocol) {
        guard let bytes = text.contains(":") ? Self.v6(text) : Self.v4(text) else { return nil }
        self.bytes = bytes
    }

    /// 127.0.0.0/8 and ::1.
    var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    private static func v4(_ text: some StringProtocol) -> [UInt8]? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var out: [UInt8] = []
        for part in parts {
            // No leading zeros: some take them for octal.
            guard (1...3).contains(part.count), part.allSatisfy({ (0x30...0x39).contains($0) }),
                part.count == 1 || part.first != 0x30
            else { return nil }
            let value = part.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            guard value <= 255 else { return nil }
            out.append(UInt8(value))
        }
        return out
    }

    private static func v6(_ text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.count <= 45 else { return nil }
        // One "::" stands for as many zeros as are missing.
        var halves: [String] = []
        var rest = String(text)
        if let gap = firstGap(rest) {
            halves = [String(rest[..<gap])]
            rest = String(rest[rest.index(gap, offsetBy: 2)...])
            if firstGap(rest) != nil { return nil }
        }
        halves.append(rest)
        var sides: [[UInt8]] = []
        for half in halves {
            guard let side = groups(half, mayBeEmpty: halves.count == 2) else { return nil }
            sides.append(side)
        }
        let size = sides.reduce(0) { $0 + $1.count }
        if sides.count == 1 { return size == 16 ? sides[0] : nil }
        guard size <= 14 else { return nil }
        return sides[0] + [UInt8](repeating: 0, count: 16 - size) + sides[1]
    }

    private static func firstGap(_ text: String) -> String.Index? {
        var last: String.Index?
        for index in text.indices where text[index] == ":" {
            if let last, text.index(after: last) == index { return last }
            last = index
        }
        return nil
    }

    private static func groups(_ text: String, mayBeEmpty: Bool) -> [UInt8]? {
        if text.isEmpty { return mayBeEmpty ? [] : nil }
        var out: [UInt8] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.contains(".") {
                guard let tail = v4(part) else { return nil }
                out += tail
                continue
            }
            guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ Hex.value(of: $0) != nil }),
                let value = UInt16(part, radix: 16)
            else { return nil }
            out += [UInt8(value >> 8), UInt8(value & 0xff)]
        }
        return out.count <= 16 ? out : nil
    }
}
