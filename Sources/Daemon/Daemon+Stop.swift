internal import Base
internal import Calls
internal import DBus
internal import Desktop
internal import EventLoop
internal import Gateway
internal import Ringtone
internal import Store

/// Leaving.
extension Daemon {
    /// Silence and no banner at once; then what is unsaved goes to disk, and out. Calls that were ringing stay in the
    /// store: a successor rings on with the time that is left, or counts them as missed.
    func stop(status: Int32) {
        guard !isStopping else { return }
        isStopping = true
        ServiceManager.notify("STOPPING=1")
        timer.disarm()
        edges.player?.wish = nil
        edges.player?.stopPlaying()
        edges.haptics.wish = nil
        for call in center.calls { edges.notifications.withdraw(.call(call.uuid)) }
        edges.gateway?.stop()
        emit(Event(.daemonStopping, level: .notice, "stopping"))
        save()
        // What the loop still does in 20 ms: the sound server hears "cork", the bus hears "close". A disk that hangs is
        // waited for two seconds.
        leave(status: status, after: .seconds(2))
        edges.store.flush { [unowned self] in
            self.assumeIsolated { $0.leave(status: status, after: .milliseconds(20)) }
        }
    }

    func leave(status: Int32, after delay: Duration) {
        do throws(LoopFailure) {
            timer = try TimerSource(loop) { [unowned self] in
                self.assumeIsolated { me in
                    me.edges.bus?.close()
                    me.loop.exit(status)
                }
            }
            timer.arm(after: delay)
        } catch {
            loop.exit(status)
        }
    }
}
