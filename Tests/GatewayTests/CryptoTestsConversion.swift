import Base
import Crypto
import Foundation
import Testing

/// Files as they come out of the openssl program, which is what tutorials use.
private final class Workshop {
    let folder = Folder()

    init() throws { try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true) }

    func at(_ name: String) -> String { folder.path + "/" + name }

    func read(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: at(name)))) }

    func write(_ bytes: [UInt8], _ name: String) throws { try Data(bytes).write(to: URL(filePath: at(name))) }

    @discardableResult
    func openssl(_ arguments: String...) throws -> String {
        // Names of files have a dot and no slash.
        let words = arguments.map { $0.wholeMatch(of: /[a-z0-9-]+\.[a-z0-9]+/) == nil ? $0 : at($0) }
        let done = try Program("/usr/bin/openssl", words, in: folder).finish()
        try #require(done.status == 0, "openssl \(arguments): \(done.output)")
        return done.output
    }

    /// `c.pem`, `c.cer`, `k.pem`: a certificate in both forms and its key.
    func makeCertificate(_ name: String = "c", key: String = "k") throws {
        try openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "\(key).pem",
            "-days", "2", "-subj", "/UID=org.a.voip/CN=VoIP Services: org.a", "-addext",
            "1.2.840.113635.100.6.3.2=DER:0500", "-out", "\(name).pem")
        try openssl("x509", "-in", "\(name).pem", "-outform", "der", "-out", "\(name).cer")
    }

    func material(_ names: String..., password: String? = nil) throws -> KeyMaterial {
        var material = KeyMaterial()
        for name in names { try material.add(read(name), file: name, passwords: password.map { [$0] } ?? []) }
        return material
    }

    func failure(_ names: String..., password: String? = nil) throws -> CryptoFailure {
        var material = KeyMaterial()
        let failure = #expect(throws: CryptoFailure.self) {
            for name in names { try material.add(read(name), file: name, passwords: password.map { [$0] } ?? []) }
            _ = try material.identity()
        }
        return try #require(failure)
    }
}

@Suite struct ConversionTests {
    @Test func halvesInAnyFormAndOrder() throws {
        let shop = try Workshop()
        try shop.makeCertificate()
        try shop.openssl("pkey", "-in", "k.pem", "-outform", "der", "-out", "k.der")
        try shop.openssl("ec", "-in", "k.pem", "-out", "old.pem")
        try shop.openssl("pkey", "-in", "k.pem", "-aes256", "-passout", "pass:word", "-out", "locked.pem")
        try shop.openssl("ec", "-in", "k.pem", "-aes128", "-passout", "pass:word", "-out", "oldlocked.pem")
        try shop.openssl(
            "pkcs8", "-topk8", "-in", "k.pem", "-outform", "der", "-passout", "pass:word", "-out", "locked.der")
        try shop.openssl(
            "pkcs8", "-topk8", "-scrypt", "-in", "k.pem", "-passout", "pass:word", "-out", "scrypt.pem")
        let facts = try shop.material("c.pem").certificates[0].facts
        #expect(facts.isForProduction && facts.userID == "org.a.voip")
        for certificate in ["c.pem", "c.cer"] {
            for key in ["k.pem", "k.der", "old.pem", "locked.pem", "oldlocked.pem", "locked.der", "scrypt.pem"] {
                for names in [(certificate, key), (key, certificate)] {
                    let identity = try shop.material(names.0, names.1, password: "word").identity()
                    #expect(identity.certificate.facts == facts && identity.keyKind == "P-256", "\(names)")
                }
            }
        }
        // One file of everything, twice: each counts once.
        try shop.write(shop.read("locked.pem") + shop.read("c.pem"), "all.pem")
        let material = try shop.material("all.pem", "c.cer", "k.pem", password: "word")
        #expect(material.certificates.count == 1 && material.keys.count == 1)
        #expect(material.forms == [.pem, .der, .pem])
    }

    @Test(arguments: [
        [], ["-legacy"], ["-descert"], ["-nomac"], ["-keypbe", "NONE", "-certpbe", "NONE"], ["-noiter"],
        ["-macalg", "SHA512"], ["-legacy", "-certpbe", "PBE-SHA1-RC4-40"],
    ])
    func pkcs12OfEveryKind(_ options: [String]) throws {
        let shop = try Workshop()
        try shop.makeCertificate()
        let facts = try shop.material("c.pem").certificates[0].facts
        for password in ["pass word", "", "pässwörd"] {
            let words =
                ["pkcs12", "-export", "-in", shop.at("c.pem"), "-inkey", shop.at("k.pem"), "-out", shop.at("x.p12")]
                + ["-name", "Alice", "-passout", "pass:" + password]
            let done = try Program("/usr/bin/openssl", words + options, in: shop.folder).finish()
            try #require(done.status == 0, "\(done.output)")
            let identity = try shop.material("x.p12", password: password).identity()
            #expect(identity.certificate.facts == facts && identity.keyKind == "P-256")
            let isLocked = !password.isEmpty && options.first != "-keypbe"
            if isLocked {
                let wrong = try shop.failure("x.p12", password: "wrong")
                #expect(wrong.code == .password && wrong.message.hasPrefix("x.p12: this password does not open"))
                let missing = try shop.failure("x.p12")
                #expect(missing.code == .password, "\(missing)")
            }
            #expect(try shop.material("x.p12", "c.cer", password: password).certificates.count == 1)
        }
    }

    @Test func oldWaysOfLockingAKey() throws {
        let shop = try Workshop()
        try shop.makeCertificate()
        for scheme in ["PBE-SHA1-RC2-40", "PBE-SHA1-3DES", "PBE-MD5-DES"] {
            try shop.openssl(
                "pkcs8", "-topk8", "-v1", scheme, "-in", "k.pem", "-passout", "pass:word", "-out", "locked.pem",
                "-provider", "legacy", "-provider", "default")
            #expect(try shop.material("locked.pem", "c.pem", password: "word").identity().keyKind == "P-256")
            #expect(try shop.failure("locked.pem", "c.pem", password: "wrong").code == .password, "\(scheme)")
        }
        // Before PKCS#8.
        try shop.openssl(
            "ec", "-in", "k.pem", "-des", "-passout", "pass:word", "-out", "old.pem", "-provider", "legacy",
            "-provider",
            "default")
        #expect(String(decoding: try shop.read("old.pem"), as: UTF8.self).contains("DEK-Info: DES-CBC"))
        let single = try shop.failure("old.pem", "c.pem", password: "word")
        #expect(single.code == .oldAlgorithm && single.description.contains("DES-CBC"))
        try shop.openssl("ec", "-in", "k.pem", "-des3", "-passout", "pass:word", "-out", "old.pem")
        #expect(try shop.material("old.pem", "c.pem", password: "word").identity().keyKind == "P-256")
        #expect(try shop.failure("old.pem", "c.pem", password: "wrong").code == .password)
    }

    @Test func whatIsMissingOrWrongIsSaid() throws {
        let shop = try Workshop()
        try shop.makeCertificate()
        try shop.makeCertificate("d", key: "l")
        let mismatch = try shop.failure("c.cer", "l.pem")
        #expect(mismatch.code == .keyMismatch)
        #expect(mismatch.message.contains("does not belong to the certificate “UID=org.a.voip"))
        #expect(try shop.failure("c.cer").message.contains("no private key"))
        #expect(try shop.failure("k.pem").message.contains("no certificate"))
        // The right one of two.
        let pair = try shop.material("d.cer", "c.cer", "k.pem").identity()
        #expect(try pair.certificate.facts == shop.material("c.pem").certificates[0].facts && pair.chain.isEmpty)

        try shop.openssl("req", "-new", "-key", "k.pem", "-subj", "/CN=x", "-out", "r.pem")
        #expect(try shop.failure("r.pem").message.contains("signing request"))
        try shop.openssl("pkey", "-in", "k.pem", "-pubout", "-out", "p.pem")
        #expect(try shop.material("p.pem").publicKeys == ["P-256"])
        let good = try shop.read("c.pem")
        for (bytes, words) in [
            ([], "it is empty"), (Array("hello".utf8), "neither PEM nor DER"), (Array(good.dropLast(40)), "cut off"),
            (Array("-----BEGIN X-----\nAAAA\n-----END X-----\n".utf8), "only “X”"),
            (Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8), "no certificate"),
            (Array("-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n".utf8), "damaged"),
            ([UInt8](repeating: 0x30, count: 1 << 20 + 1), "over 1 MiB"),
        ] {
            try shop.write(bytes, "bad.x")
            let failure = try shop.failure("bad.x")
            #expect(failure.message.hasPrefix("bad.x: ") && failure.message.contains(words), "\(failure)")
        }
    }

    @Test func theChainIsPutInOrder() throws {
        let shop = try Workshop()
        let made = try Credentials(directory: shop.folder.path)
        let client = try Identity(path: made.voipClient(app: "org.example.App"))
        try shop.makeCertificate()
        try shop.write(made.authority.certificate.pem + shop.read("c.pem") + client.pem, "all.pem")
        let identity = try shop.material("all.pem").identity()
        #expect(identity.certificate.facts == client.certificate.facts)
        #expect(identity.chain.map(\.facts) == [made.authority.certificate.facts])
        // And so in a .p12 that openssl makes of it.
        try shop.openssl(
            "pkcs12", "-export", "-in", "all.pem", "-out", "all.p12", "-legacy", "-passout", "pass:x")
        let again = try shop.material("all.p12", password: "x")
        #expect(again.certificates.count == 3)
        #expect(try again.identity().chain.map(\.facts) == [made.authority.certificate.facts])
    }

    @Test(arguments: [PKCS12.Strength.modern, .old])
    func ourPKCS12IsReadByOpenSSL(_ strength: PKCS12.Strength) throws {
        let shop = try Workshop()
        let made = try Credentials(directory: shop.folder.path)
        let client = try Identity(path: made.voipClient(app: "org.example.App"))
        let identity = try Identity(
            certificate: client.certificate, chain: [made.authority.certificate], key: PrivateKey(pem: client.pem))
        for password in ["word", ""] {
            try shop.write(PKCS12.encode(identity, password: password, strength: strength), "x.p12")
            // Without -legacy: the old strength is one that the default provider has.
            let shown = try shop.openssl("pkcs12", "-in", "x.p12", "-info", "-nodes", "-passin", "pass:\(password)")
            #expect(shown.contains("friendlyName: VoIP Services: org.example.App"))
            #expect(shown.contains("ringd local authority") && shown.contains("BEGIN PRIVATE KEY"))
            #expect(shown.contains(strength == .modern ? "PBES2, PBKDF2, AES-256-CBC" : "pbeWithSHA1And3-KeyTripleDES"))
            #expect(shown.contains(strength == .modern ? "MAC: sha256" : "MAC: sha1"))
            let read = try shop.material("x.p12", password: password).identity()
            #expect(read.certificate.facts == client.certificate.facts && read.chain.count == 1)
        }
        #expect(throws: CryptoFailure.self) { try PKCS12.encode(client, password: "a\0b") }
    }

    @Test func aPEMInEitherOrderAndLocked() throws {
        let shop = try Workshop()
        try shop.makeCertificate()
        let identity = try shop.material("c.pem", "k.pem").identity()
        let plain = String(decoding: try identity.pem(keyFirst: false), as: UTF8.self)
        #expect(plain.hasPrefix("-----BEGIN CERTIFICATE") && plain.hasSuffix("-----END PRIVATE KEY-----\n"))
        let turned = String(decoding: try identity.pem(keyFirst: true, password: "wörd"), as: UTF8.self)
        #expect(turned.hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY") && turned.hasSuffix("-----END CERTIFICATE-----\n"))
        try shop.write(Array(turned.utf8), "x.pem")
        try shop.openssl("pkey", "-in", "x.pem", "-passin", "pass:wörd", "-noout")
        #expect(try shop.material("x.pem", password: "wörd").identity().certificate.facts == identity.certificate.facts)
        #expect(try shop.failure("x.pem").code == .password)
    }

    /// A few bytes must not keep anybody waiting.
    @Test func hashingIsBounded() throws {
        let shop = try Workshop()
        try shop.makeCertificate()
        try shop.openssl(
            "pkcs12", "-export", "-in", "c.pem", "-inkey", "k.pem", "-out", "x.p12", "-passout", "pass:x", "-iter",
            "70000")
        try shop.openssl(
            "pkcs8", "-topk8", "-in", "k.pem", "-outform", "der", "-iter", "70000", "-passout", "pass:x", "-out",
            "x.der")
        let rounds: [UInt8] = [2, 3, 1, 0x11, 0x70]
        for name in ["x.p12", "x.der"] {
            let good = try shop.read(name)
            let places = good.indices.filter { good[$0...].starts(with: rounds) }
            #expect(places.count == (name == "x.p12" ? 3 : 1))
            for place in places {
                var bad = good
                bad.replaceSubrange(place..<place + 5, with: [2, 3, 0x7f, 0xff, 0xff])
                try shop.write(bad, "bad.x")
                let failure = try shop.failure("bad.x", password: "x")
                // Those that a checksum is over are not believed before they are read.
                #expect(failure.code == .tooMuch || place != places.last && failure.code == .password, "\(failure)")
            }
        }
        try shop.openssl(
            "pkcs8", "-topk8", "-scrypt", "-in", "k.pem", "-outform", "der", "-passout", "pass:x", "-out", "s.der")
        var scrypt = try shop.read("s.der")
        let numbers: [UInt8] = [2, 2, 0x40, 0, 2, 1, 8, 2, 1, 1]
        let place = try #require(scrypt.indices.first { scrypt[$0...].starts(with: numbers) })
        scrypt[place + 9] = 0x7f
        try shop.write(scrypt, "bad.x")
        #expect(try shop.failure("bad.x", password: "x").code == .tooMuch)
    }

    @Test func damagedFilesAreHarmless() throws {
        let shop = try Workshop()
        try shop.makeCertificate()
        try shop.openssl(
            "pkcs12", "-export", "-in", "c.pem", "-inkey", "k.pem", "-out", "x.p12", "-passout", "pass:", "-legacy")
        let seed = UInt64.random(in: .min ... .max)
        var random = Seeded(seed)
        for name in ["x.p12", "c.cer", "k.pem", "c.pem"] {
            let good = try shop.read(name)
            for round in 0..<300 {
                var bytes = good
                if round % 3 == 0 {
                    bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
                } else {
                    for _ in 0..<(round % 5 + 1) {
                        bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
                    }
                }
                var material = KeyMaterial()
                do throws(CryptoFailure) {
                    try material.add(bytes, file: name)
                    for certificate in material.certificates { _ = certificate.facts }
                } catch {
                    #expect(!error.message.isEmpty, "seed \(seed)")
                }
            }
        }
    }
}

@Suite struct ClientFilesTests {
    @Test func allFormsAreMadeOnceAndMended() throws {
        let folder = Folder()
        let made = try Credentials(directory: folder.path)
        let files = try made.voipClientFiles(app: "org.example.App")
        #expect(files.pkcs12State == .isOpen)
        func read(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }
        func opens(_ password: String) throws -> Certificate? {
            var material = KeyMaterial()
            try material.add(read(files.pkcs12), file: "x", passwords: [password])
            return try material.identity().certificate
        }
        for path in [files.pem, files.pkcs12, files.certificate] {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        let certificate = try Certificate(der: read(files.certificate))
        #expect(certificate.facts.userID == "org.example.App.voip")
        #expect(try opens("")?.facts == certificate.facts)

        let notes = made.notes.count
        #expect(try made.voipClientFiles(app: "org.example.App") == files)
        #expect(try made.voipClientFiles(app: "org.example.App", password: "") == files)
        #expect(made.notes.count == notes)
        #expect(try made.voipClientFiles(app: "org.example.App", password: "word").pkcs12State == .hasPassword)
        #expect(made.notes.count == notes + 1)
        let locked = try read(files.pkcs12)
        // Asked again without it, its protection stays.
        #expect(try made.voipClientFiles(app: "org.example.App").pkcs12State == .hasPassword)
        #expect(try made.voipClientFiles(app: "org.example.App", password: "word").pkcs12State == .hasPassword)
        #expect(try read(files.pkcs12) == locked)

        let later = WallTime(nanoseconds: WallTime.now.nanoseconds + 380 * 86_400_000_000_000)
        #expect(try made.voipClientFiles(app: "org.example.App", now: later).pkcs12State == .isOld)
        #expect(try Certificate(der: read(files.certificate)).facts.notAfter > certificate.facts.notAfter)
        #expect(
            try made.voipClientFiles(app: "org.example.App", password: "word", now: later).pkcs12State == .hasPassword)
        #expect(try opens("word")?.facts.notAfter ?? certificate.facts.notAfter > certificate.facts.notAfter)
    }
}

/// Inputs that broke a reader once, or that stand for a kind that must not. Found by `Scripts/fuzz`.
@Suite struct CertificateFailCases {
    @Test func areHarmless() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz")
        var certificates = 0
        for folder in ["FailCases/certificate", "corpus/certificate"] {
            let files = try FileManager.default.contentsOfDirectory(
                at: root.appending(path: folder), includingPropertiesForKeys: nil)
            #expect(!files.isEmpty)
            for file in files {
                let bytes = [UInt8](try Data(contentsOf: file))
                var material = KeyMaterial()
                do throws(CryptoFailure) {
                    try material.add(bytes, file: file.lastPathComponent, passwords: ["word"])
                } catch {
                    #expect(error.message.hasPrefix(file.lastPathComponent + ": "))
                }
                for certificate in material.certificates {
                    let facts = certificate.facts
                    #expect(
                        facts.voipTopics.count <= 64 && facts.topicKinds.count <= 64 && !certificate.keyKind.isEmpty)
                    #expect(facts.topics.allSatisfy { $0.utf8.count <= 260 }, "\(file.lastPathComponent)")
                    certificates += 1
                }
            }
        }
        #expect(certificates > 6)
    }
}
