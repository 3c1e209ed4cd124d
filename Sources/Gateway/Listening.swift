internal import Base
internal import EventLoop
internal import Sockets

/// One place where connections come in: a wish to listen there, and the socket once that came true.
final class Listening {
    let wish: Gateway.Listener
    private unowned let gateway: Gateway
    private var socket: Socket?
    private var source: IOSource?
    /// From systemd: it is not ours to close, since nobody would open it again.
    let isPassedIn: Bool
    private var retry = Retry()

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

    /// When to try again to bind, or to accept.
    var deadline: Instant? { retry.deadline }

    /// Tries to come to listen, if it does not; `afresh` forgets earlier failures.
    func open(afresh: Bool) {
        guard source == nil else { return }
        retry.begin(afresh: afresh)
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
        let words = retry.failed(
            failure, privilege: "set another port, or let systemd pass the socket",
            otherwise: "check the configured address")
        fault("not-listening", "cannot listen on \(wish.address): \(words)")
    }

    private func fault(_ code: String, _ words: String) {
        gateway.report(
            fault: .gatewayFault, "the gateway \(words)",
            [Event.Field("address", .text("\(wish.address)")), Event.Field("cause", .text(code))], .error)
    }

    func timeUp(now: Instant) {
        guard retry.isDue(now: now) else { return }
        if let source { source.isEnabled = true } else { open(afresh: false) }
    }

    private func accept() {
        do throws(SocketFailure) {
            try socket?.acceptSome(while: { socket != nil }) { gateway.admit($0, wish) }
        } catch {
            source?.isEnabled = false
            let words = retry.couldNotAccept(error)
            if let deadline { gateway.expect(deadline) }
            fault("cannot-accept", "cannot take a connection: \(words)")
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
