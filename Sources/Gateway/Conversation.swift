internal import Base

/// One protocol inside TLS, on one connection. It is told what came and says what is to be sent; the connection does the
/// rest.
protocol Conversation: AnyObject {
    /// Plaintext came; all of it is to be taken.
    func received(_ bytes: UnsafeRawBufferPointer)
    /// A pause that it asked for is over.
    func resumed()
    /// Whatever waits may be sent now, by `connection.send`, while `connection.hasRoom`.
    func fill()
    /// The other side ended its direction.
    func ended()
    /// The connection was lost while reading or writing.
    func lost(_ words: String)
    /// When `timeUp(now:)` has something to do.
    var deadline: Instant { get }
    func timeUp(now: Instant)
    /// Since when it has had nothing to do; nil while it has.
    var idleSince: Instant? { get }
    /// The gateway stops: last words, by `connection.send`.
    func farewell()
    /// The connection is gone.
    func closed()
}

extension Conversation {
    func resumed() {}
    func fill() {}
    func lost(_ words: String) {}
    func closed() {}
}
