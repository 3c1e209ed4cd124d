package import Base

/// Past calls: written, read, marked as seen, and forgotten.
extension Store {
    // MARK: Writing

    /// Inserts the call's row or brings it up to date, in one transaction with what a successor needs: `live` is written
    /// with it, and a call that has ended without one is live no more. So no kill can leave one without the other.
    package func record(_ call: CallRow, live: LiveRow? = nil) {
        write { [self] database throws(StoreFailure) in
            var isNew = true
            try database.transaction { () throws(StoreFailure) in
                let uuid = Database.Value.text(call.uuid.description)
                try database.query("SELECT 1 FROM call WHERE uuid = ?", [uuid]) { _ in isNew = false }
                try Self.upsert(call, database)
                try Self.meet(call, database)
                if let live {
                    try Self.set(live, database)
                } else if call.ended != nil {
                    try database.run("DELETE FROM live WHERE uuid = ?", [uuid])
                }
            }
            if isNew { try countNewCall(database) }
        }
    }

    private static func upsert(_ call: CallRow, _ database: Database) throws(StoreFailure) {
        try database.run(
            """
            INSERT INTO call (\(CallRow.columns)) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
            ON CONFLICT (uuid) DO UPDATE SET app = excluded.app, key = excluded.key, caller = excluded.caller,
                handle = excluded.handle, handle_kind = excluded.handle_kind, video = excluded.video,
                began = excluded.began, answered = excluded.answered, connected = excluded.connected,
                ended = excluded.ended, reason = excluded.reason, category = excluded.category,
                rang_ms = excluded.rang_ms, account = excluded.account, outgoing = excluded.outgoing,
                contact = excluded.contact, connecting = excluded.connecting, detail = excluded.detail,
                seen = CASE WHEN call.ended IS NULL THEN excluded.seen ELSE max(call.seen, excluded.seen) END,
                call_back = excluded.call_back, call_back_kind = excluded.call_back_kind, recents = excluded.recents,
                serial = excluded.serial, stamp = excluded.stamp
            """,
            [
                .text(call.uuid.description), .text(call.app), .text(call.key), .text(call.callerName),
                .text(call.handle), .text(call.handleKind), .integer(call.isVideo ? 1 : 0),
                .integer(call.began.nanoseconds), .optional(call.answered?.nanoseconds),
                .optional(call.connected?.nanoseconds), .optional(call.ended?.nanoseconds), .text(call.reason),
                .text(call.category), .integer(call.rangMilliseconds), .text(call.account),
                .integer(call.isOutgoing ? 1 : 0), .text(call.contact),
                .optional(call.startedConnecting?.nanoseconds), .text(call.detail), .integer(call.isSeen ? 1 : 0),
                .text(call.callBackHandle), .text(call.callBackKind), .integer(call.isInRecents ? 1 : 0),
                .optional(call.serial), .optional(call.stamp),
            ])
    }

    /// One missed call, or all of them, have been shown; `then` gets how many had not been before.
    package func markSeen(_ uuid: CallUUID?, then: @escaping @Sendable (Int) -> Void) {
        ask(then, empty: 0) { database throws(StoreFailure) in
            let one = uuid == nil ? "" : " AND uuid = ?"
            try database.run(
                "UPDATE call SET seen = 1 WHERE \(Self.missed) AND seen = 0\(one)",
                uuid.map { [.text($0.description)] } ?? [])
            return database.changes
        }
    }

    /// Forgets ended calls, their events, and whom they were with; `then` gets how many calls.
    package func clearHistory(_ what: Clearing = .all, then: @escaping @Sendable (Int) -> Void) {
        ask(then, empty: 0) { [self] database throws(StoreFailure) in
            var condition = "ended IS NOT NULL"
            var values: [Database.Value] = []
            switch what {
            case .all: break
            case .call(let uuid):
                condition += " AND uuid = ?"
                values.append(.text(uuid.description))
            case .before(let time):
                condition += " AND began < ?"
                values.append(.integer(time.nanoseconds))
            }
            var count = 0
            try database.transaction { () throws(StoreFailure) in
                try Self.forgetAcquaintances(what, database)
                try database.run("DELETE FROM event WHERE call IN (SELECT uuid FROM call WHERE \(condition))", values)
                try database.run("DELETE FROM call WHERE \(condition)", values)
                count = database.changes
            }
            file.pruning.calls = nil
            return count
        }
    }

    // MARK: Reading

    /// Ended calls, newest first. `marksSeen`: those that come back count as shown from now on; their rows say whether they
    /// were before.
    package func history(
        _ filter: HistoryFilter, marksSeen: Bool = false, then: @escaping @Sendable ([CallRow]) -> Void
    ) {
        ask(then, empty: []) { database throws(StoreFailure) in
            let (sql, values) = Self.query(filter)
            var rows: [CallRow] = []
            try database.query(sql, values) { row in
                if let call = CallRow(row) { rows.append(call) }
            }
            guard marksSeen else { return rows }
            let unseen = rows.filter { $0.isMissed && !$0.isSeen }
            try database.transaction { () throws(StoreFailure) in
                for call in unseen {
                    try database.run("UPDATE call SET seen = 1 WHERE uuid = ?", [.text(call.uuid.description)])
                }
            }
            return rows
        }
    }

    /// How many missed calls the user has not been shown; hidden ones do not count.
    package func unseenMissed(then: @escaping @Sendable (Int) -> Void) {
        ask(then, empty: 0) { database throws(StoreFailure) in
            var count = 0
            try database.query("SELECT count(*) FROM call WHERE \(Self.missed) AND seen = 0 AND recents = 1") { row in
                count = Int(row.integer(0))
            }
            return count
        }
    }

    /// The newest call whose UUID begins with `prefix` or whose provider key it is; the newest of all, if it is empty.
    package func find(_ prefix: String, then: @escaping @Sendable (CallRow?) -> Void) {
        candidates(prefix) { then($0.first) }
    }

    /// The two newest calls that `find` might mean: more than one is an ambiguous word.
    package func candidates(_ prefix: String, then: @escaping @Sendable ([CallRow]) -> Void) {
        ask(then, empty: []) { database throws(StoreFailure) in try Self.candidates(prefix, database) }
    }

    /// What `find` finds, and its events.
    package func report(_ prefix: String, then: @escaping @Sendable ((CallRow, [EventRow])?) -> Void) {
        ask(then, empty: nil) { database throws(StoreFailure) in
            guard let found = try Self.candidates(prefix, database).first else { return nil }
            var events: [EventRow] = []
            try database.query(
                "SELECT call, at, wall, kind, level, message, fields FROM event WHERE call = ? ORDER BY at, number",
                [.text(found.uuid.description)]
            ) { row in events.append(EventRow(row)) }
            return (found, events)
        }
    }

    private static func candidates(_ prefix: String, _ database: Database) throws(StoreFailure) -> [CallRow] {
        var found: [CallRow] = []
        try database.query(
            byPrefix(isEmpty: prefix.isEmpty), prefix.isEmpty ? [] : [.text(prefix.lowercased()), .text(prefix)]
        ) { row in
            if let call = CallRow(row) { found.append(call) }
        }
        return found
    }

    // MARK: SQL

    /// As the partial indices have it, word for word: SQLite compares no meanings.
    static let missed = "substr(category, 1, 6) = 'missed'"

    static func query(_ filter: HistoryFilter) -> (sql: String, values: [Database.Value]) {
        var conditions: [String] = []
        var values: [Database.Value] = []
        func require(_ condition: String, _ value: Database.Value? = nil) {
            conditions.append(condition)
            if let value { values.append(value) }
        }
        if filter.isMissedOnly || filter.isUnseenOnly {
            // Which says that it ended, and was not blocked.
            require(missed)
            if filter.isUnseenOnly { require("seen = 0") }
            if !filter.includesHidden { require("recents = 1") }
        } else {
            require("ended IS NOT NULL")
            if !filter.includesHidden { require("recents = 1 AND category <> 'blocked'") }
        }
        if let app = filter.app { require("app = ?", .text(app)) }
        if let isOutgoing = filter.isOutgoing { require("outgoing = ?", .integer(isOutgoing ? 1 : 0)) }
        if let handle = filter.handle {
            let all = [handle] + filter.spellings.prefix(8).filter { $0 != handle }
            conditions.append("handle IN (\(all.map { _ in "?" }.joined(separator: ", ")))")
            values += all.map { .text($0) }
        }
        if let before = filter.before { require("began < ?", .integer(before.nanoseconds)) }
        values.append(.integer(Int64(max(1, min(10_000, filter.limit)))))
        return (
            """
            SELECT \(CallRow.columns) FROM call WHERE \(conditions.joined(separator: " AND ")) \
            ORDER BY began DESC LIMIT ?
            """, values
        )
    }

    /// A UUID is written with digits that stand before `g`, so the range is what begins with the prefix.
    static func byPrefix(isEmpty: Bool) -> String {
        let condition = isEmpty ? "" : "WHERE (uuid >= ?1 AND uuid < ?1 || 'g') OR key = ?2"
        return "SELECT \(CallRow.columns) FROM call \(condition) ORDER BY began DESC LIMIT 2"
    }
}

extension CallRow {
    static let columns = """
        uuid, app, key, caller, handle, handle_kind, video, began, answered, connected, ended, reason, category, rang_ms, \
        account, outgoing, contact, connecting, detail, seen, call_back, call_back_kind, recents, \
        serial, stamp
        """

    init?(_ row: Database.Row) {
        guard let uuid = CallUUID(row.text(0)) else { return nil }
        func time(_ column: Int32) -> WallTime? { row.optionalInteger(column).map { WallTime(nanoseconds: $0) } }
        self.init(
            uuid: uuid, app: row.text(1), key: row.text(2), callerName: row.text(3), handle: row.text(4),
            handleKind: row.text(5), isVideo: row.integer(6) != 0, began: WallTime(nanoseconds: row.integer(7)),
            answered: time(8), connected: time(9), ended: time(10), reason: row.text(11), category: row.text(12),
            rangMilliseconds: row.integer(13), isOutgoing: row.integer(15) != 0, account: row.text(14),
            contact: row.text(16), startedConnecting: time(17), detail: row.text(18), isSeen: row.integer(19) != 0,
            callBackHandle: row.text(20), callBackKind: row.text(21), isInRecents: row.integer(22) != 0,
            serial: row.optionalInteger(23), stamp: row.optionalInteger(24))
    }
}
