package import Base

/// What may be set about the rules; the defaults are Apple's.
package struct PushRules: Sendable, Equatable {
    /// A provider token is good for this long after its `iat`.
    package var tokenLifetime: Duration = .seconds(3600)
    /// A connection takes a new provider token this often; zero for no such rule.
    package var tokenUpdates: Duration = .seconds(20 * 60)
    /// Pushes to a removed app are still taken for so long, as Apple does for hours to days.
    package var unregisterDelay: Duration = .zero
    /// Pushes a second to one token, after twice as many at once; 0 for no limit.
    package var deviceRate = 100
    /// The live service has said `BadEnvironmentKeyInToken` where the documentation says `BadEnvironmentKeyIdInToken`.
    package var saysBadEnvironmentKeyInToken = false

    package init() {}
}

extension PushRules {
    /// All rules of apns.md 1.3–1.7, in its order. Every finding is kept; the first that refuses is the answer.
    package func judge(
        _ push: PushRequest, from sender: Sender, tokens: ProviderTokens, directory: TokenDirectory, now: Instant,
        wall: WallTime
    ) -> Judgement {
        var out = Judgement()
        let isHTTP = push.transport == .http2
        var deviceToken: DeviceToken?
        var badToken: Finding?
        if isHTTP {
            guard checkRequestLine(push, &deviceToken, &badToken, &out) else { return out }
        } else {
            deviceToken = DeviceToken(push.binaryToken)
        }
        let registration = deviceToken.flatMap { directory[$0] }
        out.registration = registration
        let environment =
            sender.environment == .unknown ? registration?.environment ?? .unknown : sender.environment
        if let duplicate = push.duplicate {
            out.add("duplicate-header", .duplicateHeaders, "\(duplicate.name) came twice")
        }
        var keyTopics: [String] = []
        if push.transport.isOfAPNs {
            checkCredentials(push, sender, tokens, environment, &keyTopics, now, wall, &out)
        }
        checkFields(push, wall, &out)
        let type = checkTopic(push, sender, keyTopics, &out)
        if let badToken { out.add(badToken) }
        checkToken(push, sender, deviceToken, registration, type, wall, &out)
        checkBody(push, registration, type, &out)
        if let registration, out.refusal == nil { checkStanding(registration, now, wall, &out) }
        return out
    }
}
