public import Foundation
internal import RingdClient

/// The domain of `CXErrorCode`.
public let CXErrorDomain = "com.apple.CallKit.error"
public let CXErrorDomainIncomingCall = "com.apple.CallKit.error.incomingcall"
public let CXErrorDomainRequestTransaction = "com.apple.CallKit.error.requesttransaction"
public let CXErrorDomainCallDirectoryManager = "com.apple.CallKit.error.calldirectorymanager"
public let CXErrorDomainNotificationServiceExtension = "com.apple.CallKit.error.notificationserviceextension"

/// An error of CallKit's: a code within a domain, and words that say cause and cure.
public protocol CXErrorProtocol: CustomNSError, LocalizedError, Hashable, Sendable {
    associatedtype Code: RawRepresentable<Int>, Hashable, Sendable
    var code: Code { get }
}

extension CXErrorProtocol {
    public var errorCode: Int { code.rawValue }
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: errorDescription ?? ""] }
    public static func == (a: Self, b: Self) -> Bool { a.code == b.code }
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

public struct CXErrorCode: CXErrorProtocol {
    public enum Code: Int, Sendable {
        case unknown = 0
        case unentitled = 1
        case invalidArgument = 2
        case missingVoIPBackgroundMode = 3
    }

    public let code: Code
    public let errorDescription: String?
    public static var errorDomain: String { CXErrorDomain }

    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        errorDescription = userInfo[NSLocalizedDescriptionKey] as? String ?? "CallKit: \(code)"
    }

    public static var unknown: Code { .unknown }
    public static var unentitled: Code { .unentitled }
    public static var invalidArgument: Code { .invalidArgument }
    public static var missingVoIPBackgroundMode: Code { .missingVoIPBackgroundMode }
}

public struct CXErrorCodeIncomingCallError: CXErrorProtocol {
    public enum Code: Int, Sendable {
        case unknown = 0
        case unentitled = 1
        case callUUIDAlreadyExists = 2
        case filteredByDoNotDisturb = 3
        case filteredByBlockList = 4
        case filteredDuringRestrictedSharingMode = 5
        case callIsProtected = 6
        case filteredBySensitiveParticipants = 7
    }

    public let code: Code
    public let errorDescription: String?
    public static var errorDomain: String { CXErrorDomainIncomingCall }

    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        errorDescription = userInfo[NSLocalizedDescriptionKey] as? String ?? "the call was not presented: \(code)"
    }

    public static var unknown: Code { .unknown }
    public static var unentitled: Code { .unentitled }
    public static var callUUIDAlreadyExists: Code { .callUUIDAlreadyExists }
    public static var filteredByDoNotDisturb: Code { .filteredByDoNotDisturb }
    public static var filteredByBlockList: Code { .filteredByBlockList }
    public static var filteredDuringRestrictedSharingMode: Code { .filteredDuringRestrictedSharingMode }
    public static var callIsProtected: Code { .callIsProtected }
    public static var filteredBySensitiveParticipants: Code { .filteredBySensitiveParticipants }
}

public struct CXErrorCodeRequestTransactionError: CXErrorProtocol {
    public enum Code: Int, Sendable {
        case unknown = 0
        case unentitled = 1
        case unknownCallProvider = 2
        case emptyTransaction = 3
        case unknownCallUUID = 4
        case callUUIDAlreadyExists = 5
        case invalidAction = 6
        case maximumCallGroupsReached = 7
        case callIsProtected = 8
    }

    public let code: Code
    public let errorDescription: String?
    public static var errorDomain: String { CXErrorDomainRequestTransaction }

    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        errorDescription = userInfo[NSLocalizedDescriptionKey] as? String ?? "the transaction was refused: \(code)"
    }

    public static var unknown: Code { .unknown }
    public static var unentitled: Code { .unentitled }
    public static var unknownCallProvider: Code { .unknownCallProvider }
    public static var emptyTransaction: Code { .emptyTransaction }
    public static var unknownCallUUID: Code { .unknownCallUUID }
    public static var callUUIDAlreadyExists: Code { .callUUIDAlreadyExists }
    public static var invalidAction: Code { .invalidAction }
    public static var maximumCallGroupsReached: Code { .maximumCallGroupsReached }
    public static var callIsProtected: Code { .callIsProtected }
}

public struct CXErrorCodeCallDirectoryManagerError: CXErrorProtocol {
    public enum Code: Int, Sendable {
        case unknown = 0
        case noExtensionFound = 1
        case loadingInterrupted = 2
        case entriesOutOfOrder = 3
        case duplicateEntries = 4
        case maximumEntriesExceeded = 5
        case extensionDisabled = 6
        case currentlyLoading = 7
        case unexpectedIncrementalRemoval = 8
    }

    public let code: Code
    public let errorDescription: String?
    public static var errorDomain: String { CXErrorDomainCallDirectoryManager }

    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        errorDescription = userInfo[NSLocalizedDescriptionKey] as? String ?? "the call directory: \(code)"
    }

    public static var unknown: Code { .unknown }
    public static var noExtensionFound: Code { .noExtensionFound }
    public static var loadingInterrupted: Code { .loadingInterrupted }
    public static var entriesOutOfOrder: Code { .entriesOutOfOrder }
    public static var duplicateEntries: Code { .duplicateEntries }
    public static var maximumEntriesExceeded: Code { .maximumEntriesExceeded }
    public static var extensionDisabled: Code { .extensionDisabled }
    public static var currentlyLoading: Code { .currentlyLoading }
    public static var unexpectedIncrementalRemoval: Code { .unexpectedIncrementalRemoval }
}

public struct CXErrorCodeNotificationServiceExtensionError: CXErrorProtocol {
    public enum Code: Int, Sendable {
        case unknown = 0
        case invalidClientProcess = 1
        case missingNotificationFilteringEntitlement = 2
    }

    public let code: Code
    public let errorDescription: String?
    public static var errorDomain: String { CXErrorDomainNotificationServiceExtension }

    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        errorDescription = userInfo[NSLocalizedDescriptionKey] as? String ?? "the notification service: \(code)"
    }

    public static var unknown: Code { .unknown }
    public static var invalidClientProcess: Code { .invalidClientProcess }
    public static var missingNotificationFilteringEntitlement: Code { .missingNotificationFilteringEntitlement }
}

/// So that `catch CXErrorCodeRequestTransactionError.unknownCallUUID` works, as it does on Apple's systems.
public func ~= (code: CXErrorCodeIncomingCallError.Code, error: any Error) -> Bool {
    (error as? CXErrorCodeIncomingCallError)?.code == code
}

public func ~= (code: CXErrorCodeRequestTransactionError.Code, error: any Error) -> Bool {
    (error as? CXErrorCodeRequestTransactionError)?.code == code
}

public func ~= (code: CXErrorCode.Code, error: any Error) -> Bool { (error as? CXErrorCode)?.code == code }

// MARK: - From the bus

extension RingdError {
    /// As an app of CallKit's expects it; `isRequest`: of a transaction, else of an incoming call.
    func callKit(isRequest: Bool) -> any Error {
        let info: [String: Any] = [NSLocalizedDescriptionKey: description]
        switch family {
        case "IncomingCall": return CXErrorCodeIncomingCallError(incoming, userInfo: info)
        case "RequestTransaction": return CXErrorCodeRequestTransactionError(request, userInfo: info)
        case "CallKit": return CXErrorCode(general, userInfo: info)
        default:
            // The daemon is away, or the app is nobody: CallKit's families have "unknown", and the words say what it is.
            return isRequest
                ? CXErrorCodeRequestTransactionError(.unknown, userInfo: info)
                : CXErrorCodeIncomingCallError(.unknown, userInfo: info)
        }
    }

    private var incoming: CXErrorCodeIncomingCallError.Code {
        switch code {
        case "Unentitled": .unentitled
        case "CallUUIDAlreadyExists": .callUUIDAlreadyExists
        case "FilteredByDoNotDisturb": .filteredByDoNotDisturb
        case "FilteredByBlockList": .filteredByBlockList
        case "FilteredDuringRestrictedSharingMode": .filteredDuringRestrictedSharingMode
        case "CallIsProtected": .callIsProtected
        case "FilteredBySensitiveParticipants": .filteredBySensitiveParticipants
        default: .unknown
        }
    }

    private var request: CXErrorCodeRequestTransactionError.Code {
        switch code {
        case "Unentitled": .unentitled
        case "UnknownCallProvider": .unknownCallProvider
        case "EmptyTransaction": .emptyTransaction
        case "UnknownCallUUID": .unknownCallUUID
        case "CallUUIDAlreadyExists": .callUUIDAlreadyExists
        case "InvalidAction": .invalidAction
        case "MaximumCallGroupsReached": .maximumCallGroupsReached
        case "CallIsProtected": .callIsProtected
        default: .unknown
        }
    }

    private var general: CXErrorCode.Code {
        switch code {
        case "Unentitled": .unentitled
        case "InvalidArgument": .invalidArgument
        case "MissingVoIPBackgroundMode": .missingVoIPBackgroundMode
        default: .unknown
        }
    }
}
