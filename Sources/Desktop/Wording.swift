package import Base

/// The words of banners. One place, so that translations have one place.
package enum Wording {
    /// `isWaiting`: it knocks softly beside a call that is on. `endsOther`: answering it ends one, as it does whenever it
    /// waits, and when its app has as many on hold as it may; `canHold`: that one can be held meanwhile.
    package static func incoming(
        caller: String, handle: String?, isVideo: Bool, app: String, isWaiting: Bool, endsOther: Bool? = nil,
        canHold: Bool = false, canOpen: Bool, soundName: String?
    ) -> Banner {
        let endsOther = endsOther ?? isWaiting
        var detail: [String] = []
        if isWaiting { detail.append("Waiting") }
        detail.append(isVideo ? "Video call" : "Call")
        if let handle, handle != caller { detail.append(handle) }
        if !app.isEmpty { detail.append(app) }
        var actions: [Banner.Action] = [.init("default", canOpen ? "Open" : "Silence")]
        // First what loses nothing: servers show three buttons at most, in this order.
        if endsOther && canHold { actions.append(.init("hold-answer", "Hold & answer")) }
        actions.append(.init("answer", endsOther ? "End & answer" : "Answer"))
        actions.append(.init("decline", "Decline"))
        return Banner(
            summary: caller, body: detail.joined(separator: " · "), icon: "call-start", actions: actions,
            category: "call.incoming", urgency: .critical,
            keyboardHint: "ringctl answer · ringctl decline", soundName: soundName)
    }

    /// A call that the user had answered or dialled, and that failed then. `why`: in a few words; nil if nobody says.
    package static func failed(
        caller: String, app: String, why: String?, canOpen: Bool, canCallBack: Bool
    ) -> Banner {
        let detail = [why, app].compactMap { $0 }.filter { !$0.isEmpty }
        return Banner(
            summary: "Call failed: \(caller)", body: detail.joined(separator: " · "), icon: "call-stop",
            actions: (canOpen ? [.init("default", "Open")] : [])
                + (canCallBack ? [.init("callback", "Call back")] : []),
            category: "call.unanswered", urgency: .normal)
    }

    /// `isQuiet`: it was screened, so its notice must not disturb either.
    package static func missed(
        caller: String, count: Int, last: WallTime, rang: Duration, app: String, why: String?, canOpen: Bool,
        canCallBack: Bool, isQuiet: Bool = false
    ) -> Banner {
        var detail = [last.formatted("%H:%M")]
        if let why {
            detail.append(why)
        } else if rang >= .seconds(1) {
            detail.append("rang \(rang.components.seconds) s")
        }
        if !app.isEmpty { detail.append(app) }
        return Banner(
            summary: count == 1 ? "Missed call from \(caller)" : "\(count) missed calls from \(caller)",
            body: detail.joined(separator: " · "), icon: "call-missed",
            actions: (canOpen ? [.init("default", "Open")] : [])
                + (canCallBack ? [.init("callback", "Call back")] : []),
            category: "call.unanswered", urgency: isQuiet ? .low : .normal)
    }

    /// One notice for a burst of them.
    package static func missedMany(count: Int) -> Banner {
        Banner(
            summary: "\(count) missed calls", body: "ringctl missed", icon: "call-missed",
            actions: [], category: "call.unanswered", urgency: .normal)
    }
}
