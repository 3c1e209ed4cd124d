internal import Base
package import DBus
package import Foundation

/// What ringd asks of an app and tells it: the methods of PushDelegate1 and ProviderDelegate1, in order of arrival.
package enum Inbound: Sendable {
    /// Registered (again) with ringd: reports are taken.
    case begin
    /// Every call is void.
    case reset
    /// The daemon or the bus went away. What was open is void when it is back.
    case lost
    /// The registration was refused: nothing will come.
    case refused(RingdError)
    case perform(Action)
    case timedOut(action: UUID, call: UUID)
    /// Over without the app's doing.
    case ended(call: UUID, reason: String, callKitReason: Int)
    case configureAudio(call: UUID, Reply)
    case audio(call: UUID, isOn: Bool, Reply)
    case remoteInfo(call: UUID, details: DBusValue, Reply)
    case token(type: String, bytes: [UInt8], details: DBusValue)
    case tokenInvalid(type: String)
    case push(Push)

    package struct Action: Sendable {
        package let id: UUID
        package let call: UUID
        package let kind: Kind
        package let details: DBusValue
        /// When it times out.
        package let deadline: Date

        package enum Kind: String, Sendable {
            case start = "PerformStartCall"
            case answer = "PerformAnswerCall"
            case end = "PerformEndCall"
            case setHeld = "PerformSetHeldCall"
            case setMuted = "PerformSetMutedCall"
            case setGroup = "PerformSetGroupCall"
            case playDTMF = "PerformPlayDTMFCall"
        }
    }

    package struct Push: Sendable {
        package let type: String
        package let payload: [UInt8]
        /// The UUID under which ringd rings it; nil if it does not.
        package let call: UUID?
        package let metadata: DBusValue
        /// Completes the push; later times are nothing.
        package let complete: Reply
    }
}

/// The answer to a method call of ringd's: given once, from any thread.
package final class Reply: Sendable {
    private let answer: Once<Result<[DBusValue], DBusFailure>>

    init(_ answer: @escaping @Sendable (Result<[DBusValue], DBusFailure>) -> Void) { self.answer = Once(answer) }

    package func callAsFunction(_ values: [DBusValue] = []) { answer(.success(values)) }

    package func fail(_ message: String) {
        answer(.failure(DBusFailure("org.ringd.Error.App", message)))
    }
}

/// A function that runs the first time only.
package final class Once<Value: Sendable>: Sendable {
    private let body: Lock<(@Sendable (Value) -> Void)?>

    package init(_ body: @escaping @Sendable (Value) -> Void) { self.body = Lock(body) }

    /// False: it ran before.
    @discardableResult
    package func callAsFunction(_ value: Value) -> Bool {
        let first = body.withLock { body in
            defer { body = nil }
            return body
        }
        first?(value)
        return first != nil
    }
}
