internal import Base
internal import Crypto

/// Who sends (apns.md 1.5, 1.6).
extension PushRules {
    func checkCredentials(
        _ push: PushRequest, _ sender: Sender, _ tokens: ProviderTokens, _ environment: PushEnvironment,
        _ topics: inout [String], _ now: Instant, _ wall: WallTime, _ out: inout Judgement
    ) {
        if let certificate = sender.certificate {
            if let finding = sender.certificateFinding { out.add(finding) }
            if (certificate.isForSandbox || certificate.isForProduction)
                && (environment == .sandbox && !certificate.isForSandbox
                    || environment == .production && !certificate.isForProduction)
            {
                out.add(
                    "certificate-environment", .badCertificateEnvironment,
                    "the client certificate is not for the \(environment.rawValue) environment")
            }
            return
        }
        guard push.transport == .http2 else { return }
        let authorization = push[.authorization]
        guard authorization.count > 0 else {
            out.add(
                "no-credentials", .missingProviderToken,
                "neither an authorization header (bearer, a blank, the provider token) nor a client certificate came")
            return
        }
        let token: ProviderToken
        let isSame = sender.token != nil && authorization.equals(sender.shown)
        if isSame, sender.generation == tokens.generation {
            token = sender.token!
        } else {
            switch tokens.read(authorization) {
            case .success(let read): token = read
            case .failure(let refused): return out.add(refused.finding)
            }
            sender.generation = tokens.generation
        }
        topics = token.key.topics
        for finding in token.advice { out.add(finding) }
        let age = wall.seconds - token.issuedAt
        let lifetime = tokenLifetime.nanoseconds / 1_000_000_000
        if age > lifetime {
            return out.add(
                "token-old", .expiredProviderToken,
                "the provider token is \(age / 60) minutes old; make a new one every 20 to 60 minutes. Apple goes on refusing on this connection: open a new one"
            )
        }
        if age < -lifetime {
            return out.add(
                "token-ahead", .invalidProviderToken,
                "the provider token's iat is \(-age / 60) minutes ahead: check the sender's clock")
        }
        if age < -60 {
            out.add("clock-ahead", nil, "the provider token's iat is \(-age) s ahead: check the sender's clock")
        }
        if token.key.environment != .unknown && environment != .unknown && token.key.environment != environment {
            return out.add(
                "key-environment", .badEnvironmentKeyIDInToken,
                "key \(token.key.id) is for \(token.key.environment.rawValue), this is \(environment.rawValue)")
        }
        if !isSame, !adopt(token, authorization, sender, now, &out) { return }
        if !sender.isAuthenticated && out.refusal == nil { sender.bind(token) }
    }

    /// A token that this connection has not shown last; false if it may not.
    private func adopt(
        _ token: ProviderToken, _ authorization: Bytes, _ sender: Sender, _ now: Instant, _ out: inout Judgement
    ) -> Bool {
        if let team = sender.boundTeam, team != token.team {
            out.add(
                "team-changed", .forbidden,
                "this connection belongs to team \(Text.clean(team, limit: 32)); open another for team \(Text.clean(token.team, limit: 32))"
            )
            return false
        }
        if let bound = sender.boundKey, bound.id != token.key.id {
            let isTopical = !bound.topics.isEmpty || !token.key.topics.isEmpty
            if isTopical && bound.related != token.key.id && token.key.related != bound.id {
                out.add(
                    "key-changed", .unrelatedKeyIDInToken,
                    "this connection began with key \(bound.id), and \(token.key.id) is not related to it")
                return false
            }
        }
        if let since = sender.tokenSince, tokenUpdates > .zero, now - since < tokenUpdates {
            out.add(
                "token-updates", .tooManyProviderTokenUpdates,
                "a new provider token after \((now - since).shortText): reuse one for at least \(tokenUpdates.shortText) on a connection"
            )
            return false
        }
        sender.show(token, authorization, at: now)
        return true
    }
}
