internal import Base
internal import CPulse
internal import EventLoop
internal import Glibc

/// libpulse's main-loop interface over our event loop: descriptors, timers and deferred calls, nothing polled.
///
/// libpulse owns the events it makes: each is a Swift object retained by C from `…_new` to `…_free`. They know the
/// loop, not this object; contexts made with `api` must be gone before it goes (they hold a pointer to it).
final class PulseLoop {
    let api: UnsafeMutablePointer<pa_mainloop_api>
    fileprivate let loop: EventLoop
    fileprivate var ioEvents: [ObjectIdentifier: IOEvent] = [:]
    private var napTimer: TimerSource!

    init(_ loop: EventLoop) throws(LoopFailure) {
        self.loop = loop
        api = .allocate(capacity: 1)
        api.initialize(to: pa_mainloop_api())
        api.pointee.userdata = Unmanaged.passUnretained(self).toOpaque()
        IOEvent.fill(&api.pointee)
        TimeEvent.fill(&api.pointee)
        DeferEvent.fill(&api.pointee)
        // libpulse's clients never ask a foreign loop to quit.
        api.pointee.quit = { _, _ in }
        napTimer = try TimerSource(loop) { [unowned self] in napTimerFired() }
    }

    // MARK: Napping

    /// How long the server's messages may wait while `mayNap`. A refill is asked for when 4.8 s are left to play.
    ///
    /// Four seconds to the millisecond, as long as a notification stays before it is raised again: that takes what waits,
    /// so a ring has one heartbeat. With slack the loop would put the two on different ticks.
    static let nap: Duration = .seconds(4)

    /// True while nothing the server says is urgent: a ring plays on. Over shared memory the server gives back every
    /// 64 kB it has played, three times a second, and each would wake this process; a nap takes them in one go. A
    /// server that goes away is noticed at once all the same: a hang-up is never masked.
    var mayNap = false {
        didSet { if mayNap != oldValue { attend() } }
    }

    fileprivate private(set) var isNapping = false

    /// Listens at once, for the time of a nap: something was asked, and an answer is awaited.
    func attend() {
        if isNapping {
            isNapping = false
            for event in ioEvents.values { event.applyInterest() }
        }
        if mayNap { napTimer.arm(after: Self.nap) } else { napTimer.disarm() }
    }

    /// Takes now what waits, and naps anew.
    func attendWhileAwake() {
        guard isNapping else { return }
        napTimer.disarm()
        napTimerFired()
    }

    private func napTimerFired() {
        guard mayNap else { return }
        isNapping = true
        // A copy: what is read may end any of them.
        for event in Array(ioEvents.values) { event.takeWhatWaits() }
        for event in ioEvents.values { event.applyInterest() }
        if isNapping { napTimer.arm(after: Self.nap) }
    }

    /// Runs `work` after the handler that is running now.
    func later(_ work: @escaping () -> Void) { loop.later(work) }

    deinit {
        api.deinitialize(count: 1)
        api.deallocate()
    }

    fileprivate static func of(_ api: UnsafeMutablePointer<pa_mainloop_api>?) -> PulseLoop {
        Unmanaged.fromOpaque(api!.pointee.userdata).takeUnretainedValue()
    }
}

/// What the three kinds have in common: a pointer for C, and who is to be called.
private class PulseEvent {
    unowned let owner: PulseLoop
    let userdata: UnsafeMutableRawPointer?
    var onDestroy: ((OpaquePointer) -> Void)?

    init(_ owner: PulseLoop, _ userdata: UnsafeMutableRawPointer?) {
        self.owner = owner
        self.userdata = userdata
    }

    /// Retained for C until `release`.
    func handle() -> OpaquePointer { OpaquePointer(Unmanaged.passRetained(self).toOpaque()) }

    var pointer: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

    /// C lets go: the event is silent from now on, even if its callback is running.
    func release() {
        onDestroy?(pointer)
        onDestroy = nil
        Unmanaged.passUnretained(self).release()
    }

    static func from(_ pointer: OpaquePointer?) -> Unmanaged<PulseEvent> {
        Unmanaged.fromOpaque(UnsafeRawPointer(pointer!))
    }
}

private final class IOEvent: PulseEvent {
    private var callback: pa_io_event_cb_t?
    private var source: IOSource?
    private let descriptor: Int32

    init(
        _ owner: PulseLoop, _ descriptor: Int32, _ flags: pa_io_event_flags_t, _ callback: pa_io_event_cb_t?,
        _ userdata: UnsafeMutableRawPointer?
    ) {
        self.descriptor = descriptor
        self.callback = callback
        super.init(owner, userdata)
        // Without a source (no memory, no descriptors) libpulse runs into its own time-outs.
        source = try? IOSource(owner.loop, fd: descriptor, []) { [unowned self] ready in fire(ready) }
        owner.ioEvents[ObjectIdentifier(self)] = self
        enable(flags)
    }

    private var wanted: IOInterest = []

    func enable(_ flags: pa_io_event_flags_t) {
        wanted = []
        if flags.rawValue & PA_IO_EVENT_INPUT.rawValue != 0 { wanted.insert(.read) }
        if flags.rawValue & PA_IO_EVENT_OUTPUT.rawValue != 0 { wanted.insert(.write) }
        applyInterest()
    }

    func applyInterest() { source?.interest = owner.isNapping ? wanted.subtracting(.read) : wanted }

    /// Reads what has come during a nap; bounded, lest a flood keeps the loop.
    func takeWhatWaits() {
        for _ in 0..<256 where callback != nil && wanted.contains(.read) {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 0) > 0, entry.revents & Int16(POLLIN) != 0 else { return }
            fire(.read)
        }
    }

    private func fire(_ ready: IOInterest) {
        var flags: UInt32 = 0
        if ready.contains(.read) { flags |= PA_IO_EVENT_INPUT.rawValue }
        if ready.contains(.write) { flags |= PA_IO_EVENT_OUTPUT.rawValue }
        if ready.contains(.hangup) { flags |= PA_IO_EVENT_HANGUP.rawValue }
        if ready.contains(.error) { flags |= PA_IO_EVENT_ERROR.rawValue }
        // The callback may free this event.
        withExtendedLifetime(self) {
            callback?(owner.api, pointer, descriptor, pa_io_event_flags_t(rawValue: flags), userdata)
        }
    }

    override func release() {
        callback = nil
        owner.ioEvents[ObjectIdentifier(self)] = nil
        // At once, not when the handler returns: libpulse watches the same descriptor anew inside it.
        source?.cancel()
        source = nil
        super.release()
    }

    private static func me(_ pointer: OpaquePointer?) -> IOEvent { from(pointer).takeUnretainedValue() as! IOEvent }

    static func fill(_ api: inout pa_mainloop_api) {
        api.io_new = { api, descriptor, flags, callback, userdata in
            IOEvent(PulseLoop.of(api), descriptor, flags, callback, userdata).handle()
        }
        api.io_enable = { event, flags in IOEvent.me(event).enable(flags) }
        api.io_free = { event in IOEvent.me(event).release() }
        api.io_set_destroy = { event, destroy in
            let it = IOEvent.me(event)
            it.onDestroy = { [unowned it] pointer in destroy?(it.owner.api, pointer, it.userdata) }
        }
    }
}

private final class TimeEvent: PulseEvent {
    private var callback: pa_time_event_cb_t?
    private var timer: TimerSource?
    private var due = timeval()

    init(
        _ owner: PulseLoop, _ due: UnsafePointer<timeval>?, _ callback: pa_time_event_cb_t?,
        _ userdata: UnsafeMutableRawPointer?
    ) {
        self.callback = callback
        super.init(owner, userdata)
        timer = try? TimerSource(owner.loop) { [unowned self] in fire() }
        restart(due)
    }

    /// libpulse gives a foreign loop wall-clock times; the distance from now is what it means.
    func restart(_ due: UnsafePointer<timeval>?) {
        guard let due else {
            timer?.disarm()
            return
        }
        self.due = due.pointee
        var now = timeval()
        gettimeofday(&now, nil)
        let micros = (due.pointee.tv_sec - now.tv_sec) * 1_000_000 + (due.pointee.tv_usec - now.tv_usec)
        timer?.arm(after: .microseconds(max(0, micros)))
    }

    private func fire() {
        withExtendedLifetime(self) { callback?(owner.api, pointer, &due, userdata) }
    }

    override func release() {
        callback = nil
        timer?.disarm()
        timer = nil
        super.release()
    }

    private static func me(_ pointer: OpaquePointer?) -> TimeEvent { from(pointer).takeUnretainedValue() as! TimeEvent }

    static func fill(_ api: inout pa_mainloop_api) {
        api.time_new = { api, due, callback, userdata in
            TimeEvent(PulseLoop.of(api), due, callback, userdata).handle()
        }
        api.time_restart = { event, due in TimeEvent.me(event).restart(due) }
        api.time_free = { event in TimeEvent.me(event).release() }
        api.time_set_destroy = { event, destroy in
            let it = TimeEvent.me(event)
            it.onDestroy = { [unowned it] pointer in destroy?(it.owner.api, pointer, it.userdata) }
        }
    }
}

/// Runs once a turn of the loop while it is enabled.
private final class DeferEvent: PulseEvent {
    private var callback: pa_defer_event_cb_t?
    private var isEnabled = true
    private var isScheduled = false

    init(_ owner: PulseLoop, _ callback: pa_defer_event_cb_t?, _ userdata: UnsafeMutableRawPointer?) {
        self.callback = callback
        super.init(owner, userdata)
        schedule()
    }

    func enable(_ on: Bool) {
        isEnabled = on
        schedule()
    }

    private func schedule() {
        guard isEnabled, !isScheduled, callback != nil else { return }
        isScheduled = true
        owner.loop.later { [self] in
            isScheduled = false
            // A freed event has no callback; its owner may be gone as well.
            guard isEnabled, let callback else { return }
            callback(owner.api, pointer, userdata)
            schedule()
        }
    }

    override func release() {
        callback = nil
        super.release()
    }

    private static func me(_ pointer: OpaquePointer?) -> DeferEvent {
        from(pointer).takeUnretainedValue() as! DeferEvent
    }

    static func fill(_ api: inout pa_mainloop_api) {
        api.defer_new = { api, callback, userdata in DeferEvent(PulseLoop.of(api), callback, userdata).handle() }
        api.defer_enable = { event, on in DeferEvent.me(event).enable(on != 0) }
        api.defer_free = { event in DeferEvent.me(event).release() }
        api.defer_set_destroy = { event, destroy in
            let it = DeferEvent.me(event)
            it.onDestroy = { [unowned it] pointer in destroy?(it.owner.api, pointer, it.userdata) }
        }
    }
}
