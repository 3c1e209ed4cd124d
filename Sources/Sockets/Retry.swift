package import Base
internal import Glibc

/// When a listener tries again that could not listen, or could not accept.
package struct Retry {
    private var failures = 0
    /// Nil: not by itself.
    package private(set) var deadline: Instant?

    /// After each failure to bind; then only a reload tries again, so that a port that is taken for good costs nothing.
    private static let pauses: [Duration] = [1, 2, 5, 10, 30].map { .seconds($0) }

    package init() {}

    /// It tries to listen now; `afresh` forgets earlier failures.
    package mutating func begin(afresh: Bool) {
        if afresh { failures = 0 }
        deadline = nil
    }

    /// It could not listen: why, the cure and what comes next, for people. `privilege` cures a port that takes one,
    /// `otherwise` what has no cure of its own.
    package mutating func failed(_ failure: SocketFailure, privilege: String, otherwise: String) -> String {
        let cure =
            switch failure.code {
            case EADDRINUSE: "another program has the port (ss -ltnp shows it): stop it, or set another port"
            case EACCES: "ports below 1024 need a privilege: \(privilege)"
            case EADDRNOTAVAIL: "this machine has no such address"
            default: otherwise
            }
        return "\(failure.text); \(cure); \(next())"
    }

    private mutating func next() -> String {
        guard failures < Self.pauses.count else { return "gives up until the configuration is reloaded" }
        let pause = Self.pauses[failures]
        failures += 1
        deadline = .now + pause
        return "tries again in \(pause.nanoseconds / 1_000_000_000) s"
    }

    /// It could not accept: why and what comes next, for people. For want of descriptors or memory, so that the
    /// connection stays in the queue: its source, which would fire for ever, is to be off until then.
    package mutating func couldNotAccept(_ failure: SocketFailure) -> String {
        deadline = .now + .seconds(1)
        return "\(failure.text); goes on in 1 s"
    }

    /// True once, when the time has come.
    package mutating func isDue(now: Instant) -> Bool {
        guard let deadline, now >= deadline else { return false }
        self.deadline = nil
        return true
    }
}
