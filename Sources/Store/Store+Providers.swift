internal import Base

/// Apps that registered over the bus, and what they told their servers.
extension Store {
    static func readProviders(_ database: Database, into snapshot: inout Snapshot) throws(StoreFailure) {
        try database.query(
            """
            SELECT app, account, bound, types, environment, configuration, strikes, suspended FROM provider
            ORDER BY app
            """
        ) { row in
            snapshot.providers.append(
                ProviderRow(
                    app: row.text(0), account: row.optionalText(1), isBound: row.integer(2) != 0, types: row.text(3),
                    environment: row.text(4), configuration: row.text(5), strikes: row.text(6),
                    isSuspended: row.integer(7) != 0))
        }
        try database.query(
            """
            SELECT app, kind, environment, account, token, server_device, at FROM upload
            ORDER BY app, kind, environment
            """
        ) { row in
            guard let kind = TokenRow.Kind(rawValue: row.text(1)),
                let environment = TokenRow.Environment(rawValue: row.text(2))
            else { return }
            snapshot.uploads.append(
                UploadRow(
                    app: row.text(0), kind: kind, environment: environment, account: row.text(3), token: row.blob(4),
                    serverDevice: row.text(5), at: WallTime(nanoseconds: row.integer(6))))
        }
    }

    /// Inserts or replaces what is known of the app.
    package func setProvider(_ provider: ProviderRow) {
        write { database throws(StoreFailure) in
            try database.run(
                """
                INSERT OR REPLACE INTO provider
                    (app, account, bound, types, environment, configuration, strikes, suspended)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(provider.app), .optional(provider.account), .integer(provider.isBound ? 1 : 0),
                    .text(provider.types), .text(provider.environment), .text(provider.configuration),
                    .text(provider.strikes), .integer(provider.isSuspended ? 1 : 0),
                ])
        }
    }

    /// Inserts or replaces the app's upload of that kind and environment.
    package func setUpload(_ upload: UploadRow) {
        write { database throws(StoreFailure) in
            try database.run(
                """
                INSERT OR REPLACE INTO upload (app, kind, environment, account, token, server_device, at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(upload.app), .text(upload.kind.rawValue), .text(upload.environment.rawValue),
                    .text(upload.account), .blob(upload.token), .text(upload.serverDevice),
                    .integer(upload.at.nanoseconds),
                ])
        }
    }

    static func forget(provider app: String, _ database: Database) throws(StoreFailure) {
        try database.run("DELETE FROM provider WHERE app = ?", [.text(app)])
    }

    static func forget(uploads app: String, _ database: Database) throws(StoreFailure) {
        try database.run("DELETE FROM upload WHERE app = ?", [.text(app)])
    }
}
