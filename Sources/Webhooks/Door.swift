internal import Base
internal import EventLoop
internal import Glibc

/// One place where connections come in: a wish to listen there, and the socket once that came true.
final class Door {
    let wish: WebhookServer.Listener
    private unowned let server: WebhookServer
    private var socket: ListeningSocket?
    private var source: IOSource?
    private var attempts = 0
    /// When to try again to bind, or to accept.
    private(set) var deadline: Instant?

    /// After each failure to bind; then only a reload tries again, so that a port that is taken for good costs nothing.
    private static let pauses: [Duration] = [1, 2, 5, 10, 30].map { .seconds($0) }

    init(_ wish: WebhookServer.Listener, server: WebhookServer) {
        self.wish = wish
        self.server = server
    }

    /// The descriptor leaves epoll before it is closed.
    deinit { source?.cancel() }

    /// Where it does listen.
    var address: WebhookServer.Listener? { source == nil ? nil : socket?.address }

    /// Connections are left to wait in the kernel while this is false.
    var isOpen: Bool = true {
        didSet { if deadline == nil { source?.isEnabled = isOpen } }
    }

    /// Tries to come to listen, if it does not; `afresh` forgets earlier failures.
    func open(afresh: Bool) {
        guard source == nil else { return }
        if afresh { attempts = 0 }
        deadline = nil
        do throws(SocketFailure) {
            let socket = try ListeningSocket(wish)
            do throws(LoopFailure) {
                // Whatever else is ready goes first: a ring is not to wait for a flood.
                source = try IOSource(server.loop, fd: socket.fd, .read, yields: true) { [weak self] _ in self?.accept()
                }
            } catch {
                throw SocketFailure(error.doing, code: error.code)
            }
            self.socket = socket
            source?.isEnabled = isOpen
            let place = address ?? wish
            server.report(
                Event(
                    .webhookListening, level: .notice, "listening for webhooks on \(place)",
                    [.init("address", .text("\(place)")), .init("tls", .flag(server.configuration.certificate != nil))])
            )
        } catch {
            failed(error)
        }
    }

    private func failed(_ failure: SocketFailure) {
        let cure =
            switch failure.code {
            case EADDRINUSE: "another program has the port (ss -ltnp shows it): stop it, or set another port"
            case EACCES: "ports below 1024 need a privilege: set another port"
            case EADDRNOTAVAIL: "this machine has no such address"
            default: "check webhook.listen"
            }
        let next: String
        if attempts < Self.pauses.count {
            let pause = Self.pauses[attempts]
            attempts += 1
            deadline = .now + pause
            next = "tries again in \(pause.nanoseconds / 1_000_000_000) s"
        } else {
            next = "gives up until the configuration is reloaded"
        }
        server.fault("not-listening", "webhooks cannot listen on \(wish): \(failure.text); \(cure); \(next)")
    }

    func timeUp(now: Instant) {
        guard let deadline, now >= deadline else { return }
        self.deadline = nil
        if let source { source.isEnabled = isOpen } else { open(afresh: false) }
    }

    private func accept() {
        // Bounded, so that a flood leaves room for the connections that are there; the rest is reported again.
        for _ in 0..<32 where isOpen {
            do throws(SocketFailure) {
                guard let made = try socket?.accept() else { return }
                server.admit(made)
            } catch {
                // No descriptors or no memory. The connection stays in the queue, so the source would fire for ever.
                source?.isEnabled = false
                deadline = .now + .seconds(1)
                server.fault("cannot-accept", "webhooks cannot take a connection: \(error.text); goes on in 1 s")
                return server.arm()
            }
        }
    }
}
