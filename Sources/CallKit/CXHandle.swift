public import Foundation

/// How the other side of a call is reached.
open class CXHandle: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: both properties are constants, and a subclass is its author's business, as with Apple's.

    /// What kind of text a handle is. Numbers are Apple's.
    public enum HandleType: Int, Sendable, Hashable {
        /// Any name that the app understands.
        case generic = 1
        /// A phone number, as the app writes it.
        case phoneNumber = 2
        /// An e-mail address.
        case emailAddress = 3
    }

    /// What kind of text the value is.
    public let type: HandleType
    /// The text; at most 512 bytes on the bus.
    public let value: String

    /// A handle; nothing checks that the text is of that type.
    public init(type: HandleType, value: String) {
        self.type = type
        self.value = value
    }

    /// The object itself: it does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The same type and value.
    open func isEqual(to handle: CXHandle) -> Bool { type == handle.type && value == handle.value }

    /// Equal to another object of its kind.
    open override func isEqual(_ object: Any?) -> Bool { (object as? CXHandle).map(isEqual(to:)) ?? false }

    /// As `isEqual(_:)` has it.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(type)
        hasher.combine(value)
        return hasher.finalize()
    }

    /// For logs: type and value.
    open override var description: String { "<CXHandle \(type) \(value)>" }
}

extension CXHandle.HandleType {
    /// As the bus has it.
    var word: String {
        switch self {
        case .generic: "generic"
        case .phoneNumber: "phone-number"
        case .emailAddress: "email-address"
        }
    }

    init(word: String) {
        switch word {
        case "phone-number": self = .phoneNumber
        case "email-address": self = .emailAddress
        default: self = .generic
        }
    }
}
