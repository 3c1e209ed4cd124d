internal import Base
internal import Calls
internal import Desktop
internal import Store

/// What an earlier run left in the store.
extension Daemon {
    func loadStore() -> Store.Snapshot {
        do throws(StoreFailure) {
            let snapshot = try edges.store.snapshot()
            fillDirectory(snapshot)
            restoreProviders(snapshot)
            return snapshot
        } catch {
            emit(Event(.storeFault, level: .error, "apps could not be read: \(error)"))
            return Store.Snapshot()
        }
    }

    /// What is over stays over, what rang rings on.
    func restore(_ snapshot: Store.Snapshot) {
        let now = Instant.now
        let wall = WallTime.now
        receive(
            snapshot.acquaintances.reversed().map { row in
                .acquaintance(Handle(Handle.Kind(word: row.handleKind), row.handle))
            })
        // A made-up key is nobody's: the same words again are another call, after a restart as before.
        for row in snapshot.over where !row.key.hasPrefix(Self.syntheticPrefix) {
            let age = max(0, wall.nanoseconds.subtractingClamped(row.ended.nanoseconds))
            receive(
                .recall(
                    CallKey(app: row.app, key: row.key), hadInvite: row.hadInvite,
                    ended: now + .nanoseconds(-age), serial: row.serial, stamp: row.stamp))
        }
        restore(snapshot.live)
    }

    /// Calls that were live when the last run ended, by whatever end.
    private func restore(_ rows: [LiveRow]) {
        for row in rows {
            if let id = row.notification { edges.notifications.closeLeftover(id: id, server: row.server) }
            guard has(app: row.app) else {
                edges.store.clearLive(row.uuid)
                continue
            }
            // Its row of history is whole, but its app had not said that it let go.
            if row.state == CallState.ending(ActionID(0), .local).word {
                reset.insert(row.app)
                edges.store.clearLive(row.uuid)
                continue
            }
            var began = row.began
            var deadline = row.deadline
            if row.bootID != Boot.id {
                // Another boot's clock: only the wall says how long ago that was. One that stands before the call's own
                // beginning says nothing, and a call of unknown age has had its time.
                let age = WallTime.now.nanoseconds.subtractingClamped(row.beganWall.nanoseconds)
                let known = age >= 0 ? min(age, Duration.seconds(3600).nanoseconds) : Duration.seconds(3600).nanoseconds
                deadline = Instant.now + (row.deadline - row.began) + .nanoseconds(-known)
                began = Instant.now + .nanoseconds(-known)
            }
            let how = row.restored(began: began)
            if how != .ringing && how != .silenced { reset.insert(row.app) }
            receive(.restore(row.invite, began: began, deadline: deadline, how))
        }
    }
}

extension LiveRow {
    /// How it stood, in the core's words. `began`: on this boot's clock.
    func restored(began: Instant) -> CallEvent.Restored {
        if let connected {
            let since = began + .nanoseconds(connected.nanoseconds.subtractingClamped(beganWall.nanoseconds))
            return .connected(since, isOutgoing: isOutgoing)
        }
        if isOutgoing { return .dialled }
        switch state {
        case CallState.ringing(.silent).word: return .silenced
        case CallState.ringing(.loud).word, CallState.ringing(.soft).word, CallState.ringing(.queued).word:
            return .ringing
        default: return .answered
        }
    }
}
