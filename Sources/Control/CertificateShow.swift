internal import Base
internal import Crypto
internal import JSON

/// `ringctl certs show`.
enum CertificateShow {
    static func run(_ invocation: Invocation, _ session: Session) throws(Refusal) {
        try invocation.checkInput()
        let material = try invocation.material()
        let files = invocation.arguments.map { Text.clean($0) }
        var faults: [String] = []
        if material.keys.isEmpty && !material.certificates.isEmpty && material.leaf?.role != .authority {
            faults.append(
                "there is no private key: a sender needs it with the certificate (ringctl certs convert CERTIFICATE KEY)"
            )
        }
        for key in material.keys where !material.certificates.isEmpty && owner(of: key, material) == nil {
            faults.append("the private key (\(key.kind)) belongs to none of the certificates")
        }
        for key in material.keys where material.certificates.isEmpty && !key.isP256 {
            faults.append("as a provider key (.p8) it is of no use: that is P-256, for ES256, and this is \(key.kind)")
        }
        if session.isJSON { return try session.say(json(files, material, faults)) }
        let forms = Set(material.forms.map(\.rawValue)).sorted().joined(separator: " and ")
        try session.say(session.style(.bold, files.joined(separator: ", ")) + "  \(forms)")
        for certificate in material.certificates { try show(certificate, material, session) }
        for key in material.keys where owner(of: key, material) == nil {
            try session.say("private key, \(key.kind)")
            if let id = keyID(invocation.arguments), material.certificates.isEmpty {
                try session.say("  key id        \(id)")
            }
        }
        for kind in material.publicKeys { try session.say("public key, \(kind)") }
        for fault in faults { try session.say(session.style(.yellow, "! \(fault)")) }
    }

    private static func show(
        _ certificate: Certificate, _ material: KeyMaterial, _ session: Session
    ) throws(Refusal) {
        let facts = certificate.facts
        func line(_ name: String, _ text: String) throws(Refusal) {
            try session.say("  \(name.rightPadded(to: 14))\(text)")
        }
        try session.say(certificate.role.words)
        try line("subject", facts.subject)
        try line("issuer", facts.issuer)
        if let bundle = facts.bundle { try line("app", bundle) }
        if certificate.role == .voip || certificate.role == .push {
            let kinds = Dictionary(facts.topicKinds.map { ($0.topic, $0.kinds) }) { first, _ in first }
            let topics = facts.topics.map { topic in
                topic + (kinds[topic].map { $0.isEmpty ? "" : " (\($0.joined(separator: ", ")))" } ?? "")
            }
            try line("topics", topics.isEmpty ? "none" : topics.joined(separator: ", "))
            let environments = environments(facts)
            try line("environments", environments.isEmpty ? "none" : environments.joined(separator: ", "))
        }
        if let team = facts.organizationalUnit { try line("team", team) }
        if !certificate.serverNames.isEmpty { try line("names", certificate.serverNames.joined(separator: ", ")) }
        try line("valid", validity(facts))
        let key = material.keys.contains(where: certificate.matches) ? "is here and belongs to it" : "is not here"
        try line("key", "\(certificate.keyKind), \(key)")
        try line("fingerprint", "SHA-256 \(Hex.text(facts.fingerprint))")
        guard isSender(certificate) else { return }
        for fault in certificate.faultsForVoIP() { try session.say(session.style(.yellow, "  ! \(fault)")) }
    }

    /// Server certificates and authorities are not to send anything.
    static func isSender(_ certificate: Certificate) -> Bool {
        switch certificate.role {
        case .authority, .server: false
        case .voip, .push, .other: true
        }
    }

    static func environments(_ facts: PeerCertificate) -> [String] {
        (facts.isForSandbox ? ["sandbox"] : []) + (facts.isForProduction ? ["production"] : [])
    }

    private static func validity(_ facts: PeerCertificate) -> String {
        let days = (facts.notAfter.seconds - WallTime.now.seconds) / 86_400
        let left = facts.notAfter < .now ? "over" : days == 1 ? "1 day left" : "\(days) days left"
        return "\(facts.notBefore.formatted("%Y-%m-%d")) to \(facts.notAfter.formatted("%Y-%m-%d")) (\(left))"
    }

    private static func owner(of key: PrivateKey, _ material: KeyMaterial) -> Certificate? {
        material.certificates.first { $0.matches(key) }
    }

    /// From Apple's way to name the file.
    static func keyID(_ paths: [String]) -> String? {
        let name = paths.first?.split(separator: "/").last ?? ""
        guard paths.count == 1, name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        return Text.clean(String(name.dropFirst(8).dropLast(3)), limit: 40)
    }

    // MARK: JSON

    private static func json(_ files: [String], _ material: KeyMaterial, _ faults: [String]) -> JSONValue {
        .object(
            ("files", .array(files.map(JSONValue.string))),
            ("forms", .array(material.forms.map { .string($0.rawValue) })),
            ("certificates", .array(material.certificates.map { json($0, material) })),
            (
                "keys",
                .array(
                    material.keys.map {
                        .object(("kind", .string($0.kind)), ("belongs", .bool(owner(of: $0, material) != nil)))
                    })
            ),
            ("public_keys", .array(material.publicKeys.map(JSONValue.string))),
            ("faults", .array(faults.map(JSONValue.string))))
    }

    static func json(_ certificate: Certificate, _ material: KeyMaterial) -> JSONValue {
        let facts = certificate.facts
        func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
        func texts(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }
        return .object(
            ("role", .string(certificate.role.rawValue)), ("subject", .string(facts.subject)),
            ("issuer", .string(facts.issuer)), ("app", text(facts.bundle)), ("topics", texts(facts.topics)),
            (
                "kinds",
                .object(facts.topicKinds.map { JSONValue.Member($0.topic, texts($0.kinds)) })
            ),
            ("environments", texts(environments(facts))), ("team", text(facts.organizationalUnit)),
            ("names", texts(certificate.serverNames)), ("not_before", .integer(facts.notBefore.seconds)),
            ("not_after", .integer(facts.notAfter.seconds)), ("key", .string(certificate.keyKind)),
            ("has_key", .bool(material.keys.contains(where: certificate.matches))),
            ("fingerprint", .string(Hex.text(facts.fingerprint))),
            ("faults", texts(isSender(certificate) ? certificate.faultsForVoIP() : [])))
    }
}
