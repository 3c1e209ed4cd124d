internal import Base

/// The request line and the fields that stand by themselves (apns.md 1.3).
extension PushRules {
    /// What stands before a token in a path.
    static let devicePath: StaticString = "/3/device/"

    /// False: it is no push at all, and nothing else of it means anything. A token's own fault is not the first thing to
    /// say, so it is given back.
    func checkRequestLine(
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

    func checkFields(_ push: PushRequest, _ wall: WallTime, _ out: inout Judgement) {
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
}
