internal import Base
internal import CSystemd
internal import Glibc

/// Why a loop or one of its sources could not be made.
package struct LoopFailure: Error, CustomStringConvertible {
    /// A positive errno.
    package let code: Int32
    package let doing: String
    package var description: String { "\(doing): \(String(cString: strerror(code)))" }

    /// libsystemd returns negative errnos.
    @discardableResult
    static func check(_ result: Int32, _ doing: @autoclosure () -> String) throws(LoopFailure) -> Int32 {
        guard result < 0 else { return result }
        throw LoopFailure(code: -result, doing: doing())
    }
}

/// One thread's event loop: sd-event(3), and the serial executor of the actor that lives on it.
///
/// Everything but `post(_:)`, `enqueue(_:)` and the isolation checks is for the loop's own thread: the one that made
/// it. Sources are non-Sendable classes; a source that is released is gone, and its handler is never called again.
package final class EventLoop: SerialExecutor, @unchecked Sendable {
    // sd_event* is touched on the loop's thread only; `inbox` is the one thing shared, behind its lock.
    let event: OpaquePointer
    private let thread = pthread_self()
    private let inbox = Lock<[Work]>([])
    private let wakeFD: Int32
    private var wakeSource: OpaquePointer?
    private var deferred: [() -> Void] = []
    private var deferSource: OpaquePointer?

    private enum Work {
        case closure(@Sendable () -> Void)
        case job(UnownedJob)
    }

    package init() throws(LoopFailure) {
        var made: OpaquePointer?
        try LoopFailure.check(sd_event_new(&made), "making an event loop")
        event = made!
        wakeFD = csystemd_eventfd()
        guard wakeFD >= 0 else { throw LoopFailure(code: errno, doing: "making an eventfd") }
        let me = Unmanaged.passUnretained(self).toOpaque()
        // Unretained: both sources die in this object's deinit.
        try LoopFailure.check(
            sd_event_add_io(
                event, &wakeSource, wakeFD, csystemd_epollin,
                { _, _, _, context in
                    Unmanaged<EventLoop>.fromOpaque(context!).takeUnretainedValue().drainInbox()
                    return 0
                }, me), "watching the eventfd")
        try LoopFailure.check(
            sd_event_add_defer(
                event, &deferSource,
                { _, context in
                    Unmanaged<EventLoop>.fromOpaque(context!).takeUnretainedValue().drainDeferred()
                    return 0
                }, me), "adding a defer source")
        sd_event_source_set_enabled(deferSource, Int32(SD_EVENT_OFF))
    }

    deinit {
        sd_event_source_disable_unref(wakeSource)
        sd_event_source_disable_unref(deferSource)
        close(wakeFD)
        sd_event_unref(event)
    }

    // MARK: Running

    /// Runs until `exit(_:)`; returns its code.
    package func run() throws(LoopFailure) -> Int32 {
        try LoopFailure.check(sd_event_loop(event), "running the event loop")
    }

    /// One turn: waits up to `timeout` for something to happen and handles it. False if nothing did.
    @discardableResult
    package func turn(timeout: Duration) throws(LoopFailure) -> Bool {
        let micros = UInt64(max(0, timeout.nanoseconds / 1000))
        return try LoopFailure.check(sd_event_run(event, micros), "running the event loop") > 0
    }

    package func exit(_ code: Int32 = 0) { sd_event_exit(event, code) }

    /// Pings systemd's watchdog from this loop while the unit has one; false where it has none (sd_event_set_watchdog(3)).
    package func enableWatchdog() throws(LoopFailure) -> Bool {
        try LoopFailure.check(sd_event_set_watchdog(event, 1), "enabling the watchdog") > 0
    }

    // MARK: From any thread

    /// Runs `work` on the loop's thread, in order of posting.
    package func post(_ work: @escaping @Sendable () -> Void) { push(.closure(work)) }

    package func enqueue(_ job: UnownedJob) { push(.job(job)) }

    package func checkIsolated() {
        precondition(pthread_equal(thread, pthread_self()) != 0, "not on the event loop's thread")
    }

    package func isIsolatingCurrentContext() -> Bool? { pthread_equal(thread, pthread_self()) != 0 }

    private func push(_ work: Work) {
        let wasEmpty = inbox.withLock { list in
            list.append(work)
            return list.count == 1
        }
        if wasEmpty {
            var one: UInt64 = 1
            write(wakeFD, &one, 8)
        }
    }

    private func drainInbox() {
        var count: UInt64 = 0
        read(wakeFD, &count, 8)
        let work = inbox.withLock { list in
            defer { list = [] }
            return list
        }
        for item in work {
            switch item {
            case .closure(let body): body()
            case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
            }
        }
    }

    // MARK: Later, on this thread

    /// Runs `work` once, after the handler that is running now.
    package func later(_ work: @escaping () -> Void) {
        checkIsolated()
        deferred.append(work)
        if deferred.count == 1 { sd_event_source_set_enabled(deferSource, Int32(SD_EVENT_ONESHOT)) }
    }

    private func drainDeferred() {
        let work = deferred
        deferred = []
        for body in work { body() }
    }
}
