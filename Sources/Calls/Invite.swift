package import Base

/// Who calls, as the push said it: already cleaned of control and bidirectional characters, never empty when shown.
package struct Caller: Sendable, Hashable {
    /// Display name, as given.
    package var name: String?
    /// What can be called back.
    package var handle: Handle?

    package init(name: String? = nil, handle: Handle? = nil) {
        self.name = name
        self.handle = handle
    }

    /// Name, else handle, else "Unknown caller" (callkit.md 3.14).
    package var display: String { name ?? handle?.shown ?? "Unknown caller" }
}

/// CXHandle: 1 generic, 2 phone number, 3 e-mail address (callkit.md 2.3).
package struct Handle: Sendable, Hashable {
    package enum Kind: Int, Sendable {
        case generic = 1
        case phoneNumber = 2
        case emailAddress = 3
    }

    package var kind: Kind
    package var value: String

    package init(_ kind: Kind, _ value: String) {
        self.kind = kind
        self.value = value
    }

    /// For people: without scheme and parameters, which `value` keeps for calling back.
    package var shown: String { HandleText.shown(value) }
}

/// One incoming call as a push (or `ringctl ring`) announced it.
package struct Invite: Sendable, Hashable {
    /// The identity everything else uses. Derived from `key` by whoever made the invite, so that repeats agree.
    package var uuid: CallUUID
    /// The app it is for (reverse DNS).
    package var app: String
    /// The provider's own call id, verbatim; compared without case.
    package var key: String
    /// The payload had no id and one was made: no cancel push can ever name this call (callkit.md W27).
    package var isKeySynthetic: Bool
    package var caller: Caller
    package var isVideo: Bool
    /// The push said whether, rather than leaving it open: of a repeat only what is said counts.
    package var saysVideo: Bool
    /// The sound the push named; a name, never a path.
    package var sound: String?
    /// How long to ring, as the push asks.
    package var ringTime: Duration?
    /// When the sender sent it, on our clock.
    package var sentAt: Instant?
    /// The same as the sender wrote it, nanoseconds since 1970: what a repeated push has in common with the first,
    /// whatever either clock did meanwhile.
    package var stamp: Int64?
    /// After this it is not to ring any more.
    package var expiresAt: Instant?
    /// The provider's counter; newer wins.
    package var serial: Int64?

    package init(
        uuid: CallUUID, app: String, key: String, isKeySynthetic: Bool = false, caller: Caller = Caller(),
        isVideo: Bool = false, saysVideo: Bool = true, sound: String? = nil, ringTime: Duration? = nil,
        sentAt: Instant? = nil,
        stamp: Int64? = nil, expiresAt: Instant? = nil, serial: Int64? = nil
    ) {
        self.uuid = uuid
        self.app = app
        self.key = key
        self.isKeySynthetic = isKeySynthetic
        self.caller = caller
        self.isVideo = isVideo
        self.saysVideo = saysVideo
        self.sound = sound
        self.ringTime = ringTime
        self.sentAt = sentAt
        self.stamp = stamp
        self.expiresAt = expiresAt
        self.serial = serial
    }

    package var callKey: CallKey { CallKey(app: app, key: key) }
}

/// A provider's call id within its app, compared without case, and a UUID in whatever spelling (callkit.md N8).
package struct CallKey: Hashable, Sendable {
    package let app: String
    package let folded: String

    package init(app: String, key: String) {
        self.app = app
        folded = CallUUID(key)?.description ?? key.lowercased()
    }
}

/// What a push says about a call (callkit.md 3.14, `kind`).
package enum Signal: Sendable, Hashable {
    case invite(Invite)
    /// Changes a live call in place; rings none.
    case update(Invite)
    case end(Ending)
    /// Not a call, or not understood; the text says why.
    case unusable(String)

    /// The caller hung up before an answer.
    package static func cancel(_ key: CallKey) -> Signal { .end(Ending(app: key.app, key: key, .remoteEnded)) }
    package static func answeredElsewhere(_ key: CallKey) -> Signal {
        .end(Ending(app: key.app, key: key, .answeredElsewhere))
    }
    package static func declinedElsewhere(_ key: CallKey) -> Signal {
        .end(Ending(app: key.app, key: key, .declinedElsewhere))
    }
}

/// What a push says of a call's end.
package struct Ending: Sendable, Hashable {
    package var app: String
    /// Nil: the app's only call, whichever it is; some senders name none (callkit.md 3.4).
    package var key: CallKey?
    package var reason: EndReason
    /// It leaves a call alone that was answered here: some senders' cancels come to that device, too (callkit.md 3.2).
    package var isForRingingOnly: Bool
    /// The provider's counter.
    package var serial: Int64?

    package init(
        app: String, key: CallKey?, _ reason: EndReason, isForRingingOnly: Bool = false, serial: Int64? = nil
    ) {
        self.app = app
        self.key = key
        self.reason = reason
        self.isForRingingOnly = isForRingingOnly
        self.serial = serial
    }
}
