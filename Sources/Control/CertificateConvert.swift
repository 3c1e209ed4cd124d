internal import Base
internal import Crypto
internal import JSON

/// `ringctl certs convert`.
enum CertificateConvert {
    enum Target: String, CaseIterable {
        case pem
        case p12
        case der

        /// The ending of a file that is named after another.
        var ending: String { self == .der ? "cer" : rawValue }

        init(ending path: String) {
            switch path.split(separator: ".").last?.lowercased() {
            case "p12", "pfx": self = .p12
            case "cer", "der": self = .der
            default: self = .pem
            }
        }
    }

    static func run(_ invocation: Invocation, _ session: Session) throws(Refusal) {
        try invocation.checkInput()
        let target = try target(invocation)
        let out = try path(invocation, target)
        try check(invocation, target, out)
        let password = try invocation.password("out-password")
        let material = try invocation.material()
        let (bytes, words, isSecret): ([UInt8], String, Bool)
        do throws(CryptoFailure) {
            (bytes, words, isSecret) = try encode(material, target, password ?? "", invocation)
        } catch {
            throw Refusal(error)
        }
        if out == "-" {
            guard Console.write(bytes: bytes) else { throw Refusal(status: 0, message: "") }
            return
        }
        try write(bytes, to: out, force: invocation.has("force"))
        if session.isJSON {
            return try session.say(
                .object(
                    ("written", .string(out)), ("form", .string(target.rawValue)), ("holds", .string(words)),
                    ("has_key", .bool(isSecret)), ("encrypted", .bool(isSecret && !(password ?? "").isEmpty))))
        }
        try session.say("written: \(out)  (\(words))")
        if target == .p12 && (password ?? "").isEmpty {
            try session.say(
                session.style(.yellow, "! it has no password: whoever has it has the key (--out-password-file)"))
        }
        guard let leaf = material.leaf, CertificateShow.isSender(leaf) else { return }
        for fault in leaf.faultsForVoIP() { try session.say(session.style(.yellow, "! \(fault)")) }
    }

    private static func target(_ invocation: Invocation) throws(Refusal) -> Target {
        guard let word = invocation.options["to"] else { return Target(ending: invocation.options["out"] ?? "") }
        guard let target = Target(rawValue: word) else {
            throw .usage("certs convert: --to is pem, p12 or der, not \"\(Text.clean(word, limit: 40))\"")
        }
        return target
    }

    private static func path(_ invocation: Invocation, _ target: Target) throws(Refusal) -> String {
        if let out = invocation.options["out"] { return out }
        let first = invocation.arguments[0]
        guard first != "-" else { throw .usage("certs convert: say where to: --out FILE, or --out - for stdout") }
        let name = first.split(separator: "/").last.map(String.init) ?? first
        let folder = first.dropLast(name.count)
        let bare = name.lastIndex(of: ".").map { $0 == name.startIndex ? name : String(name[..<$0]) } ?? name
        return "\(folder)\(bare).\(target.ending)"
    }

    private static func check(_ invocation: Invocation, _ target: Target, _ out: String) throws(Refusal) {
        if target != .pem && invocation.has("key-first") {
            throw .usage("certs convert: --key-first is for PEM, and this is \(target.rawValue)")
        }
        if target != .p12 && invocation.has("legacy") {
            throw .usage("certs convert: --legacy is for p12, and this is \(target.rawValue)")
        }
        if target == .der && (invocation.has("out-password") || invocation.has("out-password-file")) {
            throw .usage("certs convert: der holds the certificate alone, and nothing to encrypt")
        }
        if out == "-" && invocation.isJSON {
            throw .usage("certs convert: --json and the file cannot both go to stdout")
        }
        if out == "-" && target != .pem && Console.isTerminal(1) {
            throw .usage("certs convert: \(target.rawValue) is binary, and stdout is a terminal: say --out FILE")
        }
        if out != "-" && !invocation.has("force") && PrivateFile.exists(out) {
            throw .refused("\(Text.clean(out)) is there already: name another with --out, or replace it with --force")
        }
    }

    /// The bytes, what they are in words, and whether a key is among them.
    private static func encode(
        _ material: KeyMaterial, _ target: Target, _ password: String, _ invocation: Invocation
    ) throws(CryptoFailure) -> ([UInt8], String, Bool) {
        switch target {
        case .p12:
            let identity = try material.identity()
            let isOld = invocation.has("legacy")
            return (
                try PKCS12.encode(identity, password: password, strength: isOld ? .old : .modern),
                "\(name(identity.certificate)) and its key, PKCS#12\(isOld ? " for old readers" : "")", true
            )
        case .der:
            guard let leaf = material.keys.isEmpty ? material.leaf : try material.identity().certificate else {
                throw CryptoFailure(.pem, "there is no certificate, and der holds nothing else")
            }
            return (try leaf.der, "\(name(leaf)), the certificate alone", false)
        case .pem:
            if material.keys.isEmpty, let leaf = material.leaf {
                var text = try leaf.pem
                for above in material.chain(above: leaf) { text += try above.pem }
                return (text, "\(name(leaf)), without a key", false)
            }
            if material.certificates.isEmpty, material.keys.count == 1 {
                return (try material.keys[0].pem(password: password), "a private key, \(material.keys[0].kind)", true)
            }
            let identity = try material.identity()
            let isKeyFirst = invocation.has("key-first")
            let certificate = name(identity.certificate)
            return (
                try identity.pem(keyFirst: isKeyFirst, password: password),
                isKeyFirst ? "a key, then its \(certificate)" : "\(certificate), then its key", true
            )
        }
    }

    private static func name(_ certificate: Certificate) -> String {
        let facts = certificate.facts
        return certificate.role.words + (facts.commonName.map { " “\($0)”" } ?? "")
    }

    private static func write(_ bytes: [UInt8], to path: String, force: Bool) throws(Refusal) {
        // rename(2) would put a file in the place of a device.
        guard OutputFile.isFileOrNothing(path) else {
            throw .refused("\(Text.clean(path)) is no file; for stdout say --out -")
        }
        do throws(CryptoFailure) {
            try PrivateFile.write(bytes, to: path, replacing: force)
        } catch {
            throw Refusal(error)
        }
    }
}
