package import Base

/// From an accepted push to its device, its mailbox, or nowhere.
extension PushService {
    /// What became of it: a word, and for some a colon and more words.
    func forward(
        _ push: PushRequest, _ registration: Registration, _ judgement: inout Judgement, _ answer: inout Answer,
        _ sender: Sender, _ wall: WallTime
    ) -> String {
        if registration.end != nil { return "nowhere: the app was removed" }
        let isDesktop = registration.device == TokenDirectory.desktop
        // Nothing rings for these, so nothing more of them is needed than their record.
        if !isDesktop || registration.kind == .alert, offline.isEmpty, answer.faults.isEmpty, powerSaving == .zero {
            return isDesktop ? "recorded" : "delivered"
        }
        let stored = StoredPush(
            number: log.next, token: registration.token, app: registration.app, device: registration.device,
            kind: registration.kind, payload: Array(push.body), collapseID: push.string(.collapseID) ?? "",
            priority: judgement.priority, expiration: judgement.expiration,
            until: Self.keptUntil(judgement.expiration, wall), via: push.transport.word, peer: sender.peer)
        if let lost = lose(stored, answer.faults) { return lost }
        if offline.contains(stored.device) { return store(stored, wall) }
        if let waits = delay(stored, answer.faults) { return waits }
        let outcome = handOver(stored, isLate: false)
        // The HTTP/2 API takes what it is given; the legacy protocol has a word for it, and our own tool says what is wrong.
        let isRefused = outcome.isUnusable && push.transport != .http2
        judgement.explain(outcome.findings, refusing: isRefused ? .internalServerError : nil)
        if isRefused {
            answer.reason = .internalServerError
            answer.status = PushReason.internalServerError.httpStatus
            answer.reasonText = PushReason.internalServerError.rawValue
        }
        if answer.faults.contains(.duplicate) { _ = handOver(stored, isLate: false) }
        if let behind = underWay.takeOvertaken(device: stored.device) { deliverLate(behind, wall) }
        return outcome.word
    }

    static func keptUntil(_ expiration: Int64?, _ wall: WallTime) -> WallTime {
        let latest = wall.seconds + Mailbox.longest.nanoseconds / 1_000_000_000
        return WallTime(nanoseconds: min(max(expiration ?? latest, 0), latest) * 1_000_000_000)
    }

    // MARK: Faults that were asked for

    private func lose(_ push: StoredPush, _ faults: [FaultAction]) -> String? {
        for fault in faults {
            switch fault {
            case .lose, .refuseStream, .reset, .answer: return "lost: a fault was asked for"
            default: break
            }
        }
        return nil
    }

    private func delay(_ push: StoredPush, _ faults: [FaultAction]) -> String? {
        for fault in faults {
            switch fault {
            case .late(let time):
                guard underWay.start() else { return "lost: too many pushes are late already" }
                later(time) { [weak self] in
                    self?.underWay.end()
                    self?.deliverLate(push)
                }
                return "late: on its way for \(time.shortText)"
            case .reorder where underWay.holdBack(push): return "late: the next push to this device overtakes it"
            default: break
            }
        }
        guard powerSaving > .zero, push.priority < 10 else { return nil }
        switch underWay.join(push) {
        case .first:
            later(powerSaving) { [weak self] in self?.deliverGroup(push.device) }
            fallthrough
        case .next: return "late: priority \(push.priority) waits (apns.power-saving)"
        case .collapsed(let before):
            log.note(before.number, "push \(push.number) took its place: the same apns-collapse-id")
            return "late: priority \(push.priority) waits (apns.power-saving)"
        case .full: return nil
        }
    }

    private func deliverGroup(_ device: String) {
        for push in underWay.takeGroup(device: device) { deliverLate(push) }
    }

    // MARK: At the device

    private func handOver(_ push: StoredPush, isLate: Bool) -> Outcome {
        guard push.device == TokenDirectory.desktop else { return Outcome("delivered") }
        guard push.kind == .voip else { return Outcome("recorded") }
        let environment = directory[push.token]?.environment ?? .unknown
        return deliver(Delivery(push: push, isLate: isLate, environment: environment))
    }

    private func deliverLate(_ push: StoredPush, _ wall: WallTime = .now) {
        guard let registration = directory[push.token], registration.end == nil else {
            return log.note(push.number, "not delivered: its token ended meanwhile")
        }
        if offline.contains(push.device) { return log.note(push.number, store(push, wall)) }
        let outcome = handOver(push, isLate: true)
        log.note(push.number, "delivered later: \(outcome.word)")
        for finding in outcome.findings { log.note(push.number, finding.text) }
    }

    // MARK: Devices that are off

    private func store(_ push: StoredPush, _ wall: WallTime) -> String {
        if push.expiration == 0 { return "dropped: \(push.device) is offline, and expiration 0 keeps nothing" }
        if push.until <= wall { return "dropped: \(push.device) is offline, and its expiration is past" }
        if let before = mailbox.put(push) {
            let isSameSlot = before.device == push.device && before.app == push.app
            let isCollapsed = !push.collapseID.isEmpty && before.collapseID == push.collapseID
            let why =
                isSameSlot
                ? isCollapsed ? "the same apns-collapse-id" : "one is kept for an app and device, the newest"
                : "no more than \(Mailbox.most) are kept"
            log.note(before.number, "push \(push.number) took its place: \(why)")
            if !isSameSlot { onUnstored(before) }
        }
        onStored(push)
        return "stored: \(push.device) is offline"
    }

    /// Puts back what an earlier run kept.
    package func restore(_ push: StoredPush) { _ = mailbox.put(push) }
    package func restore(offline devices: Set<String>) { offline = devices }

    /// Takes a device from the network, or brings it back: what was kept for it is delivered then. How many.
    @discardableResult
    package func setOnline(_ isOnline: Bool, device: String, wall: WallTime = .now) -> Int {
        guard isOnline else {
            offline.insert(device)
            return 0
        }
        offline.remove(device)
        var count = 0
        for kept in mailbox.take(devices: [device]) {
            onUnstored(kept)
            let push = kept.number == 0 ? recordAgain(kept, wall) : kept
            if push.until < wall {
                log.note(push.number, "expired while \(device) was offline")
                continue
            }
            deliverLate(push, wall)
            count += 1
        }
        return count
    }

    /// What goes with an app; or on one device only, where it got new tokens.
    package func forget(app: String, device: String? = nil) { forget(mailbox.take(app: app, device: device)) }

    /// What goes with devices.
    package func forget(devices: [String]) {
        offline.subtract(devices)
        forget(mailbox.take(devices: Set(devices)))
    }

    private func forget(_ pushes: [StoredPush]) {
        for push in pushes {
            log.note(push.number, "not delivered: its token ended meanwhile")
            onUnstored(push)
        }
    }
}
