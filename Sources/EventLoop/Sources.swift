package import Base
internal import CSystemd
internal import Glibc

/// What a file descriptor is watched for, and what it is ready for.
package struct IOInterest: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let read = IOInterest(rawValue: 1)
    package static let write = IOInterest(rawValue: 2)
    /// Reported, never asked for.
    package static let hangup = IOInterest(rawValue: 4)
    package static let error = IOInterest(rawValue: 8)

    init(epoll: UInt32) {
        var set: IOInterest = []
        if epoll & csystemd_epollin != 0 { set.insert(.read) }
        if epoll & csystemd_epollout != 0 { set.insert(.write) }
        if epoll & csystemd_epollhup != 0 { set.insert(.hangup) }
        if epoll & csystemd_epollerr != 0 { set.insert(.error) }
        self = set
    }

    var epoll: UInt32 {
        (contains(.read) ? csystemd_epollin : 0) | (contains(.write) ? csystemd_epollout : 0)
    }
}

/// A watched file descriptor, level-triggered. The descriptor stays its owner's; one IOSource a descriptor.
///
/// Swift outlives C here (the source is disabled and unreferenced in `deinit`), so the context is unretained.
package final class IOSource {
    private var source: OpaquePointer?
    private let handler: (IOInterest) -> Void

    /// `yields`: whatever else is ready goes first (the bus, the sound server), as a flood here must not hold up a ring.
    package init(
        _ loop: EventLoop, fd: Int32, _ interest: IOInterest, yields: Bool = false,
        handler: @escaping (IOInterest) -> Void
    ) throws(LoopFailure) {
        self.handler = handler
        self.interest = interest
        try LoopFailure.check(
            sd_event_add_io(
                loop.event, &source, fd, interest.epoll,
                { _, _, ready, context in
                    let me = Unmanaged<IOSource>.fromOpaque(context!)
                    // Retained for the call: the handler may drop the last reference.
                    me.retain().takeUnretainedValue().handler(IOInterest(epoll: ready))
                    me.release()
                    return 0
                }, Unmanaged.passUnretained(self).toOpaque()), "watching descriptor \(fd)")
        if yields { sd_event_source_set_priority(source, Int64(SD_EVENT_PRIORITY_IDLE)) }
    }

    deinit { cancel() }

    /// Ends the watch at once, whoever still holds this object. To be called before the descriptor is closed: a source
    /// that lives until its own handler returns would leave a closed descriptor in epoll, and sd-event aborts on that.
    package func cancel() {
        source = sd_event_source_disable_unref(source)
    }

    package var interest: IOInterest {
        didSet {
            if interest != oldValue { sd_event_source_set_io_events(source, interest.epoll) }
        }
    }

    /// A source that is off reports nothing, not even a hang-up.
    package var isEnabled: Bool = true {
        didSet {
            if isEnabled != oldValue {
                sd_event_source_set_enabled(source, Int32(isEnabled ? SD_EVENT_ON : SD_EVENT_OFF))
            }
        }
    }
}

/// A one-shot timer on `CLOCK_BOOTTIME`, disarmed when made and after it fired.
package final class TimerSource {
    private var source: OpaquePointer?
    private let handler: () -> Void
    /// When it will fire, or nil.
    package private(set) var deadline: Instant?

    /// `accuracy`: how much later it may fire so that wake-ups coalesce; at least 1 µs.
    package init(
        _ loop: EventLoop, accuracy: Duration = .milliseconds(1), handler: @escaping () -> Void
    ) throws(LoopFailure) {
        self.handler = handler
        let slack = UInt64(max(1, accuracy.nanoseconds / 1000))
        try LoopFailure.check(
            sd_event_add_time(
                loop.event, &source, CLOCK_BOOTTIME, 0, slack,
                { _, _, context in
                    let me = Unmanaged<TimerSource>.fromOpaque(context!)
                    let timer = me.retain().takeUnretainedValue()
                    timer.deadline = nil
                    timer.handler()
                    me.release()
                    return 0
                }, Unmanaged.passUnretained(self).toOpaque()), "adding a timer")
        sd_event_source_set_enabled(source, Int32(SD_EVENT_OFF))
    }

    deinit { sd_event_source_disable_unref(source) }

    /// Fires at `instant` (at once if it is past); replaces what was armed.
    package func arm(at instant: Instant) {
        guard deadline != instant else { return }
        deadline = instant
        // Rounded up: firing a microsecond early would find nothing due and arm again.
        sd_event_source_set_time(source, UInt64(max(0, instant.nanoseconds / 1000) + 1))
        sd_event_source_set_enabled(source, Int32(SD_EVENT_ONESHOT))
    }

    package func arm(after delay: Duration) { arm(at: .now + delay) }

    package func disarm() {
        guard deadline != nil else { return }
        deadline = nil
        sd_event_source_set_enabled(source, Int32(SD_EVENT_OFF))
    }
}

/// A signal, blocked in the calling thread and taken from the loop. Make these before any thread is started.
package final class SignalSource {
    private var source: OpaquePointer?
    private let handler: () -> Void

    package init(_ loop: EventLoop, _ signo: Int32, handler: @escaping () -> Void) throws(LoopFailure) {
        self.handler = handler
        csystemd_block_signal(signo)
        try LoopFailure.check(
            sd_event_add_signal(
                loop.event, &source, signo,
                { _, _, context in
                    Unmanaged<SignalSource>.fromOpaque(context!).takeUnretainedValue().handler()
                    return 0
                }, Unmanaged.passUnretained(self).toOpaque()), "watching signal \(signo)")
    }

    deinit { sd_event_source_disable_unref(source) }
}

/// A child process, reaped by the loop (pidfd where the kernel has it). SIGCHLD must be blocked: see `SignalSource`.
package final class ChildSource {
    private var source: OpaquePointer?
    private let handler: (ChildStatus) -> Void

    package init(_ loop: EventLoop, pid: Int32, handler: @escaping (ChildStatus) -> Void) throws(LoopFailure) {
        self.handler = handler
        csystemd_block_signal(SIGCHLD)
        try LoopFailure.check(
            sd_event_add_child(
                loop.event, &source, pid, csystemd_wexited,
                { _, info, context in
                    let me = Unmanaged<ChildSource>.fromOpaque(context!)
                    me.retain().takeUnretainedValue().handler(ChildStatus(info!))
                    me.release()
                    return 0
                }, Unmanaged.passUnretained(self).toOpaque()), "watching process \(pid)")
    }

    deinit { sd_event_source_disable_unref(source) }
}

/// How a child ended.
package enum ChildStatus: Sendable, Equatable {
    case exited(Int32)
    case killed(signal: Int32)

    init(_ info: UnsafePointer<siginfo_t>) {
        let status = csystemd_si_status(info)
        self = csystemd_si_exited(info) != 0 ? .exited(status) : .killed(signal: status)
    }
}
