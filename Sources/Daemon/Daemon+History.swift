internal import Base
internal import BusService
internal import Config
internal import DBus
internal import Store

/// Past calls, as they are asked for over the bus.
extension Daemon {
    /// The answer comes later, as with the others here.
    func history(_ call: BusCall) throws(DBusFailure) -> [DBusValue]? {
        let asked = call.arguments.first ?? .dict([])
        var filter = HistoryFilter()
        filter.limit = Int(max(1, min(10_000, asked["limit"]?.integer ?? 20)))
        filter.isMissedOnly = asked["missed"]?.flag ?? false
        filter.isUnseenOnly = asked["unseen"]?.flag ?? false
        filter.app = asked["app"]?.text
        filter.handle = asked["handle"]?.text
        filter.spellings = filter.handle.map { HandlePattern.spellings($0, in: region) } ?? []
        filter.before = asked["before"]?.integer.map(WallTime.init(nanoseconds:))
        filter.includesHidden = asked["hidden"]?.flag ?? false
        switch asked["direction"]?.text {
        case nil: break
        case "incoming": filter.isOutgoing = false
        case "outgoing": filter.isOutgoing = true
        default: throw refusal("InvalidArgument", "a direction is incoming or outgoing")
        }
        edges.store.history(filter, marksSeen: asked["mark_seen"]?.flag ?? false) { [unowned self] rows in
            self.assumeIsolated {
                $0.edges.service.answer(call, .success([.array(of: "a{sv}", rows.map { .dict($0.busEntries) })]))
            }
        }
        return nil
    }

    func markSeen(_ call: BusCall, _ text: String) -> [DBusValue]? {
        guard !text.isEmpty else {
            edges.store.markSeen(nil) { [unowned self] count in self.assumeIsolated { $0.tell(count, to: call) } }
            return nil
        }
        findPast(text, for: call) { me, row in
            me.edges.store.markSeen(row.uuid) { count in me.assumeIsolated { $0.tell(count, to: call) } }
        }
        return nil
    }

    func clearHistory(_ call: BusCall) throws(DBusFailure) -> [DBusValue]? {
        let asked = call.arguments.first?.entries ?? []
        guard asked.count <= 1 else {
            throw refusal("InvalidArgument", "say either call or before, or nothing for all")
        }
        let what: Clearing
        // A word that is not understood must not clear everything.
        switch (asked.first?.key, asked.first?.value.text, asked.first?.value.integer) {
        case (nil, _, _): what = .all
        case ("before", _, let time?): what = .before(WallTime(nanoseconds: time))
        case ("call", let text?, _) where !text.isEmpty:
            findPast(text, for: call) { me, row in
                guard row.ended != nil else {
                    return me.edges.service.answer(
                        call, .failure(me.refusal("InvalidState", "\(row.uuid.short) is live: ringctl calls")))
                }
                me.clear(.call(row.uuid), for: call)
            }
            return nil
        default: throw refusal("InvalidArgument", "what to forget is call (an id) or before (wall time in ns)")
        }
        clear(what, for: call)
        return nil
    }

    private func clear(_ what: Clearing, for call: BusCall) {
        edges.store.clearHistory(what) { [unowned self] count in self.assumeIsolated { $0.tell(count, to: call) } }
    }

    private func tell(_ count: Int, to call: BusCall) {
        edges.service.answer(call, .success([.uint32(UInt32(clamping: count))]))
    }

    /// The one past call that is meant, by an id, the beginning of one, or the provider's; refuses if there is none, or more
    /// than one.
    private func findPast(
        _ text: String, for call: BusCall, then: @escaping @Sendable (isolated Daemon, CallRow) -> Void
    ) {
        edges.store.candidates(text) { [unowned self] rows in
            self.assumeIsolated { me in
                switch rows.count {
                case 1: then(me, rows[0])
                case 0:
                    me.edges.service.answer(
                        call,
                        .failure(
                            me.refusal("UnknownCall", "no call is called \"\(Text.clean(text))\" (ringctl history)")))
                default:
                    me.edges.service.answer(
                        call,
                        .failure(
                            me.refusal(
                                "Ambiguous",
                                "several calls are called \"\(Text.clean(text))\", e.g. \(rows[0].uuid) and \(rows[1].uuid)"
                            )))
                }
            }
        }
    }
}

extension Configuration {
    var retention: Retention {
        Retention(calls: history.keep, age: history.days == 0 ? nil : .seconds(Int64(history.days) * 86_400))
    }
}
