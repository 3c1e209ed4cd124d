package import Base

/// The words of banners. One place, so that translations have one place.
package enum Wording {
    package static func incoming(
        caller: String, handle: String?, isVideo: Bool, app: String, isWaiting: Bool, canOpen: Bool,
        soundName: String?
    ) -> Banner {
        var detail: [String] = []
        if isWaiting { detail.append("Waiting") }
        detail.append(isVideo ? "Video call" : "Call")
        if let handle, handle != caller { detail.append(handle) }
        if !app.isEmpty { detail.append(app) }
        return Banner(
            summary: caller, body: detail.joined(separator: " · "), icon: "call-start",
            actions: [
                .init("default", canOpen ? "Open" : "Silence"), .init("answer", isWaiting ? "End & answer" : "Answer"),
                .init("decline", "Decline"),
            ],
            category: "call.incoming", urgency: .critical,
            keyboardHint: "ringctl answer · ringctl decline", soundName: soundName)
    }

    package static func missed(
        caller: String, count: Int, last: WallTime, rang: Duration, app: String, why: String?, canOpen: Bool,
        canCallBack: Bool
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
            category: "call.unanswered", urgency: .normal)
    }

    /// One notice for a burst of them.
    package static func missedMany(count: Int) -> Banner {
        Banner(
            summary: "\(count) missed calls", body: "ringctl missed", icon: "call-missed",
            actions: [], category: "call.unanswered", urgency: .normal)
    }
}
