public import Foundation

/// How the other side of a call is reached.
open class CXHandle: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: both properties are constants, and a subclass is its author's business, as with Apple's.

    public enum HandleType: Int, Sendable, Hashable {
        case generic = 1
        case phoneNumber = 2
        case emailAddress = 3
    }

    public let type: HandleType
    public let value: String

    public init(type: HandleType, value: String) {
        self.type = type
        self.value = value
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The same type and value.
    open func isEqual(to handle: CXHandle) -> Bool { type == handle.type && value == handle.value }

    open override func isEqual(_ object: Any?) -> Bool { (object as? CXHandle).map(isEqual(to:)) ?? false }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(type)
        hasher.combine(value)
        return hasher.finalize()
    }

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
