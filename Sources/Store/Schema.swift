/// The tables, by version (`PRAGMA user_version`). A migration is appended, never changed.
enum Schema {
    static let migrations = [
        """
        CREATE TABLE app (id TEXT PRIMARY KEY, added INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE token (
            bytes BLOB PRIMARY KEY, app TEXT NOT NULL REFERENCES app(id), kind TEXT NOT NULL,
            environment TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE call (
            uuid TEXT PRIMARY KEY, app TEXT NOT NULL, key TEXT NOT NULL, caller TEXT NOT NULL, handle TEXT NOT NULL,
            handle_kind TEXT NOT NULL, video INTEGER NOT NULL, began INTEGER NOT NULL, answered INTEGER,
            connected INTEGER, ended INTEGER, reason TEXT NOT NULL, category TEXT NOT NULL, rang_ms INTEGER NOT NULL);
        CREATE INDEX call_began ON call(began);
        CREATE TABLE live (
            uuid TEXT PRIMARY KEY, app TEXT NOT NULL, key TEXT NOT NULL, synthetic INTEGER NOT NULL, caller TEXT,
            handle TEXT, handle_kind TEXT NOT NULL, video INTEGER NOT NULL, sound TEXT, serial INTEGER,
            began INTEGER NOT NULL, deadline INTEGER NOT NULL, began_wall INTEGER NOT NULL, boot TEXT NOT NULL,
            state TEXT NOT NULL, notification INTEGER, server TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE cancelled (app TEXT NOT NULL, key TEXT NOT NULL, wall INTEGER NOT NULL, PRIMARY KEY (app, key)) WITHOUT ROWID;
        CREATE TABLE event (
            number INTEGER PRIMARY KEY, call TEXT, at INTEGER NOT NULL, wall INTEGER NOT NULL, kind TEXT NOT NULL,
            level INTEGER NOT NULL, message TEXT NOT NULL, fields TEXT NOT NULL);
        CREATE INDEX event_call ON event(call, number) WHERE call IS NOT NULL;
        """,
        // Devices; tokens that are dead and known as such; what waits for a device; what feedback is to tell.
        """
        ALTER TABLE token RENAME TO token_1;
        CREATE TABLE token (
            bytes BLOB PRIMARY KEY, app TEXT NOT NULL, device TEXT NOT NULL, kind TEXT NOT NULL,
            environment TEXT NOT NULL, ended INTEGER, why TEXT) WITHOUT ROWID;
        INSERT INTO token SELECT bytes, app, 'desktop', kind, environment, NULL, NULL FROM token_1;
        DROP TABLE token_1;
        CREATE TABLE device (place INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, offline INTEGER NOT NULL);
        CREATE TABLE feedback (token BLOB PRIMARY KEY, failed INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE mail (
            place INTEGER PRIMARY KEY, device TEXT NOT NULL, app TEXT NOT NULL, token BLOB NOT NULL,
            kind TEXT NOT NULL, payload BLOB NOT NULL, collapse TEXT NOT NULL, priority INTEGER NOT NULL,
            expiration INTEGER, until INTEGER NOT NULL, via TEXT NOT NULL, peer TEXT NOT NULL, UNIQUE (device, app));
        """,
        // All that a history row says (callkit.md 5.5), and indices for each way it is read; what is known of apps that
        // registered over the bus.
        """
        ALTER TABLE call ADD COLUMN account TEXT NOT NULL DEFAULT '';
        ALTER TABLE call ADD COLUMN outgoing INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE call ADD COLUMN contact TEXT NOT NULL DEFAULT '';
        ALTER TABLE call ADD COLUMN connecting INTEGER;
        ALTER TABLE call ADD COLUMN detail TEXT NOT NULL DEFAULT '';
        ALTER TABLE call ADD COLUMN seen INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE call ADD COLUMN call_back TEXT NOT NULL DEFAULT '';
        ALTER TABLE call ADD COLUMN call_back_kind TEXT NOT NULL DEFAULT '';
        ALTER TABLE call ADD COLUMN recents INTEGER NOT NULL DEFAULT 1;
        CREATE INDEX call_shown ON call(began) WHERE ended IS NOT NULL AND recents = 1 AND category <> 'blocked';
        CREATE INDEX call_missed ON call(began) WHERE substr(category, 1, 6) = 'missed';
        CREATE INDEX call_unseen ON call(began) WHERE substr(category, 1, 6) = 'missed' AND seen = 0 AND recents = 1;
        CREATE INDEX call_app ON call(app, began);
        CREATE INDEX call_handle ON call(handle, began);
        CREATE INDEX call_key ON call(key, began);
        CREATE INDEX call_ended ON call(ended);
        CREATE TABLE acquaintance (
            app TEXT NOT NULL, handle TEXT NOT NULL, kind TEXT NOT NULL, last INTEGER NOT NULL,
            PRIMARY KEY (app, handle, kind)) WITHOUT ROWID;
        CREATE INDEX acquaintance_last ON acquaintance(last);
        INSERT INTO acquaintance SELECT app, handle, handle_kind, max(began) FROM call
            WHERE handle <> '' AND connected IS NOT NULL GROUP BY app, handle, handle_kind ORDER BY 4 DESC LIMIT 1000;
        ALTER TABLE live ADD COLUMN outgoing INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE live ADD COLUMN account TEXT NOT NULL DEFAULT '';
        ALTER TABLE live ADD COLUMN connected INTEGER;
        CREATE TABLE provider (
            app TEXT PRIMARY KEY, account TEXT, bound INTEGER NOT NULL, types TEXT NOT NULL,
            environment TEXT NOT NULL, configuration TEXT NOT NULL, strikes TEXT NOT NULL,
            suspended INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE upload (
            app TEXT NOT NULL, kind TEXT NOT NULL, environment TEXT NOT NULL, account TEXT NOT NULL,
            token BLOB NOT NULL, server_device TEXT NOT NULL, at INTEGER NOT NULL,
            PRIMARY KEY (app, kind, environment)) WITHOUT ROWID;
        """,
        // What a call has to be newer than whose id was used before.
        """
        ALTER TABLE call ADD COLUMN serial INTEGER;
        ALTER TABLE call ADD COLUMN stamp INTEGER;
        ALTER TABLE cancelled ADD COLUMN serial INTEGER;
        """,
    ]

    static func migrate(_ database: Database) throws(StoreFailure) {
        var version = 0
        try database.query("PRAGMA user_version") { row in version = Int(row.integer(0)) }
        guard version >= 0 else {
            throw StoreFailure(code: 0, description: "the database is not ringd's (version \(version))")
        }
        guard version <= migrations.count else {
            throw StoreFailure(
                code: 0,
                description: "the database is of a newer ringd (version \(version), this one knows \(migrations.count))"
            )
        }
        for (index, sql) in migrations.enumerated().dropFirst(version) {
            try database.transaction { () throws(StoreFailure) in
                try database.execute(sql)
                try database.execute("PRAGMA user_version=\(index + 1)")
            }
        }
    }
}
