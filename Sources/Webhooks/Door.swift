internal import Base
internal import EventLoop
internal import Sockets

/// One place where connections come in: a wish to listen there, and the socket once that came true.
final class Door {
    let wish: ListenAddress
    private unowned let server: WebhookServer
    private var socket: Socket?
    private var source: IOSource?
    private var retry = Retry()

    init(_ wish: ListenAddress, server: WebhookServer) {
        self.wish = wish
        self.server = server
    }

    /// The descriptor leaves epoll before it is closed.
    deinit { source?.cancel() }

    /// Where it does listen.
    var address: ListenAddress? { source == nil ? nil : socket?.localAddress }

    /// When to try again to bind, or to accept.
    var deadline: Instant? { retry.deadline }

    /// Connections are left to wait in the kernel while this is false.
    var isOpen: Bool = true {
        didSet { if deadline == nil { source?.isEnabled = isOpen } }
    }

    /// Tries to come to listen, if it does not; `afresh` forgets earlier failures.
    func open(afresh: Bool) {
        guard source == nil else { return }
        retry.begin(afresh: afresh)
        do throws(SocketFailure) {
            let socket = try Socket.listening(on: wish)
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
        let words = retry.failed(failure, privilege: "set another port", otherwise: "check webhook.listen")
        server.fault("not-listening", "webhooks cannot listen on \(wish): \(words)")
    }

    func timeUp(now: Instant) {
        guard retry.isDue(now: now) else { return }
        if let source { source.isEnabled = isOpen } else { open(afresh: false) }
    }

    private func accept() {
        do throws(SocketFailure) {
            try socket?.acceptSome(while: { isOpen }) { server.admit($0) }
        } catch {
            source?.isEnabled = false
            server.fault("cannot-accept", "webhooks cannot take a connection: \(retry.couldNotAccept(error))")
            server.arm()
        }
    }
}
