/// One notification as the legacy binary protocol carries it (apns.md 2.1).
package struct BinaryPush: Sendable, Equatable {
    /// 0 simple, 1 enhanced, 2 framed.
    package let command: UInt8
    /// 32 bytes, unless the limits say otherwise.
    package let token: [UInt8]
    /// 1 byte up to the limit; not looked into here.
    package let payload: [UInt8]
    /// The sender's own number for it, named in an error packet; command 0 has none.
    package let identifier: UInt32?
    /// Seconds since 1970; 0 means "do not store"; nil where the sender said nothing.
    package let expiry: UInt32?
    /// 10 (at once) or 5 (when it suits); commands 0 and 1 imply 10.
    package let priority: UInt8

    package init(
        command: UInt8, token: [UInt8], payload: [UInt8], identifier: UInt32? = nil, expiry: UInt32? = nil,
        priority: UInt8 = 10
    ) {
        self.command = command
        self.token = token
        self.payload = payload
        self.identifier = identifier
        self.expiry = expiry
        self.priority = priority
    }
}

/// Why a stream of frames cannot be read on. Final for its connection: the protocol has no way to find the next frame.
package struct BinaryFault: Error, Sendable, Equatable {
    package enum Cause: Sendable, Equatable {
        case unknownCommand(UInt8)
        /// The frame of command 2 contradicts itself; the words say how.
        case brokenFrame(String)
        case missingToken
        case missingPayload
        case tokenSize(Int)
        case payloadSize(Int, limit: Int)
    }

    package let cause: Cause
    /// The command of the frame it was found in.
    package let command: UInt8
    /// The notification's number if the sender gave one before the fault; nil otherwise.
    package let identifier: UInt32?

    package init(cause: Cause, command: UInt8, identifier: UInt32?) {
        self.cause = cause
        self.command = command
        self.identifier = identifier
    }

    /// The status of the error packet (apns.md 2.2).
    package var status: BinaryStatus {
        switch cause {
        case .unknownCommand, .brokenFrame: .protocolError
        case .missingToken: .missingDeviceToken
        case .missingPayload: .missingPayload
        case .tokenSize: .invalidTokenSize
        case .payloadSize: .invalidPayloadSize
        }
    }

    /// The six bytes that answer it, or nil for command 0, where Apple's gateway just cut the line. A protocol error
    /// has identifier 0.
    package var packet: [UInt8]? {
        command == 0 ? nil : status.packet(identifier: status == .protocolError ? 0 : identifier ?? 0)
    }

    /// What was wrong, for people.
    package var words: String {
        switch cause {
        case .unknownCommand(let command): "a frame begins with command \(command); only 0, 1 and 2 exist"
        case .brokenFrame(let how): how
        case .missingToken: "there is no device token"
        case .missingPayload: "there is no payload"
        case .tokenSize(let size): "the device token has \(size) bytes"
        case .payloadSize(let size, let limit): "the payload has \(size) bytes; the limit is \(limit)"
        }
    }
}

/// The statuses of the legacy error packet (apns.md 2.2).
package enum BinaryStatus: UInt8, Sendable, CaseIterable {
    case processingError = 1
    case missingDeviceToken = 2
    case missingTopic = 3
    case missingPayload = 4
    case invalidTokenSize = 5
    case invalidTopicSize = 6
    case invalidPayloadSize = 7
    case invalidToken = 8
    /// The identifier is the last one accepted: everything after it is to be sent again.
    case shutdown = 10
    case protocolError = 128
    case unknown = 255

    /// Command 8, status, identifier: big-endian, 6 bytes.
    package func packet(identifier: UInt32) -> [UInt8] {
        [8, rawValue] + stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: identifier >> $0) }
    }
}
