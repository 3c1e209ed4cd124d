package import Base

/// Which banner: a call's own, or the one that counts a caller's missed calls.
package enum BannerKey: Hashable, Sendable {
    case call(CallUUID)
    case missed(String)
}

/// A notification as it is wished, before any server's quirks.
package struct Banner: Sendable, Equatable {
    package var summary: String
    /// Plain text; escaped on the way to servers that read markup.
    package var body: String
    package var icon: String
    /// Key and label, in order. `default` is a click on the body.
    package var actions: [Action]
    /// Desktop Notifications 1.3, section 6: `call.incoming`, `call.unanswered`.
    package var category: String
    package var urgency: Urgency
    /// Appended for servers that draw no buttons.
    package var keyboardHint: String?
    /// A themed sound for the server to play, when we cannot; nil asks it to be silent.
    package var soundName: String?

    package struct Action: Sendable, Equatable {
        package let key: String
        package let label: String
        package init(_ key: String, _ label: String) {
            self.key = key
            self.label = label
        }
    }

    package enum Urgency: UInt8, Sendable {
        case low = 0
        case normal = 1
        case critical = 2
    }

    package init(
        summary: String, body: String, icon: String, actions: [Action], category: String, urgency: Urgency,
        keyboardHint: String? = nil, soundName: String? = nil
    ) {
        self.summary = summary
        self.body = body
        self.icon = icon
        self.actions = actions
        self.category = category
        self.urgency = urgency
        self.keyboardHint = keyboardHint
        self.soundName = soundName
    }
}
