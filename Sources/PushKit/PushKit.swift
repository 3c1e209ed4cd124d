public import Foundation

/// What a push is for.
public struct PKPushType: RawRepresentable, Hashable, Sendable {
    /// Apple's own value.
    public let rawValue: String
    /// A value of the system's own.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A call. Its topic is the app's id and `.voip`.
    public static let voIP = PKPushType(rawValue: "PKPushTypeVoIP")
    /// Accepted and never delivered: there is no watch.
    public static let complication = PKPushType(rawValue: "PKPushTypeComplication")
    /// Accepted and never delivered.
    public static let fileProvider = PKPushType(rawValue: "PKPushTypeFileProvider")
}

/// An app's token for one type of push.
open class PKPushCredentials: NSObject, @unchecked Sendable {
    // Unchecked: constants.
    /// What pushes the token is for.
    public let type: PKPushType
    /// Opaque; senders want it in hex.
    public let token: Data

    init(type: PKPushType, token: Data) {
        self.type = type
        self.token = token
    }
}

/// What a push brings.
open class PKPushPayload: NSObject, @unchecked Sendable {
    // Unchecked: constants of JSON's types.
    /// What kind of push it is.
    public let type: PKPushType
    /// The sender's JSON; empty if it is no JSON object.
    public let dictionaryPayload: [AnyHashable: Any]

    init(type: PKPushType, dictionaryPayload: [AnyHashable: Any]) {
        self.type = type
        self.dictionaryPayload = dictionaryPayload
    }
}

/// What is known of a VoIP push beside its payload.
open class PKVoIPPushMetadata: NSObject, @unchecked Sendable {
    // Unchecked: constants.

    /// The app must report a call for it, or lose its pushes in the end (`must-report = strict` in ringd.conf).
    public let mustReport: Bool

    init(mustReport: Bool) { self.mustReport = mustReport }
}

/// Every method but the first may be left out.
public protocol PKPushRegistryDelegate: NSObjectProtocol {
    /// The token is dead: tell the server. Left out: nothing.
    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType)
    /// The token is dead: tell the server. Left out: nothing.
    func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType)
    /// `completion` is to be called once, within five seconds.
    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping @Sendable () -> Void)
    /// The form without completion, of iOS 8 to 10.
    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType)
    /// The form with metadata, of iOS 26.4.
    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingVoIPPushWith payload: PKPushPayload,
        metadata: PKVoIPPushMetadata, withCompletionHandler completion: @escaping @Sendable () -> Void)
}

extension PKPushRegistryDelegate {
    /// The token is dead: tell the server. Left out: nothing.
    public func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType) {}

    /// A push. Left out: the next older form is called, and the push completed when it returns.
    public func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType
    ) {}

    /// A push. Left out: the next older form is called, and the push completed when it returns.
    public func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping @Sendable () -> Void
    ) {
        pushRegistry(registry, didReceiveIncomingPushWith: payload, for: type)
        completion()
    }

    /// The form with metadata; of all forms that an app has, this one alone is called. Left out: the one with a
    /// completion.
    public func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingVoIPPushWith payload: PKPushPayload,
        metadata: PKVoIPPushMetadata, withCompletionHandler completion: @escaping @Sendable () -> Void
    ) {
        pushRegistry(registry, didReceiveIncomingPushWith: payload, for: payload.type, completion: completion)
    }
}
