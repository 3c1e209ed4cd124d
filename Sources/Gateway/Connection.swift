internal import APNs
internal import Base
internal import Crypto
internal import EventLoop
internal import Sockets

/// One sender's connection: socket, TLS and a conversation, read in that order backwards, so that nothing is read which
/// cannot be used yet.
///
/// Handshaking → choosing (whose first bytes tell the protocol) → open → closing → closed. Closing means: say what is to be
/// said, end our direction, let the other side finish, then close; closing with unread input makes TCP send RST, which
/// destroys an error packet under way (apns.md 2.2).
final class Connection: Guest {
    let id: Int
    let peer: String
    unowned let gateway: Gateway
    private let socket: Socket
    private let session: TLSSession
    private let service: Gateway.Service
    private let profile: Gateway.Profile
    /// The name that a CONNECT request asked for.
    private let connectName: String?
    private var source: IOSource?
    private var conversation: (any Conversation)?
    private var phase = Phase.handshaking

    private(set) var environment = PushEnvironment.unknown
    private(set) var certificate: PeerCertificate?
    /// Encrypted bytes that the kernel did not take yet, from `sent` on.
    private var unsent: [UInt8] = []
    private var sent = 0
    /// For explanations.
    private var firstBytes: [UInt8] = []
    /// What came before the protocol was known.
    private var firstPlain: [UInt8] = []

    private let accepted: Instant
    private var opened: Instant?
    private var pausedUntil: Instant?
    private var closingSince: Instant?
    private var drained = 0
    /// Nothing is said or heard any more, on purpose.
    private var isHung = false

    private enum Phase {
        case handshaking
        case choosing
        case open
        case closing
        case closed
    }

    /// At most about this many bytes are read in one turn of the loop, so that one busy sender leaves room for others: the
    /// pushes in it take a third of a millisecond.
    private static let turnBudget = 32_768
    /// At most this many bytes are thrown away while closing.
    private static let drainLimit = 1 << 20

    init(
        id: Int, socket: Socket, session: TLSSession, service: Gateway.Service, profile: Gateway.Profile,
        connectName: String?, gateway: Gateway, now: Instant
    ) throws(LoopFailure) {
        self.id = id
        self.socket = socket
        self.session = session
        self.service = service
        self.profile = profile
        self.connectName = connectName
        self.gateway = gateway
        peer = socket.peerAddress?.description ?? "an unknown peer"
        accepted = now
        // Weak: the connection owns its source.
        source = try IOSource(gateway.loop, fd: socket.fd, .read, yields: true) { [weak self] in self?.ready($0) }
    }

    /// Bytes that came ahead of the socket's own: behind a CONNECT request.
    func begin(with bytes: [UInt8]) {
        bytes.withUnsafeBytes { if feed($0) { pump() } }
    }

    // MARK: Time

    var isHandshaking: Bool { phase == .handshaking }
    var isClosing: Bool { phase == .closing }

    func idleTime(now: Instant) -> Duration {
        switch phase {
        case .choosing: now - (opened ?? accepted)
        case .open: conversation?.idleSince.map { now - $0 } ?? .zero
        default: .zero
        }
    }

    func age(now: Instant) -> Duration { now - accepted }

    var deadline: Instant {
        let limits = gateway.configuration
        switch phase {
        case .handshaking: return accepted + limits.handshakeDeadline
        case .choosing: return (opened ?? accepted) + limits.idleLimit
        case .open: return pausedUntil ?? conversation?.deadline ?? accepted
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
        case .choosing: finish()
        case .open where pausedUntil != nil:
            pausedUntil = nil
            source?.isEnabled = true
            conversation?.resumed()
            pump()
        case .open:
            conversation?.timeUp(now: now)
            flush()
        case .closing: close()
        case .closed: break
        }
    }

    // MARK: The loop's side

    private func ready(_ what: IOInterest) {
        if isHung {
            if !what.isDisjoint(with: [.hangup, .error]) { close() }
            return drainSilently()
        }
        if what.contains(.write) { flush() }
        switch phase {
        case .handshaking, .choosing, .open: pump()
        case .closing: drain()
        case .closed: break
        }
    }

    /// Takes in all that is there, then sends what it made: an answer at a time would cost a system call each, here and on
    /// the other side.
    private func pump() {
        var budget = Self.turnBudget
        while isReading {
            guard let more = decrypt() else { break }
            if more { continue }
            // The other side makes us talk and does not listen: until it does, nothing more is read.
            if !hasRoom { flush() }
            guard budget > 0, isReading, hasRoom, let count = receive() else { break }
            budget -= count
        }
        flush()
        if phase == .open || phase == .choosing { gateway.expect(deadline) }
    }

    private var isReading: Bool {
        switch phase {
        case .handshaking, .choosing: true
        case .open: pausedUntil == nil && !isHung
        case .closing, .closed: false
        }
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
                return feed(UnsafeRawBufferPointer(rebasing: gateway.scratch.wire[..<count])) ? count : nil
            }
        } catch {
            lost(error)
            return nil
        }
    }

    /// False: the connection is no longer read.
    private func feed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if phase == .handshaking, let fault = look(at: bytes) {
            report(fault)
            finish()
            return false
        }
        do throws(TLSFailure) { try session.receive(bytes) } catch {
            fail(error)
            return false
        }
        return true
    }

    /// Plaintext from TLS into the conversation. False: TLS needs more bytes. Nil: the connection is no longer read.
    private func decrypt() -> Bool? {
        do throws(TLSFailure) {
            let progress = try session.read(into: gateway.scratch.plain)
            if phase == .handshaking && session.isOpen { handshakeDone() }
            switch progress {
            case .needMore: return isReading ? false : nil
            case .closed:
                ended()
                return nil
            case .bytes(let count):
                let bytes = UnsafeRawBufferPointer(rebasing: gateway.scratch.plain[..<count])
                if let conversation { conversation.received(bytes) } else { choose(bytes) }
                return isReading ? true : nil
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

    // MARK: Which protocol

    private func handshakeDone() {
        phase = .choosing
        opened = .now
        firstBytes = []
        certificate = session.peerCertificate
        switch profile {
        case .auto:
            environment = PushEnvironment(serverName: connectName)
            if environment == .unknown { environment = PushEnvironment(serverName: session.serverName) }
        case .sandbox: environment = .sandbox
        case .production: environment = .production
        }
        if session.isHTTP2 { return converse(.http2) }
        // It asks nothing: what there is to say is said at once (apns.md 2.3).
        guard service == .feedback else { return }
        // Reading clears it: nobody does so by the way.
        if certificate == nil { fail(TLSFailure(.noCertificate)) } else { converse(.feedback) }
    }

    private enum Speech {
        case http2
        case binary
        case feedback
    }

    private func choose(_ bytes: UnsafeRawBufferPointer) {
        firstPlain += bytes
        switch FirstBytes.insideTLS(firstPlain) {
        case .more: return
        case .http2: converse(.http2)
        case .http1(let fault):
            report(fault)
            send(FirstBytes.answerToHTTP1)
            finish()
        case .binary where certificate == nil:
            fail(TLSFailure(.noCertificate))
        case .binary: converse(.binary)
        }
    }

    private func converse(_ speech: Speech) {
        phase = .open
        let first = firstPlain
        firstPlain = []
        let sender = gateway.service.sender(peer: peer, environment: environment, certificate: certificate)
        switch speech {
        case .binary: conversation = BinaryConversation(self, sender)
        case .feedback: conversation = FeedbackConversation(self)
        case .http2:
            guard let made = HTTP2Conversation(self, sender) else { return close() }
            conversation = made
        }
        first.withUnsafeBytes { conversation?.received($0) }
        conversation?.fill()
        flush()
    }

    // MARK: For the conversation

    /// Encrypts and queues; `flush()` sends.
    func send(_ bytes: [UInt8]) {
        guard phase == .open || phase == .choosing else { return }
        if (try? session.send(bytes)) == nil { close() }
    }

    /// Sends what became ready outside of a turn of its own.
    func push() { flush() }

    /// False: so much is unsent that nothing should be added.
    var hasRoom: Bool { session.pendingOutput + unsent.count - sent < TLSSession.outputLimit }

    /// Reads nothing until `instant`: a sender that is too fast is held back by TCP.
    func pause(until instant: Instant) {
        pausedUntil = instant
        // Off altogether: a hang-up would be reported over and over, and is found in time by reading.
        source?.isEnabled = false
        gateway.expect(instant)
    }

    func report(_ fault: ConnectionFault) { gateway.report(fault, of: peer) }

    /// The connection never says a word again, and stays: an idle death as senders meet it (apns.md 2.2).
    func hang() {
        isHung = true
        unsent = []
        sent = 0
        _ = session.takeOutput()
        source?.interest = .read
    }

    /// Closes with a TCP reset, which destroys what is under way.
    func cut() {
        socket.resetsOnClose = true
        close()
    }

    // MARK: The end

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
        case .choosing: finish()
        case .open:
            conversation?.ended()
            finish()
        case .closing, .closed: close()
        }
    }

    private func lost(_ failure: SocketFailure) {
        if phase == .handshaking {
            report(ConnectionFault("connection-lost", "was lost while \(failure.text)"))
        } else {
            conversation?.lost(failure.text)
        }
        close()
    }

    /// Ends our direction after what is queued, and lets the other side finish. What it still sends is discarded.
    func finish() {
        guard phase != .closing && phase != .closed else { return }
        phase = .closing
        closingSince = .now
        pausedUntil = nil
        leave()
        session.shutDown()
        source?.isEnabled = true
        flush()
        if phase == .closing { drain() }
        if phase == .closing { gateway.expect(deadline) }
    }

    func abandon() {
        if phase == .open && !isHung {
            conversation?.farewell()
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
                    if isSent { close() } else { source?.interest = .write }
                    return
                }
            } catch {
                return close()
            }
        }
        close()
    }

    /// What comes is thrown away, so that only silence is noticed.
    private func drainSilently() {
        while phase != .closed {
            guard let received = try? socket.receive(into: gateway.scratch.wire) else { return close() }
            switch received {
            case .bytes: continue
            case .wouldBlock: return
            case .end: return close()
            }
        }
    }

    private var isSent: Bool { unsent.isEmpty && session.pendingOutput == 0 }

    private func flush() {
        guard phase != .closed, !isHung else { return }
        while true {
            if phase == .open && unsent.isEmpty { conversation?.fill() }
            if unsent.isEmpty {
                unsent = session.takeOutput()
                sent = 0
                if unsent.isEmpty { break }
            }
            do throws(SocketFailure) {
                let count = try socket.send(unsent, from: sent)
                if count == 0 { break }
                sent += count
                if sent == unsent.count {
                    unsent = []
                    sent = 0
                }
            } catch {
                return lost(error)
            }
        }
        if unsent.isEmpty {
            source?.interest = .read
            if phase == .closing { socket.endWriting() }
        } else {
            source?.interest = hasRoom ? [.read, .write] : .write
        }
    }

    private func leave() {
        conversation?.closed()
        conversation = nil
    }

    private func close() {
        guard phase != .closed else { return }
        phase = .closed
        leave()
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
