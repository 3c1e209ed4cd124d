internal import Base

/// Sends pushes to a gateway of the legacy binary protocol: frames out, and an error packet if it comes to that
/// (apns.md 2).
package final class BinarySender {
    package struct Notification: Sendable, Equatable {
        /// 0 simple, 1 enhanced, 2 framed.
        package var command: UInt8
        package var token: [UInt8]
        package var payload: [UInt8]
        /// Commands 1 and 2.
        package var identifier: UInt32
        /// Commands 1 and 2: seconds since 1970; 0: not to be kept.
        package var expiration: UInt32
        /// Command 2: 10 or 5.
        package var priority: UInt8

        package init(
            command: UInt8, token: [UInt8], payload: [UInt8], identifier: UInt32 = 0, expiration: UInt32 = 0,
            priority: UInt8 = 10
        ) {
            self.command = command
            self.token = token
            self.payload = payload
            self.identifier = identifier
            self.expiration = expiration
            self.priority = priority
        }

        /// Big-endian, as the protocol has it. Token and payload of at most 65535 bytes.
        package var frame: [UInt8] {
            func sized(_ bytes: [UInt8]) -> [UInt8] { Self.number(bytes.count, 2) + bytes }
            switch command {
            case 0: return [0] + sized(token) + sized(payload)
            case 1:
                return [1] + Self.number(Int(identifier), 4) + Self.number(Int(expiration), 4) + sized(token)
                    + sized(payload)
            default:
                let items =
                    [1] + sized(token) + [2] + sized(payload) + [3] + sized(Self.number(Int(identifier), 4)) + [4]
                    + sized(Self.number(Int(expiration), 4)) + [5] + sized([priority])
                return [2] + Self.number(items.count, 4) + items
            }
        }

        private static func number(_ value: Int, _ width: Int) -> [UInt8] {
            (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
    }

    /// The gateway's only words.
    package struct Refusal: Sendable, Equatable {
        package let status: UInt8
        package let identifier: UInt32

        /// What the documentation calls the status.
        package var words: String {
            switch status {
            case 1: "processing error"
            case 2: "missing device token"
            case 3: "missing topic"
            case 4: "missing payload"
            case 5: "invalid token size"
            case 6: "invalid topic size"
            case 7: "invalid payload size"
            case 8: "invalid token"
            case 10: "shutdown: send again what came after this one"
            case 128: "protocol error"
            default: "unknown"
            }
        }
    }

    private let channel: Channel
    private var heard: [UInt8] = []

    package init(_ channel: Channel) { self.channel = channel }

    package var isEnded: Bool { channel.isEnded }
    package var backlog: Int { channel.backlog }

    package func send(_ notification: Notification) throws(SendFailure) {
        try channel.send(notification.frame)
        try channel.flush()
    }

    /// One turn: sends, waits up to `time`, listens.
    package func step(_ time: Duration) throws(SendFailure) {
        try channel.flush()
        channel.wait(time)
        heard += try channel.read().prefix(64)
        try channel.flush()
    }

    /// The error packet, if one came.
    package var refusal: Refusal? {
        guard heard.count >= 6, heard[0] == 8 else { return nil }
        return Refusal(status: heard[1], identifier: heard[2..<6].reduce(0) { $0 << 8 | UInt32($1) })
    }

    /// Success is silence: listens for an error for `time`, or until the gateway cuts the line.
    package func listen(_ time: Duration) throws(SendFailure) {
        let end = Instant.now + time
        while Instant.now < end && !isEnded && refusal == nil { try step(end - Instant.now) }
    }

    package func close() { channel.finish() }
}
