internal import Store

/// Which apps there are, and whose a token is. In memory; the store keeps it across runs.
struct Registry {
    struct Owner: Equatable {
        var app: String
        var token: TokenRow
    }

    /// Bounded, so that no peer can fill the disk.
    static let mostApps = 4096

    private(set) var apps: [String: AppRow] = [:]
    private var owners: [[UInt8]: Owner] = [:]

    init(_ rows: [AppRow]) {
        for row in rows { insert(row) }
    }

    /// The app's row, minted if it is new: two kinds in two environments, 32 random bytes each.
    mutating func add(_ id: String) -> (row: AppRow, isNew: Bool) {
        if let known = apps[id] { return (known, false) }
        var tokens: [TokenRow] = []
        for kind in TokenRow.Kind.allCases {
            for environment in TokenRow.Environment.allCases {
                // The system's generator is getrandom(2).
                let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
                tokens.append(TokenRow(bytes: bytes, kind: kind, environment: environment))
            }
        }
        let row = AppRow(id: id, tokens: tokens)
        insert(row)
        return (row, true)
    }

    mutating func remove(_ id: String) -> Bool {
        guard let row = apps.removeValue(forKey: id) else { return false }
        for token in row.tokens { owners[token.bytes] = nil }
        return true
    }

    func owner(of token: [UInt8]) -> Owner? { owners[token] }

    private mutating func insert(_ row: AppRow) {
        apps[row.id] = row
        for token in row.tokens { owners[token.bytes] = Owner(app: row.id, token: token) }
    }
}
