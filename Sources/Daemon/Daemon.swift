internal import APNs
internal import Base
internal import BusService
internal import Calls
internal import Config
internal import Crypto
internal import DBus
internal import Desktop
package import EventLoop
internal import Gateway
internal import Pushes
internal import Ringtone
internal import Store

/// The one actor: it owns every edge, feeds what happens to `CallCenter`, and performs what comes back.
///
/// Its executor is the event loop, so nothing here ever waits, and no two things happen at once.
package actor Daemon {
    /// What the program was started with.
    package struct Options: Sendable {
        package var environment: [String: String]
        /// Another file than `$XDG_CONFIG_HOME/ringd/ringd.conf`.
        package var configFile: String?
        /// The folder of ringd's own sounds, if it is not where the XDG variables lead.
        package var soundsFolder: String?
        package var decoder: String
        package var isDebug: Bool

        package init(
            environment: [String: String], configFile: String? = nil, soundsFolder: String? = nil, decoder: String,
            isDebug: Bool = false
        ) {
            self.environment = environment
            self.configFile = configFile
            self.soundsFolder = soundsFolder
            self.decoder = decoder
            self.isDebug = isDebug
        }
    }

    /// A start that cannot be: what, why and the cure, with the exit status (sysexits(3)).
    package struct StartFailure: Error, Sendable {
        package let message: String
        package let status: Int32
    }

    nonisolated let loop: EventLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    let options: Options
    let paths: Paths
    /// The store's.
    let worker: Worker
    /// The sounds': a second of decoding must not hold up a write that a crash would lose.
    let decoder = Worker(name: "ringd-decoder", isOccasional: true)
    let journal: Journal
    let started = Instant.now

    var configuration = Configuration()
    var faults: [ConfigFault] = []
    var configFile: String { options.configFile ?? paths.configFile }

    // The edges. Made in `start`, so that they are born in this actor's isolation.
    var edges: Edges!
    /// The service behind every door for pushes.
    let apns = PushService()
    var ownKey: APNs.ProviderKey?
    var configuredKeys: [APNs.ProviderKey] = []
    /// Whose client certificates are trusted beside our own authority's.
    var authorities: [Certificate] = []
    var authoritiesLine = 1
    /// Mistakes of webhooks' senders.
    var webhookRefusals = FaultGate(now: .now)
    /// What the service does later.
    var agenda: Agenda!
    /// What the push that is being taken did, for its door.
    var delivered: (push: UInt64, outcome: PushOutcome, reading: DialectBook.Reading)?
    /// Tells those who follow the record.
    var announcer: TimerSource!
    var isAnnouncing = false
    var lastAnnounced = Instant(nanoseconds: 0)
    /// Nil until a payload needs it.
    var dialectBook: DialectBook?
    /// To be read again when one does.
    var areDialectsOld = false
    var dialectFaults: [String] = []
    var center = CallCenter()
    /// The run-to-completion queue: an edge that answers at once cannot reorder actions.
    private var inbox: [CallEvent] = []
    /// How long the machine had slept when last looked at.
    private var slept = Instant.asleep
    private var isDraining = false
    var timer: TimerSource!
    /// Fires once when there has been nothing to do for a while.
    var rest: TimerSource!
    var daily: TimerSource!
    var exitTimer: TimerSource!
    var signals: [SignalSource] = []
    /// Busy with `sounds add`.
    var installer: Worker?

    /// Each live call's state as it was last written and published.
    private var recorded: [CallUUID: CallState] = [:]
    /// Of `PushID`: calls that were not pushed have one, too.
    var lastPush: UInt64 = 0
    var outcomes: [PushID: PushOutcome] = [:]
    var tokens: [CallUUID: String] = [:]
    /// What the core answered to reports and requests.
    var results: [RequestID: CallError?] = [:]
    var lastRequest: UInt64 = 0
    /// Actions are named by this and their number.
    let actionNonce = UInt64.random(in: .min ... .max)
    /// Apps that registered over the bus, now or in an earlier run, and what they told their servers.
    var registered: [String: ProviderRow] = [:]
    var uploads: [UploadKey: UploadRow] = [:]
    /// Apps whose calls an earlier run had connected: they are told when they come back.
    var reset: Set<String> = []
    /// Pushes on their way to apps.
    var payloads: [PushID: KeptPayload] = [:]
    /// Whose notification sound is playing.
    var sounding: String?
    /// Counts them: each has its own 30 seconds.
    var soundings: UInt64 = 0
    /// How many pushes each app has been given and has not answered.
    var openPushes: [String: Int] = [:]
    /// Pushes for apps that are there and have yet to say where pushes go.
    var latePushes: [String: [LatePush]] = [:]
    /// How many new calls each app has reported lately.
    var reports: [String: TokenBucket] = [:]
    var lastEnded: (call: Call, reason: EndReason, at: WallTime)?
    var unsaved: [EventRow] = []
    private var isSaving = false
    var isReady = false
    /// Asked before we were ready: answered then.
    var early: [BusCall] = []
    var isStopping = false
    var isFlushed = false
    /// Until the bus name is ours: what an earlier run left, which a second daemon must not touch.
    var snapshot: Store.Snapshot?

    package init(_ loop: EventLoop, _ options: Options) {
        self.loop = loop
        self.options = options
        paths = Paths(options.environment)
        journal = Journal(environment: options.environment)
        worker = Worker(name: "ringd-worker")
    }

    // MARK: Events

    func receive(_ event: CallEvent) { receive(CollectionOfOne(event)) }

    /// In this order, and with what follows from them looked at once: a start has a thousand of them.
    func receive(_ events: some Collection<CallEvent>) {
        // Calls are left to the successor.
        guard !isStopping else { return }
        noticeSleep()
        inbox += events
        guard !isDraining else { return }
        isDraining = true
        while !inbox.isEmpty {
            let batch = inbox
            inbox = []
            for event in batch {
                let actions = center.handle(event, at: .now)
                holdSound()
                for action in actions { perform(action) }
            }
        }
        isDraining = false
        edges.inhibitor.isWanted = !center.calls.isEmpty
        for call in center.calls where recorded[call.uuid] != call.state { record(call) }
        if let deadline = center.nextDeadline { timer.arm(at: deadline) } else { timer.disarm() }
        if center.calls.isEmpty { rest.arm(after: .seconds(10)) } else { rest.disarm() }
    }

    /// Whoever wakes us after a suspend comes through `receive`: then it shows that the clocks have parted.
    private func noticeSleep() {
        let asleep = Instant.asleep
        // Two readings of two clocks are never the same instant.
        if asleep - slept > .seconds(1) { inbox.append(.resumed) }
        slept = asleep
    }

    /// The one stream: journal, bus, store.
    func emit(_ event: Event) {
        log(event)
        guard let edges else { return }
        edges.service.emitEvent(event.kind.rawValue, event.busEntries)
        // Debug talk of no call is not worth a page on disk.
        guard event.call != nil || event.level < .debug else { return }
        // What a failing database has to say goes anywhere but into it.
        guard event.kind != .storeFault else { return }
        unsaved.append(event.row)
        // That it was raised once more can wait for what is said next: a ring need not wake the disk every few seconds.
        guard !isSaving, event.kind != .notificationRaised else { return }
        isSaving = true
        // One transaction for all that this turn of the loop says.
        loop.later { [unowned self] in self.assumeIsolated { $0.save() } }
    }

    func save() {
        isSaving = false
        guard !unsaved.isEmpty else { return }
        edges.store.append(unsaved)
        unsaved = []
    }

    private func log(_ event: Event) {
        guard event.level < .debug || options.isDebug else { return }
        let id = event.call.map { "\($0.short) " } ?? ""
        journal.log(
            priority: event.level.rawValue, message: "\(id)\(event.kind.rawValue): \(event.message)",
            fields: event.journalFields)
    }

    // MARK: Actions

    private func perform(_ action: CallAction) {
        switch action {
        case .completePush(let id, let outcome): outcomes[id] = outcome
        case .ring(let wish):
            if wish != nil && sounding != nil { edges.player?.stopPlaying() }
            edges.ring(wish, configuration, soundOf(app: wish?.app))
        case .vibrate(let call): edges.haptics.wish = configuration.vibration ? call : nil
        case .complete(let id, let refusal): results[id] = .some(refusal)
        case .show(let call, let waiting):
            edges.notifications.show(.call(call.uuid), banner(call, waiting))
        case .raise(let uuid):
            edges.notifications.raise(.call(uuid))
            edges.player?.attendWhileAwake()
        case .withdraw(let uuid): edges.notifications.withdraw(.call(uuid))
        case .perform(let action, let call, let kind, let deadline): askApp(action, call, kind, by: deadline)
        case .timedOut(let action, let call): tellTimedOut(action, call)
        case .configureAudio(let action, let call): configureAudio(action, call)
        case .handOver(let action, let call): handOver(action, call)
        case .sayEnded(let call, let reason): sayEnded(call, reason)
        case .tellEnded(let call, let reason): tellEnded(call, reason)
        case .wake(let app): wake(app)
        case .deliver(let id, let app, let call, let mustReport):
            deliverToApp(id, app, call, mustReport: mustReport)
        case .drop(let id): payloads[id] = nil
        case .open(let call): open(call)
        case .audio(let call, let isOn): audio(call, isOn: isOn)
        case .stayAwake(let isWanted): edges.inhibitor.isWanted = isWanted
        case .notice(let call, let reason, let kind): tellMissed(call, reason, kind)
        case .withdrawNotice(let call): edges.missed.withdraw(call)
        case .annotate(let call, let reason):
            var row = CallRow(call, at: .now, wall: .now, isInRecents: isInRecents(call.app))
            row.category = reason.category(of: call)
            row.isSeen = true
            edges.store.record(row)
        case .strike(let app, let count, let isSuspended): struck(app, count, isSuspended: isSuspended)
        case .record(let call): record(call)
        case .remember(let key, let serial):
            edges.store.rememberCancel(app: key.app, key: key.folded, serial: serial)
        case .note(let kind, let call, let level, let message, let fields):
            emit(Event(kind, call: call, level: level, message, fields))
        }
    }

    func banner(_ call: Call, _ waiting: CallAction.Waiting) -> Banner {
        var banner = Wording.incoming(
            caller: call.invite.caller.display, handle: call.invite.caller.handle?.shown,
            isVideo: call.invite.isVideo, app: appName(call.app), isWaiting: call.state == .ringing(.soft),
            endsOther: waiting != .no,
            canHold: waiting == .mayHoldOther, canOpen: opening(call.app) != nil,
            soundName: edges.needsServerSound ? "phone-incoming-call" : nil)
        if let icon = center.provider(of: call.app)?.iconName { banner.icon = icon }
        return banner
    }

    /// A banner that is there, with new words.
    func showAgain(_ call: Call) {
        edges.notifications.show(.call(call.uuid), banner(call, center.waiting(call)))
    }

    private func tellMissed(_ call: Call, _ reason: EndReason, _ kind: EndReason.Notice) {
        edges.missed.add(
            call, reason, kind, appName: appName(call.app), canOpen: opening(call.app) != nil,
            canCallBack: canCallBack(call))
    }

    func isInRecents(_ app: String) -> Bool { center.provider(of: app)?.includesCallsInRecents ?? true }

    /// At most 60 new calls a minute and app.
    func mayReport(_ app: String) -> Bool {
        reports[app, default: TokenBucket(burst: 60, perSecond: 1, now: .now)].take(now: .now)
    }

    func soundOf(app: String?) -> String? {
        app.flatMap { configuration.apps[$0]?.sound ?? center.provider(of: $0)?.ringtoneSound }
    }

    /// What people call the app; nothing for calls that belong to none.
    func appName(_ id: String) -> String {
        if id == Self.manualApp { return "" }
        return configuration.apps[id]?.name ?? center.provider(of: id)?.localizedName ?? id
    }

    /// The app of `ringctl ring`.
    static let manualApp = "org.ringd.ringctl"

    private func record(_ call: Call) {
        let row = CallRow(call, at: .now, wall: .now, isInRecents: isInRecents(call.app))
        let isNew = recorded[call.uuid] == nil
        recorded[call.uuid] = call.state.isEnded ? nil : call.state
        edges.store.record(row, live: call.state.isEnded ? nil : LiveRow(call, row))
        if call.state.isEnded {
            edges.service.unpublish(call.uuid)
            tokens[call.uuid] = nil
            if case .ended(let reason) = call.state { lastEnded = (call, reason, .now) }
        } else {
            edges.service.publish(call.uuid, call.busProperties)
            if isNew && !call.isOutgoing { askForName(call) }
        }
        updateStatus()
    }

    /// The line in `systemctl --user status`.
    func updateStatus() {
        guard isReady else { return }
        let ringing = center.calls.filter { $0.state.isRinging }.count
        let others = center.calls.count - ringing
        ServiceManager.notify(
            "STATUS=" + (center.calls.isEmpty ? "Waiting for calls" : "\(ringing) ringing, \(others) answered")
                + (isDisturbanceForbidden ? " · do not disturb" : ""))
    }
}
