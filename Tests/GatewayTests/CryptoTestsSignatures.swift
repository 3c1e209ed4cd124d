import Base
import Crypto
import Foundation
import Testing

@Suite struct Base64URLTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"), ("<<???>>", "PDw_Pz8-Pg"),
    ])
    func knownAnswers(_ plain: String, _ text: String) {
        // RFC 4648, 10; the last has both characters of this alphabet alone.
        #expect(Base64URL.encode(plain.utf8) == text)
        #expect(Base64URL.decode(text.utf8) == Array(plain.utf8))
        let padded = text + String(repeating: "=", count: (4 - text.count % 4) % 4)
        #expect(Base64URL.decode(padded.utf8) == Array(plain.utf8))
    }

    @Test(arguments: [
        "A", "AAAAA", "Zg=", "Zg===", "=", "==", "====", "Z===", "Zm9v=", "Zm9v====", "Zg==Zg==", "Zm+v", "Zm/v",
        "Zm9v\n",
        " Zm9v", "Zm9é", "Zm\u{0}v", "Zh", "Zm9", "Zh==",
    ])
    func whatIsNoneIsRefused(_ text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }

    @Test func anyBytesComeBack() {
        let seed = UInt64.random(in: .min ... .max)
        var random = Seeded(seed)
        for count in 0..<300 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let text = Base64URL.encode(bytes)
            #expect(Base64URL.decode(text.utf8) == bytes, "seed \(seed)")
            // A collection whose bytes do not lie side by side.
            #expect(Base64URL.encode(bytes.lazy.map { $0 }) == text)
            #expect(Base64URL.decode(Array(text.utf8).lazy.map { $0 }) == bytes)
            let reference = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            #expect(text == reference.replacing("=", with: ""))
        }
    }

    @Test func everyOtherCharacterIsRefusedEverywhere() {
        let good = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        for byte in UInt8.min ... .max where !good.contains(byte) {
            for place in 0..<6 {
                var text = Array("AAAAAA".utf8)
                text[place] = byte
                #expect(Base64URL.decode(text) == nil, "\(byte) at \(place)")
            }
        }
    }
}

@Suite struct SignatureTests {
    let message = Array("header.claims".utf8)

    func verify(_ key: VerifyingKey, _ message: [UInt8], _ signature: [UInt8]) -> Bool {
        message.withUnsafeBytes { message in signature.withUnsafeBytes { key.verify(message, signature: $0) } }
    }

    func openssl(_ folder: Folder, _ arguments: [String]) throws {
        let done = try Program("/usr/bin/openssl", arguments, in: folder).finish()
        try #require(done.status == 0, "\(done.output)")
    }

    func read(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    @Test func bothFormsAreGoodAndNothingElse() throws {
        let key = try SigningKey.makeP256()
        let other = try SigningKey.makeP256()
        let held = key.verifyingKey
        // Often enough that r and s have leading zeros and set top bits now and then.
        for round in 0..<600 {
            let message = message + "\(round)".utf8
            let raw = try key.sign(message)
            let der = try key.signDER(message)
            #expect(raw.count == 64 && (68...72).contains(der.count))
            #expect(verify(held, message, raw) && verify(held, message, der))
        }
        let raw = try key.sign(message)
        let der = try key.signDER(message)
        for signature in [raw, der] {
            #expect(!verify(held, message + [0], signature))
            #expect(!verify(held, [], signature))
            #expect(!verify(other.verifyingKey, message, signature))
            #expect(!verify(held, message, Array(signature.dropLast())))
            #expect(!verify(held, message, signature + [0]))
            for place in signature.indices {
                var broken = signature
                broken[place] ^= 1
                #expect(!verify(held, message, broken), "byte \(place)")
            }
            #expect(verify(held, message, signature), "a bad one before it spoils nothing")
        }
        let zeros = [UInt8](repeating: 0, count: 64)
        let ones = [UInt8](repeating: 0xff, count: 64)
        for wrong in [[], [0x30], zeros, ones, ones + ones, [0x30, 6, 2, 1, 0, 2, 1, 0], [0x30, 6, 2, 1, 1, 2, 1, 1]] {
            #expect(!verify(held, message, wrong))
        }
        #expect(try verify(held, [], key.sign([])))
    }

    @Test func opensslAgrees() throws {
        let folder = Folder()
        let key = try SigningKey.makeP256()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        for (name, bytes) in try [("k.p8", key.pem), ("message", message), ("signature", key.signDER(message))] {
            try Data(bytes).write(to: URL(filePath: folder.path + "/" + name))
        }
        try openssl(folder, ["pkey", "-in", folder.path + "/k.p8", "-pubout", "-out", folder.path + "/k.pub"])
        try openssl(
            folder,
            [
                "dgst", "-sha256", "-verify", folder.path + "/k.pub", "-signature", folder.path + "/signature",
                folder.path + "/message",
            ])
        try openssl(
            folder,
            [
                "dgst", "-sha256", "-sign", folder.path + "/k.p8", "-out", folder.path + "/theirs",
                folder.path + "/message",
            ])
        #expect(try verify(VerifyingKey(pem: read(folder.path + "/k.pub")), message, read(folder.path + "/theirs")))
    }

    @Test func anyPEMWithAKeyWillDo() throws {
        let folder = Folder()
        let path = folder.path
        try openssl(
            folder, ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path + "/k.p8"])
        // The older form, with its block of parameters before the key.
        try openssl(folder, ["ecparam", "-name", "prime256v1", "-genkey", "-out", path + "/old.pem"])
        try openssl(folder, ["pkey", "-in", path + "/k.p8", "-pubout", "-out", path + "/k.pub"])
        try openssl(
            folder, ["req", "-x509", "-key", path + "/k.p8", "-subj", "/CN=x", "-days", "2", "-out", path + "/k.cer"])
        let signature = try SigningKey(pem: read(path + "/k.p8")).sign(message)
        for name in ["k.p8", "k.pub", "k.cer"] {
            #expect(try verify(VerifyingKey(pem: read(path + "/" + name)), message, signature), "\(name)")
        }
        let old = try SigningKey(pem: read(path + "/old.pem"))
        #expect(try verify(VerifyingKey(pem: read(path + "/old.pem")), message, old.sign(message)))
        // As it comes out of mails and of editors on other systems.
        let text = String(decoding: try read(path + "/k.pub"), as: UTF8.self)
        let bent =
            "Key:\r\n" + text.split(separator: "\n").map { "   \($0) " }.joined(separator: "\r\n") + "\r\n-- \r\nme"
        #expect(try verify(VerifyingKey(pem: Array(bent.utf8)), message, signature))
    }

    @Test func whatIsNoP256KeyIsRefusedInWords() throws {
        let folder = Folder()
        let path = folder.path
        func refused(_ name: String, _ code: CryptoFailure.Code, _ words: String) throws {
            let bytes = try read(path + "/" + name)
            let failure = #expect(throws: CryptoFailure.self, "\(name)") { try VerifyingKey(pem: bytes) }
            #expect(failure?.code == code, "\(name)")
            #expect(failure?.description.contains(words) == true, "\(name): \(failure?.description ?? "")")
        }
        try openssl(
            folder, ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out", path + "/384"])
        try refused("384", .algorithm, "the key is P-384")
        try openssl(
            folder, ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1", "-out", path + "/k1"])
        try refused("k1", .algorithm, "the key is secp256k1")
        try openssl(folder, ["genpkey", "-algorithm", "RSA", "-out", path + "/rsa"])
        try refused("rsa", .algorithm, "the key is RSA 2048")
        try openssl(folder, ["genpkey", "-algorithm", "ED25519", "-out", path + "/ed"])
        try refused("ed", .algorithm, "the key is ED25519")
        #expect(throws: CryptoFailure.self) { try SigningKey(pem: read(path + "/rsa")) }
        try openssl(
            folder, ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path + "/k.p8"])
        try openssl(
            folder, ["pkey", "-in", path + "/k.p8", "-aes256", "-passout", "pass:word", "-out", path + "/locked"])
        try refused("locked", .password, "encrypted")
        let good = String(decoding: try read(path + "/k.p8"), as: UTF8.self)
        for (text, words) in [
            ("", "no public key"), ("text", "no public key"), (String(good.dropLast(30)), "cut off"),
            (good.replacing("MIG", with: "!!!"), "damaged"), (good.replacing("MIG", with: "AAA"), "reading"),
        ] {
            try Data(text.utf8).write(to: URL(filePath: path + "/bad"))
            let failure = #expect(throws: CryptoFailure.self) { try VerifyingKey(pem: Array(text.utf8)) }
            #expect(failure?.description.contains(words) == true, "\(words): \(failure?.description ?? "")")
        }
    }

    @Test func aTokenIsAsAPNsWantsIt() throws {
        let key = try SigningKey.makeP256()
        let token = try ProviderTokenWriter.token(
            key: key, keyID: "ABC123DEFG", teamID: "TEAM\"0\\001", issuedAt: 1_764_486_702)
        let parts = token.split(separator: ".")
        try #require(parts.count == 3)
        func json(_ part: Substring) throws -> NSDictionary {
            let bytes = try #require(Base64URL.decode(part.utf8))
            return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
        }
        #expect(try json(parts[0]) == ["alg": "ES256", "kid": "ABC123DEFG"])
        #expect(try json(parts[1]) == ["iss": "TEAM\"0\\001", "iat": 1_764_486_702])
        let signature = try #require(Base64URL.decode(parts[2].utf8))
        #expect(signature.count == 64)
        #expect(verify(key.verifyingKey, Array("\(parts[0]).\(parts[1])".utf8), signature))
    }
}
