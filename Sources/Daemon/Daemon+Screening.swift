internal import Base
internal import Calls
internal import Config
internal import Desktop
internal import Ringtone

/// Who may ring, and what the desktop is wished to do while a call is live.
extension Daemon {
    /// Do-not-disturb, for calls: the own switch, else the desktop's.
    var isDisturbanceForbidden: Bool {
        switch configuration.screening.switch {
        case .on: true
        case .off: false
        case .auto: edges.dnd.state.isOn ?? false
        }
    }

    /// The desktop's switch or the configuration is another than a moment ago.
    func screeningChanged() {
        receive(.disturbance(isForbidden: isDisturbanceForbidden))
        updateStatus()
    }

    /// Between the core's decision and its actions: the hold has to be asked for before the ring is ended, lest music
    /// comes back in between.
    func holdSound() {
        edges.callAudio.wish = center.calls.contains { call in
            switch call.state {
            case .ringing, .ended: false
            // What is handed to a link or a program is not ours to make room for.
            default: center.provider(of: call.app) != nil
            }
        }
    }
}
