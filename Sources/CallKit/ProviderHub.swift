internal import AVFAudio
internal import Base
internal import DBus
internal import Foundation
internal import RingdClient

/// Between the one line to ringd and however many providers an app makes.
final class ProviderHub: Sendable {
    static let shared = ProviderHub()

    private struct State {
        /// The newest last. Held weakly, but for those that have calls.
        var providers: [Weak] = []
        var owners: [UUID: CXProvider] = [:]
        var open: [UUID: (action: CXCallAction, provider: CXProvider)] = [:]
        /// The app's own requests, whose actions come back as `perform`.
        var requested: [CXCallAction] = []
    }

    private struct Weak {
        weak var provider: CXProvider?
    }

    private let state = Lock(State())
    private let link = ClientLink.shared

    // MARK: Providers

    func add(_ provider: CXProvider) {
        state.withLock { state in
            state.providers.removeAll { $0.provider == nil }
            state.providers.append(Weak(provider: provider))
        }
        configure(provider)
    }

    func configure(_ provider: CXProvider) {
        guard !provider.isInvalid else { return }
        link.takeCalls(provider.configuration.entries) { [unowned self] in receive($0) }
    }

    func remove(_ provider: CXProvider) {
        let (isLast, void) = state.withLock { state -> (Bool, [CXCallAction]) in
            state.providers.removeAll { $0.provider == nil || $0.provider === provider }
            state.owners = state.owners.filter { $0.value !== provider }
            let void = state.open.values.filter { $0.provider === provider }.map(\.action)
            state.open = state.open.filter { $0.value.provider !== provider }
            return (state.providers.isEmpty, void)
        }
        for action in void { action.void() }
        if isLast { link.takeNoCalls() }
    }

    /// The call is the provider's: what is asked about it goes there.
    func own(_ call: UUID, _ provider: CXProvider) { state.withLock { $0.owners[call] = provider } }

    private func provider(for call: UUID?) -> CXProvider? {
        state.withLock { state in
            call.flatMap { state.owners[$0] } ?? state.providers.last { $0.provider != nil }?.provider
        }
    }

    private var all: [CXProvider] { state.withLock { $0.providers.compactMap(\.provider) } }

    // MARK: Reports and requests

    func report(
        _ member: String, _ call: UUID, _ entries: [DBusValue.Entry], named: Bool = false,
        then: (@Sendable (RingdError?) -> Void)? = nil
    ) {
        var arguments: [DBusValue] = [.string(call.uuidString.lowercased()), .dict(entries)]
        if named { arguments.insert(.string(link.app ?? ""), at: 0) }
        link.request("CallProvider1", member, arguments) { result in
            if case .failure(let error) = result { then?(error) } else { then?(nil) }
        }
    }

    func reportEnded(_ call: UUID, _ date: Date?, _ reason: CXCallEndedReason) {
        let entries = date.map { [DBusValue.Entry("date", .int64($0.nanoseconds))] } ?? []
        link.request(
            "CallProvider1", "ReportCallEnded",
            [.string(call.uuidString.lowercased()), .uint32(UInt32(reason.rawValue)), .dict(entries)]
        ) { [self] _ in forget(call) }
    }

    private func forget(_ call: UUID) { state.withLock { _ = $0.owners.removeValue(forKey: call) } }

    /// An app's transaction. The actions come back as `perform`, under the app's own UUIDs.
    func request(_ actions: [CXAction], _ then: @escaping @Sendable (RingdError?) -> Void) {
        let calls = actions.compactMap { $0 as? CXCallAction }
        let steps = actions.map {
            ($0 as? CXCallAction)?.step ?? .structure([.string("none"), .string(""), .dict([])])
        }
        state.withLock { state in
            state.requested += calls
            if state.requested.count > 256 { state.requested.removeFirst(state.requested.count - 256) }
        }
        link.request("CallController1", "Request", [.array(of: "(ssa{sv})", steps)]) { [self] result in
            guard case .failure(let error) = result else { return then(nil) }
            state.withLock { state in state.requested.removeAll { one in calls.contains { $0 === one } } }
            then(error)
        }
    }

    func openActions(of provider: CXProvider) -> [CXCallAction] {
        state.withLock { state in
            state.open.values.filter { $0.provider === provider && !$0.action.isComplete }.map(\.action)
                .sorted { $0.timeoutDate < $1.timeoutDate }
        }
    }

    // MARK: What ringd says

    private func receive(_ inbound: Inbound) {
        switch inbound {
        case .begin:
            for provider in all {
                provider.deliver { [weak provider] in if let provider { $0.providerDidBegin(provider) } }
            }
        case .reset: reset()
        case .lost: voidActions()
        case .refused(let error):
            // Nothing will come: said where a developer looks.
            FileHandle.standardError.write(Data("CallKit: \(error.description)\n".utf8))
        case .perform(let action): perform(action)
        case .timedOut(let id, _): timedOut(id)
        case .ended(let call, let reason, let number): ended(call, reason, number)
        case .configureAudio(_, let reply): reply()
        case .audio(let call, let isOn, let reply): audio(call, isOn, reply)
        case .remoteInfo(_, _, let reply): reply([.dict([])])
        case .token, .tokenInvalid, .push: break
        }
    }

    private func reset() {
        voidActions()
        state.withLock { $0.owners = [:] }
        for provider in all {
            provider.deliver { [weak provider] in if let provider { $0.providerDidReset(provider) } }
        }
    }

    private func voidActions() {
        let void = state.withLock { state in
            defer { state.open = [:] }
            return state.open.values.map(\.action)
        }
        for action in void { action.void() }
    }

    private func perform(_ asked: Inbound.Action) {
        guard let provider = provider(for: asked.call) else { return fail(asked.id) }
        let requested = state.withLock { state -> CXCallAction? in
            guard let index = state.requested.firstIndex(where: { $0.isSame(as: asked) }) else { return nil }
            return state.requested.remove(at: index)
        }
        guard let action = CXCallAction.make(asked, as: requested) else { return fail(asked.id) }
        action.state.withLock { $0.complete = { [self] outcome in complete(asked, outcome) } }
        state.withLock { state in
            state.open[asked.id] = (action, provider)
            state.owners[asked.call] = provider
        }
        provider.deliver { [weak provider] delegate in
            guard let provider, !action.isComplete else { return }
            let transaction = CXTransaction(action: action)
            if !delegate.provider(provider, execute: transaction) { action.perform(on: delegate, provider) }
        }
    }

    private func fail(_ id: UUID) {
        link.request("CallProvider1", "FailAction", [.string(id.uuidString.lowercased())]) { _ in
            // It times out, should that not have been heard.
        }
    }

    private func complete(_ asked: Inbound.Action, _ outcome: CXAction.Outcome) {
        state.withLock { _ = $0.open.removeValue(forKey: asked.id) }
        let id = DBusValue.string(asked.id.uuidString.lowercased())
        switch outcome {
        case .failed: fail(asked.id)
        case .fulfilled(let date):
            let entries = date.map { [DBusValue.Entry("date", .int64($0.nanoseconds))] } ?? []
            link.request("CallProvider1", "FulfillAction", [id, .dict(entries)]) { _ in
                // Too late or void: `timedOutPerforming` or `providerDidReset` has said so.
            }
            if asked.kind == .end { forget(asked.call) }
        }
    }

    private func timedOut(_ id: UUID) {
        guard let (action, provider) = state.withLock({ $0.open.removeValue(forKey: id) }) else { return }
        action.void()
        provider.deliver { [weak provider] in
            if let provider { $0.provider(provider, timedOutPerforming: action) }
        }
    }

    /// Over without the app's doing. iOS has no word for that but an end action; one that was taken or declined on another
    /// device is not for this one to end, and shows in `CXCallObserver` alone.
    private func ended(_ call: UUID, _ reason: String, _ number: Int) {
        defer { forget(call) }
        let elsewhere = [CXCallEndedReason.answeredElsewhere.rawValue, CXCallEndedReason.declinedElsewhere.rawValue]
        guard !elsewhere.contains(number), let provider = provider(for: call) else { return }
        let action = CXEndCallAction(call: call)
        provider.deliver { [weak provider] delegate in
            guard let provider, !delegate.provider(provider, execute: CXTransaction(action: action)) else { return }
            delegate.provider(provider, perform: action)
        }
    }

    private func audio(_ call: UUID, _ isOn: Bool, _ reply: Reply) {
        guard let provider = provider(for: call) else { return reply() }
        provider.deliver { [weak provider] delegate in
            guard let provider else { return reply() }
            let session = AVAudioSession.sharedInstance()
            session.systemActivated(isOn)
            if isOn {
                delegate.provider(provider, didActivate: session)
            } else {
                delegate.provider(provider, didDeactivate: session)
            }
            reply()
        }
    }
}

// MARK: - Actions on the bus

extension CXCallAction {
    /// As `CallController1.Request` takes it.
    fileprivate var step: DBusValue {
        var details: [DBusValue.Entry] = []
        let word: String
        switch self {
        case let start as CXStartCallAction:
            word = "start"
            details = [
                .init("handle", .string(start.handle.value)), .init("handle-type", .string(start.handle.type.word)),
                .init("video", .bool(start.isVideo)), .init("app", .string(ClientLink.shared.app ?? "")),
            ]
        case is CXAnswerCallAction: word = "answer"
        case is CXEndCallAction: word = "end"
        case let held as CXSetHeldCallAction:
            word = "set-held"
            details = [.init("on-hold", .bool(held.isOnHold))]
        case let muted as CXSetMutedCallAction:
            word = "set-muted"
            details = [.init("muted", .bool(muted.isMuted))]
        case let group as CXSetGroupCallAction:
            word = "set-group"
            details = [.init("with", .string(group.callUUIDToGroupWith?.uuidString.lowercased() ?? ""))]
        case let dtmf as CXPlayDTMFCallAction:
            word = "play-dtmf"
            details = [.init("digits", .string(dtmf.digits)), .init("type", .uint32(UInt32(dtmf.type.rawValue)))]
        default: word = "none"
        }
        return .structure([.string(word), .string(callUUID.uuidString.lowercased()), .dict(details)])
    }

    /// It is what this app has just requested.
    fileprivate func isSame(as asked: Inbound.Action) -> Bool {
        guard callUUID == asked.call, !isComplete else { return false }
        return switch asked.kind {
        case .start: self is CXStartCallAction
        case .answer: self is CXAnswerCallAction
        case .end: self is CXEndCallAction
        case .setHeld: (self as? CXSetHeldCallAction)?.isOnHold == asked.details["on-hold"]?.flag
        case .setMuted: (self as? CXSetMutedCallAction)?.isMuted == asked.details["muted"]?.flag
        case .setGroup: self is CXSetGroupCallAction
        case .playDTMF: (self as? CXPlayDTMFCallAction)?.digits == asked.details["digits"]?.text
        }
    }

    /// The action that a `perform` is about: with the UUID of the app's own, if it requested it.
    fileprivate static func make(_ asked: Inbound.Action, as requested: CXCallAction?) -> CXCallAction? {
        let id = requested?.uuid ?? asked.id
        let details = asked.details
        switch asked.kind {
        case .start:
            let handle = CXHandle(
                type: .init(word: details["handle-type"]?.text ?? ""), value: details["handle"]?.text ?? "")
            let action = CXStartCallAction(call: asked.call, handle: handle, uuid: id, timeoutDate: asked.deadline)
            action.isVideo = details["video"]?.flag ?? false
            action.contactIdentifier = (requested as? CXStartCallAction)?.contactIdentifier
            return action
        case .answer: return CXAnswerCallAction(call: asked.call, uuid: id, timeoutDate: asked.deadline)
        case .end: return CXEndCallAction(call: asked.call, uuid: id, timeoutDate: asked.deadline)
        case .setHeld:
            return CXSetHeldCallAction(
                call: asked.call, onHold: details["on-hold"]?.flag ?? false, uuid: id, timeoutDate: asked.deadline)
        case .setMuted:
            return CXSetMutedCallAction(
                call: asked.call, muted: details["muted"]?.flag ?? false, uuid: id, timeoutDate: asked.deadline)
        case .setGroup:
            return CXSetGroupCallAction(
                call: asked.call, callUUIDToGroupWith: UUID(uuidString: details["with"]?.text ?? ""), uuid: id,
                timeoutDate: asked.deadline)
        case .playDTMF:
            return CXPlayDTMFCallAction(
                call: asked.call, digits: details["digits"]?.text ?? "",
                type: .init(rawValue: Int(details["type"]?.integer ?? 1)) ?? .singleTone, uuid: id,
                timeoutDate: asked.deadline)
        }
    }

    fileprivate func perform(on delegate: any CXProviderDelegate, _ provider: CXProvider) {
        switch self {
        case let action as CXStartCallAction: delegate.provider(provider, perform: action)
        case let action as CXAnswerCallAction: delegate.provider(provider, perform: action)
        case let action as CXEndCallAction: delegate.provider(provider, perform: action)
        case let action as CXSetHeldCallAction: delegate.provider(provider, perform: action)
        case let action as CXSetMutedCallAction: delegate.provider(provider, perform: action)
        case let action as CXSetGroupCallAction: delegate.provider(provider, perform: action)
        case let action as CXPlayDTMFCallAction: delegate.provider(provider, perform: action)
        default: fail()
        }
    }
}
