internal import Base
internal import DBus
public import Foundation
internal import RingdClient

/// Gets an app its token and its pushes: ringd's `PushRegistry1`.
///
/// Setting `desiredPushTypes` registers, and keeps the registry alive for as long as it is set, even one made in a local
/// variable. A delegate that is set later still gets what has come. All of it may be used from any thread.
open class PKPushRegistry: NSObject, @unchecked Sendable {
    // Unchecked: what changes is behind `state`'s lock.

    private struct State {
        weak var delegate: (any PKPushRegistryDelegate)?
        var types: Set<PKPushType>?
        var tokens: [PKPushType: Data] = [:]
        /// What waits for a delegate, in order.
        var waiting: [@Sendable (any PKPushRegistryDelegate) -> Void] = []
    }

    private let state = Lock(State())
    private let queue: DispatchQueue

    /// `queue` nil: the main queue.
    public init(queue: DispatchQueue?) {
        self.queue = queue ?? .main
        super.init()
    }

    /// Held weakly.
    open weak var delegate: (any PKPushRegistryDelegate)? {
        get { state.withLock { $0.delegate } }
        set {
            let waiting = state.withLock { state -> [@Sendable (any PKPushRegistryDelegate) -> Void] in
                state.delegate = newValue
                guard newValue != nil else { return [] }
                defer { state.waiting = [] }
                return state.waiting
            }
            for body in waiting { deliver(body) }
        }
    }

    /// Setting it registers, and brings a token; an empty set or nil unregisters, and senders hear 410.
    open var desiredPushTypes: Set<PKPushType>? {
        get { state.withLock { $0.types } }
        set {
            let old = state.withLock { state in
                defer { state.types = newValue }
                return state.types
            }
            guard old != newValue else { return }
            PushHub.shared.changed(self, wants: newValue ?? [])
        }
    }

    /// Nil before the first one has come, and after it was invalidated.
    open func pushToken(for type: PKPushType) -> Data? { state.withLock { $0.tokens[type] } }

    // MARK: What the hub says

    func wants(_ type: PKPushType) -> Bool { state.withLock { $0.types?.contains(type) ?? false } }

    func updated(_ type: PKPushType, _ token: Data) {
        state.withLock { $0.tokens[type] = token }
        let credentials = PKPushCredentials(type: type, token: token)
        deliver { [weak self] in if let self { $0.pushRegistry(self, didUpdate: credentials, for: type) } }
    }

    func invalidated(_ type: PKPushType) {
        guard state.withLock({ $0.tokens.removeValue(forKey: type) }) != nil else { return }
        deliver { [weak self] in if let self { $0.pushRegistry(self, didInvalidatePushTokenFor: type) } }
    }

    func received(_ payload: PKPushPayload, _ metadata: PKVoIPPushMetadata, _ complete: @escaping @Sendable () -> Void)
    {
        deliver { [weak self] delegate in
            guard let self else { return complete() }
            delegate.pushRegistry(
                self, didReceiveIncomingVoIPPushWith: payload, metadata: metadata, withCompletionHandler: complete)
        }
    }

    private func deliver(_ body: @escaping @Sendable (any PKPushRegistryDelegate) -> Void) {
        let isReady = state.withLock { state -> Bool in
            guard state.delegate == nil else { return true }
            if state.waiting.count < 256 { state.waiting.append(body) }
            return false
        }
        guard isReady else { return }
        queue.async { [weak self] in
            guard let self else { return }
            guard let delegate = self.state.withLock({ $0.delegate }) else {
                // It went in between: the next one gets it.
                return self.state.withLock { if $0.waiting.count < 256 { $0.waiting.append(body) } }
            }
            body(delegate)
        }
    }
}

/// Between the one line to ringd and the registries of an app.
final class PushHub: Sendable {
    static let shared = PushHub()

    private struct State {
        /// Strong: a registry that wants pushes lives on without its maker.
        var registries: [PKPushRegistry] = []
        var token: Data?
    }

    private let state = Lock(State())
    private let link = ClientLink.shared

    func changed(_ registry: PKPushRegistry, wants types: Set<PKPushType>) {
        let (isFirst, isLast, token) = state.withLock { state -> (Bool, Bool, Data?) in
            let had = !state.registries.isEmpty
            state.registries.removeAll { $0 === registry }
            if types.contains(.voIP) { state.registries.append(registry) }
            return (!had && !state.registries.isEmpty, had && state.registries.isEmpty, state.token)
        }
        if isLast { return link.takeNoPushes() }
        // A second registry gets the token that is known.
        if let token, types.contains(.voIP) { registry.updated(.voIP, token) }
        guard isFirst else { return }
        let environment = ProcessInfo.processInfo.environment["RINGD_APNS_ENVIRONMENT"] ?? "production"
        link.takePushes([.init("types", .strings(["voip"])), .init("environment", .string(environment))]) {
            [unowned self] in receive($0)
        }
    }

    private func receive(_ inbound: Inbound) {
        let registries = state.withLock { $0.registries }
        switch inbound {
        case .token("voip", let bytes, _):
            let token = Data(bytes)
            state.withLock { $0.token = token }
            for registry in registries { registry.updated(.voIP, token) }
        case .tokenInvalid("voip"):
            state.withLock { $0.token = nil }
            for registry in registries { registry.invalidated(.voIP) }
        case .push(let push): received(push, registries)
        case .refused(let error): FileHandle.standardError.write(Data("PushKit: \(error.description)\n".utf8))
        default: break
        }
    }

    private func received(_ push: Inbound.Push, _ registries: [PKPushRegistry]) {
        // The newest, as on iOS, where each push is delivered once.
        guard let registry = registries.last else { return push.complete() }
        let object = try? JSONSerialization.jsonObject(with: Data(push.payload))
        var dictionary: [AnyHashable: Any] = [:]
        for (key, value) in object as? [String: Any] ?? [:] { dictionary[key] = value }
        let complete = push.complete
        registry.received(
            PKPushPayload(type: .voIP, dictionaryPayload: dictionary),
            PKVoIPPushMetadata(mustReport: push.metadata["must-report"]?.flag ?? false)
        ) { complete() }
    }
}
