internal import Base
internal import Glibc

/// The last pushes, in a ring of bytes that forgets the oldest: a record costs one copy and no allocation, and all of them
/// together a fixed piece of memory, which is touched only as far as it is used.
package final class PushLog {
    private let capacity: Int
    private var base: UnsafeMutableRawPointer?
    /// Where the next record goes.
    private var head = 0
    /// Where each record begins, oldest first; a ring of its own.
    private var offsets: [UInt32] = []
    private var first = 0
    private var count = 0
    /// The number of the next push.
    package private(set) var next: UInt64 = 1
    var notes = PushNotes()

    /// `capacity`: bytes; at least 1 MiB, so that the largest record fits many times.
    package init(capacity: Int = 8 << 20) {
        self.capacity = max(1 << 20, capacity)
    }

    deinit { if let base { munmap(base, capacity) } }

    package var oldest: UInt64 { next - UInt64(count) }
    package var recordCount: Int { count }

    /// The texts of one record, in its order; what is long is cut.
    struct Texts {
        let peer: Bytes
        let sender: Bytes
        let app: Bytes
        let device: Bytes
        let topic: Bytes
        let pushType: Bytes
        let collapseID: Bytes
        let id: Bytes
        let uniqueID: Bytes
        let reason: Bytes
        let outcome: Bytes
        let payload: Bytes

        @inline(__always)
        func forEach(_ body: (Bytes) -> Void) {
            body(peer)
            body(sender)
            body(app)
            body(device)
            body(topic)
            body(pushType)
            body(collapseID)
            body(id)
            body(uniqueID)
            body(reason)
            body(outcome)
            body(payload)
        }
    }

    /// What a record begins with; its texts follow, each with its length in 16 bits, then its findings.
    struct Fixed {
        var status: UInt16
        var priority: UInt8
        var environment: UInt8
        var command: UInt8
        var hasExpiration: UInt8
        /// Of the token: 1 alert, 2 voip, 0 nobody's.
        var kind: UInt8
        var findings: UInt16
        var tokenStart: UInt32
        var connection: UInt64
        var arrived: Int64
        var expiration: Int64
    }

    // MARK: Writing

    /// Appends a record; its number is what `next` was.
    @discardableResult
    func append(
        _ push: PushRequest, from sender: Sender, _ judgement: Judgement, status: Int, texts: Texts, arrived: WallTime
    ) -> UInt64 {
        let token = push.transport == .http2 ? Self.tokenStart(push[.path]) : Self.tokenStart(of: push.binaryToken)
        var findings: [UInt8] = []
        for finding in judgement.findings.prefix(16) {
            Self.put(finding.code, &findings)
            Self.put(finding.reason?.rawValue ?? "", &findings)
            Self.put(finding.text, &findings)
        }
        var size = MemoryLayout<Fixed>.size + findings.count
        texts.forEach { size += 2 + min($0.count, Self.longest) }
        let place = reserve(size)
        place.storeBytes(
            of: Fixed(
                status: UInt16(clamping: status), priority: judgement.priority,
                environment: Self.environment(sender, judgement).code, command: push.transport.code,
                hasExpiration: judgement.expiration == nil ? 0 : 1,
                kind: judgement.registration.map { $0.kind == .voip ? 2 : 1 } ?? 0,
                findings: UInt16(min(judgement.findings.count, 16)), tokenStart: token, connection: sender.number,
                arrived: arrived.nanoseconds, expiration: judgement.expiration ?? 0), as: Fixed.self)
        var cursor = place + MemoryLayout<Fixed>.size
        texts.forEach { text in
            let length = min(text.count, Self.longest)
            cursor.storeBytes(of: UInt16(length), as: UInt16.self)
            if length > 0 { (cursor + 2).copyMemory(from: text.baseAddress!, byteCount: length) }
            cursor += 2 + length
        }
        cursor.copyMemory(from: findings, byteCount: findings.count)
        defer { next += 1 }
        return next
    }

    /// The most bytes of one text: a payload's.
    private static let longest = PushRequest.bodyLimit

    private static func environment(_ sender: Sender, _ judgement: Judgement) -> PushEnvironment {
        sender.environment == .unknown ? judgement.registration?.environment ?? .unknown : sender.environment
    }

    private static func tokenStart(_ path: Bytes) -> UInt32 {
        let start = PushRules.devicePath.utf8CodeUnitCount
        guard path.count >= start + 8 else { return 0 }
        var value: UInt32 = 0
        for byte in path[start..<(start + 8)] { value = value << 4 | UInt32(Hex.value(of: byte) ?? 0) }
        return value
    }

    private static func tokenStart(of token: [UInt8]) -> UInt32 {
        token.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func put(_ text: String, _ out: inout [UInt8]) {
        let bytes = text.utf8.prefix(1024)
        out.append(UInt8(truncatingIfNeeded: bytes.count))
        out.append(UInt8(truncatingIfNeeded: bytes.count >> 8))
        out.append(contentsOf: bytes)
    }

    /// Room for `size` bytes; the oldest records give way.
    private func reserve(_ size: Int) -> UnsafeMutableRawPointer {
        if base == nil {
            base = mmap(nil, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            precondition(base != MAP_FAILED, "no memory for the record of pushes")
        }
        if head + size > capacity {
            while count > 0, Int(offsets[first]) >= head { forget() }
            head = 0
        }
        while count > 0 {
            let start = Int(offsets[first])
            guard start >= head, start < head + size else { break }
            forget()
        }
        push(UInt32(head))
        defer { head = (head + size + 7) & ~7 }
        return base! + head
    }

    private func forget() {
        notes.forget(oldest)
        first = first + 1 == offsets.count ? 0 : first + 1
        count -= 1
    }

    private func push(_ offset: UInt32) {
        if count == offsets.count {
            // Grown in order, oldest at the front again.
            offsets = Array(offsets[first...] + offsets[..<first])
            offsets.append(contentsOf: repeatElement(0, count: max(64, offsets.count)))
            first = 0
        }
        var index = first + count
        if index >= offsets.count { index -= offsets.count }
        offsets[index] = offset
        count += 1
    }

    /// Something more became known of a push, if it is still here.
    package func note(_ number: UInt64, _ text: String) {
        guard number >= oldest, number < next else { return }
        notes.add(text, to: number, oldest: oldest)
    }

    /// Where a record begins, if it is still here.
    func place(of number: UInt64) -> UnsafeRawPointer? {
        guard number >= oldest, number < next, let base else { return nil }
        var index = first + Int(number - oldest)
        if index >= offsets.count { index -= offsets.count }
        return UnsafeRawPointer(base + Int(offsets[index]))
    }
}

extension PushRequest.Transport {
    /// A byte for the record: a legacy command's own number, or one above them.
    var code: UInt8 {
        switch self {
        case .binary(let command): min(command, 2)
        case .http2: 3
        case .bus: 4
        case .webhook: 5
        }
    }

    init(code: UInt8) {
        switch code {
        case 3: self = .http2
        case 4: self = .bus
        case 5: self = .webhook
        default: self = .binary(command: code)
        }
    }
}

extension PushEnvironment {
    var code: UInt8 {
        switch self {
        case .sandbox: 0
        case .production: 1
        case .unknown: 2
        }
    }

    init(code: UInt8) { self = code == 0 ? .sandbox : code == 1 ? .production : .unknown }
}
