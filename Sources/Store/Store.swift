package import Base
package import EventLoop
internal import Glibc

/// Apps, tokens, calls and events on disk. Writes are posted to the worker and keep their order; answers come back on
/// the loop. A fault is reported and costs the write, never the call.
package final class Store: Sendable {
    /// What a start needs to know; read before the worker takes over.
    package struct Snapshot: Sendable {
        package var apps: [String] = []
        package var devices: [DeviceRow] = []
        /// The living ones in no order, then the dead ones, those that ended first before the others.
        package var tokens: [TokenRow] = []
        /// Tokens that feedback is to tell of.
        package var feedback: [FeedbackRow] = []
        /// Oldest first.
        package var mail: [MailRow] = []
        package var live: [LiveRow] = []
        /// Calls that ended or were cancelled lately: a repeated push must not ring them.
        package var over: [OverRow] = []
        /// Apps that registered over the bus, by name, and what they told their servers.
        package var providers: [ProviderRow] = []
        package var uploads: [UploadRow] = []
        /// Newest first, each handle of an app once, at most 1,000.
        package var acquaintances: [AcquaintanceRow] = []

        package init() {}
    }

    let file: WorkerOwned
    private let worker: Worker
    private let loop: EventLoop
    private let report: @Sendable (Event) -> Void

    /// Touched by the opening thread until the first job is posted, and by the worker alone from then on.
    final class WorkerOwned: @unchecked Sendable {
        let database: Database
        /// The last write failed, and that has been said.
        var isFaulty = false
        /// Changes of apps and devices that are not on disk yet, oldest first: written before anything else is.
        var unwritten: [DirectoryChange] = []
        var pruning = Pruning()

        init(_ database: Database) { self.database = database }
    }

    /// Opens (and, if it is broken, sets aside and begins anew) the database at `path`, whose folder must exist.
    /// `report` is called on the loop.
    package init(
        path: String, worker: Worker, loop: EventLoop, report: @escaping @Sendable (Event) -> Void
    ) throws(StoreFailure) {
        self.worker = worker
        self.loop = loop
        self.report = report
        do {
            file = WorkerOwned(try Self.open(path))
        } catch {
            guard error.isCorruption else { throw error }
            let aside = path + ".corrupt"
            rename(path, aside)
            unlink(path + "-wal")
            unlink(path + "-shm")
            file = WorkerOwned(try Self.open(path))
            report(
                Event(
                    .storeFault, level: .error,
                    "\(path) is damaged (\(error.description)): set aside as \(aside), history and apps begin anew"))
        }
    }

    private static func open(_ path: String) throws(StoreFailure) -> Database {
        let old = umask(0o077)
        defer { umask(old) }
        let database = try Database(path: path)
        try Schema.migrate(database)
        return database
    }

    // MARK: Start

    /// Before anything is posted.
    package func snapshot() throws(StoreFailure) -> Snapshot {
        var snapshot = Snapshot()
        let database = file.database
        try Self.readDirectory(database, into: &snapshot)
        try Self.readProviders(database, into: &snapshot)
        try database.query("SELECT \(LiveRow.columns) FROM live ORDER BY began") { row in
            guard let live = LiveRow(row) else { return }
            snapshot.live.append(live)
        }
        try Self.readAcquaintances(database, into: &snapshot)
        // As long as tombstones live, and no more than are kept.
        let since = WallTime.now.nanoseconds - Self.overTime.nanoseconds
        try database.query(Self.over, [.integer(since)]) { row in
            snapshot.over.append(
                OverRow(
                    app: row.text(0), key: row.text(1), ended: WallTime(nanoseconds: row.integer(2)),
                    hadInvite: row.integer(3) != 0, serial: row.optionalInteger(4), stamp: row.optionalInteger(5)))
        }
        return snapshot
    }

    static let over = """
        SELECT app, key, ended, 1, serial, stamp FROM call WHERE ended > ?1
        UNION ALL SELECT app, key, wall, 0, serial, NULL FROM cancelled WHERE wall > ?1 LIMIT 4096
        """

    /// How far back calls that are over matter.
    static let overTime: Duration = .seconds(600)

    // MARK: Writing

    /// Its banner stays as `place` had it.
    package func setLive(_ live: LiveRow) {
        write { database throws(StoreFailure) in try Self.set(live, database) }
    }

    static func set(_ live: LiveRow, _ database: Database) throws(StoreFailure) {
        try database.run(
            """
            INSERT INTO live (\(LiveRow.columns)) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
            ON CONFLICT (uuid) DO UPDATE SET caller = excluded.caller, handle = excluded.handle,
                handle_kind = excluded.handle_kind, video = excluded.video, serial = excluded.serial,
                began = excluded.began, deadline = excluded.deadline, began_wall = excluded.began_wall,
                boot = excluded.boot, state = excluded.state, outgoing = excluded.outgoing,
                account = excluded.account, connected = excluded.connected
            """,
            [
                .text(live.uuid.description), .text(live.app), .text(live.key),
                .integer(live.isKeySynthetic ? 1 : 0), .optional(live.callerName), .optional(live.handle),
                .text(live.handleKind), .integer(live.isVideo ? 1 : 0), .optional(live.sound),
                .optional(live.serial), .integer(live.began.nanoseconds), .integer(live.deadline.nanoseconds),
                .integer(live.beganWall.nanoseconds), .text(live.bootID), .text(live.state),
                .optional(live.notification.map(Int64.init)), .text(live.server),
                .integer(live.isOutgoing ? 1 : 0), .text(live.account), .optional(live.connected?.nanoseconds),
            ])
    }

    package func place(_ uuid: CallUUID, notification: UInt32?, server: String) {
        write { database throws(StoreFailure) in
            try database.run(
                "UPDATE live SET notification = ?, server = ? WHERE uuid = ?",
                [.optional(notification.map(Int64.init)), .text(server), .text(uuid.description)])
        }
    }

    /// A cancel that came before its call.
    package func rememberCancel(app: String, key: String, serial: Int64? = nil) {
        gather { $0.cancels.append((app, key, .now, serial)) }
    }

    package func clearLive(_ uuid: CallUUID) {
        write { database throws(StoreFailure) in
            try database.run("DELETE FROM live WHERE uuid = ?", [.text(uuid.description)])
        }
    }

    /// Appends events and forgets the oldest beyond 20,000.
    package func append(_ events: [EventRow]) {
        gather { $0.events += events }
    }

    /// What a flood of pushes makes is gathered and written together: one job waits for the worker, not one per push, and
    /// beyond `mostWaiting` the oldest gives way.
    struct Waiting: Sendable {
        var events: [EventRow] = []
        var cancels: [(app: String, key: String, at: WallTime, serial: Int64?)] = []
        /// The last word on each slot and each token; both are bounded by how many of them there are.
        var mail = LastWords<MailRow.Slot, MailRow>()
        var feedback = LastWords<[UInt8], WallTime>()
        var isPosted = false
    }

    private static let mostWaiting = 8192
    private let waiting = Lock(Waiting())

    func gather(_ add: (inout Waiting) -> Void) {
        let isFirst = waiting.withLock { waiting in
            add(&waiting)
            if waiting.events.count > Self.mostWaiting {
                waiting.events.removeFirst(waiting.events.count - Self.mostWaiting)
            }
            if waiting.cancels.count > Self.mostWaiting {
                waiting.cancels.removeFirst(waiting.cancels.count - Self.mostWaiting)
            }
            defer { waiting.isPosted = true }
            return !waiting.isPosted
        }
        guard isFirst else { return }
        write { [waiting] database throws(StoreFailure) in
            let batch = waiting.withLock { waiting in
                defer { waiting = Waiting() }
                return waiting
            }
            try database.transaction { () throws(StoreFailure) in
                try Self.write(batch, database)
            }
        }
    }

    private static func write(_ batch: Waiting, _ database: Database) throws(StoreFailure) {
        for event in batch.events {
            try database.run(
                "INSERT INTO event (call, at, wall, kind, level, message, fields) VALUES (?,?,?,?,?,?,?)",
                [
                    .optional(event.call?.description), .integer(event.at.nanoseconds),
                    .integer(event.wall.nanoseconds), .text(event.kind), .integer(Int64(event.level)),
                    .text(event.message), .text(event.fields),
                ])
        }
        if !batch.events.isEmpty {
            try database.run("DELETE FROM event WHERE number <= (SELECT max(number) FROM event) - 20000")
        }
        for cancel in batch.cancels {
            try database.run(
                "INSERT OR REPLACE INTO cancelled (app, key, wall, serial) VALUES (?, ?, ?, ?)",
                [
                    .text(cancel.app), .text(cancel.key), .integer(cancel.at.nanoseconds), .optional(cancel.serial),
                ])
        }
        if let last = batch.cancels.last {
            try database.run(
                "DELETE FROM cancelled WHERE wall < ?", [.integer(last.at.nanoseconds - overTime.nanoseconds)])
        }
        try write(mail: batch.mail, feedback: batch.feedback, database)
    }

    /// Runs `then` on the loop when everything posted so far is on disk.
    package func flush(then: @escaping @Sendable () -> Void) {
        worker.post { [loop] in loop.post(then) }
    }

    func write(_ job: @escaping @Sendable (Database) throws(StoreFailure) -> Void) {
        worker.post { [self] in
            // One that is refused for good must not keep the others from being written.
            var refusal: StoreFailure?
            do throws(StoreFailure) { try writeUnwritten() } catch { refusal = error }
            do throws(StoreFailure) { try job(file.database) } catch { refusal = error }
            if let refusal { fault(refusal) } else { file.isFaulty = false }
        }
    }

    /// Something for the worker that is no write.
    func post(_ job: @escaping @Sendable () -> Void) { worker.post(job) }

    /// Answers on the loop; with `empty`, and a report, if the database refuses.
    func ask<R: Sendable>(
        _ then: @escaping @Sendable (R) -> Void, empty: R,
        _ job: @escaping @Sendable (Database) throws(StoreFailure) -> R
    ) {
        worker.post { [self] in
            var answer = empty
            do throws(StoreFailure) {
                answer = try job(file.database)
            } catch {
                fault(error)
            }
            loop.post { [answer] in then(answer) }
        }
    }

    /// Once, until a write succeeds: a full disk must not fill the journal as well.
    private func fault(_ error: StoreFailure) {
        guard !file.isFaulty else { return }
        file.isFaulty = true
        loop.post { [report] in
            report(Event(.storeFault, level: .error, "the database refused: \(error) (disk full or read-only?)"))
        }
    }
}

extension LiveRow {
    static let columns = """
        uuid, app, key, synthetic, caller, handle, handle_kind, video, sound, serial, began, deadline, began_wall, boot, \
        state, notification, server, outgoing, account, connected
        """

    init?(_ row: Database.Row) {
        guard let uuid = CallUUID(row.text(0)) else { return nil }
        self.init(
            uuid: uuid, app: row.text(1), key: row.text(2), isKeySynthetic: row.integer(3) != 0,
            callerName: row.optionalText(4), handle: row.optionalText(5), handleKind: row.text(6),
            isVideo: row.integer(7) != 0, sound: row.optionalText(8), serial: row.optionalInteger(9),
            began: Instant(nanoseconds: row.integer(10)), deadline: Instant(nanoseconds: row.integer(11)),
            beganWall: WallTime(nanoseconds: row.integer(12)), bootID: row.text(13), state: row.text(14),
            notification: row.optionalInteger(15).map { UInt32(truncatingIfNeeded: $0) }, server: row.text(16),
            isOutgoing: row.integer(17) != 0, account: row.text(18),
            connected: row.optionalInteger(19).map { WallTime(nanoseconds: $0) })
    }
}

extension EventRow {
    init(_ row: Database.Row) {
        self.init(
            call: CallUUID(row.text(0)), at: Instant(nanoseconds: row.integer(1)),
            wall: WallTime(nanoseconds: row.integer(2)), kind: row.text(3), level: Int(row.integer(4)),
            message: row.text(5), fields: row.text(6))
    }
}
