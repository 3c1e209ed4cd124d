internal import APNs
internal import Base
internal import Config
internal import Crypto

/// The service's rules, as the configuration has them.
extension Daemon {
    /// Puts the configuration's rules in force; what its files lack is added to `faults`, and the rest holds.
    func applyRules() {
        apns.rules = configuration.apns.rules
        apns.powerSaving = configuration.apns.powerSaving
        // Counts of pushes begin anew with a change, and with nothing else.
        if apns.faults != configuration.apns.faults { apns.faults = configuration.apns.faults }
        configuredKeys = []
        for (id, key) in configuration.apns.keys.sorted(by: { $0.key < $1.key }) {
            do {
                configuredKeys.append(try Self.providerKey(id, key))
            } catch {
                faults.append(
                    ConfigFault(
                        key.line, "[key \(id)] file",
                        "\(error); put the key there or correct the path, then reload; until then its tokens are refused"
                    ))
            }
        }
        authorities = []
        for path in configuration.apns.authorities {
            do {
                authorities += try Certificate.all(pem: try Self.bytes(path))
            } catch {
                faults.append(
                    ConfigFault(
                        authoritiesLine, "apns.authorities",
                        "\(path) cannot be used: \(error); until it can, its certificates are not trusted"))
            }
        }
        trustKeys()
    }

    /// Ours, and those of the configuration, which may replace ours.
    func trustKeys() {
        let all = (ownKey.map { [$0] } ?? []) + configuredKeys
        apns.tokens.keys = Dictionary(all.map { ($0.id, $0) }) { _, last in last }
    }

    /// The key that `ringctl certs` shows: made with the other credentials.
    func trustOwnKey(_ credentials: Credentials) throws(CryptoFailure) {
        let own = try credentials.providerKey()
        let key = try own.load().verifyingKey
        ownKey = APNs.ProviderKey(id: own.keyID, team: own.teamID) { key.verify($0, signature: $1) }
        trustKeys()
    }

    private static func providerKey(
        _ id: String, _ key: Configuration.Key
    ) throws -> APNs.ProviderKey {
        let environment: PushEnvironment =
            switch key.environment {
            case .sandbox: .sandbox
            case .production: .production
            case .both: .unknown
            }
        let verifying = try VerifyingKey(pem: try bytes(key.file))
        return APNs.ProviderKey(
            id: id, team: key.team, environment: environment, topics: key.topics, related: key.related,
            verify: { verifying.verify($0, signature: $1) })
    }

    private static func bytes(_ path: String) throws(PathFailure) -> [UInt8] {
        guard let text = try Paths.read(path, limit: 1 << 16) else {
            throw PathFailure(description: "there is no file \(path)")
        }
        return Array(text.utf8)
    }
}

extension Configuration.APNs {
    var rules: PushRules {
        var out = PushRules()
        out.tokenLifetime = tokenLifetime
        out.tokenUpdates = tokenUpdates
        out.unregisterDelay = unregisterDelay
        out.deviceRate = deviceRate
        out.saysBadEnvironmentKeyInToken = saysBadEnvironmentKeyInToken
        return out
    }
}
