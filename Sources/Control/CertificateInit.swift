internal import Base
internal import Crypto
internal import JSON

/// `ringctl certs init`.
enum CertificateInit {
    /// All that was made or found.
    private struct Outcome {
        var authority: String
        var bundle: String
        var server: String
        var provider: ProviderKey
        var client: ClientFiles?
        var notes: [String]
    }

    static func run(_ invocation: Invocation, _ session: Session) throws(Refusal) {
        let app = invocation.options["app"]
        let password = try invocation.password()
        guard app != nil || password == nil else {
            throw .usage("certs init: a password is for the .p12 file of --app APP-ID")
        }
        let outcome: Outcome
        do throws(CryptoFailure) {
            let credentials = try Credentials(directory: session.certificates)
            var made = Outcome(
                authority: credentials.authorityPath, bundle: try credentials.bundlePath(),
                server: credentials.directory + "/server.pem", provider: try credentials.providerKey(), notes: [])
            if let app { made.client = try credentials.voipClientFiles(app: app, password: password) }
            made.notes = credentials.notes
            outcome = made
        } catch {
            throw Refusal(error)
        }
        // A daemon that runs is to know of what is new; one that does not run will find it.
        let isTold =
            !outcome.notes.isEmpty
            && (try? session.call("org.ringd.Monitor1", "Reload", timeout: .seconds(5), startsDaemon: false)) != nil
        if session.isJSON { return try session.say(json(outcome, app, isTold)) }
        try say(outcome, app, session)
        if isTold { try session.say("ringd knows of it") }
    }

    private static func say(_ outcome: Outcome, _ app: String?, _ session: Session) throws(Refusal) {
        func line(_ name: String, _ text: String) throws(Refusal) {
            try session.say("\(name.rightPadded(to: 14))\(text)")
        }
        for note in outcome.notes { try session.say(session.style(.green, "✓ \(note)")) }
        if outcome.notes.isEmpty { try session.say("everything is there") }
        try line("authority", outcome.authority)
        try line("bundle", outcome.bundle)
        try line("server", outcome.server)
        try line("provider key", outcome.provider.path)
        try line("key id", outcome.provider.keyID)
        try line("team id", outcome.provider.teamID)
        guard let client = outcome.client, let app else {
            return try session.say("use it: SSL_CERT_FILE=\(outcome.bundle) your-sender  (ringctl certs init --help)")
        }
        try line("certificate", client.pem)
        try line("PKCS#12", client.pkcs12)
        try line("DER", client.certificate)
        switch client.pkcs12State {
        case .isOpen?:
            try session.say(
                session.style(.yellow, "! the .p12 file has no password: whoever has it has the key (--password-file)"))
        case .isOld?:
            try session.say(
                session.style(.yellow, "! the .p12 file is older than the certificate: say its password to renew it"))
        case .hasPassword?, nil: break
        }
        try session.say("use it: ringctl apps add \(app) gives the token; ringctl certs init --help has a push by curl")
    }

    private static func json(_ outcome: Outcome, _ app: String?, _ isTold: Bool) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("authority", .string(outcome.authority)), .init("bundle", .string(outcome.bundle)),
            .init("server", .string(outcome.server)), .init("provider_key", .string(outcome.provider.path)),
            .init("key_id", .string(outcome.provider.keyID)), .init("team_id", .string(outcome.provider.teamID)),
        ]
        if let client = outcome.client, let app {
            members += [
                .init("app", .string(app)), .init("certificate", .string(client.pem)),
                .init("pkcs12", .string(client.pkcs12)), .init("der", .string(client.certificate)),
                .init("pkcs12_has_password", .bool(client.pkcs12State != .isOpen)),
                .init("pkcs12_is_old", .bool(client.pkcs12State == .isOld)),
            ]
        }
        members.append(.init("made", .array(outcome.notes.map(JSONValue.string))))
        members.append(.init("reloaded", .bool(isTold)))
        return .object(members)
    }
}
