internal import Base
internal import DBus
public import Foundation
internal import RingdClient

/// Requests actions for an app's own calls: ringd's `CallController1`.
open class CXCallController: NSObject, @unchecked Sendable {
    // Unchecked: nothing in it changes.

    private let queue: DispatchQueue
    /// Sees the calls of every app.
    public let callObserver = CXCallObserver()

    /// `queue`: where completions are called.
    public init(queue: DispatchQueue) {
        self.queue = queue
        super.init()
    }

    /// Completions on the main queue.
    public override convenience init() { self.init(queue: .main) }

    /// `completion`: nil if the transaction was accepted. How its actions end shows in the provider's delegate.
    @preconcurrency open func request(
        _ transaction: CXTransaction, completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let queue = queue
        ProviderHub.shared.request(transaction.actions) { error in
            queue.async { completion(error?.callKit(isRequest: true)) }
        }
    }

    /// As `request(_:completion:)`; throws what that one's completion would get.
    open func request(_ transaction: CXTransaction) async throws {
        let error = await withCheckedContinuation { (continuation: CheckedContinuation<RingdError?, Never>) in
            ProviderHub.shared.request(transaction.actions) { continuation.resume(returning: $0) }
        }
        if let error { throw error.callKit(isRequest: true) }
    }

    /// `request(_:completion:)` without making a transaction.
    @preconcurrency open func requestTransaction(
        with actions: [CXAction], completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        request(CXTransaction(actions: actions), completion: completion)
    }

    /// `request(_:completion:)` without making a transaction.
    @preconcurrency open func requestTransaction(
        with action: CXAction, completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        request(CXTransaction(action: action), completion: completion)
    }

    /// `request(_:)` without making a transaction.
    open func requestTransaction(with actions: [CXAction]) async throws {
        try await request(CXTransaction(actions: actions))
    }

    /// `request(_:)` without making a transaction.
    open func requestTransaction(with action: CXAction) async throws {
        try await request(CXTransaction(action: action))
    }
}

/// A call of any app, without names or numbers.
open class CXCall: NSObject, @unchecked Sendable {
    // Unchecked: constants.

    /// The call's.
    public let uuid: UUID
    /// Dialled here.
    public let isOutgoing: Bool
    /// Held, by whomever.
    public let isOnHold: Bool
    /// It was answered, here or at the far end.
    public let hasConnected: Bool
    /// It is over.
    public let hasEnded: Bool

    init(uuid: UUID, isOutgoing: Bool, isOnHold: Bool, hasConnected: Bool, hasEnded: Bool) {
        self.uuid = uuid
        self.isOutgoing = isOutgoing
        self.isOnHold = isOnHold
        self.hasConnected = hasConnected
        self.hasEnded = hasEnded
    }

    /// The same call, whatever its state.
    open func isEqual(to call: CXCall) -> Bool { uuid == call.uuid }

    /// Equal to another object of its kind.
    open override func isEqual(_ object: Any?) -> Bool { (object as? CXCall).map(isEqual(to:)) ?? false }

    /// As `isEqual(_:)` has it.
    open override var hash: Int { uuid.hashValue }

    /// Nothing that shows has changed.
    func looks(like call: CXCall) -> Bool {
        (isOutgoing, isOnHold, hasConnected, hasEnded) == (
            call.isOutgoing, call.isOnHold, call.hasConnected, call.hasEnded
        )
    }
}

/// Hears of changes, on the queue of `setDelegate(_:queue:)`.
public protocol CXCallObserverDelegate: NSObjectProtocol {
    /// A call came, changed or ended. The same state is told once.
    func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall)
}

/// Sees the calls of every app.
open class CXCallObserver: NSObject, @unchecked Sendable {
    // Unchecked: what changes is behind `state`'s lock.

    private struct State {
        weak var delegate: (any CXCallObserverDelegate)?
        var queue = DispatchQueue.main
    }

    private let state = Lock(State())

    /// Follows the calls from now on, without registering the app.
    public override init() {
        super.init()
        CallTable.shared.add(self)
    }

    /// Live calls, as far as they are known yet: the first answer of the daemon takes a moment.
    open var calls: [CXCall] { CallTable.shared.calls }

    /// Held weakly. `queue` nil: the main queue.
    open func setDelegate(_ delegate: (any CXCallObserverDelegate)?, queue: DispatchQueue?) {
        state.withLock { state in
            state.delegate = delegate
            state.queue = queue ?? .main
        }
    }

    func changed(_ call: CXCall) {
        state.withLock { $0.queue }.async { [weak self] in
            guard let self, let delegate = state.withLock({ $0.delegate }) else { return }
            delegate.callObserver(self, callChanged: call)
        }
    }
}

/// What observers see, kept once for all of them.
private final class CallTable: Sendable {
    static let shared = CallTable()

    private struct State {
        var observers: [Weak] = []
        var calls: [CXCall] = []
        var isFollowing = false
    }

    private struct Weak {
        weak var observer: CXCallObserver?
    }

    private let state = Lock(State())

    var calls: [CXCall] { state.withLock { $0.calls } }

    func add(_ observer: CXCallObserver) {
        let isFirst = state.withLock { state in
            state.observers.removeAll { $0.observer == nil }
            state.observers.append(Weak(observer: observer))
            defer { state.isFollowing = true }
            return !state.isFollowing
        }
        guard isFirst else { return }
        ClientLink.shared.observeCalls { [unowned self] change in take(change) }
    }

    private func take(_ change: CallChange) {
        let (call, observers) = state.withLock { state -> (CXCall?, [CXCallObserver]) in
            let index = state.calls.firstIndex { $0.uuid == change.call }
            let old = index.map { state.calls[$0] }
            let new = CXCall(change, after: old)
            if let index { state.calls.remove(at: index) }
            if !new.hasEnded { state.calls.insert(new, at: index ?? state.calls.count) }
            // The same flag once is enough (callkit.md 2.3: apps have to dedupe elsewhere).
            if let old, old.looks(like: new) { return (nil, []) }
            if old == nil && new.hasEnded { return (nil, []) }
            return (new, state.observers.compactMap(\.observer))
        }
        guard let call else { return }
        for observer in observers { observer.changed(call) }
    }
}

extension CXCall {
    fileprivate convenience init(_ change: CallChange, after old: CXCall?) {
        let properties = change.properties ?? []
        func flag(_ name: String) -> Bool? { properties.last { $0.key == name }?.value.flag }
        self.init(
            uuid: change.call, isOutgoing: flag("IsOutgoing") ?? old?.isOutgoing ?? false,
            isOnHold: change.properties == nil ? false : flag("IsOnHold") ?? old?.isOnHold ?? false,
            hasConnected: flag("HasConnected") ?? old?.hasConnected ?? false,
            hasEnded: change.properties == nil || flag("HasEnded") ?? false)
    }
}
