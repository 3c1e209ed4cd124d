package import Base

/// The directory of keys and certificates (`ringd/certs/`): what is missing is made, what ends soon is made anew.
///
/// - `ca.pem`: what a sender is to trust; `ca.key`: its key.
/// - `bundle.pem`: that and the system's authorities.
/// - `server.pem`: the gateway's certificate and key.
/// - `voip-<app>.pem`: a sender's certificate and key, as PHP's `local_cert` wants them.
/// - `AuthKey_<key id>.p8`: a sender's provider key; `provider.txt`: its id, and the team's.
///
/// The directory is 0700, every file 0600, each written in one step; one program at a time makes any.
package final class Credentials {
    package let directory: String
    package let authority: CertificateAuthority
    /// The gateway's identity. Changes in `renewIfDue(now:)`.
    package private(set) var server: Identity
    /// What was made or renewed, one line each, for the log.
    package internal(set) var notes: [String] = []

    /// The file for a sender's `cafile`.
    package var authorityPath: String { directory + "/ca.pem" }

    /// A certificate with less than this many days to go is made anew.
    package static let renewalDays: Int64 = 30

    /// Loads what is in `directory`, makes what is not.
    ///
    /// A damaged authority is never replaced, because senders trust it by its file: that is an error which names the
    /// cure. A server certificate that is damaged, foreign, ending or not for every name is replaced, since nobody holds
    /// on to it.
    package init(directory: String, now: WallTime = .now) throws(CryptoFailure) {
        try PrivateFile.makeDirectory(directory)
        self.directory = directory
        var notes: [String] = []
        (authority, server) = try PrivateFile.locked(directory) { () throws(CryptoFailure) in
            let authority = try Self.loadAuthority(directory, now, &notes)
            return (authority, try Self.loadServer(directory, authority, now, &notes))
        }
        self.notes = notes
    }

    /// Makes the server certificate anew if its end is near, or takes up one that another program (`ringctl certs init`)
    /// has made; true if it did. `server` is the new one then.
    @discardableResult
    package func renewIfDue(now: WallTime = .now) throws(CryptoFailure) -> Bool {
        try PrivateFile.locked(directory) { () throws(CryptoFailure) in
            if let held = Self.usableServer(directory, authority, now) {
                guard held.certificate.facts != server.certificate.facts else { return false }
                server = held
            } else {
                guard Self.isDue(server.certificate, now) else { return false }
                server = try Self.makeServer(directory, authority, now, &notes)
            }
            return true
        }
    }

    static func isDue(_ certificate: Certificate, _ now: WallTime) -> Bool {
        certificate.notAfter < now.adding(days: renewalDays)
    }

    private static func loadAuthority(
        _ directory: String, _ now: WallTime, _ notes: inout [String]
    ) throws(CryptoFailure) -> CertificateAuthority {
        let path = directory + "/ca.pem"
        let keyPath = directory + "/ca.key"
        if PrivateFile.exists(path) {
            PrivateFile.restrict(path)
            PrivateFile.restrict(keyPath)
            do throws(CryptoFailure) {
                let certificate = try Certificate.all(pem: try PrivateFile.read(path))[0]
                return try CertificateAuthority(
                    certificate: certificate, key: try PrivateKey(pem: try PrivateFile.read(keyPath)))
            } catch {
                throw CryptoFailure(
                    error.code,
                    "\(path) and ca.key cannot be used (\(error.message)); put the right ones back, or remove both "
                        + "and let senders trust the new ca.pem", reasons: error.reasons)
            }
        }
        // The key first: a crash between the two leaves a key without a certificate, which the next start goes on from.
        let key: PrivateKey
        if PrivateFile.exists(keyPath), let held = try? PrivateKey(pem: PrivateFile.read(keyPath)) {
            key = held
        } else {
            key = try PrivateKey.makeP256()
            try PrivateFile.write(try key.pem, to: keyPath)
        }
        let authority = try CertificateAuthority.make(key: key, now: now)
        try PrivateFile.write(try authority.certificate.pem, to: path)
        notes.append("made the local certificate authority \(path)")
        return authority
    }

    private static func loadServer(
        _ directory: String, _ authority: CertificateAuthority, _ now: WallTime, _ notes: inout [String]
    ) throws(CryptoFailure) -> Identity {
        if let held = usableServer(directory, authority, now) {
            PrivateFile.restrict(directory + "/server.pem")
            return held
        }
        return try makeServer(directory, authority, now, &notes)
    }

    /// What is in `server.pem`, if it is good for long enough and for everything.
    private static func usableServer(
        _ directory: String, _ authority: CertificateAuthority, _ now: WallTime
    ) -> Identity? {
        let path = directory + "/server.pem"
        guard PrivateFile.exists(path), let held = try? Identity(path: path),
            held.certificate.isIssued(by: authority.certificate), !isDue(held.certificate, now), isForAll(held)
        else { return nil }
        return held
    }

    /// Every name that senders may believe they speak to: an older one knew fewer.
    private static func isForAll(_ server: Identity) -> Bool {
        Set(server.certificate.serverNames).isSuperset(
            of: CertificateAuthority.serverNames + CertificateAuthority.serverAddresses)
    }

    private static func makeServer(
        _ directory: String, _ authority: CertificateAuthority, _ now: WallTime, _ notes: inout [String]
    ) throws(CryptoFailure) -> Identity {
        let path = directory + "/server.pem"
        let made = try authority.makeServer(now: now)
        try PrivateFile.write(try made.pem, to: path)
        notes.append("made the gateway's certificate \(path)")
        return made
    }
}
