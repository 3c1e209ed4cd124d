package import Base

/// What a payload says about a call, in wall time and without identity: callkit.md 3.14.
package struct CallSignal: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case invite
        /// Changes a live call in place; rings none.
        case update
        case cancel
        case answeredElsewhere = "answered-elsewhere"
        case declinedElsewhere = "declined-elsewhere"
        /// It rang out.
        case missed
        /// No call's business: a message, say.
        case other
    }

    package enum HandleKind: String, Sendable {
        case generic
        case phoneNumber = "phone"
        case emailAddress = "email"
    }

    package var kind: Kind = .invite
    /// The provider's call id, verbatim; nil if the payload has none.
    package var key: String?
    /// Cleaned of control and bidirectional characters.
    package var callerName: String?
    /// What can be called back, with its scheme; a number in E.164 where that can be told.
    package var handle: String?
    package var handleKind: HandleKind = .generic
    /// Nil: the payload does not say.
    package var video: Bool?
    /// The sound's name as the payload has it: untrusted.
    package var sound: String?
    package var ringTime: Duration?
    package var sentAt: WallTime?
    package var expiresAt: WallTime?
    package var serial: Int64?
    /// A cancel that leaves a call alone that was answered here.
    package var endsRingingOnly = false
    /// A cancel without an id, of a sender who means the only call there is.
    package var meansOnlyCall = false
    /// What the payload's own word for the kind is, if nobody knows it: `kind` is the dialect's guess then.
    package var unknownKind: String?

    package init() {}

    package var isVideo: Bool { video ?? false }
    /// It ends a call rather than announcing one.
    package var isEnd: Bool { kind.isEnd }

    /// A handle that is a telephone number in E.164, where a region is known and tells it; any other stays.
    package mutating func settleNumber(in region: PhoneRegion?) {
        guard let region, handleKind != .emailAddress, let handle, let number = PhoneNumber.e164(handle, in: region)
        else { return }
        self.handle = number
        handleKind = .phoneNumber
    }
}

/// Why a payload is not a call, in words for its sender.
package struct PayloadFault: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = Text.clean(description, limit: 300) }
}
