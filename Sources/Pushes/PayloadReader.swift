package import Base
package import JSON

/// A push payload read leniently: types are loose in the field ("1" for 1, callkit.md W38), keys differ by provider.
///
/// This is the plain dialect: the WeChat-like shape (`aps.alert` is the caller, no id), and a flat model with the
/// commonest names of every public sample. A payload is JSON with an object on top, or it is refused.
package enum PayloadReader {
    /// The VoIP limit of APNs: 5120 bytes.
    package static let sizeLimit = 5120

    /// Bytes of a provider's call id; a longer one is none.
    package static let longestKey = 512

    package static func read(_ bytes: [UInt8], region: PhoneRegion? = nil) throws(PayloadFault) -> CallSignal {
        guard !bytes.isEmpty else { throw PayloadFault("the payload is empty") }
        guard bytes.count <= sizeLimit else {
            throw PayloadFault("the payload has \(bytes.count) bytes; VoIP pushes carry at most \(sizeLimit)")
        }
        let json: JSONValue
        do {
            json = try JSONValue.parse(bytes)
        } catch {
            throw PayloadFault("the payload is not JSON (\(error))")
        }
        return try read(json, region: region)
    }

    package static func read(_ json: JSONValue, region: PhoneRegion? = nil) throws(PayloadFault) -> CallSignal {
        guard json.members != nil else { throw PayloadFault("the payload is not a JSON object") }
        var signal = CallSignal()
        (signal.kind, signal.unknownKind) = kind(json)
        signal.key = json.first(keys.id)?.looseText.flatMap { $0.isEmpty || $0.utf8.count > longestKey ? nil : $0 }
        if signal.kind != .invite && signal.key == nil {
            throw PayloadFault(
                "a \(signal.kind.rawValue) push without a call id (callId or uuid): it cannot tell which call it means")
        }
        signal.callerName = callerName(json)
        readHandle(json, into: &signal)
        if json["handleType"] == nil || signal.handleKind == .phoneNumber { signal.settleNumber(in: region) }
        signal.isVideo = isVideo(json)
        signal.sound = sound(json)
        signal.ringTime = ringTime(json)
        signal.sentAt = json.first(keys.sent)?.looseTime
        signal.expiresAt = json.first(keys.expires)?.looseTime
        signal.serial = json.first(["serial"])?.looseInteger
        return signal
    }

    private enum keys {
        static let id = ["uuid", "callUUID", "call_uuid", "callId", "call_id", "call-id", "callID", "id"]
        static let name = [
            "displayName", "callerName", "caller_name", "nameCaller", "display-name", "fromDisplayName", "caller",
        ]
        static let handle = ["handle", "callerNumber", "caller_number", "from-uri", "from", "caller_id", "callerId"]
        static let video = ["video", "hasVideo", "isVideo", "is_video", "callType", "call_type"]
        static let sent = ["sentAt", "sent_at", "createdAt", "timestamp", "send-time"]
        static let expires = ["expiresAt", "expires_at", "expirationDate", "expires"]
        static let kind = ["kind", "event", "callAction", "callStatus", "type", "signal_type"]
    }

    /// The second value: what `kind`, which is our own key, says that nobody knows. Others' keys say much that is no
    /// business of ours.
    private static func kind(_ json: JSONValue) -> (CallSignal.Kind, unknown: String?) {
        if json["cancel"]?.looseFlag == true { return (.cancel, nil) }
        var unknown: String?
        for key in keys.kind {
            guard let text = json[key]?.string?.lowercased() else { continue }
            switch text.filter({ $0.isLetter }) {
            case "cancel", "cancelled", "canceled", "callcancel", "ended", "end", "endcall", "hangup", "missed":
                return (.cancel, nil)
            case "answeredelsewhere", "acceptedelsewhere": return (.answeredElsewhere, nil)
            case "declinedelsewhere", "rejectedelsewhere", "rejectcall": return (.declinedElsewhere, nil)
            case "invite", "call", "incoming", "incomingcall", "ring", "ringing", "offer", "voip", "audio", "video":
                continue
            default: if key == "kind" { unknown = text }
            }
        }
        return (.invite, unknown)
    }

    private static func callerName(_ json: JSONValue) -> String? {
        for key in keys.name {
            if let text = json[key]?.looseText ?? json[key]?["name"]?.looseText, let clean = shown(text) {
                return clean
            }
        }
        guard let alert = json["aps"]?["alert"] ?? json["alert"] else { return nil }
        // A string, or an object with title and body (callkit.md W25).
        let text = alert.looseText ?? alert["title"]?.looseText ?? alert["body"]?.looseText
        return text.flatMap(shown)
    }

    private static func shown(_ text: String) -> String? {
        let clean = Text.clean(text, limit: 256)
        return clean.isEmpty ? nil : clean
    }

    private static func readHandle(_ json: JSONValue, into signal: inout CallSignal) {
        for key in keys.handle {
            guard let raw = json[key]?.looseText, let text = shown(raw) else { continue }
            signal.handle = text
            signal.handleKind = handleKind(text, hint: json["handleType"]?.looseText?.lowercased())
            return
        }
    }

    private static func handleKind(_ text: String, hint: String?) -> CallSignal.HandleKind {
        switch hint {
        case "phone", "phonenumber", "number", "2": return .phoneNumber
        case "email", "emailaddress", "3": return .emailAddress
        case "generic", "1": return .generic
        default: break
        }
        let digits = text.drop { $0 == "+" }
        let isNumber = digits.count >= 3 && digits.allSatisfy { $0.isASCII && ($0.isNumber || " -().".contains($0)) }
        return isNumber ? .phoneNumber : .generic
    }

    private static func isVideo(_ json: JSONValue) -> Bool {
        for key in keys.video {
            guard let value = json[key] else { continue }
            if let text = value.string?.lowercased() { return text == "video" || text == "true" || text == "1" }
            return value.looseFlag ?? false
        }
        return false
    }

    private static func sound(_ json: JSONValue) -> String? {
        guard let value = json["aps"]?["sound"] ?? json["sound"] else { return nil }
        // A name, or the critical-alert object {critical, name, volume}.
        let text = value.string ?? value["name"]?.string
        return text.flatMap { $0.isEmpty || $0 == "default" ? nil : $0 }
    }

    private static func ringTime(_ json: JSONValue) -> Duration? {
        if let seconds = json.first(["ttl", "ringTime", "ring_time", "ring_timeout", "ringTimeout"])?.looseReal {
            return positive(seconds)
        }
        // flutter_callkit_incoming: milliseconds.
        if let millis = json["duration"]?.looseReal { return positive(millis / 1000) }
        return nil
    }

    /// 0, negative and absurd values are absent ones.
    private static func positive(_ seconds: Double) -> Duration? {
        seconds.isFinite && seconds >= 0.001 && seconds < 86_400 * 30 ? .seconds(seconds) : nil
    }
}
