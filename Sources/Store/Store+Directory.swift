package import Base

/// Apps, devices and their tokens; what waits for a device; what feedback is to tell.
extension Store {
    // MARK: Reading

    static func readDirectory(_ database: Database, into snapshot: inout Snapshot) throws(StoreFailure) {
        try database.query("SELECT id FROM app ORDER BY id") { row in snapshot.apps.append(row.text(0)) }
        try database.query("SELECT name, offline FROM device ORDER BY place") { row in
            snapshot.devices.append(DeviceRow(name: row.text(0), isOffline: row.integer(1) != 0))
        }
        let columns = "SELECT bytes, app, device, kind, environment, ended, why FROM token"
        for rest in ["WHERE ended IS NULL", "WHERE ended IS NOT NULL ORDER BY ended"] {
            try database.query("\(columns) \(rest)") { row in
                if let token = TokenRow(row) { snapshot.tokens.append(token) }
            }
        }
        try database.query("SELECT token, failed FROM feedback") { row in
            snapshot.feedback.append(
                FeedbackRow(token: row.blob(0), failed: WallTime(nanoseconds: row.integer(1))))
        }
        try database.query(
            """
            SELECT device, app, token, kind, payload, collapse, priority, expiration, until, via, peer FROM mail
            ORDER BY place
            """
        ) { row in
            if let mail = MailRow(row) { snapshot.mail.append(mail) }
        }
    }

    // MARK: Writing

    /// All of it or nothing: thousands of tokens cost one write to the disk.
    package func apply(_ change: DirectoryChange) {
        post { [self] in
            // What is in memory and not on disk would be gone at the next start; what is refused now is tried again with
            // whatever is written next. Bounded: a disk that stays full for so long loses the oldest.
            if file.unwritten.count >= 1024 { file.unwritten.removeFirst() }
            file.unwritten.append(change)
        }
        write { _ in
            // `write` begins with what is unwritten.
        }
    }

    /// On the worker's thread.
    func writeUnwritten() throws(StoreFailure) {
        let changes = file.unwritten
        guard !changes.isEmpty else { return }
        let database = file.database
        try database.transaction { () throws(StoreFailure) in
            for change in changes { try Self.apply(change, database) }
        }
        file.unwritten = []
    }

    private static func apply(_ change: DirectoryChange, _ database: Database) throws(StoreFailure) {
        for app in change.newApps {
            try database.run(
                "INSERT OR IGNORE INTO app VALUES (?, ?)", [.text(app), .integer(WallTime.now.seconds)])
        }
        for app in change.goneApps {
            try database.run("DELETE FROM app WHERE id = ?", [.text(app)])
            try forget(provider: app, database)
            try forget(uploads: app, database)
        }
        for device in change.newDevices {
            try database.run("INSERT OR IGNORE INTO device (name, offline) VALUES (?, 0)", [.text(device)])
        }
        for device in change.goneDevices { try database.run("DELETE FROM device WHERE name = ?", [.text(device)]) }
        for token in change.endedTokens {
            try database.run(
                "UPDATE token SET ended = ?, why = ? WHERE bytes = ?",
                [
                    .optional(token.end?.at.nanoseconds), .optional(token.end?.reason.rawValue), .blob(token.bytes),
                ])
        }
        for token in change.newTokens {
            try database.run(
                "INSERT OR IGNORE INTO token VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    .blob(token.bytes), .text(token.app), .text(token.device), .text(token.kind.rawValue),
                    .text(token.environment.rawValue), .optional(token.end?.at.nanoseconds),
                    .optional(token.end?.reason.rawValue),
                ])
        }
        for token in change.forgottenTokens {
            try database.run("DELETE FROM token WHERE bytes = ?", [.blob(token)])
        }
    }

    package func setOffline(_ isOffline: Bool, device: String) {
        write { database throws(StoreFailure) in
            try database.run(
                """
                INSERT INTO device (name, offline) VALUES (?1, ?2)
                ON CONFLICT (name) DO UPDATE SET offline = ?2
                """, [.text(device), .integer(isOffline ? 1 : 0)])
        }
    }

    /// Keeps a push, in the place of another of its slot.
    package func keep(_ mail: MailRow) { gather { $0.mail.say(mail, of: mail.slot) } }

    package func forgetMail(_ slot: MailRow.Slot) { gather { $0.mail.say(nil, of: slot) } }

    /// `failed`: when; nil: feedback has told it.
    package func setFeedback(_ token: [UInt8], failed: WallTime?) { gather { $0.feedback.say(failed, of: token) } }

    static func write(
        mail: LastWords<MailRow.Slot, MailRow>, feedback: LastWords<[UInt8], WallTime>, _ database: Database
    ) throws(StoreFailure) {
        for (slot, row) in mail.inOrder {
            guard let row else {
                try database.run(
                    "DELETE FROM mail WHERE device = ? AND app = ?", [.text(slot.device), .text(slot.app)])
                continue
            }
            // Replaced, it stands at the end: the places are the order in which pushes came.
            try database.run(
                """
                INSERT OR REPLACE INTO mail
                    (device, app, token, kind, payload, collapse, priority, expiration, until, via, peer)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(slot.device), .text(slot.app), .blob(row.token), .text(row.kind.rawValue),
                    .blob(row.payload), .text(row.collapseID), .integer(row.priority), .optional(row.expiration),
                    .integer(row.until.nanoseconds), .text(row.via), .text(row.peer),
                ])
        }
        for (token, failed) in feedback.inOrder {
            if let failed {
                try database.run(
                    "INSERT OR REPLACE INTO feedback VALUES (?, ?)", [.blob(token), .integer(failed.nanoseconds)])
            } else {
                try database.run("DELETE FROM feedback WHERE token = ?", [.blob(token)])
            }
        }
    }
}

extension TokenRow {
    init?(_ row: Database.Row) {
        guard let kind = Kind(rawValue: row.text(3)), let environment = Environment(rawValue: row.text(4)) else {
            return nil
        }
        var end: End?
        if let ended = row.optionalInteger(5) {
            end = End(End.Reason(rawValue: row.text(6)) ?? .unregistered, at: WallTime(nanoseconds: ended))
        }
        self.init(
            bytes: row.blob(0), app: row.text(1), device: row.text(2), kind: kind, environment: environment, end: end)
    }
}

extension MailRow {
    init?(_ row: Database.Row) {
        guard let kind = TokenRow.Kind(rawValue: row.text(3)) else { return nil }
        self.init(
            slot: Slot(device: row.text(0), app: row.text(1)), token: row.blob(2), kind: kind, payload: row.blob(4),
            collapseID: row.text(5), priority: row.integer(6), expiration: row.optionalInteger(7),
            until: WallTime(nanoseconds: row.integer(8)), via: row.text(9), peer: row.text(10))
    }
}
