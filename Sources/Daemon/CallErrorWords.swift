internal import Calls
internal import DBus

extension CallError {
    /// As a D-Bus error: `org.ringd.Error.FAMILY.CODE`, with what, why and what now.
    var failure: DBusFailure {
        let (family, code, words): (String, String, String) =
            switch self {
            case .incoming(let error): ("IncomingCall.", "\(error)", error.words)
            case .request(let error): ("RequestTransaction.", "\(error)", error.words)
            case .general(let error): ("CallKit.", "\(error)", error.words)
            case .unknownAction:
                (
                    "", "unknownAction",
                    "no action of this app's with that id is open: it is completed, timed out, or another app's"
                )
            }
        return DBusFailure("org.ringd.Error.\(family)\(code.prefix(1).uppercased())\(code.dropFirst())", words)
    }
}

extension CallError.Incoming {
    fileprivate var words: String {
        switch self {
        case .unknown: "the call was not taken: the app has as many calls as it may, or it came too late"
        case .unentitled: "the app may not report calls"
        case .callUUIDAlreadyExists:
            "a call with this UUID is there, or was a moment ago: a repeated push, which is harmless"
        case .filteredByDoNotDisturb: "the user wants no disturbance by this caller: it is a missed call"
        case .filteredByBlockList: "the user has blocked this caller"
        case .filteredDuringRestrictedSharingMode: "calls are not presented while the screen is shared"
        case .callIsProtected: "the call is protected"
        case .filteredBySensitiveParticipants: "the call has sensitive participants"
        }
    }
}

extension CallError.Request {
    fileprivate var words: String {
        switch self {
        case .unknown: "too many transactions of this app's are under way: wait for their end"
        case .unentitled: "an app acts on its own calls only"
        case .unknownCallProvider: "no such app takes calls over the bus (CallProvider1.Register)"
        case .emptyTransaction: "the transaction has no actions"
        case .unknownCallUUID: "no live call of this app's has that UUID: it is over, or never was"
        case .callUUIDAlreadyExists: "a call with this UUID is there already; if it rings, answer it instead"
        case .invalidAction: "the call cannot do that as it stands, or a value is out of range"
        case .maximumCallGroupsReached:
            "as many calls are on as the app may have (maximum-call-groups), or the present one cannot be held: end one first"
        case .callIsProtected: "the call is protected"
        }
    }
}

extension CallError.General {
    fileprivate var words: String {
        switch self {
        case .unknown: "it did not work"
        case .unentitled: "apps and sandboxed programs may only do what concerns themselves"
        case .invalidArgument: "a value is not what was expected"
        case .missingVoIPBackgroundMode: "the app cannot be started for a call: it has no D-Bus service file"
        }
    }
}
