internal import Base

extension PushLog {
    package subscript(number: UInt64) -> PushRecord? { place(of: number).map { read(number, $0) } }

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
        var number = max(after.addingReportingOverflow(1).partialValue, oldest)
        while number < next, out.count < limit {
            if let record = self[number], isWanted(record) { out.append(record) }
            number += 1
        }
        return out
    }

    // MARK: In pages

    /// Which records are wanted: looked at in their bytes, since nearly all are passed over.
    package struct Filter: Sendable {
        package var app: String?
        package var device: String?
        package var refusedOnly = false
        package init() {}
    }

    /// A piece of the record, so that a reader never holds up the loop.
    package struct Page {
        package var records: [PushRecord] = []
        /// All up to and with this one were looked at.
        package var reached: UInt64
    }

    /// At most this many records are looked at for one page: about a millisecond.
    static let pageBudget = 20_000

    /// Newest first, older than `number`.
    package func page(before number: UInt64, limit: Int, _ filter: Filter = Filter()) -> Page {
        var page = Page(reached: min(number, next))
        var budget = Self.pageBudget
        while page.reached > oldest, page.records.count < limit, budget > 0 {
            page.reached -= 1
            budget -= 1
            take(page.reached, filter, &page.records)
        }
        return page
    }

    /// Oldest first, newer than `number`.
    package func page(after number: UInt64, limit: Int, _ filter: Filter = Filter()) -> Page {
        // A reader may come from another run, whose numbers went further.
        var page = Page(reached: min(max(number, oldest - 1), next - 1))
        var budget = Self.pageBudget
        while page.reached + 1 < next, page.records.count < limit, budget > 0 {
            page.reached += 1
            budget -= 1
            take(page.reached, filter, &page.records)
        }
        return page
    }

    private func take(_ number: UInt64, _ filter: Filter, _ out: inout [PushRecord]) {
        guard let place = place(of: number) else { return }
        if filter.refusedOnly, place.load(as: Fixed.self).status == 200 { return }
        if filter.app != nil || filter.device != nil {
            var cursor = TextCursor(place + MemoryLayout<Fixed>.size)
            cursor.skip(2)
            let app = cursor.next()
            let device = cursor.next()
            if let wanted = filter.app, !app.equals(string: wanted) { return }
            if let wanted = filter.device, !device.equals(string: wanted) { return }
        }
        out.append(read(number, place))
    }

    /// The newest push with this `apns-id` or `apns-unique-id`, in any case of letters.
    package func number(withID id: String) -> UInt64? {
        let wanted = id.lowercased()
        guard !wanted.isEmpty else { return nil }
        var number = next
        while number > oldest {
            number -= 1
            guard let place = place(of: number) else { continue }
            var cursor = TextCursor(place + MemoryLayout<Fixed>.size)
            cursor.skip(7)
            if cursor.next().equalsFolded(wanted) || cursor.next().equalsFolded(wanted) { return number }
        }
        return nil
    }

    // MARK: One record

    /// Texts one behind another, each with its length before it.
    private struct TextCursor {
        private var place: UnsafeRawPointer

        init(_ place: UnsafeRawPointer) { self.place = place }

        mutating func next() -> Bytes {
            let length = Int(place.loadUnaligned(as: UInt16.self))
            defer { place += 2 + length }
            return Bytes(start: (place + 2).assumingMemoryBound(to: UInt8.self), count: length)
        }

        mutating func skip(_ count: Int) { for _ in 0..<count { _ = next() } }

        /// Fit to show.
        mutating func clean() -> String { Text.clean(next().text) }
    }

    private func read(_ number: UInt64, _ place: UnsafeRawPointer) -> PushRecord {
        let fixed = place.load(as: Fixed.self)
        var cursor = TextCursor(place + MemoryLayout<Fixed>.size)
        var out = PushRecord()
        out.number = number
        out.arrived = WallTime(nanoseconds: fixed.arrived)
        out.connection = fixed.connection
        out.environment = PushEnvironment(code: fixed.environment)
        out.priority = fixed.priority
        out.status = Int(fixed.status)
        out.expiration = fixed.hasExpiration == 0 ? nil : fixed.expiration
        out.transport = PushRequest.Transport(code: fixed.command).word
        out.token = fixed.tokenStart == 0 ? "" : String(fixed.tokenStart, radix: 16).leftPadded(to: 8, with: "0")
        out.kind = fixed.kind == 0 ? nil : fixed.kind == 2 ? .voip : .alert
        out.peer = cursor.clean()
        out.sender = cursor.clean()
        out.app = cursor.clean()
        out.device = cursor.clean()
        out.topic = DeviceToken.hidden(in: cursor.next().text)
        out.pushType = cursor.clean()
        out.collapseID = cursor.clean()
        out.id = cursor.clean()
        out.uniqueID = cursor.clean()
        out.reason = cursor.clean()
        out.outcome = cursor.clean()
        out.payload = Array(cursor.next())
        for _ in 0..<fixed.findings {
            let code = cursor.next().text
            let reason = cursor.next().text
            out.findings.append(Finding(code, PushReason(rawValue: reason), cursor.next().text))
        }
        out.notes = notes[number]
        return out
    }
}
