internal import APNs
internal import Base
internal import Calls
internal import Crypto
internal import Store

/// Apps, devices and their tokens: what is in memory, and its twin on disk.
extension Daemon {
    // MARK: Apps

    func has(app: String) -> Bool { app == Self.manualApp || apns.directory.has(app: app) }

    /// False: it is no app id, or there is no room for another.
    func addApp(_ id: String) -> Bool {
        guard AppID.isValid(id), id != Self.manualApp else { return false }
        if apns.directory.has(app: id) { return true }
        guard apns.directory.hasRoom(apps: 1) else { return false }
        var change = DirectoryChange()
        change.newApps = [id]
        change.newTokens = apns.directory.add(app: id).map(TokenRow.init)
        edges.store.apply(change)
        // The certificate that its push backend may present.
        if let credentials = edges.credentials {
            do {
                _ = try credentials.voipClient(app: id)
            } catch {
                emit(Event(.gatewayFault, level: .warning, "no client certificate for \(id): \(error)"))
            }
        }
        return true
    }

    func removeApp(_ id: String) -> Bool {
        guard apns.directory.has(app: id) else { return false }
        apns.forget(app: id)
        var change = DirectoryChange(apns.directory.remove(app: id, at: .now))
        change.goneApps = [id]
        edges.store.apply(change)
        receive(.app(id, .unbound))
        receive(.app(id, .provider(nil)))
        tellInvalidated(id)
        // First: a strike for a push that it leaves open would be written, and outlive it.
        registered[id] = nil
        edges.links.unlink(id)
        reports[id] = nil
        uploads = uploads.filter { $0.key.app != id }
        return true
    }

    /// The certificate of an app that went is kept while its tokens are known: with it a sender learns that they are dead,
    /// and reads the feedback list. After that it is a private key that nobody needs.
    func forgetOldClients() {
        guard let credentials = edges.credentials else { return }
        let remembered = apns.directory.rememberedApps
        for app in credentials.clientApps where !remembered.contains(app) { credentials.forgetClient(app: app) }
    }

    /// New tokens for an app on a device; false if it is not there.
    func renewApp(_ id: String, device: String) -> Bool {
        let (old, new) = apns.directory.renew(app: id, device: device, at: .now)
        guard !new.isEmpty else { return false }
        apns.forget(app: id, device: device)
        var change = DirectoryChange(old)
        change.newTokens = new.map(TokenRow.init)
        edges.store.apply(change)
        if device == TokenDirectory.desktop {
            tellInvalidated(id)
            tellTokens(id)
        }
        return true
    }

    // MARK: Devices

    /// The names that are new; their tokens are made.
    func addDevices(_ names: [String]) -> (devices: Int, tokens: Int) {
        var change = DirectoryChange()
        change.newDevices = names.filter { !apns.directory.has(device: $0) }
        change.newTokens = apns.directory.add(devices: change.newDevices).map(TokenRow.init)
        edges.store.apply(change)
        return (change.newDevices.count, change.newTokens.count)
    }

    func removeDevices(_ names: [String]) {
        apns.forget(devices: names)
        var change = DirectoryChange(apns.directory.remove(devices: names, at: .now))
        change.goneDevices = names
        edges.store.apply(change)
    }

    /// How many pushes were waiting for it.
    func setOnline(_ isOnline: Bool, device: String) -> Int {
        // Written first: after a crash in the middle the next run delivers what is left.
        edges.store.setOffline(!isOnline, device: device)
        let count = apns.setOnline(isOnline, device: device)
        emit(
            Event(
                isOnline ? .deviceOnline : .deviceOffline, level: .notice,
                isOnline
                    ? "\(device) is online again: \(count) \(count == 1 ? "push was" : "pushes were") waiting"
                    : "\(device) is offline: pushes to it are kept, one for each app",
                [.init("device", .text(device)), .init("delivered", .number(Int64(count)))]))
        return count
    }

    // MARK: From an earlier run

    func fillDirectory(_ snapshot: Store.Snapshot) {
        apns.directory.reserve(apps: snapshot.apps.count, tokens: snapshot.tokens.count)
        for app in snapshot.apps { apns.directory.restore(app: app) }
        for device in snapshot.devices { apns.directory.addDevice(named: device.name) }
        for row in snapshot.tokens {
            if let registration = Registration(row) { apns.directory.restore(registration) }
        }
        var change = DirectoryChange()
        change.newTokens = apns.directory.complete().map(TokenRow.init)
        if !change.newTokens.isEmpty {
            change.newApps = apns.directory.apps
            change.newDevices = apns.directory.devices
            edges.store.apply(change)
        }
        apns.restore(offline: Set(snapshot.devices.filter(\.isOffline).map(\.name)))
        for row in snapshot.feedback {
            if let token = DeviceToken(row.token) { apns.restore(feedback: token, at: row.failed) }
        }
        for row in snapshot.mail {
            if let push = StoredPush(row) { apns.restore(push) }
        }
    }

    /// What was being delivered when the last run ended.
    func deliverLeftovers() {
        for device in apns.mailbox.counts.keys.sorted() where !apns.offline.contains(device) {
            apns.setOnline(true, device: device)
        }
    }
}

// MARK: - Rows

extension DirectoryChange {
    init(_ ended: TokenDirectory.Ended) {
        self.init()
        endedTokens = ended.tokens.map(TokenRow.init)
        forgottenTokens = ended.forgotten.map(\.bytes)
    }
}

extension TokenRow {
    init(_ registration: Registration) {
        var end: End?
        switch registration.end {
        case .unregistered(let at): end = End(.unregistered, at: at)
        case .expired(let at): end = End(.expired, at: at)
        case nil: break
        }
        self.init(
            bytes: registration.token.bytes, app: registration.app, device: registration.device,
            kind: registration.kind == .voip ? .voip : .alert,
            environment: registration.environment == .sandbox ? .sandbox : .production, end: end)
    }
}

extension Registration {
    convenience init?(_ row: TokenRow) {
        guard let token = DeviceToken(row.bytes) else { return nil }
        self.init(
            token: token, app: row.app, device: row.device, kind: row.kind == .voip ? .voip : .alert,
            environment: row.environment == .sandbox ? .sandbox : .production,
            end: row.end.map { $0.reason == .expired ? .expired($0.at) : .unregistered($0.at) })
    }
}

extension MailRow.Slot {
    init(_ push: StoredPush) { self.init(device: push.device, app: push.app) }
}

extension MailRow {
    init(_ push: StoredPush) {
        self.init(
            slot: Slot(push), token: push.token.bytes, kind: push.kind == .voip ? .voip : .alert,
            payload: push.payload, collapseID: push.collapseID, priority: Int64(push.priority),
            expiration: push.expiration, until: push.until, via: push.via, peer: push.peer)
    }
}

extension StoredPush {
    /// Nil for a row that nobody of us wrote.
    init?(_ row: MailRow) {
        guard let token = DeviceToken(row.token) else { return nil }
        self.init(
            number: 0, token: token, app: row.slot.app, device: row.slot.device,
            kind: row.kind == .voip ? .voip : .alert, payload: row.payload, collapseID: row.collapseID,
            priority: UInt8(clamping: row.priority), expiration: row.expiration, until: row.until, via: row.via,
            peer: row.peer)
    }
}
