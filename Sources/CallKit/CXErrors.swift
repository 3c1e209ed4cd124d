public import Foundation
internal import RingdClient

/// The domain of `CXErrorCode`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let CXErrorDomain = "com.apple.CallKit.error"
/// The domain of `CXErrorCodeIncomingCallError`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let CXErrorDomainIncomingCall = "com.apple.CallKit.error.incomingcall"
/// The domain of `CXErrorCodeRequestTransactionError`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let CXErrorDomainRequestTransaction = "com.apple.CallKit.error.requesttransaction"
/// The domain of `CXErrorCodeCallDirectoryManagerError`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let CXErrorDomainCallDirectoryManager = "com.apple.CallKit.error.calldirectorymanager"
/// The domain of `CXErrorCodeNotificationServiceExtensionError`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let CXErrorDomainNotificationServiceExtension = "com.apple.CallKit.error.notificationserviceextension"

/// An error of CallKit's: a code within a domain, and words that say cause and cure.
public protocol CXErrorProtocol: CustomNSError, LocalizedError, Hashable, Sendable {
    /// The codes of this family.
    associatedtype Code: RawRepresentable<Int>, Hashable, Sendable
    /// Which of the family's errors it is.
    var code: Code { get }
}

extension CXErrorProtocol {
    /// Apple's number.
    public var errorCode: Int { code.rawValue }
    /// `NSLocalizedDescriptionKey` alone.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: errorDescription ?? ""] }
    /// The same code; words do not count.
    public static func == (a: Self, b: Self) -> Bool { a.code == b.code }
    /// By the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

/// An error that is neither of an incoming call nor of a transaction.
public struct CXErrorCode: CXErrorProtocol {
    /// Apple's numbers.
    public enum Code: Int, Sendable {
        /// Of no known kind; the error's words say what it is.
        case unknown = 0
        /// The app may not: it is not the owner of its id on the bus.
        case unentitled = 1
        /// An argument is out of its range.
        case invalidArgument = 2
        /// Never on Linux, where there are no background modes.
        case missingVoIPBackgroundMode = 3
    }

    /// Which of the family's errors it is.
    public let code: Code
    /// What is wrong, why, and what now.
    public let errorDescription: String?
    /// Apple's domain of this family.
    public static var errorDomain: String { CXErrorDomain }

    /// With the words of `NSLocalizedDescriptionKey`, if they are there.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        errorDescription = userInfo[NSLocalizedDescriptionKey] as? String ?? "CallKit: \(code)"
    }

    /// Of no known kind; the error's words say what it is.
    public static var unknown: Code { .unknown }
    /// The app may not: it is not the owner of its id on the bus.
    public static var unentitled: Code { .unentitled }
    /// An argument is out of its range.
    public static var invalidArgument: Code { .invalidArgument }
    /// Never on Linux, where there are no background modes.
    public static var missingVoIPBackgroundMode: Code { .missingVoIPBackgroundMode }
}

/// Why a call that was reported is not presented.
public struct CXErrorCodeIncomingCallError: CXErrorProtocol {
    /// Apple's numbers.
    public enum Code: Int, Sendable {
        /// Of no known kind; the error's words say what it is.
        case unknown = 0
        /// The app may not: it is not the owner of its id on the bus.
        case unentitled = 1
        /// There is a live call of this UUID, or one that has just ended.
        case callUUIDAlreadyExists = 2
        /// Do-not-disturb refuses calls.
        case filteredByDoNotDisturb = 3
        /// The user has blocked this caller.
        case filteredByBlockList = 4
        /// Never on Linux.
        case filteredDuringRestrictedSharingMode = 5
        /// Never on Linux.
        case callIsProtected = 6
        /// Never on Linux.
        case filteredBySensitiveParticipants = 7
    }

    /// Which of the family's errors it is.
    public let code: Code
    /// What is wrong, why, and what now.
    public let errorDescription: String?
    /// Apple's domain of this family.
    public static var errorDomain: String { CXErrorDomainIncomingCall }

    /// With the words of `NSLocalizedDescriptionKey`, if they are there.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        errorDescription = userInfo[NSLocalizedDescriptionKey] as? String ?? "the call was not presented: \(code)"
    }

    /// Of no known kind; the error's words say what it is.
    public static var unknown: Code { .unknown }
    /// The app may not: it is not the owner of its id on the bus.
    public static var unentitled: Code { .unentitled }
    /// There is a live call of this UUID, or one that has just ended.
    public static var callUUIDAlreadyExists: Code { .callUUIDAlreadyExists }
    /// Do-not-disturb refuses calls.
    public static var filteredByDoNotDisturb: Code { .filteredByDoNotDisturb }
    /// The user has blocked this caller.
    public static var filteredByBlockList: Code { .filteredByBlockList }
    /// Never on Linux.
    public static var filteredDuringRestrictedSharingMode: Code { .filteredDuringRestrictedSharingMode }
    /// Never on Linux.
    public static var callIsProtected: Code { .callIsProtected }
    /// Never on Linux.
    public static var filteredBySensitiveParticipants: Code { .filteredBySensitiveParticipants }
}

/// Why a transaction was refused; none of its actions is performed.
public struct CXErrorCodeRequestTransactionError: CXErrorProtocol {
    /// Apple's numbers.
    public enum Code: Int, Sendable {
        /// Of no known kind; the error's words say what it is.
        case unknown = 0
        /// The app may not: it is not the owner of its id on the bus.
        case unentitled = 1
        /// No app of this id takes calls.
        case unknownCallProvider = 2
        /// The transaction has no action.
        case emptyTransaction = 3
        /// No live call of the app's has this UUID: it is over, or was never reported.
        case unknownCallUUID = 4
        /// There is a live call of this UUID, or one that has just ended.
        case callUUIDAlreadyExists = 5
        /// The call's state does not allow it.
        case invalidAction = 6
        /// There are as many calls as the configuration's `maximumCallGroups` allows.
        case maximumCallGroupsReached = 7
        /// Never on Linux.
        case callIsProtected = 8
    }

    /// Which of the family's errors it is.
    public let code: Code
    /// What is wrong, why, and what now.
    public let errorDescription: String?
    /// Apple's domain of this family.
    public static var errorDomain: String { CXErrorDomainRequestTransaction }

    /// With the words of `NSLocalizedDescriptionKey`, if they are there.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        errorDescription = userInfo[NSLocalizedDescriptionKey] as? String ?? "the transaction was refused: \(code)"
    }

    /// Of no known kind; the error's words say what it is.
    public static var unknown: Code { .unknown }
    /// The app may not: it is not the owner of its id on the bus.
    public static var unentitled: Code { .unentitled }
    /// No app of this id takes calls.
    public static var unknownCallProvider: Code { .unknownCallProvider }
    /// The transaction has no action.
    public static var emptyTransaction: Code { .emptyTransaction }
    /// No live call of the app's has this UUID: it is over, or was never reported.
    public static var unknownCallUUID: Code { .unknownCallUUID }
    /// There is a live call of this UUID, or one that has just ended.
    public static var callUUIDAlreadyExists: Code { .callUUIDAlreadyExists }
    /// The call's state does not allow it.
    public static var invalidAction: Code { .invalidAction }
    /// There are as many calls as the configuration's `maximumCallGroups` allows.
    public static var maximumCallGroupsReached: Code { .maximumCallGroupsReached }
    /// Never on Linux.
    public static var callIsProtected: Code { .callIsProtected }
}

/// Never thrown on Linux: there is no call directory.
public struct CXErrorCodeCallDirectoryManagerError: CXErrorProtocol {
    /// Apple's numbers.
    public enum Code: Int, Sendable {
        /// Of no known kind; the error's words say what it is.
        case unknown = 0
        /// Never on Linux: there is no call directory.
        case noExtensionFound = 1
        /// Never on Linux.
        case loadingInterrupted = 2
        /// Never on Linux.
        case entriesOutOfOrder = 3
        /// Never on Linux.
        case duplicateEntries = 4
        /// Never on Linux.
        case maximumEntriesExceeded = 5
        /// Never on Linux.
        case extensionDisabled = 6
        /// Never on Linux.
        case currentlyLoading = 7
        /// Never on Linux.
        case unexpectedIncrementalRemoval = 8
    }

    /// Which of the family's errors it is.
    public let code: Code
    /// What is wrong, why, and what now.
    public let errorDescription: String?
    /// Apple's domain of this family.
    public static var errorDomain: String { CXErrorDomainCallDirectoryManager }

    /// With the words of `NSLocalizedDescriptionKey`, if they are there.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        errorDescription = userInfo[NSLocalizedDescriptionKey] as? String ?? "the call directory: \(code)"
    }

    /// Of no known kind; the error's words say what it is.
    public static var unknown: Code { .unknown }
    /// Never on Linux: there is no call directory.
    public static var noExtensionFound: Code { .noExtensionFound }
    /// Never on Linux.
    public static var loadingInterrupted: Code { .loadingInterrupted }
    /// Never on Linux.
    public static var entriesOutOfOrder: Code { .entriesOutOfOrder }
    /// Never on Linux.
    public static var duplicateEntries: Code { .duplicateEntries }
    /// Never on Linux.
    public static var maximumEntriesExceeded: Code { .maximumEntriesExceeded }
    /// Never on Linux.
    public static var extensionDisabled: Code { .extensionDisabled }
    /// Never on Linux.
    public static var currentlyLoading: Code { .currentlyLoading }
    /// Never on Linux.
    public static var unexpectedIncrementalRemoval: Code { .unexpectedIncrementalRemoval }
}

/// Never thrown on Linux: there are no service extensions.
public struct CXErrorCodeNotificationServiceExtensionError: CXErrorProtocol {
    /// Apple's numbers.
    public enum Code: Int, Sendable {
        /// Of no known kind; the error's words say what it is.
        case unknown = 0
        /// Never on Linux.
        case invalidClientProcess = 1
        /// Never on Linux.
        case missingNotificationFilteringEntitlement = 2
    }

    /// Which of the family's errors it is.
    public let code: Code
    /// What is wrong, why, and what now.
    public let errorDescription: String?
    /// Apple's domain of this family.
    public static var errorDomain: String { CXErrorDomainNotificationServiceExtension }

    /// With the words of `NSLocalizedDescriptionKey`, if they are there.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        errorDescription = userInfo[NSLocalizedDescriptionKey] as? String ?? "the notification service: \(code)"
    }

    /// Of no known kind; the error's words say what it is.
    public static var unknown: Code { .unknown }
    /// Never on Linux.
    public static var invalidClientProcess: Code { .invalidClientProcess }
    /// Never on Linux.
    public static var missingNotificationFilteringEntitlement: Code { .missingNotificationFilteringEntitlement }
}

/// So that `catch CXErrorCodeRequestTransactionError.unknownCallUUID` works, as it does on Apple's systems.
public func ~= (code: CXErrorCodeIncomingCallError.Code, error: any Error) -> Bool {
    (error as? CXErrorCodeIncomingCallError)?.code == code
}

/// So that `catch` takes a code, as it does on Apple's systems.
public func ~= (code: CXErrorCodeRequestTransactionError.Code, error: any Error) -> Bool {
    (error as? CXErrorCodeRequestTransactionError)?.code == code
}

/// So that `catch` takes a code, as it does on Apple's systems.
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
