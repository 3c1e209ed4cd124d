package import Base
internal import COpenSSL

extension Certificate {
    /// What a certificate is for.
    package enum Role: String, Sendable {
        case authority
        /// Sends VoIP pushes, perhaps others too.
        case voip
        /// Sends pushes, but none for calls.
        case push
        case server
        case other

        package var words: String {
            switch self {
            case .authority: "authority"
            case .voip: "VoIP certificate"
            case .push: "push certificate"
            case .server: "server certificate"
            case .other: "certificate"
            }
        }
    }

    package var role: Role {
        let facts = facts
        if facts.hasVoIPTopic { return .voip }
        if facts.isForSandbox || facts.isForProduction || !facts.topicKinds.isEmpty { return .push }
        // Not first: what people sign themselves with openssl req -x509 is an authority, too.
        if isAuthority { return .authority }
        return serverNames.isEmpty ? .other : .server
    }

    /// True for a key that OpenSSL refuses at the level that Debian sets, e.g. RSA of 1024 bits.
    package var hasWeakKey: Bool { KeyKind.isWeak(X509_get0_pubkey(x509)) }

    /// What keeps it from sending VoIP pushes through Apple's gateways or ours, a sentence each with what follows from it
    /// (apns.md 1.6, 1.7); none where all is well. It says nothing of the key's whereabouts.
    package func faultsForVoIP(now: WallTime = .now) -> [String] {
        if role == .authority {
            return ["it is an authority's certificate: it vouches for others and sends nothing itself"]
        }
        let facts = facts
        var faults: [String] = []
        if facts.notAfter < now {
            faults.append("it ended on \(facts.notAfter.formatted("%Y-%m-%d")): a new one is needed")
        } else if now < facts.notBefore {
            faults.append("it begins on \(facts.notBefore.formatted("%Y-%m-%d")): is this machine's clock right?")
        }
        switch (facts.isForSandbox, facts.isForProduction) {
        case (true, true): break
        case (true, false):
            faults.append("it is for the sandbox only (development): production refuses it, BadCertificateEnvironment")
        case (false, true):
            faults.append("it is for production only: the sandbox refuses it, BadCertificateEnvironment")
        case (false, false):
            faults.append(
                "it has no mark of an environment (extensions .1 and .2), as every push certificate has: Apple takes it "
                    + "nowhere")
        }
        if !facts.hasVoIPTopic {
            let topics = facts.topics.isEmpty ? "none at all" : "only \(facts.topics.joined(separator: ", "))"
            faults.append("it names no topic for calls (ending in .voip), \(topics): a VoIP push is TopicDisallowed")
        }
        if hasWeakKey {
            faults.append("its key (\(keyKind)) is too weak for OpenSSL 3, which then says “ee key too small”")
        }
        return faults
    }
}

extension PeerCertificate {
    /// A topic for calls is among its topics.
    package var hasVoIPTopic: Bool {
        topics.contains { $0.hasSuffix(".voip") } || topicKinds.contains { $0.kinds.contains("voip") }
    }
}
