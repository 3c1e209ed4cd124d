internal import Base
internal import EventLoop
internal import Sockets

/// The HTTP CONNECT front door (RFC 9110, 9.3.6): Apple's push names lead to this gateway, and nothing leads anywhere else.
///
/// Nothing is relayed: once the request is answered, the socket itself begins TLS, as if it had been accepted at the port
/// that the sender wanted.
final class ProxyConnection: Guest {
    let id: Int
    private let peer: String
    private let socket: Socket
    private unowned let gateway: Gateway
    private var source: IOSource?
    private var parser = ConnectParser()
    private let accepted: Instant
    private var isOver = false

    init(id: Int, socket: Socket, gateway: Gateway, now: Instant) throws(LoopFailure) {
        self.id = id
        self.socket = socket
        self.gateway = gateway
        peer = socket.peerAddress?.description ?? "an unknown peer"
        accepted = now
        source = try IOSource(gateway.loop, fd: socket.fd, .read) { [weak self] _ in self?.read() }
    }

    var deadline: Instant { accepted + gateway.configuration.handshakeDeadline }
    var isHandshaking: Bool { true }
    var isClosing: Bool { false }
    func idleTime(now: Instant) -> Duration { .zero }
    func age(now: Instant) -> Duration { now - accepted }

    func timeUp(now: Instant) {
        guard now >= deadline else { return }
        refuse(.init(status: "408 Request Timeout", words: "the request was not finished in time"))
    }

    func abandon() { close() }

    private func read() {
        while !isOver {
            do throws(SocketFailure) {
                switch try socket.receive(into: gateway.scratch.wire) {
                case .wouldBlock: return
                case .end: return close()
                case .bytes(let count):
                    switch parser.take(UnsafeRawBufferPointer(rebasing: gateway.scratch.wire[..<count])) {
                    case .needMore: continue
                    case .refused(let refusal): return refuse(refusal)
                    case .tunnel(let name, let port, let rest): return open(name, port, rest)
                    }
                }
            } catch {
                return close()
            }
        }
    }

    private func open(_ name: String, _ port: UInt16, _ rest: [UInt8]) {
        guard (try? socket.send(Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8))) ?? 0 > 0 else {
            return close()
        }
        let socket = socket
        let gateway = gateway
        close()
        gateway.begin(
            socket, service: port == 2196 && name.hasPrefix("feedback.") ? .feedback : .provider, profile: .auto,
            name: name, first: rest, now: .now)
    }

    private func refuse(_ refusal: ConnectParser.Refusal) {
        gateway.report(ConnectionFault("connect-refused", "asked the CONNECT door amiss: \(refusal.words)"), of: peer)
        let text = "ringd: \(refusal.words)\n"
        let answer =
            "HTTP/1.1 \(refusal.status)\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: \(text.utf8.count)\r\n"
            + "connection: close\r\n\r\n\(text)"
        _ = try? socket.send(Array(answer.utf8))
        socket.endWriting()
        close()
    }

    private func close() {
        guard !isOver else { return }
        isOver = true
        source?.cancel()
        source = nil
        gateway.forget(self)
    }

    deinit { source?.cancel() }
}
