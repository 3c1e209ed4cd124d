import Base
import Crypto
import Foundation
import Testing

@Suite struct ProviderKeyTests {
    func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    func isID(_ text: String) -> Bool { text.wholeMatch(of: /[A-Z0-9]{10}/) != nil }

    @Test func theFirstCallMakesAllOfIt() throws {
        let folder = Folder()
        let made = try Credentials(directory: folder.path)
        let key = try made.providerKey()
        #expect(isID(key.keyID) && isID(key.teamID) && key.keyID != key.teamID)
        #expect(key.path == folder.path + "/AuthKey_\(key.keyID).p8")
        #expect(made.notes.last?.contains(key.path) == true)
        #expect(try mode(key.path) == 0o600 && mode(folder.path + "/provider.txt") == 0o600)
        #expect(try text(key.path).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        let account = try text(folder.path + "/provider.txt")
        #expect(account.contains("\nkey-id \(key.keyID)\n") && account.contains("\nteam-id \(key.teamID)\n"))
        // Where senders look at it: with the program that they have.
        let shown = try Program("/usr/bin/openssl", ["pkey", "-in", key.path, "-noout", "-text"], in: folder).finish()
        #expect(shown.output.contains("NIST CURVE: P-256"))
    }

    @Test func itStaysTheSame() throws {
        let folder = Folder()
        let first = try Credentials(directory: folder.path)
        // The team is one for certificates and key, whichever came first.
        let client = try Identity(path: first.voipClient(app: "org.example.App")).certificate.facts
        let key = try first.providerKey()
        #expect(client.organizationalUnit == key.teamID)
        chmod(key.path, 0o644)
        let second = try Credentials(directory: folder.path)
        #expect(try second.providerKey() == key)
        #expect(second.notes.isEmpty)
        #expect(try mode(key.path) == 0o600)
        #expect(try key.load().pem == [UInt8](Data(contentsOf: URL(filePath: key.path))))
    }

    @Test func othersIdsMayBeWrittenThere() throws {
        let folder = Folder()
        let made = try Credentials(directory: folder.path)
        let pem = try SigningKey.makeP256().pem
        try Data(pem).write(to: URL(filePath: folder.path + "/AuthKey_ABC123DEFG.p8"))
        // The only key that is there, without a line about it: as after a crash, or put there by hand.
        let adopted = try made.providerKey()
        #expect(adopted.keyID == "ABC123DEFG" && isID(adopted.teamID))
        for text in ["team-id TEAM000001\nkey-id ABC123DEFG\n", "# mine\r\nkey-id: ABC123DEFG\r\nteam-id = TEAM000001"]
        {
            try text.write(toFile: folder.path + "/provider.txt", atomically: true, encoding: .utf8)
            let key = try made.providerKey()
            #expect(key.keyID == "ABC123DEFG" && key.teamID == "TEAM000001")
        }
        // A team without a key keeps its id.
        try FileManager.default.removeItem(atPath: folder.path + "/AuthKey_ABC123DEFG.p8")
        let next = try made.providerKey()
        #expect(next.teamID == "TEAM000001" && next.keyID != "ABC123DEFG")
        #expect(try made.providerKey() == next)
    }

    @Test func damageIsNamed() throws {
        let folder = Folder()
        let made = try Credentials(directory: folder.path)
        let key = try made.providerKey()
        let good = try Data(contentsOf: URL(filePath: key.path))
        for (bytes, code) in [
            (Data("nonsense".utf8), CryptoFailure.Code.pem), (good.prefix(100), .pem), (Data(), .pem),
        ] {
            try bytes.write(to: URL(filePath: key.path))
            let failure = #expect(throws: CryptoFailure.self) { try made.providerKey() }
            #expect(failure?.code == code && failure?.description.contains("or remove it") == true)
        }
        let rsa = try Program("/usr/bin/openssl", ["genpkey", "-algorithm", "RSA", "-out", key.path], in: folder)
            .finish()
        #expect(rsa.status == 0)
        #expect(throws: CryptoFailure.self) { try made.providerKey() }
        try good.write(to: URL(filePath: key.path))
        for line in [
            "key-id short", "team-id", "key-id lower12345", "team-id TEAM000001 TEAM000002", "key-id ../../etc/a",
        ] {
            try line.write(toFile: folder.path + "/provider.txt", atomically: true, encoding: .utf8)
            let failure = #expect(throws: CryptoFailure.self) { try made.providerKey() }
            #expect(failure?.description.contains("10 characters") == true)
        }
    }

    @Test func oneProgramAtATime() throws {
        let folder = Folder()
        let made = try Credentials(directory: folder.path)
        let fd = open(folder.path, O_RDONLY | O_DIRECTORY)
        defer { close(fd) }
        #expect(flock(fd, LOCK_EX) == 0)
        let failure = #expect(throws: CryptoFailure.self) { try made.providerKey() }
        #expect(failure?.description.contains("try again") == true)
        #expect(flock(fd, LOCK_UN) == 0)
        _ = try made.providerKey()
    }
}

@Suite struct BundleTests {
    @Test func itFollowsBothOfItsParts() throws {
        let folder = Folder()
        let made = try Credentials(directory: folder.path + "/certs")
        let system = folder.path + "/system.crt"
        let other = try Credentials(directory: folder.path + "/other").authorityPath
        func read(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
        let ours = try read(made.authorityPath)

        let path = try made.bundlePath(system: [folder.path + "/none", system])
        #expect(path == folder.path + "/certs/bundle.pem")
        #expect(try read(path) == ours)
        // Without a line end at its end.
        try String(read(other).dropLast()).write(toFile: system, atomically: true, encoding: .utf8)
        #expect(try made.bundlePath(system: [folder.path + "/none", system]) == path)
        #expect(try read(path) == read(other) + ours)
        let notes = made.notes.count
        _ = try made.bundlePath(system: [system])
        #expect(made.notes.count == notes)
        try FileManager.default.removeItem(atPath: system)
        _ = try made.bundlePath(system: [system])
        #expect(try read(path) == ours && made.notes.count == notes + 1)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func opensslTrustsOursWithIt() throws {
        let folder = Folder()
        let made = try Credentials(directory: folder.path)
        let verified = try Program(
            "/usr/bin/openssl", ["verify", "-CAfile", try made.bundlePath(), folder.path + "/server.pem"], in: folder
        ).finish()
        #expect(verified.status == 0, "\(verified.output)")
    }
}

@Suite struct ClientCertificateTests {
    @Test func aVoIPCertificateHasTopicsWithKindsAndTheTeam() throws {
        let folder = Folder()
        let made = try Credentials(directory: folder.path)
        let path = try made.voipClient(app: "org.example.App")
        let facts = try Identity(path: path).certificate.facts
        #expect(facts.topicKinds.map(\.topic) == ["org.example.App", "org.example.App.voip"])
        #expect(facts.topicKinds.map(\.kinds) == [["app"], ["voip"]])
        #expect(facts.topics == ["org.example.App", "org.example.App.voip"])
        // Byte for byte as in Apple's: SEQUENCE of UTF8String and SEQUENCE of UTF8String in turn.
        let shown = try Program("/usr/bin/openssl", ["asn1parse", "-in", path, "-i"], in: folder).finish().output
        let sequence =
            "3036" + "0c0f" + Hex.text("org.example.App".utf8) + "3005" + "0c03" + Hex.text("app".utf8)
            + "0c14" + Hex.text("org.example.App.voip".utf8) + "3006" + "0c04" + Hex.text("voip".utf8)
        #expect(shown.lowercased().contains("[hex dump]:" + sequence), "\(shown)")
    }

    @Test func aProfileSaysAnything() throws {
        let folder = Folder()
        let made = try Credentials(directory: folder.path)
        let now = WallTime.now
        var profile = ClientCertificateProfile(app: "org.a.b", now: now)
        var facts = try made.authority.makeClient(profile).certificate.facts
        #expect(facts.isForSandbox && facts.isForProduction && facts.isVoIP && facts.bundle == "org.a.b")
        #expect(facts.voipTopics.isEmpty && facts.topicKinds.isEmpty && facts.topics == ["org.a.b.voip"])
        #expect(facts.organizationalUnit == nil)

        profile.isVoIP = false
        profile.sandbox = false
        profile.production = false
        profile.topics4 = ["x.y"]
        profile.topics6 = [.init(topic: "x.z", kinds: ["app", "complication"]), .init(topic: "x.w", kinds: [])]
        profile.organizationalUnit = "TEAM000001"
        profile.notBefore = WallTime(nanoseconds: 1_000_000_000 * 1_451_606_400)
        profile.notAfter = WallTime(nanoseconds: 1_000_000_000 * 1_480_000_000)
        facts = try made.authority.makeClient(profile).certificate.facts
        #expect(!facts.isForSandbox && !facts.isForProduction && !facts.isVoIP && facts.bundle == nil)
        #expect(facts.topics == ["x.y", "x.z", "x.w"])
        #expect(facts.topicKinds.map(\.kinds) == [["app", "complication"], []])
        #expect(facts.commonName == "Apple Push Services: org.a.b" && facts.userID == "org.a.b")
        #expect(facts.organizationalUnit == "TEAM000001")
        #expect(facts.notBefore == profile.notBefore && facts.notAfter == profile.notAfter)

        profile.topics4 = [String(repeating: "a", count: 301)]
        #expect(throws: CryptoFailure.self) { try made.authority.makeClient(profile) }
        profile.topics4 = Array(repeating: "a.b", count: 65)
        #expect(throws: CryptoFailure.self) { try made.authority.makeClient(profile) }
        #expect(throws: CryptoFailure.self) { try made.authority.makeClient(ClientCertificateProfile(app: "no")) }
    }

    /// What an earlier ringd made: the daemon must not go on without the newer names.
    @Test func aServerCertificateThatLacksNamesIsMadeAnew() throws {
        let folder = Folder()
        let path = folder.path
        let first = try Credentials(directory: path)
        #expect(
            first.server.certificate.serverNames
                == CertificateAuthority.serverNames + CertificateAuthority.serverAddresses)
        func openssl(_ arguments: [String]) throws {
            let done = try Program("/usr/bin/openssl", arguments, in: folder).finish()
            try #require(done.status == 0, "\(done.output)")
        }
        try openssl(
            [
                "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", path + "/k",
                "-subj",
                "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,DNS:api.push.apple.com,IP:127.0.0.1,IP:::1",
                "-out", path + "/r",
            ])
        try openssl(
            [
                "x509", "-req", "-in", path + "/r", "-CA", path + "/ca.pem", "-CAkey", path + "/ca.key", "-days", "300",
                "-copy_extensions", "copyall", "-out", path + "/c",
            ])
        let old = try Data(contentsOf: URL(filePath: path + "/c")) + Data(contentsOf: URL(filePath: path + "/k"))
        try old.write(to: URL(filePath: path + "/server.pem"))
        let held = try Identity(path: path + "/server.pem").certificate
        #expect(held.serverNames == ["localhost", "api.push.apple.com", "127.0.0.1", "::1"])
        #expect(held.isIssued(by: first.authority.certificate))
        let second = try Credentials(directory: path)
        #expect(second.notes.count == 1)
        #expect(second.server.certificate.serverNames.contains("api-manage-broadcast.sandbox.push.apple.com"))
        #expect(try Credentials(directory: path).notes.isEmpty)
    }

    @Test func whatAnotherProgramRenewsIsTakenUp() throws {
        let folder = Folder()
        let daemon = try Credentials(directory: folder.path)
        let before = daemon.server.certificate.facts
        #expect(try daemon.renewIfDue() == false)
        let path = folder.path + "/server.pem"
        try FileManager.default.removeItem(atPath: path)
        #expect(try daemon.renewIfDue() == false, "what is in use is good yet")
        let other = try Credentials(directory: folder.path)
        #expect(try daemon.renewIfDue() == true)
        #expect(daemon.server.certificate.facts == other.server.certificate.facts)
        #expect(daemon.server.certificate.facts != before)
        // Not one of another authority: senders trust ours.
        let stranger = try Credentials(directory: folder.path + "/other")
        try stranger.server.pem.withUnsafeBytes { try Data($0).write(to: URL(filePath: path)) }
        #expect(try daemon.renewIfDue() == false)
    }

    @Test func aGoneAppLeavesNoKey() throws {
        let folder = Folder()
        let made = try Credentials(directory: folder.path)
        _ = try made.voipClient(app: "org.example.App")
        try Data().write(to: URL(filePath: folder.path + "/voip-org.example.App.p12"))
        try Data().write(to: URL(filePath: folder.path + "/voip-org.example.App.cer"))
        #expect(made.clientApps == ["org.example.App"])
        made.forgetClient(app: "org.example.App")
        #expect(made.clientApps.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { !$0.hasPrefix("voip-") })
    }
}
