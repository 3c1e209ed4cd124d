/// One thing that happened. The single stream of these feeds the journal, `ringctl watch`, reports, the store and tests.
package struct Event: Sendable, Equatable {
    /// What kind of thing, as `area.what`. Stable: tools match on it.
    package let kind: Kind
    /// The call it belongs to.
    package let call: CallUUID?
    package let at: Instant
    package let wall: WallTime
    package let level: Level
    /// One line for people: what, why, and what to do. No secrets; no caller names at `info` and above unless the
    /// event is the call's own (they never leave the user's journal and bus).
    package let message: String
    package let fields: [Field]

    package struct Field: Sendable, Equatable {
        package let name: String
        package let value: Value
        package init(_ name: String, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    package enum Value: Sendable, Equatable {
        case text(String)
        case number(Int64)
        case real(Double)
        case flag(Bool)
        case reals([Double])
    }

    /// Levels of syslog(3), by their numbers.
    package enum Level: Int, Sendable, Comparable {
        case error = 3
        case warning = 4
        case notice = 5
        case info = 6
        case debug = 7
        package static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    package init(
        _ kind: Kind, call: CallUUID? = nil, level: Level = .info, _ message: String, _ fields: [Field] = [],
        at: Instant = .now, wall: WallTime = .now
    ) {
        self.kind = kind
        self.call = call
        self.level = level
        self.message = message
        self.fields = fields
        self.at = at
        self.wall = wall
    }

    package subscript(_ name: String) -> Value? { fields.first { $0.name == name }?.value }

    package func text(_ name: String) -> String? {
        if case .text(let value)? = self[name] { value } else { nil }
    }
}

extension Event {
    /// Every kind of event. The raw text is the interface: see `Docs/events.md`.
    package enum Kind: String, Sendable, CaseIterable {
        case daemonReady = "daemon.ready"
        case daemonStopping = "daemon.stopping"
        case configLoaded = "config.loaded"
        case configFault = "config.fault"

        case pushReceived = "push.received"
        case pushAccepted = "push.accepted"
        case pushRefused = "push.refused"
        case deviceOffline = "device.offline"
        case deviceOnline = "device.online"
        case gatewayListening = "gateway.listening"
        case gatewayFault = "gateway.fault"
        case webhookListening = "webhook.listening"
        case webhookRefused = "webhook.refused"
        case webhookFault = "webhook.fault"

        case callRinging = "call.ringing"
        case callAgain = "call.again"
        case callQueued = "call.queued"
        case callUpdated = "call.updated"
        case callSilenced = "call.silenced"
        case callScreened = "call.screened"
        case callAnswering = "call.answering"
        case callDeferred = "call.deferred"
        case callConnecting = "call.connecting"
        case callRequested = "call.requested"
        case callDialing = "call.dialing"
        case callActive = "call.active"
        case callHeld = "call.held"
        case callResumed = "call.resumed"
        case callMuted = "call.muted"
        case callGrouped = "call.grouped"
        case callDTMF = "call.dtmf"
        case callEnding = "call.ending"
        case callEnded = "call.ended"
        case callIgnored = "call.ignored-event"

        case notificationShown = "notification.shown"
        case notificationRaised = "notification.raised"
        case notificationClosed = "notification.closed"
        case notificationAction = "notification.action"
        case notificationLost = "notification.lost"
        case notificationFault = "notification.fault"
        case notificationServer = "notification.server"
        case missedShown = "missed.shown"

        case soundStarted = "sound.started"
        case soundHeard = "sound.heard"
        case soundStopped = "sound.stopped"
        case soundFallback = "sound.fallback"
        case soundFault = "sound.fault"
        case soundServer = "sound.server"

        case vibrationStarted = "vibration.started"
        case vibrationStopped = "vibration.stopped"

        case audioPending = "audio.pending"
        case audioOn = "audio.on"
        case audioOff = "audio.off"
        case actionFailed = "action.failed"

        case appAttached = "app.attached"
        case appGone = "app.gone"
        case appWoken = "app.woken"
        case appPush = "app.push"
        case appAccount = "app.account"
        case appStrike = "app.strike"
        case appAnswer = "app.answer"
        case appEnd = "app.end"
        case appOpened = "app.opened"
        case appFault = "app.fault"

        case dndOn = "dnd.on"
        case dndOff = "dnd.off"
        case audioHeld = "audio.held"
        case audioReleased = "audio.released"
        case inhibitorHeld = "inhibitor.held"
        case inhibitorReleased = "inhibitor.released"

        case busLost = "bus.lost"
        case busReturned = "bus.returned"
        case storeFault = "store.fault"
    }
}
