package import Base

/// Certificates for senders, one for each app.
extension Credentials {
    /// The path of the sender's PEM for `app`, made first if it is missing, damaged or about to end. Throws `.appID` for
    /// what is none.
    package func voipClient(app: String, now: WallTime = .now) throws(CryptoFailure) -> String {
        guard AppID.isValid(app) else {
            throw CryptoFailure(.appID, "“\(Text.clean(app))” is no app id: it is to look like org.example.App")
        }
        return try PrivateFile.locked(directory) { () throws(CryptoFailure) in
            let path = clientPath(app, "pem")
            if PrivateFile.exists(path), let held = try? Identity(path: path), !Self.isDue(held.certificate, now) {
                PrivateFile.restrict(path)
                return path
            }
            let made = try authority.makeVoIPClient(app: app, teamID: try loadTeam(), now: now)
            try PrivateFile.write(try made.pem, to: path)
            notes.append("made the VoIP certificate \(path)")
            return path
        }
    }

    /// Removes the sender's files of an app that is gone: a private key that nobody needs.
    package func forgetClient(app: String) {
        guard AppID.isValid(app) else { return }
        for suffix in ["pem", "p12", "cer"] { PrivateFile.remove(clientPath(app, suffix)) }
    }

    func clientPath(_ app: String, _ suffix: String) -> String { "\(directory)/voip-\(app).\(suffix)" }
}
