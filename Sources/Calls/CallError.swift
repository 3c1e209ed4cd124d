/// Why an app's report or request was refused: CallKit's errors, by family and number (callkit.md 2.6).
package enum CallError: Error, Sendable, Hashable {
    case incoming(Incoming)
    case request(Request)
    case general(General)
    /// What `CXAction.fulfill` and `fail` cannot say: the action is not open, or not the app's.
    case unknownAction

    /// CXErrorCodeIncomingCallError.
    package enum Incoming: Int, Sendable, CaseIterable {
        case unknown = 0
        case unentitled = 1
        case callUUIDAlreadyExists = 2
        case filteredByDoNotDisturb = 3
        case filteredByBlockList = 4
        case filteredDuringRestrictedSharingMode = 5
        case callIsProtected = 6
        case filteredBySensitiveParticipants = 7
    }

    /// CXErrorCodeRequestTransactionError.
    package enum Request: Int, Sendable, CaseIterable {
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

    /// CXErrorCode.
    package enum General: Int, Sendable, CaseIterable {
        case unknown = 0
        case unentitled = 1
        case invalidArgument = 2
        case missingVoIPBackgroundMode = 3
    }
}
