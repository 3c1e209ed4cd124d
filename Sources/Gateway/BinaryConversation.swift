internal import APNs
internal import Base

/// The legacy binary protocol (apns.md 2.1, 2.2): frames in, at most one error packet out.
final class BinaryConversation: Conversation {
    private unowned let connection: Connection
    private let sender: Sender
    private let limits: Gateway.Configuration.Binary
    private var parser: BinaryParser
    private let request = PushRequest()
    /// Nil: no limit.
    private var bucket: TokenBucket?
    /// A push that waits for the rate to allow it.
    private var held: BinaryPush?
    private var lastPush: Instant
    private var frameBegan: Instant?
    /// For the error packet of a shutdown: nil until a push with an identifier was accepted.
    private var lastAccepted: UInt32?
    private var isOver = false

    init(_ connection: Connection, _ sender: Sender) {
        self.connection = connection
        self.sender = sender
        limits = connection.gateway.configuration.binary
        parser = BinaryParser(limits: limits.frames)
        lastPush = .now
        if limits.pushesPerSecond > 0 {
            bucket = TokenBucket(burst: limits.pushBurst, perSecond: limits.pushesPerSecond, now: lastPush)
        }
    }

    // MARK: Time

    var deadline: Instant {
        if let frameBegan { return frameBegan + limits.frameDeadline }
        return lastPush + connection.gateway.configuration.idleLimit
    }

    var idleSince: Instant? { parser.isBetweenFrames ? lastPush : nil }

    func timeUp(now: Instant) {
        if frameBegan != nil {
            let limit = limits.frameDeadline.shortText
            connection.report(
                ConnectionFault("frame-stalled", "began a frame and did not finish it within \(limit)"))
        }
        connection.finish()
    }

    // MARK: Pushes

    func received(_ bytes: UnsafeRawBufferPointer) {
        guard !isOver else { return }
        parser.append(bytes)
        work()
    }

    func resumed() { work() }

    private func work() {
        while !isOver {
            switch held.map(BinaryParser.Outcome.push) ?? parser.next() {
            case .push(let push): if !pass(push) { return }
            case .failed(let fault): return refuse(fault)
            case .needMore:
                frameBegan = parser.isBetweenFrames ? nil : frameBegan ?? .now
                return
            }
        }
    }

    /// Has a push decided. False: not now, or never again on this connection.
    private func pass(_ push: BinaryPush) -> Bool {
        let now = Instant.now
        guard bucket?.take(now: now) ?? true else {
            held = push
            connection.pause(until: bucket?.refilled() ?? now)
            return false
        }
        held = nil
        lastPush = now
        frameBegan = nil
        request.reset()
        request.transport = .binary(command: push.command)
        request.binaryToken = push.token
        request.identifier = push.identifier
        if let expiry = push.expiry { request.set(.expiration, String(expiry)) }
        if push.command == 2 { request.set(.priority, String(push.priority)) }
        request.append(push.payload)
        let answer = connection.gateway.service.take(request, from: sender, now: now)
        // The one who decides may have stopped the gateway.
        guard !isOver else { return false }
        return act(on: answer, push)
    }

    private func act(on answer: PushService.Answer, _ push: BinaryPush) -> Bool {
        for fault in answer.faults {
            switch fault {
            case .close, .goAway:
                end()
                return false
            case .cut, .reset, .refuseStream:
                isOver = true
                connection.cut()
                return false
            case .hang:
                isOver = true
                connection.hang()
                return false
            default: break
            }
        }
        guard let reason = answer.reason else {
            lastAccepted = push.identifier ?? lastAccepted
            return true
        }
        let status = reason.binaryStatus
        let identifier = status == .shutdown ? lastAccepted ?? 0 : push.identifier ?? 0
        end(saying: push.command == 0 ? nil : status.packet(identifier: identifier))
        return false
    }

    private func refuse(_ fault: BinaryFault) {
        var fields: [Event.Field] = [
            .init("peer", .text(connection.peer)), .init("environment", .text(connection.environment.rawValue)),
            .init("command", .number(Int64(fault.command))), .init("status", .number(Int64(fault.status.rawValue))),
        ]
        if let identifier = fault.identifier { fields.append(.init("identifier", .number(Int64(identifier)))) }
        let answer = fault.command == 0 ? "the line is cut" : "answered with status \(fault.status.rawValue)"
        connection.gateway.report(
            fault: .pushRefused, "refused a push from \(connection.peer): \(fault.words); \(answer)", fields, .warning)
        end(saying: fault.packet)
    }

    // MARK: The end

    private func end(saying packet: [UInt8]? = nil) {
        isOver = true
        held = nil
        parser = BinaryParser()
        if let packet { connection.send(packet) }
        connection.finish()
    }

    func ended() {
        guard !isOver, !parser.isBetweenFrames else { return }
        connection.report(
            ConnectionFault("frame-cut", "went away in the middle of a frame (\(parser.buffered) bytes of it came)"))
    }

    func lost(_ words: String) {
        guard !isOver, !parser.isBetweenFrames else { return }
        connection.report(ConnectionFault("connection-lost", "was lost while \(words)"))
    }

    func farewell() {
        isOver = true
        if let lastAccepted { connection.send(BinaryStatus.shutdown.packet(identifier: lastAccepted)) }
    }

    func closed() {
        isOver = true
        connection.gateway.service.left(sender)
    }
}
