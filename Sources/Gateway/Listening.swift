internal import Base
internal import EventLoop
internal import Glibc

/// One place where connections come in: a wish to listen there, and the socket once that came true.
final class Listening {
    let wish: Gateway.Listener
    private unowned let gateway: Gateway
    private var socket: Socket?
    private var source: IOSource?
    /// From systemd: it is not ours to close, since nobody would open it again.
    let isPassedIn: Bool
    private var attempts = 0
    /// When to try again to bind, or to accept.
    private(set) var deadline: Instant?

    /// After each failure to bind; then only a reload tries again, so that a port that is taken for good costs nothing.
    private static let pauses: [Duration] = [1, 2, 5, 10, 30].map { .seconds($0) }

    init(_ wish: Gateway.Listener, gateway: Gateway, inherited: Socket? = nil) {
        self.wish = wish
        self.gateway = gateway
        socket = inherited
        isPassedIn = inherited != nil
    }

    /// A socket that was passed in, for another listener; this one is over.
    func handOver() -> Socket? {
        guard isPassedIn else { return nil }
        source?.cancel()
        source = nil
        defer { socket = nil }
        return socket
    }

    /// The descriptor leaves epoll before it is closed.
    deinit { source?.cancel() }

    /// Where it does listen.
    var address: ListenAddress? { source == nil ? nil : socket?.localAddress }

    /// Tries to come to listen, if it does not; `afresh` forgets earlier failures.
    func open(afresh: Bool) {
        guard source == nil else { return }
        if afresh { attempts = 0 }
        deadline = nil
        guard wish.address.isLoopback || gateway.configuration.isOpenToNetwork else {
            return fault(
                "not-loopback",
                "will not listen on \(wish.address): anybody on the network could ring this desktop; use 127.0.0.1 or [::1], or set apns.certificates = trusted"
            )
        }
        do throws(SocketFailure) {
            let socket: Socket
            if let held = self.socket { socket = held } else { socket = try Socket.listening(on: wish.address) }
            self.socket = socket
            do throws(LoopFailure) {
                source = try IOSource(gateway.loop, fd: socket.fd, .read) { [weak self] _ in self?.accept() }
            } catch {
                throw SocketFailure(error.doing, code: error.code)
            }
            let place = address ?? wish.address
            gateway.report(
                Event(
                    .gatewayListening, level: .notice,
                    "listening for \(wish.service.words) on \(place) (\(wish.profile.rawValue))",
                    [
                        Event.Field("address", .text("\(place)")), Event.Field("service", .text(wish.service.rawValue)),
                        Event.Field("profile", .text(wish.profile.rawValue)),
                    ]))
        } catch {
            failed(error)
        }
    }

    private func failed(_ failure: SocketFailure) {
        if wish.isOptional {
            return gateway.report(
                Event(
                    .gatewayFault, level: .debug, "the gateway does without \(wish.address): \(failure.text)",
                    [Event.Field("address", .text("\(wish.address)")), Event.Field("cause", .text("not-listening"))]))
        }
        let cure =
            switch failure.code {
            case EADDRINUSE: "another program has the port (ss -ltnp shows it): stop it, or set another port"
            case EACCES: "ports below 1024 need a privilege: set another port, or let systemd pass the socket"
            case EADDRNOTAVAIL: "this machine has no such address"
            default: "check the configured address"
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
        fault("not-listening", "cannot listen on \(wish.address): \(failure.text); \(cure); \(next)")
    }

    private func fault(_ code: String, _ words: String) {
        gateway.report(
            fault: .gatewayFault, "the gateway \(words)",
            [Event.Field("address", .text("\(wish.address)")), Event.Field("cause", .text(code))], .error)
    }

    func timeUp(now: Instant) {
        guard let deadline, now >= deadline else { return }
        self.deadline = nil
        if let source { source.isEnabled = true } else { open(afresh: false) }
    }

    private func accept() {
        // Bounded, so that a flood leaves room for the connections that are there; the rest is reported again.
        for _ in 0..<32 {
            do throws(SocketFailure) {
                guard let made = try socket?.accept() else { return }
                gateway.admit(made, wish)
            } catch {
                // No descriptors or no memory. The connection stays in the queue, so the source would fire for ever.
                source?.isEnabled = false
                deadline = .now + .seconds(1)
                gateway.expect(.now + .seconds(1))
                return fault("cannot-accept", "cannot take a connection: \(error.text); goes on in 1 s")
            }
        }
    }
}

extension Gateway.Service {
    /// For people.
    var words: String {
        switch self {
        case .provider: "pushes (HTTP/2 and legacy binary)"
        case .feedback: "the feedback service"
        case .proxy: "CONNECT to Apple's push names"
        }
    }
}
