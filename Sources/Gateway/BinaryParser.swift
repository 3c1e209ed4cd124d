/// The legacy binary protocol, bytes in, notifications out (apns.md 2.1): a value without any I/O.
///
/// Frames may be split and joined in any way. Every length is judged as soon as its bytes are there, before anything is
/// kept for it, so the parser holds at most one token and one payload beyond what was appended. After a fault it stays
/// failed, since everything behind a bad notification is to be discarded.
package struct BinaryParser: Sendable {
    package enum Outcome: Sendable, Equatable {
        case push(BinaryPush)
        case needMore
        case failed(BinaryFault)
    }

    package struct Limits: Sendable, Equatable {
        /// Bytes of payload. Apple's gateway took 256, from autumn 2014 on 2048. Ours takes what VoIP pushes may have in
        /// the HTTP/2 API, 5120: the sender that is under test decides what it sends, and a call must not fail here that
        /// rings through the other door.
        package var payload: Int
        /// Bytes of a device token. Apple's are 32; the archived documentation allows up to 100 in command 2.
        package var token: ClosedRange<Int>

        package init(payload: Int = 5120, token: ClosedRange<Int> = 32...32) {
            self.payload = payload
            self.token = token
        }
    }

    private let limits: Limits
    private var queue = ByteQueue()
    private var state = State.idle

    private enum State: Sendable {
        /// Before a frame.
        case idle
        /// In the items of command 2.
        case items(Frame)
        case failed(BinaryFault)
    }

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// Bytes that were appended and belong to no notification yet.
    package var buffered: Int { queue.count }

    /// True between two frames: a good moment for the other side to close.
    package var isBetweenFrames: Bool {
        if case .idle = state { queue.count == 0 } else { false }
    }

    package mutating func append(_ bytes: some Collection<UInt8>) {
        if case .failed = state { return }
        queue.append(bytes)
    }

    /// The next notification, if it is complete. To be called until it says `.needMore` or `.failed`.
    package mutating func next() -> Outcome {
        // A loop, because the steps inside a frame of command 2 yield nothing.
        while true {
            let step: Outcome? =
                switch state {
                case .idle: begin()
                case .items(let frame): advance(frame)
                case .failed(let fault): .failed(fault)
                }
            if let step { return step }
        }
    }

    /// At the first byte of a frame. Nil: the state has changed, go on.
    private mutating func begin() -> Outcome? {
        guard queue.count > 0 else { return .needMore }
        switch queue[0] {
        case 0: return simple(command: 0, tokenAt: 1)
        case 1: return simple(command: 1, tokenAt: 9)
        case 2:
            guard queue.count >= 5 else { return .needMore }
            let length = queue.number(at: 1, bytes: 4)
            guard length <= Frame.lengthLimit else {
                return fail(
                    .brokenFrame("a frame of \(length) bytes is announced; five items are at most 327690"), 2, nil)
            }
            queue.drop(5)
            state = .items(Frame(remaining: length))
            return nil
        case let other: return fail(.unknownCommand(other), other, nil)
        }
    }

    /// Commands 0 and 1: token and payload behind one another, each with its length.
    private mutating func simple(command: UInt8, tokenAt: Int) -> Outcome {
        guard queue.count >= tokenAt + 2 else { return .needMore }
        let identifier = command == 1 ? UInt32(queue.number(at: 1, bytes: 4)) : nil
        let expiry = command == 1 ? UInt32(queue.number(at: 5, bytes: 4)) : nil
        let tokenSize = queue.number(at: tokenAt, bytes: 2)
        if let cause = judge(token: tokenSize) { return fail(cause, command, identifier) }
        let payloadAt = tokenAt + 2 + tokenSize
        guard queue.count >= payloadAt + 2 else { return .needMore }
        let payloadSize = queue.number(at: payloadAt, bytes: 2)
        if let cause = judge(payload: payloadSize) { return fail(cause, command, identifier) }
        let end = payloadAt + 2 + payloadSize
        guard queue.count >= end else { return .needMore }
        let push = BinaryPush(
            command: command, token: queue.slice(at: tokenAt + 2, count: tokenSize),
            payload: queue.slice(at: payloadAt + 2, count: payloadSize), identifier: identifier, expiry: expiry)
        queue.drop(end)
        return .push(push)
    }

    private func judge(token size: Int) -> BinaryFault.Cause? {
        size == 0 ? .missingToken : limits.token.contains(size) ? nil : .tokenSize(size)
    }

    private func judge(payload size: Int) -> BinaryFault.Cause? {
        size == 0 ? .missingPayload : size <= limits.payload ? nil : .payloadSize(size, limit: limits.payload)
    }

    private mutating func fail(_ cause: BinaryFault.Cause, _ command: UInt8, _ identifier: UInt32?) -> Outcome {
        let fault = BinaryFault(cause: cause, command: command, identifier: identifier)
        state = .failed(fault)
        queue = ByteQueue()
        return .failed(fault)
    }

    // MARK: Command 2

    /// One step inside a frame. Nil: the state has changed, go on.
    private mutating func advance(_ frame: Frame) -> Outcome? {
        var frame = frame
        if frame.skipping > 0 {
            let count = min(frame.skipping, queue.count)
            guard count > 0 else { return .needMore }
            queue.drop(count)
            frame.skipping -= count
            state = .items(frame)
            return nil
        }
        if frame.remaining == 0 { return finish(frame) }
        guard frame.remaining >= 3 else {
            return fail(.brokenFrame("\(frame.remaining) bytes are left in a frame, too few for an item"), 2, nil)
        }
        guard queue.count >= 3 else { return .needMore }
        let item = queue[0]
        let size = queue.number(at: 1, bytes: 2)
        guard size <= frame.remaining - 3 else {
            return fail(
                .brokenFrame("item \(item) has \(size) bytes, \(frame.remaining - 3) are left in its frame"), 2, nil)
        }
        // Bits 1 to 5; items beyond are refused below.
        let bit: UInt8 = item < 8 ? 1 << item : 0
        guard frame.seen & bit == 0 else {
            return fail(.brokenFrame("item \(item) comes twice in a frame"), 2, nil)
        }
        let cause: BinaryFault.Cause? =
            switch item {
            case 1: judge(token: size)
            case 2: judge(payload: size)
            case 3, 4: size == 4 ? nil : .brokenFrame("item \(item) has \(size) bytes instead of 4")
            case 5: size == 1 ? nil : .brokenFrame("item 5 has \(size) bytes instead of 1")
            default: .brokenFrame("there is no item \(item)")
            }
        if case .brokenFrame? = cause { return fail(cause!, 2, nil) }
        if let cause {
            // Not kept, and not answered yet: the identifier, which the answer needs, may stand behind it.
            frame.fault = frame.fault ?? cause
            frame.skipping = size
            queue.drop(3)
        } else {
            // Not there yet: the item will be looked at again.
            guard queue.count >= 3 + size else { return .needMore }
            switch item {
            case 1: frame.token = queue.slice(at: 3, count: size)
            case 2: frame.payload = queue.slice(at: 3, count: size)
            case 3: frame.identifier = UInt32(queue.number(at: 3, bytes: 4))
            case 4: frame.expiry = UInt32(queue.number(at: 3, bytes: 4))
            default: frame.priority = queue[3]
            }
            queue.drop(3 + size)
        }
        frame.seen |= bit
        frame.remaining -= 3 + size
        state = .items(frame)
        return nil
    }

    private mutating func finish(_ frame: Frame) -> Outcome {
        if let cause = frame.fault { return fail(cause, 2, frame.identifier) }
        guard let token = frame.token else { return fail(.missingToken, 2, frame.identifier) }
        guard let payload = frame.payload else { return fail(.missingPayload, 2, frame.identifier) }
        guard frame.priority == 10 || frame.priority == 5 else {
            return fail(.brokenFrame("priority \(frame.priority) does not exist: it is 10 or 5"), 2, frame.identifier)
        }
        state = .idle
        return .push(
            BinaryPush(
                command: 2, token: token, payload: payload, identifier: frame.identifier, expiry: frame.expiry,
                priority: frame.priority))
    }

    /// What is known of a frame of command 2 so far.
    private struct Frame: Sendable {
        /// Bytes of items not yet looked at; what is being skipped is no longer among them.
        var remaining: Int
        var skipping = 0
        var seen: UInt8 = 0
        var token: [UInt8]?
        var payload: [UInt8]?
        var identifier: UInt32?
        var expiry: UInt32?
        var priority: UInt8 = 10
        var fault: BinaryFault.Cause?

        init(remaining: Int) { self.remaining = remaining }

        /// Five items of the largest size: more is no frame, whatever it is.
        static let lengthLimit = 5 * (3 + 0xffff)
    }
}
