internal import Base
internal import Crypto

/// The token, and what goes with it (apns.md 1.4).
extension PushRules {
    func checkToken(
        _ push: PushRequest, _ sender: Sender, _ token: DeviceToken?, _ registration: Registration?, _ kind: PushType?,
        _ wall: WallTime, _ out: inout Judgement
    ) {
        if let token, registration == nil {
            out.add(
                "unknown-token", .badDeviceToken,
                "no app has the token \(token.short)… (ringctl apps lists them; ringctl apps add APP-ID makes one)")
        } else if token == nil && push.transport != .http2 {
            let size = push.binaryToken.count
            out.add(
                "unknown-token", .badDeviceToken,
                "no app has the token: it has \(size) \(size == 1 ? "byte" : "bytes"), ringd's have 32 (ringctl apps lists them)"
            )
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

    func checkTopicOfToken(
        _ push: PushRequest, _ sender: Sender, _ registration: Registration, _ kind: PushType?, _ out: inout Judgement
    ) {
        let fits: Bool
        if !push.transport.isOfAPNs {
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
        let isMine = !push.transport.isOfAPNs || topic.isEmpty || sender.topics.contains(registration.topic)
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
    func checkPair(_ type: PushType, _ kind: PushType?, _ out: inout Judgement) {
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

    func adviseOnCall(_ push: PushRequest, _ wall: WallTime, _ out: inout Judgement) {
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
}

extension PeerCertificate {
    /// Made for VoIP pushes: its mark, or its subject.
    fileprivate var isForCallsOnly: Bool { isVoIP || userID?.hasSuffix(PushType.voip.suffix) == true }
}
