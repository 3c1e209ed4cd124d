internal import Base

/// The provider key, and the team that it and every certificate belong to: what a developer account is at Apple.
extension Credentials {
    /// Loads the provider key, or makes one: `AuthKey_<key id>.p8` as Apple names it. Ids are random, made once and kept
    /// in `provider.txt`, where others may be written; a key whose file was removed gets a successor with another id.
    ///
    /// A key file that is damaged is never replaced, because senders hold copies of it: that is an error which names the
    /// cure.
    package func providerKey() throws(CryptoFailure) -> ProviderKey {
        try PrivateFile.locked(directory) { () throws(CryptoFailure) in
            var account = try loadAccount()
            let teamID = account.teamID ?? ProviderAccount.randomID()
            if let keyID = account.keyID ?? soleKeyID(), PrivateFile.exists(keyPath(keyID)) {
                let key = ProviderKey(keyID: keyID, teamID: teamID, path: keyPath(keyID))
                PrivateFile.restrict(key.path)
                do throws(CryptoFailure) { _ = try key.load() } catch {
                    throw CryptoFailure(
                        error.code,
                        "\(key.path) cannot be used (\(error.message)); put the right one back, or remove it and give "
                            + "senders the new one", reasons: error.reasons)
                }
                if account != ProviderAccount(teamID: teamID, keyID: keyID) {
                    try write(ProviderAccount(teamID: teamID, keyID: keyID))
                }
                return key
            }
            account = ProviderAccount(teamID: teamID, keyID: ProviderAccount.randomID())
            let key = ProviderKey(keyID: account.keyID!, teamID: teamID, path: keyPath(account.keyID!))
            // The key first: a crash between the two leaves a key without its line, which the next call goes on from.
            try PrivateFile.write(try SigningKey.makeP256().pem, to: key.path)
            try write(account)
            notes.append("made the provider key \(key.path)")
            return key
        }
    }

    /// The team's id, made first if there is none. To be called with the folder locked.
    func loadTeam() throws(CryptoFailure) -> String {
        var account = try loadAccount()
        if let teamID = account.teamID { return teamID }
        let teamID = ProviderAccount.randomID()
        account.teamID = teamID
        try write(account)
        return teamID
    }

    private var accountPath: String { directory + "/provider.txt" }

    private func keyPath(_ keyID: String) -> String { "\(directory)/AuthKey_\(keyID).p8" }

    private func loadAccount() throws(CryptoFailure) -> ProviderAccount {
        guard PrivateFile.exists(accountPath) else { return ProviderAccount() }
        PrivateFile.restrict(accountPath)
        do throws(CryptoFailure) {
            return try ProviderAccount(text: PrivateFile.read(accountPath))
        } catch {
            throw CryptoFailure(error.code, "\(accountPath): \(error.message)", reasons: error.reasons)
        }
    }

    private func write(_ account: ProviderAccount) throws(CryptoFailure) {
        try PrivateFile.write(Array(account.text.utf8), to: accountPath)
    }

    /// The id of the only key that is there, if its name says one.
    private func soleKeyID() -> String? {
        let names = PrivateFile.names(in: directory) { $0.hasPrefix("AuthKey_") && $0.hasSuffix(".p8") }
        guard names.count == 1 else { return nil }
        let id = String(names[0].dropFirst(8).dropLast(3))
        return ProviderAccount.isID(id) ? id : nil
    }
}

/// What `provider.txt` says.
struct ProviderAccount: Equatable {
    var teamID: String?
    var keyID: String?
}

extension ProviderAccount {
    /// Lines of `team-id VALUE` and `key-id VALUE`, with or without `=` or `:`; comments begin with `#`. Others are passed
    /// over.
    init(text: [UInt8]) throws(CryptoFailure) {
        for line in text.prefix(4096).split(separator: UInt8(ascii: "\n")) {
            let words = String(decoding: line, as: UTF8.self).split { $0.isWhitespace || $0 == "=" || $0 == ":" }
            guard let name = words.first, name == "team-id" || name == "key-id" else { continue }
            guard words.count == 2, Self.isID(String(words[1])) else {
                throw CryptoFailure(
                    .pem,
                    "“\(Text.clean(words.dropFirst().joined(separator: " "), limit: 40))” is no \(name): that is 10 "
                        + "characters of A–Z and 0–9; correct the line, or remove it and get a new one")
            }
            if name == "team-id" { teamID = String(words[1]) } else { keyID = String(words[1]) }
        }
    }

    var text: String {
        var text = "# The stand-in for an Apple developer account: tokens carry these as iss and kid.\n"
        if let teamID { text += "team-id \(teamID)\n" }
        if let keyID { text += "key-id \(keyID)\n" }
        return text
    }

    /// The form of Apple's key and team ids.
    static func isID(_ text: String) -> Bool {
        text.utf8.count == 10 && text.utf8.allSatisfy { digits.contains($0) }
    }

    static func randomID() -> String {
        String(decoding: (0..<10).map { _ in digits.randomElement()! }, as: UTF8.self)
    }

    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
}
