internal import Base

/// Keeps the history within its bounds without looking at all of it with each call.
extension Store {
    /// The worker's.
    struct Pruning: Sendable {
        var retention = Retention()
        /// How many rows there are; nil: not counted yet.
        var calls: Int?
        /// Calls that are new since the last look.
        var new = 0
    }

    /// After so many new calls the bounds are looked at, so no more than these lie beyond them.
    static let pruningStride = 64
    /// So many go in one transaction: whoever waits for the worker waits no longer than for these.
    static let pruningBatch = 1000

    /// Puts the bounds in force, also on what is there already. Meant for the start, after what was live has been read, and
    /// for a changed configuration. Calls that are live with nothing to go on from are ended as interrupted.
    package func setRetention(_ retention: Retention) {
        write { [self] database throws(StoreFailure) in
            file.pruning.retention = retention
            try Self.endOrphans(database)
            try prune(database)
        }
    }

    /// What has grown too old since goes. For a daemon that has no calls.
    package func prune() {
        write { [self] database throws(StoreFailure) in try prune(database) }
    }

    /// On the worker.
    func countNewCall(_ database: Database) throws(StoreFailure) {
        file.pruning.new += 1
        if file.pruning.calls != nil { file.pruning.calls! += 1 }
        if file.pruning.new >= Self.pruningStride { try prune(database) }
    }

    private func prune(_ database: Database) throws(StoreFailure) {
        file.pruning.new = 0
        if file.pruning.calls == nil {
            var calls = 0
            try database.query("SELECT count(*) FROM call") { row in calls = Int(row.integer(0)) }
            file.pruning.calls = calls
        }
        let excess = max(0, (file.pruning.calls ?? 0) - file.pruning.retention.calls)
        var gone: [String] = []
        try database.query(
            "SELECT uuid FROM call WHERE ended IS NOT NULL ORDER BY began LIMIT ?",
            [.integer(Int64(min(excess, Self.pruningBatch)))]
        ) { row in gone.append(row.text(0)) }
        let oldest = file.pruning.retention.age.map { age in
            WallTime(nanoseconds: WallTime.now.nanoseconds.subtractingClamped(age.nanoseconds))
        }
        if gone.isEmpty, let oldest {
            try database.query(
                "SELECT uuid FROM call WHERE ended IS NOT NULL AND began < ? ORDER BY began LIMIT ?",
                [.integer(oldest.nanoseconds), .integer(Int64(Self.pruningBatch))]
            ) { row in gone.append(row.text(0)) }
        }
        guard !gone.isEmpty else { return try Self.pruneAcquaintances(oldest: oldest, database) }
        try database.transaction { () throws(StoreFailure) in
            for uuid in gone {
                try database.run("DELETE FROM event WHERE call = ?", [.text(uuid)])
                try database.run("DELETE FROM call WHERE uuid = ?", [.text(uuid)])
            }
        }
        file.pruning.calls! -= gone.count
        // Behind what was posted meanwhile.
        prune()
    }

    /// A call is written together with what goes on from it, so there are such rows only where that was taken away: its app
    /// had gone when the daemon came back.
    private static func endOrphans(_ database: Database) throws(StoreFailure) {
        try database.run(
            """
            UPDATE call SET ended = coalesce(connected, answered, began + rang_ms * 1000000), reason = 'failed-reset',
                category = CASE WHEN connected IS NULL THEN 'failed' ELSE 'interrupted' END, seen = 1
            WHERE ended IS NULL AND uuid NOT IN (SELECT uuid FROM live)
            """)
    }
}
