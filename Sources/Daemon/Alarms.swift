internal import EventLoop

/// Things to do later, once each, on the daemon's loop. Confined to it.
final class Alarms {
    private let loop: EventLoop
    private var timers: [UInt64: TimerSource] = [:]
    private var last: UInt64 = 0

    init(_ loop: EventLoop) { self.loop = loop }

    /// At once, if there can be no timer.
    func after(_ delay: Duration, _ work: @escaping () -> Void) {
        last += 1
        let id = last
        do throws(LoopFailure) {
            let timer = try TimerSource(loop) { [unowned self] in
                timers[id] = nil
                work()
            }
            timers[id] = timer
            timer.arm(after: delay)
        } catch {
            work()
        }
    }
}
