package import Base
package import Crypto

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

/// A connection's standing: who sends, and what it has shown so far. For the loop that owns it.
package final class Sender {
    /// Counts connections, from 1.
    package let number: UInt64
    package let peer: String
    package let environment: PushEnvironment
    package let certificate: PeerCertificate?
    package let opened: Instant
    /// Pushes so far.
    package var pushes = 0

    // Token auth: bound by the first push that was taken (apns.md 1.5).
    fileprivate var shown: [UInt8] = []
    fileprivate var token: ProviderToken?
    fileprivate var tokenSince: Instant?
    /// Of the keys that `token` was checked with.
    fileprivate var generation = 0
    fileprivate var boundTeam: String?
    fileprivate var boundKey: ProviderKey?
    /// What the certificate says, looked at once.
    fileprivate let certificateFinding: Finding?
    fileprivate let topics: [[UInt8]]
    fileprivate let defaultTopic: [UInt8]
    /// For the record: what it has shown of itself.
    private(set) var credentials: [UInt8]

    package init(
        number: UInt64, peer: String, environment: PushEnvironment, certificate: PeerCertificate?, now: Instant = .now,
        wall: WallTime = .now
    ) {
        self.number = number
        self.peer = peer
        self.environment = environment
        self.certificate = certificate
        opened = now
        topics = certificate?.topics.map { Array($0.utf8) } ?? []
        // Several topics in extension .6: the sender must say which.
        let isUniversal = (certificate?.topicKinds.count ?? 0) > 1
        defaultTopic = isUniversal ? [] : Array((certificate?.userID ?? certificate?.topics.first ?? "").utf8)
        credentials = Array((certificate.map { "certificate \($0.commonName ?? $0.subject)" } ?? "").utf8)
        if let certificate, certificate.notAfter < wall {
            certificateFinding = Finding(
                "certificate-ended", .badCertificate,
                "the client certificate ended on \(certificate.notAfter.formatted("%Y-%m-%d")): renew it")
        } else if let certificate, certificate.notBefore > wall {
            certificateFinding = Finding(
                "certificate-early", .badCertificate,
                "the client certificate begins on \(certificate.notBefore.formatted("%Y-%m-%d")): check the clock")
        } else {
            certificateFinding = nil
        }
    }

    /// True once a push with a valid provider token was taken.
    package var isAuthenticated: Bool { boundTeam != nil || certificate != nil }

    fileprivate func show(_ token: ProviderToken, _ authorization: Bytes, at now: Instant) {
        shown = Array(authorization)
        self.token = token
        tokenSince = now
        credentials = token.words
    }

    fileprivate func bind(_ token: ProviderToken) {
        boundTeam = token.team
        boundKey = token.key
    }
}

/// What the rules say of a push.
package struct Judgement {
    package var findings: [Finding] = []
    /// The first finding that refuses.
    package var refusal: Finding?
    package var registration: Registration?
    /// Seconds since 1970; 0: not to be kept; nil: nothing said.
    package var expiration: Int64?
    package var priority: UInt8 = 10

    mutating func add(_ code: String, _ reason: PushReason? = nil, _ text: @autoclosure () -> String) {
        add(Finding(code, reason, text()))
    }

    mutating func add(_ finding: Finding) {
        findings.append(finding)
        if refusal == nil && finding.reason != nil { refusal = finding }
    }

    /// What became of an accepted push says more than any advice, and comes before it; but behind a fault that was asked
    /// for. `reason`: the first of them is the refusal.
    mutating func explain(_ more: [Finding], refusing reason: PushReason?) {
        var place = findings.first?.code == PushService.faultCode ? 1 : 0
        for finding in more {
            let isRefusal = reason != nil && refusal == nil
            let said = Finding(finding.code, isRefusal ? reason : nil, finding.text)
            if isRefusal { refusal = said }
            findings.insert(said, at: place)
            place += 1
        }
    }
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
        if push.transport != .bus {
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

    // MARK: The request line

    /// What stands before a token in a path.
    static let devicePath: StaticString = "/3/device/"

    /// False: it is no push at all, and nothing else of it means anything. A token's own fault is not the first thing to
    /// say, so it is given back.
    private func checkRequestLine(
        _ push: PushRequest, _ token: inout DeviceToken?, _ badToken: inout Finding?, _ out: inout Judgement
    ) -> Bool {
        let method = push[.method]
        let path = push[.path]
        guard method.equals("POST") else {
            out.add("method", .methodNotAllowed, "APNs takes POST only, not \(Text.clean(method.text, limit: 16))")
            return false
        }
        if path.hasPrefix(Self.devicePath) {
            let hex = Bytes(rebasing: path[Self.devicePath.utf8CodeUnitCount...])
            token = DeviceToken(hex: hex)
            if token != nil { return true }
            if hex.isEmpty {
                out.add("no-token", .missingDeviceToken, "the path ends after /3/device/: the token belongs behind it")
            } else {
                badToken = Finding("token-form", .badDeviceToken, Self.tokenFault(hex))
            }
            return true
        }
        if path.equals("/3/device") {
            out.add("no-token", .missingDeviceToken, "the path ends after /3/device: the token belongs behind it")
            return true
        }
        let hint: String
        if path.hasPrefix("/4/broadcasts/") || path.hasPrefix("/1/apps/") {
            hint = "broadcast pushes and their channels are not for calls, and not served here"
        } else if path.hasPrefix("/2/") || path.hasPrefix("/1/") {
            hint = "this version of the API is not known"
        } else {
            hint = "a push goes to /3/device/TOKEN"
        }
        out.add("path", .badPath, "\(DeviceToken.hidden(in: path.text, limit: 80)): \(hint)")
        return false
    }

    private static func tokenFault(_ hex: Bytes) -> String {
        if hex.contains(UInt8(ascii: "<")) || hex.contains(UInt8(ascii: " ")) || hex.hasPrefix("%3C") {
            return "the token has brackets or blanks, as NSData prints it: send its 64 hexadecimal digits alone"
        }
        if hex.count == 44 || hex.last == UInt8(ascii: "=") {
            return "the token looks like base64: send it as 64 hexadecimal digits"
        }
        if hex.count != 64 { return "the token has \(hex.count) characters; ringd's have 64 hexadecimal digits" }
        return "the token has characters that are no hexadecimal digits"
    }

    // MARK: Credentials

    private func checkCredentials(
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

    // MARK: The other fields

    private func checkFields(_ push: PushRequest, _ wall: WallTime, _ out: inout Judgement) {
        if push.has(.id), !push[.id].isUUID {
            out.add("id-form", .badMessageID, "apns-id is to be a UUID: 8-4-4-4-12 hexadecimal digits")
        }
        if push.has(.expiration) {
            if let seconds = push[.expiration].decimal, seconds >= 0 {
                out.expiration = seconds
            } else {
                out.add(
                    "expiration-form", .badExpirationDate,
                    "apns-expiration is to be a whole number of seconds since 1970, or 0")
            }
        }
        if push.has(.priority) {
            switch push[.priority].decimal {
            case 10: out.priority = 10
            case 5: out.priority = 5
            case 1: out.priority = 1
            default: out.add("priority-value", .badPriority, "apns-priority is 10, 5 or 1")
            }
        }
        if push.has(.pushType), PushType.named(push[.pushType]) == nil {
            let known = PushType.allCases.map(\.rawValue)
            let said = Text.clean(push[.pushType].text, limit: 32)
            let hint = Text.nearest(to: said, in: known).map { "; did you mean \($0)?" } ?? ""
            out.add("push-type-value", .invalidPushType, "apns-push-type \"\(said)\" is not known\(hint)")
        }
        let collapse = push[.collapseID].count
        if collapse > 64 {
            out.add("collapse-size", .badCollapseID, "apns-collapse-id has \(collapse) bytes; the most is 64")
        }
    }

    // MARK: Topic

    /// The topic's own push type, nil for a bare bundle id.
    private func checkTopic(
        _ push: PushRequest, _ sender: Sender, _ keyTopics: [String], _ out: inout Judgement
    ) -> PushType? {
        guard push.transport != .bus else { return .voip }
        let hasTopic = push.has(.topic) && push[.topic].count > 0
        guard hasTopic || sender.defaultTopic.count > 0 else {
            if push.transport == .http2 {
                out.add(
                    "no-topic", .missingTopic,
                    "apns-topic is missing: the app's bundle id, for a call with .voip behind it")
            }
            return nil
        }
        func check(_ topic: Bytes) -> PushType? {
            if hasTopic && !Self.isTopic(topic) {
                out.add(
                    "topic-form", .badTopic,
                    "apns-topic \"\(DeviceToken.hidden(in: topic.text, limit: 80))\" is no bundle id: letters, digits, dots, hyphens"
                )
                return nil
            }
            let kind = PushType.ofTopic(topic)
            if kind == .voip
                && PushType.ofTopic(Bytes(rebasing: topic.dropLast(PushType.voip.suffix.utf8.count))) == .voip
            {
                out.add("topic-doubled", nil, "the topic ends in .voip.voip: the library adds .voip by itself")
            }
            if !sender.topics.isEmpty && !sender.topics.contains(where: { topic.equals($0) }) {
                out.add(
                    "certificate-topic", .topicDisallowed,
                    "the client certificate is for \(sender.certificate!.topics.joined(separator: ", ")), not for \(DeviceToken.hidden(in: topic.text, limit: 80))"
                )
            } else if let certificate = sender.certificate, !certificate.topicKinds.isEmpty, let kind,
                let entry = certificate.topicKinds.first(where: { topic.equals(string: $0.topic) }),
                !entry.kinds.isEmpty && !entry.kinds.contains(kind.rawValue)
            {
                out.add(
                    "certificate-kind", .topicDisallowed,
                    "the client certificate has \(entry.topic) for \(entry.kinds.joined(separator: ", ")) only")
            }
            if !keyTopics.isEmpty {
                let bundle = Bytes(rebasing: topic.dropLast(kind?.suffix.utf8.count ?? 0))
                if !keyTopics.contains(where: { bundle.equals(string: $0) }) {
                    out.add(
                        "key-topic", .topicDisallowed,
                        "the provider token's key is for \(keyTopics.prefix(4).joined(separator: ", ")) only")
                }
            }
            return kind
        }
        let kind = hasTopic ? check(push[.topic]) : sender.defaultTopic.withUnsafeBufferPointer { check($0) }
        if kind == .location && sender.certificate != nil {
            out.add("location-certificate", .forbidden, "location pushes take token authentication only")
        }
        return kind
    }

    private static func isTopic(_ topic: Bytes) -> Bool {
        guard topic.count <= 255 else { return false }
        for byte in topic {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                break
            default: return false
            }
        }
        return true
    }

    // MARK: Token

    private func checkToken(
        _ push: PushRequest, _ sender: Sender, _ token: DeviceToken?, _ registration: Registration?, _ kind: PushType?,
        _ wall: WallTime, _ out: inout Judgement
    ) {
        if let token, registration == nil {
            out.add(
                "unknown-token", .badDeviceToken,
                "no app has the token \(token.short)… (ringctl apps lists them; ringctl apps add APP-ID makes one)")
        } else if token == nil && push.transport != .http2 {
            out.add("unknown-token", .badDeviceToken, "a token of ringd has 32 bytes (ringctl apps lists them)")
        }
        if let registration {
            if sender.environment != .unknown && sender.environment != registration.environment {
                out.add(
                    "token-environment", .badDeviceToken,
                    "a \(registration.environment.rawValue) token of \(registration.app) at the \(sender.environment.rawValue) door"
                )
            }
            checkTopicOfToken(push, sender, registration, kind, &out)
        }
        guard push.transport == .http2 else {
            // Command 0 cannot say it, and who says nothing elsewhere may not mind.
            if push.has(.expiration), registration?.kind == .voip {
                adviseOnCall(push, wall, &out)
            }
            return
        }
        let type = push.has(.pushType) ? PushType.named(push[.pushType]) : nil
        if let type {
            checkPair(type, kind, &out)
            if type == .background && out.priority == 10 {
                out.add("background-priority", .badPriority, "a background push has apns-priority 5")
            }
        } else if !push.has(.pushType) {
            out.add("no-push-type", nil, "apns-push-type is missing; watchOS needs it, and Apple wants it")
        }
        if kind == .voip { adviseOnCall(push, wall, &out) }
    }

    private func checkTopicOfToken(
        _ push: PushRequest, _ sender: Sender, _ registration: Registration, _ kind: PushType?, _ out: inout Judgement
    ) {
        let fits: Bool
        if push.transport == .bus {
            fits = registration.kind == .voip
        } else if push.has(.topic) && push[.topic].count > 0 {
            fits = push[.topic].equals(registration.topic)
        } else if sender.topics.isEmpty {
            // A certificate without topics, made by hand: the token says what it is for.
            fits = registration.kind == .voip
        } else {
            // Where a push cannot name its topic, a VoIP certificate makes it a VoIP push (apns.md 2).
            fits =
                sender.topics.contains(registration.topic)
                && (registration.kind == .voip || sender.certificate?.isForCallsOnly != true)
        }
        guard !fits else { return }
        let said = push.string(.topic) ?? sender.certificate?.topics.joined(separator: ", ") ?? ""
        let topic = DeviceToken.hidden(in: said, limit: 80)
        let isMine = push.transport == .bus || topic.isEmpty || sender.topics.contains(registration.topic)
        switch (registration.kind, kind) {
        case (.alert, .voip?) where isMine || topic.hasPrefix(registration.app), (.alert, nil) where isMine:
            out.add(
                "alert-token", .deviceTokenNotForTopic,
                "this is the alert token of \(registration.app); a call needs its VoIP token (ringctl apps \(registration.app))"
            )
        case (.voip, nil) where topic == registration.app:
            out.add(
                "voip-token", .deviceTokenNotForTopic,
                "this is the VoIP token of \(registration.app); its topic is \(registration.app).voip")
        default:
            out.add(
                "other-app", .deviceTokenNotForTopic,
                "the token is \(registration.app)'s (\(registration.kind.rawValue)); the topic is \(topic)")
        }
    }

    /// Push type and topic: `.voip` goes with voip and with nothing said, and so on (apns.md 1.4).
    private func checkPair(_ type: PushType, _ kind: PushType?, _ out: inout Judgement) {
        if type == kind || kind == nil && type.suffix.isEmpty { return }
        if let kind {
            out.add(
                "push-type-topic", .invalidPushType,
                "apns-push-type \(type.rawValue) with a topic that ends in \(kind.suffix): say \(kind.rawValue)")
        } else {
            out.add(
                "push-type-topic", .invalidPushType,
                "apns-push-type \(type.rawValue) needs a topic that ends in \(type.suffix)")
        }
    }

    private func adviseOnCall(_ push: PushRequest, _ wall: WallTime, _ out: inout Judgement) {
        if let expiration = out.expiration {
            let ahead = expiration - wall.seconds
            if expiration > 100_000_000_000 {
                out.add("expiration-unit", nil, "apns-expiration looks like milliseconds; it is in seconds")
            } else if ahead > 120 {
                let words =
                    ahead >= 172_800
                    ? "\(ahead / 86_400) days" : ahead >= 7200 ? "\(ahead / 3600) hours" : "\(ahead / 60) minutes"
                out.add(
                    "expiration-far", nil, "expiration is \(words): would ring late; a call wants 0 or a few seconds")
            }
        } else if !push.has(.expiration) {
            out.add(
                "no-expiration", nil,
                "no apns-expiration: a phone that is off would ring up to 30 days late; a call wants 0")
        }
        if out.priority != 10 {
            let priority = out.priority
            out.add("call-priority", nil, "apns-priority \(priority) may be held back; a call wants 10")
        }
    }

    // MARK: Body

    private func checkBody(
        _ push: PushRequest, _ registration: Registration?, _ kind: PushType?, _ out: inout Judgement
    ) {
        if push.bodySize == 0 {
            out.add("no-payload", .payloadEmpty, "there is no payload")
            return
        }
        let isVoIP = push.transport == .http2 ? kind == .voip : true
        let limit = isVoIP ? 5120 : 4096
        if push.bodySize > limit {
            out.add(
                "payload-size", .payloadTooLarge,
                "the payload has \(push.bodySize) bytes; \(isVoIP ? "a VoIP push" : "this push") may have \(limit)")
        } else if !JSONText.isObject(push.body) {
            out.add("payload-json", nil, "the payload is no JSON object: an app cannot read it")
        }
    }

    // MARK: Standing

    private func checkStanding(
        _ registration: Registration, _ now: Instant, _ wall: WallTime, _ out: inout Judgement
    ) {
        switch registration.end {
        case .unregistered(let at):
            if wall.nanoseconds - at.nanoseconds < unregisterDelay.nanoseconds {
                out.add(
                    "removed-lately", nil,
                    "the app was removed; as with Apple, the sender learns of it later (apns.unregister-delay)")
            } else {
                out.add("removed", .unregistered, "\(registration.app) was removed: forget this token")
            }
        case .expired: out.add("renewed", .expiredToken, "\(registration.app) has a new token: forget this one")
        case nil: break
        }
        guard deviceRate > 0 else { return }
        if registration.bucket == nil {
            registration.bucket = TokenBucket(burst: 2 * deviceRate, perSecond: deviceRate, now: now)
        }
        if !(registration.bucket?.take(now: now) ?? true) {
            out.add(
                "device-rate", .tooManyRequests,
                "more than \(deviceRate) pushes a second to one token; wait before the next (apns.device-rate)")
        }
    }
}

extension PeerCertificate {
    /// Made for VoIP pushes: its mark, or its subject.
    fileprivate var isForCallsOnly: Bool { isVoIP || userID?.hasSuffix(PushType.voip.suffix) == true }
}
