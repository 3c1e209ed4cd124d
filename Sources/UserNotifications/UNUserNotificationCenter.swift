internal import Base
internal import DBus
public import Foundation
internal import RingdClient

/// What the center asks its delegate, on the main queue. Both methods may be left out, and each may be written with a
/// completion or as an `async` method; of both forms the one with a completion is called.
public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
    /// A notification is due. There is no foreground on a desktop: this is asked each time. `completionHandler`, called
    /// once from any thread, says how it is presented; `[]` keeps it to the app. Left out: banner, list and sound.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void)

    /// The user clicked on a notification or on one of its buttons. `completionHandler` may be called from any thread.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void)

    /// `userNotificationCenter(_:willPresent:withCompletionHandler:)` as an `async` method.
    @concurrent func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions

    /// `userNotificationCenter(_:didReceive:withCompletionHandler:)` as an `async` method.
    @concurrent func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async
}

extension UNUserNotificationCenterDelegate {
    /// Asks the `async` form.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void
    ) {
        // A delegate's actor is its own affair: the method goes there by itself.
        nonisolated(unsafe) let delegate: any UNUserNotificationCenterDelegate = self
        Task { completionHandler(await delegate.userNotificationCenter(center, willPresent: notification)) }
    }

    /// Asks the `async` form.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void
    ) {
        nonisolated(unsafe) let delegate: any UNUserNotificationCenterDelegate = self
        Task {
            await delegate.userNotificationCenter(center, didReceive: response)
            completionHandler()
        }
    }

    /// Banner, list and sound.
    @concurrent public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions { [.banner, .list, .sound] }

    /// Nothing.
    @concurrent public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async {}
}

/// An app's notifications, on the notification server of the desktop (Desktop Notifications 1.2); sounds by ringd.
///
/// All of it may be used from any thread. The delegate is asked on the main queue.
open class UNUserNotificationCenter: NSObject, @unchecked Sendable {
    // Unchecked: what changes is behind `state`'s lock.

    private struct State {
        weak var delegate: (any UNUserNotificationCenterDelegate)?
        var categories: Set<UNNotificationCategory> = []
        var pending: [String: (request: UNNotificationRequest, timer: DispatchWorkItem)] = [:]
        var delivered: [String: Delivered] = [:]
        var isListening = false
        /// Whose sound is playing.
        var sounding: String?
    }

    private struct Delivered {
        let notification: UNNotification
        /// The server's number; nil until it has answered.
        var id: UInt32?
    }

    private let state = Lock(State())
    private let link = ClientLink.shared
    private static let center = UNUserNotificationCenter()
    private static let server = "org.freedesktop.Notifications"

    /// The process's only center.
    open class func current() -> UNUserNotificationCenter { center }

    private override init() { super.init() }

    /// Held weakly.
    open weak var delegate: (any UNUserNotificationCenterDelegate)? {
        get { state.withLock { $0.delegate } }
        set { state.withLock { $0.delegate = newValue } }
    }

    /// False.
    public var supportsContentExtensions: Bool { false }

    // MARK: Permission

    /// A desktop asks nobody: granted if there is a notification server.
    @preconcurrency open func requestAuthorization(
        options: UNAuthorizationOptions = [], completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        askServer { completionHandler($0, nil) }
    }

    /// True if there is a notification server; a desktop asks nobody.
    open func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
        await withCheckedContinuation { continuation in askServer { continuation.resume(returning: $0) } }
    }

    /// What the server does; called on a thread of the module's own.
    @preconcurrency open func getNotificationSettings(
        completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void
    ) {
        askServer { completionHandler(UNNotificationSettings(isThere: $0)) }
    }

    /// What the server does.
    open func notificationSettings() async -> UNNotificationSettings {
        await withCheckedContinuation { continuation in
            askServer { continuation.resume(returning: UNNotificationSettings(isThere: $0)) }
        }
    }

    private func askServer(_ then: @escaping @Sendable (Bool) -> Void) {
        let message = OutboundMessage(
            to: Self.server, path: "/org/freedesktop/Notifications", interface: Self.server, member: "GetCapabilities")
        link.call(message) { result in
            if case .success = result { then(true) } else { then(false) }
        }
    }

    // MARK: Categories

    /// Replaces them all; for what is shown from now on.
    open func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
        state.withLock { $0.categories = categories }
    }

    /// As they were set; called at once, on the caller's thread.
    @preconcurrency open func getNotificationCategories(
        completionHandler: @escaping @Sendable (Set<UNNotificationCategory>) -> Void
    ) {
        completionHandler(state.withLock { $0.categories })
    }

    /// As they were set.
    open func notificationCategories() async -> Set<UNNotificationCategory> { state.withLock { $0.categories } }

    // MARK: Adding

    /// One with the same identifier is replaced, pending or shown.
    @preconcurrency open func add(
        _ request: UNNotificationRequest,
        withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        let content = request.content
        guard !content.title.isEmpty || !content.body.isEmpty || content.sound != nil else {
            completionHandler?(UNError.notificationInvalidNoContent)
            return
        }
        guard let delay = request.trigger.map({ $0.delay(from: Date()) }) ?? 0 else {
            completionHandler?(UNError.notificationInvalidNoDate)
            return
        }
        schedule(request, after: delay)
        completionHandler?(nil)
    }

    /// As the form with a completion; throws what that one would get.
    open func add(_ request: UNNotificationRequest) async throws {
        let error = await withCheckedContinuation { (continuation: CheckedContinuation<(any Error)?, Never>) in
            add(request) { continuation.resume(returning: $0) }
        }
        if let error { throw error }
    }

    private func schedule(_ request: UNNotificationRequest, after delay: TimeInterval) {
        let timer = DispatchWorkItem { [weak self] in self?.due(request) }
        let old = state.withLock { state in
            defer { state.pending[request.identifier] = (request, timer) }
            return state.pending[request.identifier]
        }
        old?.timer.cancel()
        DispatchQueue.main.asyncAfter(deadline: .now() + delay, execute: timer)
    }

    private func due(_ request: UNNotificationRequest) {
        let isMine = state.withLock { $0.pending.removeValue(forKey: request.identifier) != nil }
        guard isMine else { return }
        if request.trigger?.repeats == true, let delay = request.trigger?.delay(from: Date()) {
            schedule(request, after: delay)
        }
        let notification = UNNotification(date: Date(), request: request)
        // There is no foreground that would keep it to itself: the delegate is asked, and decides.
        guard let delegate else { return present(notification, [.banner, .list, .sound]) }
        let present = Once<UNNotificationPresentationOptions> { [self] in self.present(notification, $0) }
        delegate.userNotificationCenter(self, willPresent: notification) { present($0) }
    }

    private func present(_ notification: UNNotification, _ options: UNNotificationPresentationOptions) {
        let identifier = notification.request.identifier
        if options.contains(.sound), let sound = notification.request.content.sound { play(sound, for: identifier) }
        guard !options.isDisjoint(with: [.banner, .list, .alert]) else { return }
        listen()
        let replaced = state.withLock { state -> UInt32 in
            defer { state.delivered[identifier] = Delivered(notification: notification, id: nil) }
            return state.delivered[identifier]?.id ?? 0
        }
        link.call(notify(notification, replacing: replaced)) { [self] result in
            guard case .success(let values) = result, let id = values.first?.integer else {
                return state.withLock { state in
                    if state.delivered[identifier]?.notification === notification { state.delivered[identifier] = nil }
                }
            }
            let isWanted = state.withLock { state -> Bool in
                guard state.delivered[identifier]?.notification === notification else { return false }
                state.delivered[identifier]?.id = UInt32(clamping: id)
                return true
            }
            // Removed, or replaced, before its number was known.
            if !isWanted { close(UInt32(clamping: id)) }
        }
    }

    private func notify(_ notification: UNNotification, replacing id: UInt32) -> OutboundMessage {
        let content = notification.request.content
        let category = state.withLock { $0.categories.first { $0.identifier == content.categoryIdentifier } }
        var actions = ["default", "Open"]
        for action in category?.actions ?? [] { actions += [action.identifier, action.title] }
        let urgency: UInt8 =
            switch content.interruptionLevel {
            case .passive: 0
            case .active: 1
            case .timeSensitive, .critical: 2
            }
        let hints: [DBusValue.Entry] = [
            .init("urgency", .byte(urgency)), .init("suppress-sound", .bool(true)),
            .init("desktop-entry", .string(link.app ?? "")),
        ]
        let body = [content.subtitle, content.body].filter { !$0.isEmpty }.joined(separator: "\n")
        return OutboundMessage(
            to: Self.server, path: "/org/freedesktop/Notifications", interface: Self.server, member: "Notify",
            [
                .string(ProcessInfo.processInfo.processName), .uint32(id), .string(""),
                .string(Text.clean(content.title.isEmpty ? body : content.title)),
                .string(Self.escaped(content.title.isEmpty ? "" : body)), .strings(actions), .dict(hints), .int32(-1),
            ])
    }

    /// Servers read markup in a body.
    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;")
    }

    // MARK: Sound

    private func play(_ sound: UNNotificationSound, for identifier: String) {
        guard let app = link.app else { return }
        let name = ((sound.name ?? "") as NSString).lastPathComponent
        state.withLock { $0.sounding = identifier }
        link.request("PushRegistry1", "PlaySound", [.string(app), .string(name)]) { [self] _ in
            state.withLock { if $0.sounding == identifier { $0.sounding = nil } }
        }
    }

    private func silence(_ identifiers: Set<String>) {
        let isPlaying = state.withLock { state -> Bool in
            guard let sounding = state.sounding, identifiers.contains(sounding) else { return false }
            state.sounding = nil
            return true
        }
        guard isPlaying, let app = link.app else { return }
        link.request("PushRegistry1", "StopSound", [.string(app)]) { _ in }
    }

    // MARK: Removing

    /// What is still to come; called at once, on the caller's thread.
    @preconcurrency open func getPendingNotificationRequests(
        completionHandler: @escaping @Sendable ([UNNotificationRequest]) -> Void
    ) {
        completionHandler(state.withLock { $0.pending.values.map(\.request) })
    }

    /// What is still to come.
    open func pendingNotificationRequests() async -> [UNNotificationRequest] {
        state.withLock { $0.pending.values.map(\.request) }
    }

    /// They will not come. What is shown already stays: `removeDeliveredNotifications(withIdentifiers:)`.
    open func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
        let timers = state.withLock { state in
            identifiers.compactMap { state.pending.removeValue(forKey: $0)?.timer }
        }
        for timer in timers { timer.cancel() }
    }

    /// Nothing is to come any more.
    open func removeAllPendingNotificationRequests() {
        removePendingNotificationRequests(withIdentifiers: state.withLock { Array($0.pending.keys) })
    }

    /// What is shown now; called at once, on the caller's thread.
    @preconcurrency open func getDeliveredNotifications(
        completionHandler: @escaping @Sendable ([UNNotification]) -> Void
    ) {
        completionHandler(state.withLock { $0.delivered.values.map(\.notification) })
    }

    /// What is shown now.
    open func deliveredNotifications() async -> [UNNotification] {
        state.withLock { $0.delivered.values.map(\.notification) }
    }

    /// The banner goes, and its sound with it.
    open func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
        let gone = state.withLock { state in identifiers.compactMap { state.delivered.removeValue(forKey: $0)?.id } }
        silence(Set(identifiers))
        for id in gone { close(id) }
    }

    /// Every banner of the app's goes.
    open func removeAllDeliveredNotifications() {
        removeDeliveredNotifications(withIdentifiers: state.withLock { Array($0.delivered.keys) })
    }

    /// Kept by nobody: see `UNMutableNotificationContent.badge`.
    @preconcurrency open func setBadgeCount(
        _ newBadgeCount: Int, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        completionHandler?(nil)
    }

    private func close(_ id: UInt32) {
        link.call(
            OutboundMessage(
                to: Self.server, path: "/org/freedesktop/Notifications", interface: Self.server,
                member: "CloseNotification", [.uint32(id)])
        ) { _ in
            // Closed already, or the server is gone.
        }
    }

    // MARK: What the server says

    private func listen() {
        let isFirst = state.withLock { state in
            defer { state.isListening = true }
            return !state.isListening
        }
        guard isFirst else { return }
        link.listen("type='signal',interface='\(Self.server)'") { [unowned self] message in heard(message) }
    }

    private func heard(_ message: InboundMessage) {
        guard message.interface == Self.server, let number = message.arguments.first?.integer else { return }
        let id = UInt32(clamping: number)
        guard let (identifier, shown) = state.withLock({ $0.delivered.first { $0.value.id == id } }) else { return }
        switch message.member {
        case "ActionInvoked":
            let action = message.arguments.last?.text ?? ""
            state.withLock { _ = $0.delivered.removeValue(forKey: identifier) }
            silence([identifier])
            close(id)
            respond(shown.notification, action == "default" ? UNNotificationDefaultActionIdentifier : action)
        case "NotificationClosed":
            state.withLock { _ = $0.delivered.removeValue(forKey: identifier) }
            // 2: by the user. An expired banner is no answer (callkit.md N14).
            guard message.arguments.last?.integer == 2 else { return }
            silence([identifier])
            let wantsDismissal = state.withLock { state in
                state.categories.contains {
                    $0.identifier == shown.notification.request.content.categoryIdentifier
                        && $0.options.contains(.customDismissAction)
                }
            }
            if wantsDismissal { respond(shown.notification, UNNotificationDismissActionIdentifier) }
        default: break
        }
    }

    private func respond(_ notification: UNNotification, _ action: String) {
        let response = UNNotificationResponse(notification: notification, actionIdentifier: action)
        DispatchQueue.main.async { [self] in
            delegate?.userNotificationCenter(self, didReceive: response) {}
        }
    }
}
