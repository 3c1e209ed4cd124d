internal import Base
package import DBus
internal import EventLoop
package import Foundation

/// A program's one line to ringd: a thread with an event loop, the session bus, and the app's registrations as wishes.
///
/// Everything here may be called from any thread. What arrives is given to the handlers on the link's own thread, in
/// order; they are to hand it on and return. When the bus or the daemon goes away and comes back, the registrations are
/// made again by themselves, and requests that were made meanwhile wait for that.
package final class ClientLink: Sendable {
    package static let shared = ClientLink()

    package typealias Handler = @Sendable (Inbound) -> Void
    package typealias Answer = @Sendable (Result<[DBusValue], RingdError>) -> Void

    static let daemon = "org.ringd.Ringd1"
    static let root = "/org/ringd/Ringd1"

    private struct Shared {
        var core: LinkCore?
        var loop: EventLoop?
        var failure: RingdError?
    }

    private let shared = Lock(Shared())
    private let start = Lock(false)

    /// The app's id; nil if it has none.
    package let app: String?

    package init(app: String? = AppIdentity.find()) { self.app = app }

    // MARK: Wishes

    /// CallProvider1: from now on the app takes calls like this. `handler` gets everything about calls.
    package func takeCalls(_ configuration: [DBusValue.Entry], _ handler: @escaping Handler) {
        on { $0.takeCalls(configuration, handler) }
    }

    /// CallProvider1.Invalidate.
    package func takeNoCalls() { on { $0.takeNoCalls() } }

    /// PushRegistry1: from now on the app wants pushes. `handler` gets everything about tokens and pushes.
    package func takePushes(_ options: [DBusValue.Entry], _ handler: @escaping Handler) {
        on { $0.takePushes(options, handler) }
    }

    package func takeNoPushes() { on { $0.takeNoPushes() } }

    /// Live calls of all apps, as `Call1` has them; called at once and whenever one changes.
    package func observeCalls(_ handler: @escaping @Sendable (CallChange) -> Void) { on { $0.observe(handler) } }

    // MARK: Requests

    /// Calls a method of ringd's, once the app is registered; the answer comes on the link's thread.
    package func request(_ interface: String, _ member: String, _ arguments: [DBusValue], _ answer: @escaping Answer) {
        on({ $0.request(interface, member, arguments, answer) }, otherwise: { answer(.failure($0)) })
    }

    package func request(_ interface: String, _ member: String, _ arguments: [DBusValue]) async throws -> [DBusValue] {
        try await withCheckedThrowingContinuation { continuation in
            request(interface, member, arguments) { continuation.resume(with: $0) }
        }
    }

    /// Calls a method of another service on the session bus, e.g. the notification server.
    package func call(_ message: OutboundMessage, _ answer: @escaping Answer) {
        on({ $0.call(message, answer) }, otherwise: { answer(.failure($0)) })
    }

    /// Signals that match `rule`, from now on and again after a reconnect.
    package func listen(_ rule: String, _ handler: @escaping @Sendable (InboundMessage) -> Void) {
        on { $0.listen(rule, handler) }
    }

    // MARK: The thread

    private func on(
        _ work: @escaping @Sendable (LinkCore) -> Void, otherwise: (@Sendable (RingdError) -> Void)? = nil
    ) {
        startOnce()
        let (core, loop, failure) = shared.withLock { ($0.core, $0.loop, $0.failure) }
        guard let core, let loop else {
            otherwise?(failure ?? .noBus)
            return
        }
        loop.post { work(core) }
    }

    private func startOnce() {
        let isFirst = start.withLock { isStarted in
            defer { isStarted = true }
            return !isStarted
        }
        let ready = DispatchSemaphore(value: 0)
        guard isFirst else { return waitForStart() }
        let worker = Worker(name: "ringd-client")
        worker.post { [self] in
            do {
                let loop = try EventLoop()
                let core = try LinkCore(loop, app: app)
                shared.withLock {
                    $0.core = core
                    $0.loop = loop
                }
                ready.signal()
                core.connect()
                _ = try loop.run()
            } catch {
                shared.withLock { $0.failure = error as? RingdError ?? .noBus }
                ready.signal()
            }
            withExtendedLifetime(worker) {}
        }
        ready.wait()
    }

    /// Another thread is starting the link: that takes microseconds.
    private func waitForStart() {
        while shared.withLock({ $0.loop == nil && $0.failure == nil }) { usleep(50) }
    }
}

/// A live call as everybody sees it, or (no properties) that it is over.
package struct CallChange: Sendable {
    package let call: UUID
    package let properties: [DBusValue.Entry]?
}
