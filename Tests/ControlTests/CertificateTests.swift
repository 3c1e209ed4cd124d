import Base
import Crypto
import Foundation
import JSON
import TestSupport
import Testing

/// ringctl's `certs` as people call it, in a home of its own and without any bus.
struct CertificateTests {
    private let home = Scratch()
    private var folder: String { home.at(".local/state/ringd/certs") }

    private func ringctl(_ words: String..., more: [String: String] = [:], input: Data? = nil) throws -> Outcome {
        let environment = ["HOME": home.path, "LC_ALL": "C.UTF-8", "TZ": "UTC"].merging(more) { $1 }
        // Names of files have a dot and no slash.
        let words = words.map { $0.wholeMatch(of: /[a-z0-9]+\.[a-z0-9]+/) == nil ? $0 : home.at($0) }
        return try attempt(Tree.program("ringctl"), words, environment: environment, isWhole: true, input: input)
    }

    private func json(_ words: String...) throws -> JSONValue {
        let words = words.map { $0.wholeMatch(of: /[a-z0-9]+\.[a-z0-9]+/) == nil ? $0 : home.at($0) }
        let outcome = try attempt(
            Tree.program("ringctl"), words + ["--json"], environment: ["HOME": home.path], isWhole: true)
        try #require(outcome.status == 0, "\(outcome.all)")
        return try JSONValue.parse(Array(outcome.out.utf8))
    }

    private func openssl(_ words: String...) throws -> String {
        let words = words.map { $0.wholeMatch(of: /[a-z0-9]+\.[a-z0-9]+/) == nil ? $0 : home.at($0) }
        return try run("/usr/bin/openssl", words)
    }

    private func read(_ name: String) throws -> String { try String(contentsOfFile: home.at(name), encoding: .utf8) }

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    /// `NAME.cer` and `NAME.pem`: a certificate of this profile alone, and its key.
    private func make(_ name: String, _ profile: ClientCertificateProfile) throws {
        let identity = try Credentials(directory: home.at("authority")).authority.makeClient(profile)
        try home.make("\(name).cer", Data(try identity.certificate.der))
        let pem = String(decoding: try identity.pem, as: UTF8.self)
        let key = try #require(pem.range(of: "-----BEGIN PRIVATE KEY"))
        try home.make("\(name).pem", Data(pem[key.lowerBound...].utf8))
    }

    private func refused(_ status: Int32, _ words: String, _ outcome: Outcome) {
        #expect(outcome.status == status && outcome.out.isEmpty, "\(outcome.all)")
        #expect(outcome.complaint.contains(words), "\(words): \(outcome.complaint)")
    }

    // MARK: certs, certs init

    @Test func initMakesWhatIsMissingAndNothingElse() throws {
        refused(1, "(ringctl certs init)", try ringctl("certs"))
        #expect(try json("certs")["files"] == .array([]))
        let first = try ringctl("certs", "init")
        #expect(first.status == 0 && first.complaint.isEmpty)
        let made = try json("certs", "init")
        #expect(made["made"] == .array([]) && made["reloaded"] == .bool(false))
        let keyID = try #require(made["key_id"]?.string)
        for name in ["authority", "bundle", "server", "provider_key"] {
            let path = try #require(made[name]?.string)
            #expect(path.hasPrefix(folder + "/") && first.out.contains(path))
            #expect(try mode(path) == 0o600)
        }
        #expect(first.out.contains("key id        \(keyID)\n"))
        #expect(first.out.contains("team id       \(try #require(made["team_id"]?.string))\n"))
        #expect(try mode(folder) == 0o700)
        #expect(try ringctl("certs", "init").out.hasPrefix("everything is there\n"))

        let list = try ringctl("certs").out
        #expect(list.contains("AuthKey_\(keyID).p8") && list.contains("localhost and 11 more"))
        #expect(list.contains("ringd local authority") && !list.contains("cannot"))
        let files = try json("certs")["files"]
        guard case .array(let rows)? = files else { throw CancellationError() }
        let server = try #require(rows.first { $0["file"] == "server.pem" })
        #expect(server["what"] == "server certificate" && server["fingerprint"]?.string?.count == 64)
    }

    @Test func anAppGetsItsCertificateInThreeForms() throws {
        let first = try ringctl("certs", "init", "--app", "com.example.talk")
        #expect(first.status == 0 && first.out.contains("! the .p12 file has no password"))
        let again = try json("certs", "init", "--app", "com.example.talk", "--password", "word")
        #expect(again["pkcs12_has_password"] == .bool(true) && again["app"] == "com.example.talk")
        let p12 = try #require(again["pkcs12"]?.string)
        #expect(p12 == folder + "/voip-com.example.talk.p12")
        #expect(try run("/usr/bin/openssl", ["pkcs12", "-in", p12, "-noout", "-passin", "pass:word"]).isEmpty)
        #expect(
            try run("/usr/bin/openssl", ["x509", "-inform", "der", "-in", folder + "/voip-com.example.talk.cer"]) != "")
        #expect(try ringctl("certs").out.contains("voip-com.example.talk.p12  has a password\n"))
        try home.make("word.txt", Data("word\nsecond line".utf8))
        let fromFile = try ringctl("certs", "init", "--app", "com.example.talk", "--password-file", "word.txt")
        #expect(fromFile.out.hasPrefix("everything is there\n"))
        #expect(!fromFile.all.contains("second") && !first.all.contains("PRIVATE KEY"))

        refused(1, "“nonsense” is no app id", try ringctl("certs", "init", "--app", "nonsense"))
        refused(2, "for the .p12 file of --app", try ringctl("certs", "init", "--password", "x"))
        refused(
            2, "not both",
            try ringctl("certs", "init", "--app", "a.b", "--password", "x", "--password-file", "word.txt"))
        refused(1, "cannot read", try ringctl("certs", "init", "--app", "a.b", "--password-file", "none.txt"))
        refused(2, "did you mean ringctl certs show?", try ringctl("certs", "shw"))
    }

    @Test func damageInTheFolderIsSaid() throws {
        _ = try ringctl("certs", "init")
        try Data("nonsense".utf8).write(to: URL(filePath: folder + "/ca.pem"))
        #expect(try ringctl("certs").out.contains("cannot be used      ca.pem: it is no certificate and no key"))
        refused(1, "or remove both", try ringctl("certs", "init"))
    }

    // MARK: certs show

    @Test func showSaysWhatIsWrongForCalls() throws {
        let day: Int64 = 86_400_000_000_000
        let now = WallTime.now
        func check(_ words: [String], _ change: (inout ClientCertificateProfile) -> Void) throws {
            var profile = ClientCertificateProfile.voip(app: "org.a.b", teamID: "TEAM000001")
            change(&profile)
            try make("c", profile)
            let shown = try ringctl("certs", "show", "c.cer", "c.pem")
            #expect(shown.status == 0 && shown.complaint.isEmpty)
            let faults = shown.out.split(separator: "\n").filter { $0.contains("! ") }
            #expect(faults.count == words.count, "\(shown.out)")
            for (fault, words) in zip(faults, words) { #expect(fault.contains(words)) }
        }
        try check([]) { _ in }
        let good = try ringctl("certs", "show", "c.cer", "c.pem").out
        for words in [
            "  DER and PEM\n", "topics        org.a.b (app), org.a.b.voip (voip)\n",
            "environments  sandbox, production\n",
            "team          TEAM000001\n", "395 days left", "P-256, is here and belongs to it", "SHA-256 ",
        ] {
            #expect(good.contains(words) || words == "395 days left" && good.contains("396 days left"), "\(good)")
        }
        try check(["for the sandbox only (development)"]) { $0.production = false }
        try check(["for production only"]) { $0.sandbox = false }
        try check(["no mark of an environment"]) { ($0.sandbox, $0.production) = (false, false) }
        try check(["it ended on 2016-11-24"]) {
            $0.notBefore = WallTime(nanoseconds: 1_450_000_000_000_000_000)
            $0.notAfter = WallTime(nanoseconds: 1_480_000_000_000_000_000)
        }
        try check(["clock right?"]) { $0.notBefore = WallTime(nanoseconds: now.nanoseconds + 2 * day) }
        try check(["only org.a.b: a VoIP push is TopicDisallowed"]) {
            $0.isVoIP = false
            $0.topics4 = []
            $0.topics6 = [.init(topic: "org.a.b", kinds: ["app"])]
        }
        // The universal kind, which has no mark of VoIP and does it all the same.
        try check([]) {
            $0.isVoIP = false
            $0.topics4 = []
        }
        #expect(try ringctl("certs", "show", "c.cer").out.contains("! there is no private key"))
        try make("d", .voip(app: "org.a.b"))
        #expect(try ringctl("certs", "show", "c.cer", "d.pem").out.contains("belongs to none of the certificates"))
        _ = try openssl("genpkey", "-algorithm", "RSA", "-out", "k.p8")
        #expect(
            try ringctl("certs", "show", "k.p8").out.contains(
                "of no use: that is P-256, for ES256, and this is RSA 2048"))
        _ = try openssl(
            "req", "-x509", "-newkey", "rsa:1024", "-nodes", "-keyout", "w.pem", "-out", "w.crt", "-subj", "/CN=old",
            "-addext",
            "basicConstraints=CA:FALSE")
        #expect(try ringctl("certs", "show", "w.crt", "w.pem").out.contains("(RSA 1024) is too weak"))
    }

    @Test func showInJSONAndOfOurOwn() throws {
        _ = try ringctl("certs", "init", "--app", "com.example.talk", "--password", "word")
        let shown = try json("certs", "show", folder + "/voip-com.example.talk.p12", "--password", "word")
        guard case .array(let certificates)? = shown["certificates"] else { throw CancellationError() }
        #expect(certificates.count == 1 && certificates[0]["has_key"] == .bool(true))
        #expect(certificates[0]["role"] == "voip" && certificates[0]["faults"] == .array([]))
        #expect(certificates[0]["topics"] == .array(["com.example.talk", "com.example.talk.voip"]))
        #expect(shown["forms"] == .array(["PKCS#12"]))
        let authority = try ringctl("certs", "show", folder + "/ca.pem").out
        #expect(authority.contains("\nauthority\n") && !authority.contains("!"))
        let server = try ringctl("certs", "show", folder + "/server.pem").out
        #expect(server.contains("api-manage-broadcast.sandbox.push.apple.com, 127.0.0.1, ::1") && !server.contains("!"))
        let key = try #require(try json("certs", "init")["provider_key"]?.string)
        #expect(try ringctl("certs", "show", key).out.contains("key id        "))
        refused(1, "cannot read", try ringctl("certs", "show", "none.pem"))
        refused(2, "FILE… is missing", try ringctl("certs", "show"))
        refused(1, "is over 1048576 bytes", try ringctl("certs", "show", "/dev/zero"))
        refused(
            1, "has a password (--password-file FILE)",
            try ringctl("certs", "show", folder + "/voip-com.example.talk.p12"))
    }

    // MARK: certs convert

    /// The three commands of the tutorials, in one.
    @Test func convertDoesWhatTutorialsDo() throws {
        try make("c", .voip(app: "org.a.b"))
        _ = try openssl(
            "pkcs12", "-export", "-inkey", "c.pem", "-nocerts", "-out", "k.p12", "-legacy", "-passout", "pass:word")
        _ = try openssl("x509", "-inform", "der", "-in", "c.cer", "-out", "t.pem")
        try home.make("ck.pem", Data((try read("t.pem") + read("c.pem")).utf8))

        let done = try ringctl(
            "certs", "convert", "k.p12", "c.cer", "--password-file", "-", "--out", "out.pem", input: Data("word\n".utf8)
        )
        #expect(done.status == 0 && done.complaint.isEmpty, "\(done.all)")
        #expect(try read("out.pem") == read("ck.pem"))
        #expect(try mode(home.at("out.pem")) == 0o600)
        #expect(
            done.out.contains(
                "written: \(home.at("out.pem"))  (VoIP certificate “VoIP Services: org.a.b”, then its key)"))

        _ = try ringctl(
            "certs", "convert", "c.cer", "k.p12", "--password", "word", "--key-first", "--out", "turned.pem")
        #expect(try read("turned.pem") == read("c.pem") + read("t.pem"))
        // Beside the first file, under its name: not in the place of what is there.
        refused(1, "--force", try ringctl("certs", "convert", "out.pem", "--key-first"))
        #expect(try read("out.pem") == read("ck.pem"))
        #expect(try ringctl("certs", "convert", "out.pem", "--key-first", "--force").status == 0)
        #expect(try read("out.pem") == read("turned.pem"))
        #expect(try json("certs", "convert", "out.pem", "--to", "der")["written"]?.string == home.at("out.cer"))
        #expect(
            try Data(contentsOf: URL(filePath: home.at("out.cer"))) == Data(contentsOf: URL(filePath: home.at("c.cer")))
        )
        // A certificate alone, as openssl x509 does it, and from stdin to stdout.
        let alone = try ringctl(
            "certs", "convert", "-", "--out", "-", input: Data(contentsOf: URL(filePath: home.at("c.cer"))))
        #expect(alone.out == (try read("t.pem")))
    }

    @Test func convertMakesPKCS12() throws {
        try make("c", .voip(app: "org.a.b"))
        for (name, options, algorithm) in [
            ("new.p12", [], "AES-256-CBC"), ("old.pfx", ["--legacy"], "pbeWithSHA1And3-KeyTripleDES-CBC"),
        ] {
            let made = try attempt(
                Tree.program("ringctl"),
                [
                    "certs", "convert", home.at("c.cer"), home.at("c.pem"), "--out", home.at(name), "--out-password",
                    "word",
                ]
                    + options, environment: ["HOME": home.path], isWhole: true)
            #expect(made.status == 0 && !made.out.contains("no password"), "\(made.all)")
            let shown = try openssl("pkcs12", "-in", name, "-info", "-noout", "-passin", "pass:word")
            #expect(shown.contains(algorithm))
            #expect(try mode(home.at(name)) == 0o600)
        }
        #expect(
            try ringctl("certs", "convert", "c.cer", "c.pem", "--out", "open.p12").out.contains("! it has no password"))
        let locked = try json("certs", "convert", "c.cer", "c.pem", "--out", "locked.pem", "--out-password", "word")
        #expect(locked["encrypted"] == .bool(true) && locked["has_key"] == .bool(true))
        #expect(try read("locked.pem").contains("BEGIN ENCRYPTED PRIVATE KEY"))
    }

    @Test func convertRefusesInWords() throws {
        try make("c", .voip(app: "org.a.b"))
        try make("d", .voip(app: "org.a.b"))
        _ = try openssl("pkcs12", "-export", "-inkey", "c.pem", "-nocerts", "-out", "k.p12", "-passout", "pass:word")
        refused(
            1, "does not belong to the certificate “UID=org.a.b.voip",
            try ringctl("certs", "convert", "c.cer", "d.pem", "--out", "x.pem"))
        refused(
            1, "k.p12: this password does not open it",
            try ringctl("certs", "convert", "c.cer", "k.p12", "--password", "wrong", "--out", "x.pem"))
        refused(
            1, "k.p12: it has a password (--password-file FILE)",
            try ringctl("certs", "convert", "c.cer", "k.p12", "--out", "x.pem"))
        refused(
            1, "there is a certificate and no private key", try ringctl("certs", "convert", "c.cer", "--out", "x.p12"))
        refused(
            1, "a private key and no certificate: give the .cer",
            try ringctl("certs", "convert", "c.pem", "--out", "x.cer"))
        refused(1, "is no file; for stdout", try ringctl("certs", "convert", "c.cer", "--out", "/dev/null", "--force"))
        refused(1, "cannot write", try ringctl("certs", "convert", "c.cer", "--out", "/nowhere/x.pem"))
        refused(2, "--key-first is for PEM", try ringctl("certs", "convert", "c.cer", "--to", "der", "--key-first"))
        refused(2, "--legacy is for p12", try ringctl("certs", "convert", "c.cer", "--legacy"))
        refused(2, "--to is pem, p12 or der", try ringctl("certs", "convert", "c.cer", "--to", "jks"))
        refused(2, "nothing to encrypt", try ringctl("certs", "convert", "c.cer", "--to", "der", "--out-password", "x"))
        refused(2, "cannot both go to stdout", try ringctl("certs", "convert", "c.cer", "--out", "-", "--json"))
        refused(2, "say where to", try ringctl("certs", "convert", "-"))
        refused(2, "can be read once", try ringctl("certs", "convert", "-", "-", "--out", "x.pem"))
        refused(
            2, "can be read once",
            try ringctl("certs", "convert", "-", "--out-password-file", "-", "--out", "x.p12", input: Data("x".utf8)))
        #expect(!FileManager.default.fileExists(atPath: home.at("x.pem")))
        #expect(!FileManager.default.fileExists(atPath: home.at("x.p12")))
    }

    /// Debian 13 has OpenSSL's legacy provider in a package of its own.
    @Test func aMissingLegacyProviderIsNamed() throws {
        try make("c", .voip(app: "org.a.b"))
        for options in [["-legacy"], []] {
            _ = try run(
                "/usr/bin/openssl",
                [
                    "pkcs12", "-export", "-inkey", home.at("c.pem"), "-nocerts", "-out", home.at("k.p12"), "-passout",
                    "pass:word",
                ]
                    + options + ["-keypbe", options.isEmpty ? "AES-256-CBC" : "PBE-SHA1-RC2-40"])
            let bare = try ringctl(
                "certs", "convert", "c.cer", "k.p12", "--password", "word", "--out", "x.pem",
                more: ["OPENSSL_MODULES": "/none"])
            if options.isEmpty {
                #expect(bare.status == 0)
            } else {
                refused(1, "legacy provider is not installed", bare)
            }
            let whole = try ringctl(
                "certs", "convert", "c.cer", "k.p12", "--password", "word", "--out", "x.pem", "--force")
            #expect(whole.status == 0, "\(whole.all)")
            try? FileManager.default.removeItem(atPath: home.at("x.pem"))
        }
    }
}
