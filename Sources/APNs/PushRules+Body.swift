internal import Base

/// The payload, and whether the token and its pace are good still.
extension PushRules {
    func checkBody(
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

    func checkStanding(
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
        case nil:
            guard registration.unbound != nil else { break }
            out.add(
                "logged-out", .unregistered,
                "nobody is logged in to \(registration.app) on this desktop: its server is to forget the token until somebody is"
            )
        }
        guard deviceRate > 0 else { return }
        if registration.bucketRate != deviceRate {
            registration.bucketRate = deviceRate
            registration.bucket = TokenBucket(burst: 2 * deviceRate, perSecond: deviceRate, now: now)
        }
        if !(registration.bucket?.take(now: now) ?? true) {
            out.add(
                "device-rate", .tooManyRequests,
                "more than \(deviceRate) pushes a second to one token; wait before the next (apns.device-rate)")
        }
    }
}
