internal import APNs
internal import Base
internal import Crypto
internal import EventLoop

/// One sender's connection: socket, TLS and parser, read in that order backwards, so that nothing is read which cannot
/// be used yet.
///
/// Handshaking → open → closing → closed. Closing means: say what is to be said, end our direction, let the other side
/// finish, then close; closing with unread input makes TCP send RST, which destroys an error packet under way
/// (apns.md 2.2).
final class BinaryConnection {
    let id: Int
    let peer: String
    private let socket: Socket
    private let session: TLSSession
    private let profile: BinaryGateway.Profile
    private unowned let gateway: BinaryGateway
    private var source: IOSource?
    private var parser: BinaryParser
    /// Nil: no limit.
    private var bucket: TokenBucket?
    private var phase = Phase.handshaking

    private var environment = PushEnvironment.unknown
    private var certificate: PeerCertificate?
    /// A push that waits for the rate to allow it.
    private var held: BinaryPush?
    private var throttledUntil: Instant?
    /// Encrypted bytes that the kernel did not take yet: at most one scratch buffer.
    private var unsent: [UInt8] = []
    /// For explanations.
    private var firstBytes: [UInt8] = []
    private var firstPlain: [UInt8] = []

    private let accepted: Instant
    private var lastPush: Instant
    private var frameBegan: Instant?
    private var closingSince: Instant?
    private var drained = 0
    /// For the error packet of a shutdown: nil until a push with an identifier was accepted.
    private var lastAccepted: UInt32?

    private enum Phase {
        case handshaking
        case open
        case closing
        case closed
    }

    /// At most this many bytes are read in one turn of the loop, so that one busy sender leaves room for others.
    private static let turnBudget = 65_536
    /// At most this many bytes are thrown away while closing.
    private static let drainLimit = 1 << 20

    init(
        id: Int, socket: Socket, session: TLSSession, profile: BinaryGateway.Profile, gateway: BinaryGateway,
        now: Instant
    ) throws(LoopFailure) {
        self.id = id
        self.socket = socket
        self.session = session
        self.profile = profile
        self.gateway = gateway
        peer = socket.peerAddress?.description ?? "an unknown peer"
        let configuration = gateway.configuration
        parser = BinaryParser(limits: configuration.frames)
        if configuration.pushesPerSecond > 0 {
            bucket = TokenBucket(
                burst: configuration.pushBurst, perSecond: configuration.pushesPerSecond, now: now)
        }
        accepted = now
        lastPush = now
        // Weak: the connection owns its source.
        source = try IOSource(gateway.loop, fd: socket.fd, .read) { [weak self] in self?.ready($0) }
    }

    // MARK: Time

    var isHandshaking: Bool { phase == .handshaking }
    var isClosing: Bool { phase == .closing }

    /// How long an open connection has been between two frames; zero for any other.
    func idleTime(now: Instant) -> Duration {
        phase == .open && parser.isBetweenFrames ? now - lastPush : .zero
    }

    /// How long the handshake has taken so far.
    func age(now: Instant) -> Duration { now - accepted }

    /// When `timeUp(now:)` has something to do.
    var deadline: Instant {
        let limits = gateway.configuration
        switch phase {
        case .handshaking: return accepted + limits.handshakeDeadline
        case .open:
            if let throttledUntil { return throttledUntil }
            if let frameBegan { return frameBegan + limits.frameDeadline }
            return lastPush + limits.idleLimit
        case .closing: return (closingSince ?? accepted) + limits.drainDeadline
        case .closed: return accepted
        }
    }

    func timeUp(now: Instant) {
        guard now >= deadline else { return }
        switch phase {
        case .handshaking:
            let limit = gateway.configuration.handshakeDeadline.shortText
            report(ConnectionFault("handshake-stalled", "did not finish the TLS handshake within \(limit)"))
            close()
        case .open where throttledUntil != nil:
            throttledUntil = nil
            source?.isEnabled = true
            pump()
        case .open where frameBegan != nil:
            let limit = gateway.configuration.frameDeadline.shortText
            report(ConnectionFault("frame-stalled", "began a frame and did not finish it within \(limit)"))
            finish()
        case .open: finish()
        case .closing: close()
        case .closed: break
        }
    }

    // MARK: The loop's side

    private func ready(_ what: IOInterest) {
        if what.contains(.write) { flush() }
        switch phase {
        case .handshaking, .open: pump()
        case .closing: drain()
        case .closed: break
        }
    }

    private func pump() {
        var budget = Self.turnBudget
        while phase == .handshaking || phase == .open {
            if phase == .open {
                switch held.map(BinaryParser.Outcome.push) ?? parser.next() {
                case .push(let push):
                    if !pass(push) { return }
                    continue
                case .failed(let fault): return refuse(fault)
                case .needMore: break
                }
            }
            guard let more = decrypt() else { return }
            if more { continue }
            flush()
            // The other side makes us talk and does not listen: until it does, nothing more is read.
            guard budget > 0, session.pendingOutput + unsent.count < TLSSession.outputLimit else { break }
            guard let count = receive() else { break }
            budget -= count
        }
        guard phase == .open else { return }
        frameBegan = parser.isBetweenFrames ? nil : frameBegan ?? .now
        gateway.expect(deadline)
    }

    /// Bytes from the socket into TLS: how many, or nil if there are none now.
    private func receive() -> Int? {
        do throws(SocketFailure) {
            switch try socket.receive(into: gateway.scratch.wire) {
            case .wouldBlock: return nil
            case .end:
                ended()
                return nil
            case .bytes(let count):
                let bytes = UnsafeRawBufferPointer(rebasing: gateway.scratch.wire[..<count])
                if phase == .handshaking, let fault = look(at: bytes) {
                    report(fault)
                    finish()
                    return nil
                }
                do throws(TLSFailure) { try session.receive(bytes) } catch {
                    fail(error)
                    return nil
                }
                return count
            }
        } catch {
            lost(error)
            return nil
        }
    }

    /// Plaintext from TLS into the parser. False: TLS needs more bytes. Nil: the connection is no longer read.
    private func decrypt() -> Bool? {
        do throws(TLSFailure) {
            let progress = try session.read(into: gateway.scratch.plain)
            if phase == .handshaking && session.isOpen { opened() }
            switch progress {
            case .needMore: return false
            case .closed:
                ended()
                return nil
            case .bytes(let count):
                let bytes = UnsafeRawBufferPointer(rebasing: gateway.scratch.plain[..<count])
                if firstPlain.count < FirstBytes.limit {
                    firstPlain += bytes.prefix(FirstBytes.limit - firstPlain.count)
                    if let fault = FirstBytes.insideTLS(firstPlain) {
                        report(fault)
                        finish()
                        return nil
                    }
                }
                parser.append(bytes)
                return true
            }
        } catch {
            fail(error)
            return nil
        }
    }

    private func look(at bytes: UnsafeRawBufferPointer) -> ConnectionFault? {
        guard firstBytes.count < FirstBytes.limit else { return nil }
        firstBytes += bytes.prefix(FirstBytes.limit - firstBytes.count)
        return FirstBytes.beforeTLS(firstBytes)
    }

    private func opened() {
        phase = .open
        lastPush = .now
        certificate = session.peerCertificate
        switch profile {
        case .auto: environment = PushEnvironment(serverName: session.serverName)
        case .sandbox: environment = .sandbox
        case .production: environment = .production
        }
    }

    // MARK: Pushes

    /// Has a push decided. False: not now, or never again on this connection.
    private func pass(_ push: BinaryPush) -> Bool {
        let now = Instant.now
        guard bucket?.take(now: now) ?? true else {
            held = push
            let until = bucket?.refilled() ?? now
            throttledUntil = until
            // Off altogether: a hang-up would be reported over and over, and is found in time by reading.
            source?.isEnabled = false
            gateway.expect(until)
            return false
        }
        held = nil
        lastPush = now
        frameBegan = nil
        let verdict = gateway.decide(
            InboundPush(
                transport: .binary(command: push.command), environment: environment, token: push.token,
                payload: push.payload, identifier: push.identifier.map { .number($0) },
                expiration: push.expiry.map { Int64($0) }, priority: push.priority, certificate: certificate,
                peer: peer, arrived: now))
        // The one who decides may have stopped the gateway.
        guard phase == .open else { return false }
        switch verdict {
        case .accepted:
            lastAccepted = push.identifier ?? lastAccepted
            return true
        case .refused(let refusal):
            refuse(push, refusal)
            return false
        }
    }

    private func refuse(_ push: BinaryPush, _ refusal: PushRefusal) {
        let status = refusal.reason.binaryStatus
        let identifier = status == .shutdown ? lastAccepted ?? 0 : push.identifier ?? 0
        let why = refusal.explanation.isEmpty ? refusal.reason.rawValue : refusal.explanation
        refused(why, refusal.reason.rawValue, push.command, status, token: push.token, push.identifier)
        finish(saying: push.command == 0 ? nil : status.packet(identifier: identifier))
    }

    private func refuse(_ fault: BinaryFault) {
        refused(fault.words, nil, fault.command, fault.status, token: nil, fault.identifier)
        finish(saying: fault.packet)
    }

    private func refused(
        _ why: String, _ reason: String?, _ command: UInt8, _ status: BinaryStatus, token: [UInt8]?,
        _ identifier: UInt32?
    ) {
        var fields = fields
        fields.append(Event.Field("command", .number(Int64(command))))
        fields.append(Event.Field("status", .number(Int64(status.rawValue))))
        if let reason { fields.append(Event.Field("reason", .text(reason))) }
        // The start of a token tells it apart; all of it is a key to the user's attention.
        if let token { fields.append(Event.Field("token", .text(Hex.text(token.prefix(4))))) }
        if let identifier { fields.append(Event.Field("identifier", .number(Int64(identifier)))) }
        let answer = command == 0 ? "the line is cut" : "answered with status \(status.rawValue)"
        gateway.report(fault: .pushRefused, "refused a push from \(peer): \(why); \(answer)", fields, .warning)
    }

    private var fields: [Event.Field] {
        var fields = [Event.Field("peer", .text(peer)), Event.Field("environment", .text(environment.rawValue))]
        if let topic = certificate?.topics.first { fields.append(Event.Field("topic", .text(topic))) }
        return fields
    }

    // MARK: The end

    private func report(_ fault: ConnectionFault) {
        var fields = [Event.Field("peer", .text(peer)), Event.Field("cause", .text(fault.code))]
        if !fault.detail.isEmpty { fields.append(Event.Field("detail", .text(fault.detail))) }
        gateway.report(fault: .gatewayFault, "\(peer) \(fault.words)", fields, fault.level)
    }

    private func fail(_ failure: TLSFailure) {
        report(ConnectionFault(failure, authorityPath: gateway.configuration.authorityPath))
        finish()
    }

    /// The other side is done.
    private func ended() {
        switch phase {
        case .handshaking where firstBytes.isEmpty:
            report(ConnectionFault("said-nothing", "connected and went away without a word", level: .debug))
            close()
        case .handshaking:
            report(
                ConnectionFault(
                    "handshake-abandoned",
                    "went away in the middle of the TLS handshake; it may not trust \(gateway.configuration.authorityPath)"
                ))
            close()
        case .open where !parser.isBetweenFrames:
            report(
                ConnectionFault("frame-cut", "went away in the middle of a frame (\(parser.buffered) bytes of it came)")
            )
            finish()
        case .open: finish()
        case .closing, .closed: close()
        }
    }

    private func lost(_ failure: SocketFailure) {
        if phase == .handshaking || !parser.isBetweenFrames {
            report(ConnectionFault("connection-lost", "was lost while \(failure.text)"))
        }
        close()
    }

    /// Says `packet`, ends our direction and lets the other side finish. What it still sends is discarded.
    private func finish(saying packet: [UInt8]? = nil) {
        guard phase == .handshaking || phase == .open else { return }
        phase = .closing
        closingSince = .now
        throttledUntil = nil
        held = nil
        parser = BinaryParser()
        if let packet, (try? session.send(packet)) == nil { return close() }
        session.shutDown()
        source?.isEnabled = true
        flush()
        if phase == .closing { drain() }
        if phase == .closing { gateway.expect(deadline) }
    }

    /// Ends at once, with the packet that tells a sender what to send again, if it has ever used identifiers.
    func abandon() {
        if phase == .open, let lastAccepted {
            try? session.send(BinaryStatus.shutdown.packet(identifier: lastAccepted))
            session.shutDown()
            flush()
        }
        close()
    }

    private func drain() {
        while drained < Self.drainLimit {
            do throws(SocketFailure) {
                switch try socket.receive(into: gateway.scratch.wire) {
                case .bytes(let count): drained += count
                case .wouldBlock: return
                case .end:
                    // All was said and heard; what is still unsent has nobody to go to only if writing fails.
                    if unsent.isEmpty { close() } else { source?.interest = .write }
                    return
                }
            } catch {
                return close()
            }
        }
        close()
    }

    private func flush() {
        while true {
            if unsent.isEmpty {
                let count = session.takeOutput(into: gateway.scratch.wire)
                if count == 0 { break }
                unsent = Array(gateway.scratch.wire[..<count])
            }
            do throws(SocketFailure) {
                let sent = try socket.send(unsent)
                if sent == 0 { break }
                unsent.removeFirst(sent)
            } catch {
                return lost(error)
            }
        }
        if unsent.isEmpty {
            source?.interest = .read
            if phase == .closing { socket.endWriting() }
        } else {
            source?.interest = session.pendingOutput + unsent.count < TLSSession.outputLimit ? [.read, .write] : .write
        }
    }

    private func close() {
        guard phase != .closed else { return }
        phase = .closed
        unwatch()
        gateway.forget(self)
    }

    deinit { unwatch() }

    /// Before the descriptor is closed.
    private func unwatch() {
        source?.cancel()
        source = nil
    }
}
