import Base
import Crypto
import Foundation
import Testing

@Suite struct DigestTests {
    @Test func knownAnswers() {
        // FIPS 180-2, "abc".
        #expect(Hex.text(Digest.sha1(Array("abc".utf8))) == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(
            Hex.text(Digest.sha256(Array("abc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test func namesAreStableAndDelimited() {
        func name(_ client: String, _ account: String, _ key: String) -> CallUUID {
            .named(client: client, account: account, key: key)
        }
        #expect(name("a", "b", "c") == name("a", "b", "c"))
        #expect(Set([name("a", "bc", ""), name("ab", "c", ""), name("", "abc", ""), name("a", "b", "c")]).count == 4)
        #expect(name("a", "b", "c") != .named(namespace: .random(), client: "a", account: "b", key: "c"))
        let digits = Array(name("a", "b", "c").description)
        #expect(digits[14] == "5" && "89ab".contains(digits[19]))
    }
}

@Suite struct CredentialsTests {
    func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    func openssl(_ folder: Folder, _ arguments: [String]) throws -> Finished {
        try Program("/usr/bin/openssl", arguments, in: folder).finish()
    }

    @Test func theFirstStartMakesAllOfThemPrivately() throws {
        let folder = Folder()
        let made = try Credentials(directory: folder.path + "/a/certs")
        let client = try made.voipClient(app: "org.example.App")
        #expect(client.hasSuffix("/certs/voip-org.example.App.pem"))
        #expect(try mode(made.directory) == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: made.directory).sorted()
        #expect(names == ["ca.key", "ca.pem", "provider.txt", "server.pem", "voip-org.example.App.pem"])
        for name in names { #expect(try mode(made.directory + "/" + name) == 0o600) }

        let authority = made.authorityPath
        let server = made.directory + "/server.pem"
        for (purpose, path) in [("sslserver", server), ("sslclient", client)] {
            let verified = try openssl(
                folder, ["verify", "-x509_strict", "-purpose", purpose, "-CAfile", authority, path])
            #expect(verified.status == 0, "\(verified.output)")
        }
        for name in CertificateAuthority.serverNames {
            let verified = try openssl(folder, ["verify", "-verify_hostname", name, "-CAfile", authority, server])
            #expect(verified.status == 0, "\(verified.output)")
        }
        for address in ["127.0.0.1", "::1"] {
            let verified = try openssl(folder, ["verify", "-verify_ip", address, "-CAfile", authority, server])
            #expect(verified.status == 0, "\(verified.output)")
        }
    }

    @Test func aSecondStartKeepsThem() throws {
        let folder = Folder()
        let first = try Credentials(directory: folder.path)
        let path = try first.voipClient(app: "org.example.App")
        let pem = try Data(contentsOf: URL(filePath: path))
        let second = try Credentials(directory: folder.path)
        #expect(second.notes.isEmpty)
        #expect(try second.voipClient(app: "org.example.App") == path)
        #expect(try Data(contentsOf: URL(filePath: path)) == pem)
        #expect(first.server.certificate.facts == second.server.certificate.facts)
        #expect(try second.renewIfDue() == false)
    }

    @Test func theServerCertificateIsRenewedBeforeItsEnd() throws {
        let folder = Folder()
        let day: Int64 = 86_400_000_000_000
        let start = WallTime.now
        let made = try Credentials(directory: folder.path, now: start)
        let facts = made.server.certificate.facts
        #expect(facts.notAfter.seconds - facts.notBefore.seconds <= 397 * 86_400)
        let early = WallTime(nanoseconds: start.nanoseconds + 365 * day)
        let late = WallTime(nanoseconds: start.nanoseconds + 367 * day)
        #expect(try made.renewIfDue(now: early) == false)
        #expect(try Credentials(directory: folder.path, now: early).notes.isEmpty)
        #expect(try made.renewIfDue(now: late) == true)
        #expect(made.server.certificate.facts.fingerprint != facts.fingerprint)
        let again = try Credentials(directory: folder.path, now: late)
        #expect(again.server.certificate.facts == made.server.certificate.facts)
    }

    @Test func damageIsMendedOrNamed() throws {
        let folder = Folder()
        let made = try Credentials(directory: folder.path)
        let before = made.authority.certificate.facts
        try Data("nonsense".utf8).write(to: URL(filePath: folder.path + "/server.pem"))
        let mended = try Credentials(directory: folder.path)
        #expect(mended.notes.count == 1)
        #expect(mended.authority.certificate.facts == before)
        // Rights that somebody widened are taken back.
        chmod(folder.path + "/ca.key", 0o644)
        _ = try Credentials(directory: folder.path)
        #expect(try mode(folder.path + "/ca.key") == 0o600)
        // A foreign key: replacing the authority would break every sender that trusts it.
        let other = try PrivateKey.makeP256()
        try Data(try other.pem).write(to: URL(filePath: folder.path + "/ca.key"))
        let failure = #expect(throws: CryptoFailure.self) { try Credentials(directory: folder.path) }
        #expect(failure?.code == .keyMismatch)
        #expect(failure?.description.contains("remove both") == true)
    }

    @Test func onlyAppIDsReachAFileName() throws {
        let folder = Folder()
        let made = try Credentials(directory: folder.path)
        let long = String(repeating: "a.", count: 123) + "a"
        for bad in [
            "", "app", "../../etc.passwd", "org.example/x", "org..x", ".org.x", "org.x\n", "org.-x", "org.é", long,
        ] {
            let failure = #expect(throws: CryptoFailure.self, "\(bad)") { try made.voipClient(app: bad) }
            #expect(failure?.code == .appID)
        }
        let path = try made.voipClient(app: "org." + String(repeating: "a", count: 242))
        #expect(try Identity(path: path).certificate.facts.bundle?.utf8.count == 246)
    }

    @Test func aVoIPCertificateSaysWhatApplesSays() throws {
        let folder = Folder()
        let made = try Credentials(directory: folder.path)
        let facts = try Identity(path: try made.voipClient(app: "org.example.App")).certificate.facts
        #expect(facts.subject.hasPrefix("UID=org.example.App.voip, CN=VoIP Services: org.example.App"))
        #expect(facts.commonName == "VoIP Services: org.example.App")
        #expect(facts.isForSandbox && facts.isForProduction && facts.isVoIP)
        #expect(facts.bundle == "org.example.App")
        #expect(facts.voipTopics == ["org.example.App", "org.example.App.voip"])
        #expect(facts.issuer.contains("ringd local authority"))
        #expect(facts.fingerprint.count == 32)
    }

    @Test func aForeignCertificateWithTopicKindsIsRead() throws {
        // Extension .6 as in Apple's universal certificates, a certificate that openssl makes.
        let folder = Folder()
        let app = "0c05 6f72672e61".replacing(" ", with: "")
        let kind = "3005 0c03 617070".replacing(" ", with: "")
        let voip = "0c0a 6f72672e612e766f6970".replacing(" ", with: "")
        let kinds = "3006 0c04 766f6970".replacing(" ", with: "")
        let body = app + kind + voip + kinds
        let der = "30" + String(body.count / 2, radix: 16) + body
        let made = try openssl(
            folder,
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder.path + "/k.pem", "-out",
                folder.path + "/c.pem", "-days", "2", "-subj", "/UID=org.a/CN=Apple Push Services: org.a/OU=TEAM123456",
                "-addext", "1.2.840.113635.100.6.3.6=DER:" + der, "-addext", "1.2.840.113635.100.6.3.2=DER:0500",
            ])
        #expect(made.status == 0, "\(made.output)")
        let facts = try Identity(path: folder.path + "/c.pem", keyPath: folder.path + "/k.pem").certificate.facts
        #expect(facts.topicKinds.map(\.topic) == ["org.a", "org.a.voip"])
        #expect(facts.topicKinds.map(\.kinds) == [["app"], ["voip"]])
        #expect(facts.topics == ["org.a", "org.a.voip"])
        #expect(facts.organizationalUnit == "TEAM123456")
        #expect(!facts.isForSandbox && facts.isForProduction && !facts.isVoIP)
    }

    @Test func aCombinedPEMIsReadInEitherOrder() throws {
        let folder = Folder()
        let made = try Credentials(directory: folder.path)
        let client = [UInt8](try Data(contentsOf: URL(filePath: try made.voipClient(app: "org.example.App"))))
        let text = String(decoding: client, as: UTF8.self)
        let marker = try #require(text.range(of: "-----BEGIN PRIVATE KEY-----"))
        let turned = String(text[marker.lowerBound...]) + String(text[..<marker.lowerBound])
        let facts = try Identity(pem: client).certificate.facts
        #expect(try Identity(pem: Array(turned.utf8)).certificate.facts == facts)
        // The authority's certificate first: the leaf is the one that the key fits.
        let chain = try made.authority.certificate.pem + client
        let identity = try Identity(pem: chain)
        #expect(identity.certificate.facts == facts && identity.chain.count == 1)

        let stranger = try PrivateKey.makeP256().pem
        let mismatch = #expect(throws: CryptoFailure.self) {
            try Identity(pem: Array(text[..<marker.lowerBound].utf8) + stranger)
        }
        #expect(mismatch?.code == .keyMismatch)
        for broken in [[], Array("text".utf8), Array(text[..<marker.lowerBound].utf8), stranger] {
            let failure = #expect(throws: CryptoFailure.self) { try Identity(pem: broken) }
            #expect(failure?.code == .pem)
        }
    }

    @Test func anEncryptedKeyNeedsItsPassphrase() throws {
        let folder = Folder()
        let made = try openssl(
            folder,
            [
                "req", "-x509", "-newkey", "rsa:2048", "-passout", "pass:secret", "-keyout", folder.path + "/k.pem",
                "-out", folder.path + "/c.pem", "-subj", "/CN=x",
            ])
        #expect(made.status == 0, "\(made.output)")
        func read(_ passphrase: String) throws {
            _ = try Identity(path: folder.path + "/c.pem", keyPath: folder.path + "/k.pem", passphrase: passphrase)
        }
        try read("secret")
        for wrong in ["", "wrong"] {
            let failure = #expect(throws: CryptoFailure.self) { try read(wrong) }
            #expect(failure?.code == .pem)
        }
    }
}

@Suite struct TLSSessionTests {
    /// Carries bytes to and fro until neither side has any; what each side read, and how it failed.
    struct Side {
        var text: [UInt8] = []
        var failure: TLSFailure?
        var isClosed = false
    }

    func talk(_ a: TLSSession, _ b: TLSSession, piece: Int = .max) -> (Side, Side) {
        var sides = (Side(), Side())
        func step(_ session: TLSSession, _ side: inout Side, _ input: [UInt8]) {
            guard side.failure == nil else { return }
            do throws(TLSFailure) {
                try session.receive(input)
                var buffer = [UInt8](repeating: 0, count: 1000)
                while true {
                    var result: Result<TLSSession.Progress, TLSFailure> = .success(.needMore)
                    buffer.withUnsafeMutableBytes { raw in
                        do throws(TLSFailure) { result = .success(try session.read(into: raw)) } catch {
                            result = .failure(error)
                        }
                    }
                    switch try result.get() {
                    case .bytes(let count): side.text += buffer[..<count]
                    case .needMore: return
                    case .closed:
                        side.isClosed = true
                        return
                    }
                }
            } catch {
                side.failure = error
            }
        }
        var toA: [UInt8] = []
        var toB: [UInt8] = []
        step(a, &sides.0, [])
        step(b, &sides.1, [])
        repeat {
            toB += a.takeOutput()
            toA += b.takeOutput()
            step(a, &sides.0, Array(toA.prefix(piece)))
            step(b, &sides.1, Array(toB.prefix(piece)))
            toA = Array(toA.dropFirst(piece))
            toB = Array(toB.dropFirst(piece))
        } while a.pendingOutput + b.pendingOutput + toA.count + toB.count > 0
        return sides
    }

    struct Pair {
        let folder = Folder()
        let credentials: Credentials
        init() throws { credentials = try Credentials(directory: folder.path) }

        func sessions(
            clients: TLSContext.Clients = .any, identity: Identity? = nil, trust: [Certificate]? = nil,
            name: String = "localhost"
        ) throws -> (server: TLSSession, client: TLSSession) {
            let server = try TLSContext.server(credentials.server, clients: clients)
            let client = try TLSContext.client(identity, trusting: trust ?? [credentials.authority.certificate])
            return (try .server(server), try .client(client, name: name))
        }

        func voip() throws -> Identity { try Identity(path: try credentials.voipClient(app: "org.example.App")) }
    }

    @Test(arguments: [1, 100, Int.max])
    func aHandshakeAndTextBothWays(piece: Int) throws {
        let pair = try Pair()
        let (server, client) = try pair.sessions(identity: pair.voip(), name: "Gateway.Sandbox.Push.Apple.com")
        _ = talk(server, client, piece: piece)
        #expect(server.isOpen && client.isOpen)
        #expect(server.version == "TLSv1.3")
        #expect(server.serverName == "gateway.sandbox.push.apple.com")
        #expect(server.peerCertificate?.userID == "org.example.App.voip")
        let long = (0..<50_000).map { UInt8(truncatingIfNeeded: $0) }
        try client.send(long)
        try server.send([1, 2, 3])
        let (atServer, atClient) = talk(server, client, piece: piece)
        #expect(atServer.text == long)
        #expect(atClient.text == [1, 2, 3])
        server.shutDown()
        #expect(talk(server, client).1.isClosed)
    }

    /// A ticket would make the socket readable for a sender that waits for an error packet.
    @Test func theServerIsSilentAfterTheHandshake() throws {
        let pair = try Pair()
        let (server, client) = try pair.sessions(identity: pair.voip())
        func step(_ session: TLSSession, _ input: [UInt8]) throws {
            try session.receive(input)
            try withUnsafeTemporaryAllocation(byteCount: 100, alignment: 1) { buffer in
                _ = try session.read(into: buffer)
            }
        }
        try step(client, [])
        while !server.isOpen {
            try step(server, client.takeOutput())
            if !server.isOpen { try step(client, server.takeOutput()) }
        }
        #expect(client.isOpen)
        #expect(server.pendingOutput == 0)
    }

    @Test func aMissingCertificateIsNamed() throws {
        let pair = try Pair()
        let (server, client) = try pair.sessions(
            clients: .trusted([pair.credentials.authority.certificate], isRequired: true))
        let (atServer, _) = talk(server, client)
        #expect(atServer.failure?.kind == .noCertificate)
        #expect(atServer.failure?.reasons.isEmpty == false)
        #expect(!server.isOpen)
    }

    @Test func anyIssuerIsFineUnlessOneIsAskedFor() throws {
        let pair = try Pair()
        let foreign = try Pair()
        let (server, client) = try pair.sessions(identity: foreign.voip())
        #expect(talk(server, client).0.failure == nil)
        #expect(server.isOpen)
        let (strict, stranger) = try pair.sessions(
            clients: .trusted([pair.credentials.authority.certificate], isRequired: true), identity: foreign.voip())
        #expect(talk(strict, stranger).0.failure?.kind == .certificateRefused)
        let (again, known) = try pair.sessions(
            clients: .trusted([pair.credentials.authority.certificate], isRequired: true), identity: pair.voip())
        #expect(talk(again, known).0.failure == nil)
        #expect(again.isOpen)
    }

    @Test func aClientThatDoesNotTrustUsSaysSo() throws {
        let pair = try Pair()
        let foreign = try Pair()
        let (server, client) = try pair.sessions(
            identity: pair.voip(), trust: [foreign.credentials.authority.certificate])
        let (atServer, atClient) = talk(server, client)
        #expect(atClient.failure?.kind == .certificateRefused)
        #expect(atServer.failure?.kind == .ourCertificateRefused)
    }

    @Test func aWrongNameIsNotBelieved() throws {
        let pair = try Pair()
        let (server, client) = try pair.sessions(identity: pair.voip(), name: "www.example.org")
        #expect(talk(server, client).1.failure?.kind == .certificateRefused)
    }

    @Test func inputIsBounded() throws {
        let (server, _) = try Pair().sessions()
        let chunk = [UInt8](repeating: 0x16, count: 20_000)
        var failure: TLSFailure?
        for _ in 0..<8 {
            do throws(TLSFailure) { try server.receive(chunk) } catch { failure = error }
        }
        #expect(failure?.kind == .overflow)
        #expect(server.pendingInput <= TLSSession.inputLimit)
    }

    @Test func anyBytesAreRefusedInWords() throws {
        let pair = try Pair()
        let context = try TLSContext.server(pair.credentials.server)
        let seed = UInt64.random(in: .min ... .max)
        var random = Seeded(seed)
        for _ in 0..<500 {
            let session = try TLSSession.server(context)
            var bytes = (0..<Int.random(in: 11...400, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            // No record type, no version.
            bytes[0] = 0x47
            bytes[1] = 0x45
            try session.receive(bytes)
            var failure: TLSFailure?
            withUnsafeTemporaryAllocation(byteCount: 100, alignment: 1) { buffer in
                do throws(TLSFailure) { _ = try session.read(into: buffer) } catch { failure = error }
            }
            #expect(failure?.kind == .notTLS, "seed \(seed)")
        }
    }
}
