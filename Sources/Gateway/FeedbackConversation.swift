internal import APNs
internal import Base
internal import EventLoop

/// The legacy feedback service (apns.md 2.3): everything that there is to say at once, then the end. Each tuple: seconds
/// since 1970 in 4 bytes, the token's length in 2, the token.
final class FeedbackConversation: Conversation {
    private unowned let connection: Connection
    private let began = Instant.now

    init(_ connection: Connection) {
        self.connection = connection
        var out: [UInt8] = []
        for (token, at) in connection.gateway.service.takeFeedback(for: connection.certificate) {
            let seconds = UInt32(clamping: at.seconds)
            for shift in stride(from: 24, through: 0, by: -8) {
                out.append(UInt8(truncatingIfNeeded: seconds >> UInt32(shift)))
            }
            out += [0, UInt8(DeviceToken.size)] + token.bytes
        }
        connection.send(out)
        // After this turn: the connection is still being told what it speaks.
        connection.gateway.loop.later { [weak connection] in connection?.finish() }
    }

    func received(_ bytes: UnsafeRawBufferPointer) {}
    func ended() {}
    var deadline: Instant { began + .seconds(10) }
    func timeUp(now: Instant) { connection.finish() }
    var idleSince: Instant? { nil }
    func farewell() {}
}
