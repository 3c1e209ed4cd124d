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
    /// What came later to some records.
    private var notes: [UInt64: [String]] = [:]

    /// `capacity`: bytes; at least 1 MiB, so that the largest record fits many times.
    package init(capacity: Int = 8 << 20) {
        self.capacity = max(1 << 20, capacity)
    }

    deinit { if let base { munmap(base, capacity) } }

    package var oldest: UInt64 { next - UInt64(count) }
    package var recordCount: Int { count }

    // MARK: Writing

    /// The texts of one record; what is long is cut.
    struct Texts {
        let peer: Bytes
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
    }

    private struct Fixed {
        var size: UInt32
        var status: UInt16
        var priority: UInt8
        var environment: UInt8
        var command: UInt8
        var hasExpiration: UInt8
        var findings: UInt16
        var tokenStart: UInt32
        var connection: UInt64
        var arrived: Int64
        var expiration: Int64
    }

    /// Appends a record; its number is what `next` was.
    @discardableResult
    func append(
        _ push: PushRequest, from sender: Sender, _ judgement: Judgement, status: Int, texts: Texts, arrived: WallTime
    ) -> UInt64 {
        let all = [
            texts.peer, texts.app, texts.device, texts.topic, texts.pushType, texts.collapseID, texts.id,
            texts.uniqueID, texts.reason, texts.outcome, texts.payload,
        ]
        let token = push.transport == .http2 ? Self.tokenStart(push[.path]) : Self.tokenStart(of: push.binaryToken)
        var findings: [UInt8] = []
        for finding in judgement.findings.prefix(16) {
            Self.put(finding.code, &findings)
            Self.put(finding.reason?.rawValue ?? "", &findings)
            Self.put(finding.text, &findings)
        }
        var size = MemoryLayout<Fixed>.size + findings.count
        for text in all { size += 2 + min(text.count, Self.longest) }
        let place = reserve(size)
        let command: UInt8 =
            switch push.transport {
            case .binary(let command): command
            case .http2: 3
            case .bus: 4
            }
        let fixed = Fixed(
            size: UInt32(size), status: UInt16(clamping: status), priority: judgement.priority,
            environment: UInt8(PushEnvironment.allCases.firstIndex(of: Self.environment(sender, judgement))!),
            command: command, hasExpiration: judgement.expiration == nil ? 0 : 1,
            findings: UInt16(min(judgement.findings.count, 16)), tokenStart: token, connection: sender.number,
            arrived: arrived.nanoseconds, expiration: judgement.expiration ?? 0)
        place.storeBytes(of: fixed, as: Fixed.self)
        var cursor = place + MemoryLayout<Fixed>.size
        for text in all {
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
        guard path.count >= 19 else { return 0 }
        var value: UInt32 = 0
        for byte in path[11..<19] { value = value << 4 | UInt32(Hex.value(of: byte) ?? 0) }
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
        if !notes.isEmpty { notes[oldest] = nil }
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

    /// Something more became known of a push, if it is still here; at most 16 notes each.
    package func note(_ number: UInt64, _ text: String) {
        guard number >= oldest, number < next, notes[number]?.count ?? 0 < 16 else { return }
        notes[number, default: []].append(text)
    }

    // MARK: Reading

    package subscript(number: UInt64) -> PushRecord? {
        guard number >= oldest, number < next, let base else { return nil }
        var index = first + Int(number - oldest)
        if index >= offsets.count { index -= offsets.count }
        return read(number, base + Int(offsets[index]))
    }

    /// Up to `limit` records that `isWanted`, newest first, older than `before`.
    package func newest(
        _ limit: Int, before: UInt64 = .max, where isWanted: (PushRecord) -> Bool = { _ in true }
    ) -> [PushRecord] {
        var out: [PushRecord] = []
        var number = min(before, next)
        while number > oldest, out.count < limit {
            number -= 1
            if let record = self[number], isWanted(record) { out.append(record) }
        }
        return out
    }

    /// Up to `limit` records that `isWanted`, oldest first, newer than `after`.
    package func since(
        _ after: UInt64, limit: Int, where isWanted: (PushRecord) -> Bool = { _ in true }
    ) -> [PushRecord] {
        var out: [PushRecord] = []
        var number = max(after + 1, oldest)
        while number < next, out.count < limit {
            if let record = self[number], isWanted(record) { out.append(record) }
            number += 1
        }
        return out
    }

    private func read(_ number: UInt64, _ place: UnsafeMutableRawPointer) -> PushRecord {
        let fixed = place.load(as: Fixed.self)
        var cursor = UnsafeRawPointer(place) + MemoryLayout<Fixed>.size
        func bytes() -> Bytes {
            let length = Int(cursor.loadUnaligned(as: UInt16.self))
            defer { cursor += 2 + length }
            return Bytes(start: (cursor + 2).assumingMemoryBound(to: UInt8.self), count: length)
        }
        func clean() -> String { Text.clean(bytes().text) }
        func verbatim() -> String { bytes().text }
        var out = PushRecord()
        out.number = number
        out.arrived = WallTime(nanoseconds: fixed.arrived)
        out.connection = fixed.connection
        out.environment = PushEnvironment.allCases[Int(fixed.environment)]
        out.priority = fixed.priority
        out.status = Int(fixed.status)
        out.expiration = fixed.hasExpiration == 0 ? nil : fixed.expiration
        let transport: PushRequest.Transport =
            fixed.command == 3 ? .http2 : fixed.command == 4 ? .bus : .binary(command: fixed.command)
        out.transport = transport.word
        out.token = fixed.tokenStart == 0 ? "" : String(fixed.tokenStart, radix: 16).leftPadded(to: 8, with: "0")
        out.peer = clean()
        out.app = clean()
        out.device = clean()
        out.topic = clean()
        out.pushType = clean()
        out.collapseID = clean()
        out.id = clean()
        out.uniqueID = clean()
        out.reason = clean()
        out.outcome = clean()
        out.payload = Array(bytes())
        for _ in 0..<fixed.findings {
            let code = verbatim()
            let reason = verbatim()
            out.findings.append(Finding(code, PushReason(rawValue: reason), verbatim()))
        }
        out.notes = notes[number] ?? []
        return out
    }
}
