package import Base

/// What a payload says about a call, in wall time and without identity: callkit.md 3.14.
package struct CallSignal: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case invite
        case cancel
        case answeredElsewhere = "answered-elsewhere"
        case declinedElsewhere = "declined-elsewhere"
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
    package var handle: String?
    package var handleKind: HandleKind = .generic
    package var isVideo = false
    /// The sound's name as the payload has it: untrusted.
    package var sound: String?
    package var ringTime: Duration?
    package var sentAt: WallTime?
    package var expiresAt: WallTime?
    package var serial: Int64?
    /// What the payload's `kind` says, if that is none of ours: `kind` is invite then.
    package var unknownKind: String?

    package init() {}

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
