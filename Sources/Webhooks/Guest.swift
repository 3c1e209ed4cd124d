internal import Base

/// A connection, and how far its request is.
final class Guest {
    enum Phase {
        /// For a request line.
        case waiting
        /// It is there; for the headers.
        case heading(target: [UInt8])
        /// For the rest of `body`.
        case taking(Target, contentType: String)
        /// What still comes of the body is dropped, so that the sender reads our answer and not of a broken pipe.
        case refusing(Turndown, dropped: Int)
        /// For the sender to read the answer.
        case answering
    }

    let peer: String
    private(set) var since: Instant
    var phase = Phase.waiting {
        didSet { isWelcome = if case .taking = phase { true } else { false } }
    }
    /// It has shown the secret with the request in hand.
    private(set) var isWelcome = false
    var body: [UInt8] = []
    /// The socket was shut down, and is about to be closed.
    var isCut = false

    init(peer: String, now: Instant) {
        self.peer = peer
        since = now
    }

    /// Goes on to the next phase, which has its own time.
    func enter(_ phase: Phase, now: Instant) {
        self.phase = phase
        since = now
    }
}
