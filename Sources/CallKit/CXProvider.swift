public import AVFAudio
internal import Base
internal import DBus
public import Foundation
internal import RingdClient

/// Why a call ended, as its app reports it.
public enum CXCallEndedReason: Int, Sendable {
    /// It could not be set up or kept.
    case failed = 1
    /// The far end gave up or hung up. Never connected, it is a missed call.
    case remoteEnded = 2
    /// Nobody answered in time.
    case unanswered = 3
    /// Taken on another device of the user's: not missed.
    case answeredElsewhere = 4
    /// Declined on another device of the user's: not missed.
    case declinedElsewhere = 5
}

/// What ringd asks of an app. Every method but `providerDidReset` may be left out: an action without a method is
/// fulfilled if it ends a call, and failed otherwise.
public protocol CXProviderDelegate: NSObjectProtocol {
    /// Every call is void: end their media, forget their actions.
    func providerDidReset(_ provider: CXProvider)
    /// Registered with ringd, at the start and after each reset.
    func providerDidBegin(_ provider: CXProvider)
    /// True: the app deals with the whole transaction, and no `perform` follows.
    func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool
    /// Dial: report started connecting and connected, or fail the action. Left out: it fails.
    func provider(_ provider: CXProvider, perform action: CXStartCallAction)
    /// The user answered: fulfil when the call is connected. Left out: it fails, and the call ends.
    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction)
    /// The user declined, hung up or gave up; or the call ended without the app.
    func provider(_ provider: CXProvider, perform action: CXEndCallAction)
    /// Hold, or go on. Left out: it fails, and the call stays as it is.
    func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction)
    /// Mute or unmute. Left out: it fails, and the call stays as it is.
    func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction)
    /// Join or leave a conference. Left out: it fails.
    func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction)
    /// Send tones. Left out: it fails.
    func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction)
    /// Ten seconds are over: the action is void, and may be neither fulfilled nor failed.
    func provider(_ provider: CXProvider, timedOutPerforming action: CXAction)
    /// Media may run from now on.
    func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession)
    /// Media must have stopped.
    func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession)
}

extension CXProviderDelegate {
    /// Registered with ringd, at the start and after each reset.
    public func providerDidBegin(_ provider: CXProvider) {}
    /// Left out: each action is performed by itself.
    public func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool { false }
    /// Dial: report started connecting and connected, or fail the action. Left out: it fails.
    public func provider(_ provider: CXProvider, perform action: CXStartCallAction) { action.fail() }
    /// The user answered: fulfil when the call is connected. Left out: it fails, and the call ends.
    public func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { action.fail() }
    /// Ended is ended: an app without this method must not keep its user on the line.
    public func provider(_ provider: CXProvider, perform action: CXEndCallAction) { action.fulfill() }
    /// Hold, or go on. Left out: it fails, and the call stays as it is.
    public func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) { action.fail() }
    /// Mute or unmute. Left out: it fails, and the call stays as it is.
    public func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) { action.fail() }
    /// Join or leave a conference. Left out: it fails.
    public func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction) { action.fail() }
    /// Send tones. Left out: it fails.
    public func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) { action.fail() }
    /// Ten seconds are over: the action is void, and may be neither fulfilled nor failed.
    public func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) {}
    /// Media may run from now on. Left out: nothing.
    public func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {}
    /// Media must have stopped. Left out: nothing.
    public func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {}
}

/// An app's calls, as the system has them: ringd's `CallProvider1`.
///
/// One for an app is meant to be enough; a second one shares the app's registration and replaces its configuration, and
/// calls stay with the provider that reported them. All methods may be called from any thread.
open class CXProvider: NSObject, @unchecked Sendable {
    // Unchecked: what changes is behind `state`'s lock.

    struct State {
        var configuration: CXProviderConfiguration
        weak var delegate: (any CXProviderDelegate)?
        var queue = DispatchQueue.main
        var isInvalid = false
        /// What waits for a delegate, in order.
        var waiting: [@Sendable (any CXProviderDelegate) -> Void] = []
    }

    private let state: Lock<State>

    /// Registers the app for calls. What is refused is written to stderr with its cure.
    public init(configuration: CXProviderConfiguration) {
        state = Lock(State(configuration: configuration.copy() as! CXProviderConfiguration))
        super.init()
        ProviderHub.shared.add(self)
    }

    /// A change is in force at once.
    open var configuration: CXProviderConfiguration {
        get { state.withLock { $0.configuration.copy() as! CXProviderConfiguration } }
        set {
            let copy = newValue.copy() as! CXProviderConfiguration
            state.withLock { $0.configuration = copy }
            ProviderHub.shared.configure(self)
        }
    }

    /// Held weakly. `queue` nil: the main queue. What has come before there was a delegate is delivered now.
    open func setDelegate(_ delegate: (any CXProviderDelegate)?, queue: DispatchQueue?) {
        let waiting = state.withLock { state -> [@Sendable (any CXProviderDelegate) -> Void] in
            state.delegate = delegate
            state.queue = queue ?? .main
            guard delegate != nil else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for body in waiting { deliver(body) }
    }

    /// In order, on the delegate's queue.
    func deliver(_ body: @escaping @Sendable (any CXProviderDelegate) -> Void) {
        let queue = state.withLock { state -> DispatchQueue? in
            guard !state.isInvalid else { return nil }
            guard state.delegate != nil else {
                // Bounded: an app that never sets a delegate does not want to know.
                if state.waiting.count < 256 { state.waiting.append(body) }
                return nil
            }
            return state.queue
        }
        queue?.async { [weak self] in
            guard let self, let delegate = self.state.withLock({ $0.delegate }) else { return }
            body(delegate)
        }
    }

    var queue: DispatchQueue { state.withLock { $0.queue } }
    var isInvalid: Bool { state.withLock { $0.isInvalid } }

    /// Ends every call of the app's; the provider is of no use after it.
    open func invalidate() {
        state.withLock { state in
            state.isInvalid = true
            state.waiting = []
        }
        ProviderHub.shared.remove(self)
    }

    // MARK: Reports

    /// `completion` is called on the delegate's queue: nil if the call is presented.
    @preconcurrency open func reportNewIncomingCall(
        with call: UUID, update: CXCallUpdate, completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let queue = queue
        guard !isInvalid else {
            let error = CXErrorCodeIncomingCallError(
                .unknown, userInfo: [NSLocalizedDescriptionKey: "the provider was invalidated: make another"])
            return queue.async { completion(error) }
        }
        ProviderHub.shared.own(call, self)
        ProviderHub.shared.report("ReportNewIncomingCall", call, update.entries, named: true) { error in
            queue.async { completion(error?.callKit(isRequest: false)) }
        }
    }

    /// As the form with a completion; throws what that one would get.
    open func reportNewIncomingCall(with call: UUID, update: CXCallUpdate) async throws {
        // Decided by the daemon, so that it cannot hang in a queue that is busy (callkit.md I-48b).
        let error = await withCheckedContinuation { (continuation: CheckedContinuation<RingdError?, Never>) in
            ProviderHub.shared.own(call, self)
            ProviderHub.shared.report("ReportNewIncomingCall", call, update.entries, named: true) {
                continuation.resume(returning: $0)
            }
        }
        if let error { throw error.callKit(isRequest: false) }
    }

    /// Something about the call is new; what the update never set stays as it is.
    open func reportCall(with call: UUID, updated update: CXCallUpdate) {
        ProviderHub.shared.report("ReportCallUpdated", call, update.entries)
    }

    /// `dateEnded` nil: now.
    open func reportCall(with call: UUID, endedAt dateEnded: Date?, reason endedReason: CXCallEndedReason) {
        ProviderHub.shared.reportEnded(call, dateEnded, endedReason)
    }

    /// The call that a `CXStartCallAction` began is on its way. `nil`: now.
    open func reportOutgoingCall(with call: UUID, startedConnectingAt dateStartedConnecting: Date?) {
        ProviderHub.shared.report("ReportCallStartedConnecting", call, date(dateStartedConnecting))
    }

    /// The far end has answered: its duration counts from there. `nil`: now.
    open func reportOutgoingCall(with call: UUID, connectedAt dateConnected: Date?) {
        ProviderHub.shared.report("ReportCallConnected", call, date(dateConnected))
    }

    private func date(_ date: Date?) -> [DBusValue.Entry] { date.map { [.init("date", .int64($0.nanoseconds))] } ?? [] }

    // MARK: Pending

    /// What the app was asked and has not completed.
    open var pendingTransactions: [CXTransaction] {
        ProviderHub.shared.openActions(of: self).map { CXTransaction(action: $0) }
    }

    /// Those of exactly that class which are open for that call.
    open func pendingCallActions(of callActionClass: AnyClass, withCall callUUID: UUID) -> [CXCallAction] {
        ProviderHub.shared.openActions(of: self).filter {
            $0.callUUID == callUUID && type(of: $0) == callActionClass
        }
    }
}

extension Date {
    /// Since 1970, as the bus has it.
    var nanoseconds: Int64 { Int64(clamping: Int((timeIntervalSince1970 * 1e9).rounded())) }
}
