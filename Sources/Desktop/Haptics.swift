package import Base
package import DBus

/// Vibration as a wish, through feedbackd (`org.sigxcpu.Feedback`): its event `phone-incoming-call` repeats by itself
/// until it is ended, and ends when we leave the bus. Without feedbackd it is only said that it would vibrate.
package final class Haptics: BusListener {
    /// The call to vibrate for; nil for rest.
    package var wish: CallUUID? {
        didSet { if wish != oldValue { changed(from: oldValue) } }
    }

    private let report: (Event) -> Void
    private let appID: String
    private var connection: DBusConnection?
    private var running: UInt32?
    private var generation = 0

    package init(appID: String, report: @escaping (Event) -> Void) {
        self.appID = appID
        self.report = report
    }

    package func busUp(_ connection: DBusConnection) {
        self.connection = connection
        if let wish { start(wish) }
    }

    package func busDown() {
        connection = nil
        running = nil
        generation += 1
    }

    package func busMessage(_ message: InboundMessage) -> Bool { false }

    private func changed(from old: CallUUID?) {
        generation += 1
        stop()
        if let old { report(Event(.vibrationStopped, call: old, "vibration off")) }
        if let wish { start(wish) }
    }

    private func start(_ call: CallUUID) {
        let mine = generation
        guard let connection else { return }
        // Profile "quiet" leaves out feedbackd's own sound: the ringtone is ours. Timeout 0 loops until ended.
        connection.call(
            message(
                "TriggerFeedback",
                [
                    .string(appID), .string("phone-incoming-call"), .dict(("profile", .string("quiet"))), .int32(0),
                ]), timeout: .seconds(5)
        ) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let values):
                let id = UInt32(clamping: values.first?.integer ?? 0)
                // Stopped before the reply came: end it now.
                guard mine == generation else { return end(id) }
                running = id
                report(
                    Event(
                        .vibrationStarted, call: call, "vibration on, by feedbackd", [.init("by", .text("feedbackd"))]))
            case .failure(let failure):
                guard mine == generation else { return }
                let why =
                    failure.name == "org.freedesktop.DBus.Error.ServiceUnknown"
                    ? "no feedbackd" : failure.message
                report(
                    Event(
                        .vibrationStarted, call: call, "vibration on (\(why): logged only)",
                        [.init("by", .text("none"))]))
            }
        }
    }

    private func stop() {
        if let id = running { end(id) }
        running = nil
    }

    private func end(_ id: UInt32) {
        connection?.call(message("EndFeedback", [.uint32(id)])) { _ in
            // Ended already, or feedbackd is gone: both are rest.
        }
    }

    private func message(_ member: String, _ arguments: [DBusValue]) -> OutboundMessage {
        OutboundMessage(
            to: "org.sigxcpu.Feedback", path: "/org/sigxcpu/Feedback", interface: "org.sigxcpu.Feedback",
            member: member, arguments)
    }
}
