internal import Base

/// Handles that were dialled or spoken with. A table of its own, since a start reads it: out of a large history they would
/// take as long as everything else.
extension Store {
    static let keptAcquaintances: Int64 = 1000

    static func readAcquaintances(_ database: Database, into snapshot: inout Snapshot) throws(StoreFailure) {
        try database.query(
            "SELECT app, handle, kind, last FROM acquaintance ORDER BY last DESC LIMIT ?",
            [.integer(keptAcquaintances)]
        ) { row in
            snapshot.acquaintances.append(
                AcquaintanceRow(
                    app: row.text(0), handle: row.text(1), handleKind: row.text(2),
                    last: WallTime(nanoseconds: row.integer(3))))
        }
    }

    /// The call makes one, if it was dialled or connected.
    static func meet(_ call: CallRow, _ database: Database) throws(StoreFailure) {
        guard !call.handle.isEmpty, call.isOutgoing || call.connected != nil else { return }
        try database.run(
            """
            INSERT INTO acquaintance (app, handle, kind, last) VALUES (?, ?, ?, ?)
            ON CONFLICT (app, handle, kind) DO UPDATE SET last = max(last, excluded.last)
            """,
            [.text(call.app), .text(call.handle), .text(call.handleKind), .integer(call.began.nanoseconds)])
    }

    /// Beyond the newest 1,000, and those whose last call began earlier than `oldest`. One whose calls were too many to be
    /// kept is still one.
    static func pruneAcquaintances(oldest: WallTime?, _ database: Database) throws(StoreFailure) {
        try database.run(
            """
            DELETE FROM acquaintance WHERE last < max(?,
                coalesce((SELECT last FROM acquaintance ORDER BY last DESC LIMIT 1 OFFSET ?), 0))
            """, [.integer(oldest?.nanoseconds ?? 0), .integer(keptAcquaintances - 1)])
    }

    /// With the calls that are about to be forgotten.
    static func forgetAcquaintances(_ what: Clearing, _ database: Database) throws(StoreFailure) {
        switch what {
        case .all: try database.run("DELETE FROM acquaintance")
        case .before(let time):
            try database.run("DELETE FROM acquaintance WHERE last < ?", [.integer(time.nanoseconds)])
        case .call(let uuid):
            // Unless there is another such call.
            try database.run(
                """
                DELETE FROM acquaintance
                WHERE (app, handle, kind) = (SELECT app, handle, handle_kind FROM call WHERE uuid = ?1)
                    AND NOT EXISTS (SELECT 1 FROM call WHERE handle = acquaintance.handle AND app = acquaintance.app
                        AND handle_kind = acquaintance.kind AND (outgoing = 1 OR connected IS NOT NULL)
                        AND uuid <> ?1)
                """, [.text(uuid.description)])
        }
    }
}
