internal import Base
internal import Calls
internal import Desktop
internal import Store

/// What an earlier run left in the store.
extension Daemon {
    func loadStore() -> [LiveRow] {
        do throws(StoreFailure) {
            let snapshot = try edges.store.snapshot()
            registry = Registry(snapshot.apps)
            return snapshot.live
        } catch {
            emit(Event(.storeFault, level: .error, "apps could not be read: \(error)"))
            return []
        }
    }

    /// Calls that were live when the last run ended, by whatever end.
    func restore(_ rows: [LiveRow]) {
        for row in rows {
            if let id = row.notification { edges.notifications.closeLeftover(id: id, server: row.server) }
            guard isKnown(row.app) else {
                edges.store.clearLive(row.uuid)
                continue
            }
            var began = row.began
            var deadline = row.deadline
            if row.bootID != Boot.id {
                // Another boot's clock: only the wall says how long ago that was.
                let age = Duration.nanoseconds(max(0, WallTime.now.nanoseconds - row.beganWall.nanoseconds))
                deadline = Instant.now + (row.deadline - row.began - age)
                began = Instant.now + (.zero - age)
            }
            let how: CallEvent.Restored =
                switch row.state {
                case CallState.active.word, CallState.answering(ActionID(0)).word: .answered
                case CallState.ringing(.silent).word: .silenced
                default: .ringing
                }
            receive(.restore(row.invite, began: began, deadline: deadline, how))
        }
    }

    private func isKnown(_ app: String) -> Bool { app == Self.manualApp || registry.apps[app] != nil }
}
