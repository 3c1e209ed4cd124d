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

    /// The sender's certificate for `app` in all forms, made where they are missing or hold another certificate: the PEM,
    /// a PKCS#12 file with `password`, and the certificate alone as DER.
    ///
    /// Without a password (nil) a new PKCS#12 file has none, and one that has a password is left as it is.
    package func voipClientFiles(
        app: String, password: String? = nil, now: WallTime = .now
    ) throws(CryptoFailure) -> ClientFiles {
        let pem = try voipClient(app: app, now: now)
        var files = ClientFiles(pem: pem, pkcs12: clientPath(app, "p12"), certificate: clientPath(app, "cer"))
        return try PrivateFile.locked(directory) { () throws(CryptoFailure) in
            let identity = try Identity(path: pem)
            let der = try identity.certificate.der
            if (try? PrivateFile.read(files.certificate)) == der {
                PrivateFile.restrict(files.certificate)
            } else {
                try PrivateFile.write(der, to: files.certificate)
                notes.append("made the certificate \(files.certificate)")
            }
            files.pkcs12State = try Self.state(of: files, der, password)
            switch files.pkcs12State {
            case .isOpen, .hasPassword, .isOld: PrivateFile.restrict(files.pkcs12)
            case nil:
                try PrivateFile.write(try PKCS12.encode(identity, password: password ?? ""), to: files.pkcs12)
                files.pkcs12State = (password ?? "").isEmpty ? .isOpen : .hasPassword
                notes.append("made the PKCS#12 file \(files.pkcs12)")
            }
            return files
        }
    }

    /// What the PKCS#12 file of these is good for; nil if it is to be made.
    private static func state(
        of files: ClientFiles, _ der: [UInt8], _ password: String?
    ) throws(CryptoFailure) -> ClientFiles.PKCS12State? {
        guard PrivateFile.exists(files.pkcs12) else { return nil }
        do throws(CryptoFailure) {
            let held = try PKCS12.decode(try PrivateFile.read(files.pkcs12), password: password ?? "")
            guard held.keys.count == 1, try held.certificates.first?.der == der else { return nil }
            return (password ?? "").isEmpty ? .isOpen : .hasPassword
        } catch {
            guard error.code == .password, password == nil else { return nil }
            return PrivateFile.modified(files.pkcs12) < PrivateFile.modified(files.pem) ? .isOld : .hasPassword
        }
    }

    /// Removes the sender's files of an app that is gone: a private key that nobody needs.
    package func forgetClient(app: String) {
        guard AppID.isValid(app) else { return }
        for suffix in ["pem", "p12", "cer"] { PrivateFile.remove(clientPath(app, suffix)) }
    }

    /// The apps that a sender's certificate is here for.
    package var clientApps: [String] {
        PrivateFile.names(in: directory) { $0.hasPrefix("voip-") && $0.hasSuffix(".pem") }
            .map { String($0.dropFirst(5).dropLast(4)) }
    }

    func clientPath(_ app: String, _ suffix: String) -> String { "\(directory)/voip-\(app).\(suffix)" }
}

/// The files of a sender's certificate.
package struct ClientFiles: Sendable, Equatable {
    /// Certificate and key, not encrypted.
    package let pem: String
    /// The same, encrypted.
    package let pkcs12: String
    /// The certificate alone, as DER: what Apple's site gives.
    package let certificate: String
    package internal(set) var pkcs12State: PKCS12State?

    package enum PKCS12State: Sendable {
        /// It has no password.
        case isOpen
        case hasPassword
        /// It has a password that was not given, and is older than the PEM: it may hold a certificate of before.
        case isOld
    }
}
