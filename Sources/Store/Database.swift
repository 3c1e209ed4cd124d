internal import CSQLite

/// Why SQLite would not.
package struct StoreFailure: Error, Sendable, CustomStringConvertible {
    /// SQLite's (extended) result code.
    package let code: Int32
    package let description: String

    var isCorruption: Bool { code & 0xff == SQLITE_CORRUPT || code & 0xff == SQLITE_NOTADB }
}

/// One SQLite connection, used by one thread at a time. Not Sendable.
final class Database {
    enum Value {
        case null
        case integer(Int64)
        case text(String)
        case blob([UInt8])

        static func optional(_ text: String?) -> Value { text.map(Value.text) ?? .null }
        static func optional(_ number: Int64?) -> Value { number.map(Value.integer) ?? .null }
    }

    private let handle: OpaquePointer
    private var prepared: [String: OpaquePointer] = [:]

    init(path: String) throws(StoreFailure) {
        var opened: OpaquePointer?
        // No mutex: the worker's queue is the lock.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let text = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close(opened)
            throw StoreFailure(code: code, description: "\(path): \(text)")
        }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, 2000)
        // A commit survives kill -9 in WAL with NORMAL; only a power cut can lose the last ones, never tear the file.
        try execute("PRAGMA journal_mode=WAL")
        try execute("PRAGMA synchronous=NORMAL")
        // 256 kB of page cache: the daemon's budget is small and its tables are, too.
        try execute("PRAGMA cache_size=-256")
    }

    deinit {
        for statement in prepared.values { sqlite3_finalize(statement) }
        sqlite3_close(handle)
    }

    /// Statements without parameters, as many as the text has.
    func execute(_ sql: String) throws(StoreFailure) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK { throw failure(code) }
    }

    /// One statement with its parameters; prepared once and kept.
    func run(_ sql: String, _ values: [Value] = []) throws(StoreFailure) {
        try query(sql, values) { (_) throws(StoreFailure) in }
    }

    func query(
        _ sql: String, _ values: [Value] = [], row: (Row) throws(StoreFailure) -> Void
    ) throws(StoreFailure) {
        let statement = try prepare(sql)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() {
            let position = Int32(index + 1)
            switch value {
            case .null: sqlite3_bind_null(statement, position)
            case .integer(let number): sqlite3_bind_int64(statement, position, number)
            case .text(let text): csqlite_bind_text(statement, position, text, Int32(text.utf8.count))
            case .blob(let bytes): csqlite_bind_blob(statement, position, bytes, Int32(bytes.count))
            }
        }
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw failure(code) }
            try row(Row(statement: statement))
        }
    }

    /// Rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// All or nothing.
    func transaction(_ body: () throws(StoreFailure) -> Void) throws(StoreFailure) {
        try execute("BEGIN IMMEDIATE")
        do {
            try body()
            try execute("COMMIT")
        } catch {
            try? execute("ROLLBACK")
            throw error
        }
    }

    private func prepare(_ sql: String) throws(StoreFailure) -> OpaquePointer {
        if let statement = prepared[sql] { return statement }
        var made: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, sql, -1, &made, nil)
        guard code == SQLITE_OK, let made else { throw failure(code) }
        prepared[sql] = made
        return made
    }

    private func failure(_ code: Int32) -> StoreFailure {
        StoreFailure(code: code, description: String(cString: sqlite3_errmsg(handle)))
    }

    /// The present row of a query; valid inside the closure that got it.
    struct Row {
        fileprivate let statement: OpaquePointer

        func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

        func optionalInteger(_ column: Int32) -> Int64? {
            sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : integer(column)
        }

        func text(_ column: Int32) -> String { optionalText(column) ?? "" }

        func optionalText(_ column: Int32) -> String? {
            guard let bytes = sqlite3_column_text(statement, column) else { return nil }
            let count = Int(sqlite3_column_bytes(statement, column))
            return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
        }

        func blob(_ column: Int32) -> [UInt8] {
            guard let bytes = sqlite3_column_blob(statement, column) else { return [] }
            return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))))
        }
    }
}
