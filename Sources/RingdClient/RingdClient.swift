internal import Base
internal import DBus
public import Foundation

/// ringd for apps that start on Linux: calls and pushes as async sequences, reports and requests as async functions.
///
/// ```swift
/// let ringd = RingdClient.shared
/// for await event in ringd.calls() {
///     guard case .action(let action) = event else { continue }
///     switch action.kind {
///     case .answer: await connect(action.call); action.fulfill()
///     default: action.fulfill()
///     }
/// }
/// ```
///
/// The app is who owns its id as a bus name: the desktop file that starts the program, or `RINGD_APP_ID`. The daemon is
/// started by the bus if need be; when it restarts, registrations come back by themselves. A program uses either this
/// or CallKit and PushKit, which are built upon it.
public final class RingdClient: Sendable {
    /// The process's only client.
    public static let shared = RingdClient()

    private let link = ClientLink.shared

    private init() {}

    /// Nil: no desktop file starts this program, and `RINGD_APP_ID` is not set.
    public var appID: String? { link.app }

    // MARK: Calls

    /// Takes calls from now on. Events that nobody reads are kept, up to 1,024. A second sequence replaces the first.
    public func calls(_ settings: ProviderSettings = ProviderSettings()) -> AsyncStream<CallEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: CallEvent.self, bufferingPolicy: .bufferingNewest(1024))
        link.takeCalls(settings.entries) { [link] inbound in
            if let event = CallEvent(inbound, link) { continuation.yield(event) }
        }
        return stream
    }

    /// Ends every call of the app's and takes no more.
    public func stopTakingCalls() { link.takeNoCalls() }

    /// Rings. Throws if the call is not presented: it is there already, or screened.
    public func reportIncoming(_ call: UUID, _ details: CallDetails) async throws {
        try await provider("ReportNewIncomingCall", [.string(link.app ?? ""), id(call), .dict(details.entries)])
    }

    /// Something about a call is new.
    public func update(_ call: UUID, _ details: CallDetails) async throws {
        try await provider("ReportCallUpdated", [id(call), .dict(details.entries)])
    }

    /// The call is over, not by the user here. `detail`: the provider's own words or code, for the history.
    public func ended(_ call: UUID, _ reason: CallEnd, at date: Date? = nil, detail: String? = nil) async throws {
        var entries = Self.entries(date)
        if let detail { entries.append(.init("detail", .string(detail))) }
        try await provider("ReportCallEnded", [id(call), .uint32(UInt32(reason.rawValue)), .dict(entries)])
    }

    /// An outgoing call is on its way.
    public func startedConnecting(_ call: UUID, at date: Date? = nil) async throws {
        try await provider("ReportCallStartedConnecting", [id(call), .dict(Self.entries(date))])
    }

    /// The far end answered, or an answer in two steps is through.
    public func connected(_ call: UUID, at date: Date? = nil) async throws {
        try await provider("ReportCallConnected", [id(call), .dict(Self.entries(date))])
    }

    /// How it is between the app and its own service: answers and ends wait for `up`.
    public func setSession(_ state: SessionState) async throws {
        try await provider("SetSession", [.string(link.app ?? ""), .string(state.rawValue)])
    }

    /// The app has the user's attention, or no more.
    public func setForeground(_ isForeground: Bool) async throws {
        try await provider("SetForeground", [.string(link.app ?? ""), .bool(isForeground)])
    }

    /// The app shows this call itself (`isForegroundHandled`).
    public func confirmPresented(_ call: UUID) async throws { try await provider("ConfirmPresented", [id(call)]) }

    /// `audioOn` is to come once more.
    public func requestAudio(_ call: UUID) async throws { try await provider("RequestAudio", [id(call)]) }

    // MARK: Requests

    /// Actions in order, all accepted or none; they come back as `CallEvent.action`.
    public func request(_ actions: [CallRequest]) async throws {
        let app = link.app ?? ""
        _ = try await link.request(
            "CallController1", "Request", [.array(of: "(ssa{sv})", actions.map { $0.value(app: app) })])
    }

    /// Dials; the new call's id.
    public func start(_ handle: CallHandle, isVideo: Bool = false) async throws -> UUID {
        let call = UUID()
        try await request([.start(call, handle, isVideo: isVideo)])
        return call
    }

    /// Live calls of every app, now and whenever one changes.
    public func liveCalls() -> AsyncStream<[LiveCall]> {
        let (stream, continuation) = AsyncStream.makeStream(of: [LiveCall].self, bufferingPolicy: .bufferingNewest(16))
        let table = Lock<[LiveCall]>([])
        link.observeCalls { change in
            let calls = table.withLock { calls in
                let index = calls.firstIndex { $0.id == change.call } ?? calls.count
                calls.removeAll { $0.id == change.call }
                if let properties = change.properties { calls.insert(LiveCall(change.call, properties), at: index) }
                return calls
            }
            continuation.yield(calls)
        }
        return stream
    }

    // MARK: Pushes

    /// Wants pushes from now on. `account`: who is logged in; "" for nobody yet; nil for an app that knows no accounts.
    public func pushes(account: String? = nil, isSandbox: Bool = false) -> AsyncStream<PushEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: PushEvent.self, bufferingPolicy: .bufferingNewest(1024))
        var options: [DBusValue.Entry] = [
            .init("types", .strings(["voip"])), .init("environment", .string(isSandbox ? "sandbox" : "production")),
        ]
        if let account { options.append(.init("account", .string(account))) }
        link.takePushes(options) { inbound in
            if let event = PushEvent(inbound) { continuation.yield(event) }
        }
        return stream
    }

    /// Somebody logged in: pushes are for this account from now on.
    public func bind(account: String) async throws { try await registry("BindAccount", [.string(account)]) }

    /// Nobody is logged in: nothing rings.
    public func unbindAccount() async throws { try await registry("UnbindAccount", []) }

    /// The app's server has the token. `serverDevice`: what it calls this device.
    public func markUploaded(serverDevice: String) async throws {
        try await registry("MarkUploaded", [.string("voip"), .string(serverDevice)])
    }

    // MARK: The bus

    private func provider(_ member: String, _ arguments: [DBusValue]) async throws {
        _ = try await link.request("CallProvider1", member, arguments)
    }

    private func registry(_ member: String, _ arguments: [DBusValue]) async throws {
        _ = try await link.request("PushRegistry1", member, [.string(link.app ?? "")] + arguments)
    }

    private func id(_ call: UUID) -> DBusValue { .string(call.uuidString.lowercased()) }

    static func entries(_ date: Date?) -> [DBusValue.Entry] {
        date.map { [.init("date", .int64(Int64(($0.timeIntervalSince1970 * 1e9).rounded())))] } ?? []
    }
}

extension CallEvent {
    /// Nil for what is not about calls.
    init?(_ inbound: Inbound, _ link: ClientLink) {
        switch inbound {
        case .begin: self = .began
        case .reset: self = .reset
        case .lost: self = .lost
        case .refused(let error): self = .refused(error)
        case .perform(let asked): self = .action(CallAction(asked, link))
        case .timedOut(let action, let call): self = .timedOut(action: action, call: call)
        case .ended(let call, let reason, let number):
            self = .ended(call: call, reason: reason, CallEnd(rawValue: number))
        case .configureAudio(let call, let reply):
            self = .configureAudio(call: call) { isReady in
                if isReady { reply() } else { reply.fail("the audio cannot be made ready") }
            }
        case .audio(let call, true, let reply): self = .audioOn(call: call) { reply() }
        case .audio(let call, false, _): self = .audioOff(call: call)
        case .remoteInfo(let call, _, let reply): self = .remoteInfo(call: call) { reply([.dict($0.entries)]) }
        case .token, .tokenInvalid, .push: return nil
        }
    }
}

extension CallAction {
    init(_ asked: Inbound.Action, _ link: ClientLink) {
        let details = asked.details
        id = asked.id
        call = asked.call
        deadline = asked.deadline
        kind =
            switch asked.kind {
            case .start:
                .start(
                    CallHandle(
                        details["handle"]?.text ?? "",
                        kind: CallHandle.Kind(rawValue: details["handle-type"]?.text ?? "") ?? .generic),
                    isVideo: details["video"]?.flag ?? false)
            case .answer: .answer
            case .end: .end(reason: details["reason"]?.text ?? "")
            case .setHeld: .setHeld(details["on-hold"]?.flag ?? false)
            case .setMuted: .setMuted(details["muted"]?.flag ?? false)
            case .setGroup: .setGroup(UUID(uuidString: details["with"]?.text ?? ""))
            case .playDTMF: .playDTMF(details["digits"]?.text ?? "")
            }
        let name = DBusValue.string(asked.id.uuidString.lowercased())
        finish = Once { outcome in
            switch outcome {
            case .fulfilled(let date, let isConnecting):
                var entries = RingdClient.entries(date)
                if isConnecting { entries.append(.init("connecting", .bool(true))) }
                link.request("CallProvider1", "FulfillAction", [name, .dict(entries)]) { _ in
                    // Too late: `timedOut` has said so.
                }
            case .failed: link.request("CallProvider1", "FailAction", [name]) { _ in }
            }
        }
    }
}

extension PushEvent {
    /// Nil for what is not about pushes.
    init?(_ inbound: Inbound) {
        switch inbound {
        case .token("voip", let bytes, let details):
            self = .token(Data(bytes), isUploaded: details["uploaded"]?.flag ?? false)
        case .tokenInvalid("voip"): self = .tokenInvalid
        case .push(let push):
            let complete = push.complete
            self = .push(
                payload: Data(push.payload), call: push.call,
                mustReport: push.metadata["must-report"]?.flag ?? false
            ) { complete() }
        case .lost: self = .lost
        case .refused(let error): self = .refused(error)
        default: return nil
        }
    }
}
