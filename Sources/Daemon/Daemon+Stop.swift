internal import Base
internal import Calls
internal import DBus
internal import Desktop
internal import EventLoop
internal import Gateway
internal import Ringtone
internal import Store
internal import Webhooks

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
        edges.webhooks?.stop()
        emit(Event(.daemonStopping, level: .notice, "stopping"))
        save()
        // A banner on its way is closed when its id arrives, and the sound server is to hear "cork". A server or a disk
        // that hangs is waited for two seconds.
        leave(status: status, at: .now + .milliseconds(20), orAt: .now + .seconds(2))
        edges.store.flush { [unowned self] in self.assumeIsolated { $0.isFlushed = true } }
    }

    private func leave(status: Int32, at first: Instant, orAt last: Instant) {
        do throws(LoopFailure) {
            exitTimer = try TimerSource(loop) { [unowned self] in
                self.assumeIsolated { me in
                    guard Instant.now >= last || me.isFlushed && !me.edges.notifications.isWaiting else {
                        return me.exitTimer.arm(after: .milliseconds(10))
                    }
                    me.edges.bus?.close()
                    me.loop.exit(status)
                }
            }
            exitTimer.arm(at: first)
        } catch {
            loop.exit(status)
        }
    }
}
