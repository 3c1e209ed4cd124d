internal import Base

/// From headers to an answer.
extension WebhookServer: HTTPHandler {
    /// What a sender may go on sending that was refused: bytes. More, and it is cut.
    private static let mostDropped = 1 << 20

    func began(_ connection: Int32, target: [UInt8]) {
        guests[connection]?.enter(.heading(target: target), now: .now)
    }

    func completed(_ connection: Int32) {
        guests[connection]?.body = []
        guests[connection]?.enter(.waiting, now: .now)
    }

    func disconnected(_ connection: Int32) { guests[connection] = nil }

    func handle(_ exchange: HTTPExchange) -> Bool {
        guard let guest = guests[exchange.connection] else { return false }
        switch guest.phase {
        case .heading(let target): return judge(exchange, guest, target)
        case .taking(let target, let contentType):
            guard exchange.data.isEmpty else {
                take(exchange.data, guest)
                return true
            }
            guest.enter(.answering, now: .now)
            let request = Request(
                path: target.path, query: target.query, contentType: contentType, body: guest.body, peer: guest.peer)
            return exchange.answer(answer(request), closes: false)
        case .refusing(let turndown, let dropped):
            guard exchange.data.isEmpty else {
                guest.phase = .refusing(turndown, dropped: dropped + exchange.data.count)
                return dropped + exchange.data.count <= Self.mostDropped
            }
            return refuse(turndown, exchange, guest)
        case .waiting, .answering: return false
        }
    }

    private func judge(_ exchange: HTTPExchange, _ guest: Guest, _ target: [UInt8]) -> Bool {
        let head = RequestHead(
            method: exchange.method, version: exchange.version, target: target, header: exchange.header)
        switch gatekeeper.judge(head) {
        case .take(let target, let size):
            guest.body.reserveCapacity(size ?? 0)
            guest.enter(.taking(target, contentType: Text.clean(head.text("Content-Type") ?? "")), now: .now)
            return true
        case .refuse(let turndown):
            if turndown.isSuspicious { reportRefusal(turndown, of: guest.peer) }
            // Who asks first, or has so much to send, is answered before it comes.
            let declared = head.text("Content-Length").map { Int($0) ?? .max } ?? 0
            guard head.header("Expect") == nil, declared <= Self.mostDropped, head.version.hasPrefix("HTTP/1.") else {
                return refuse(turndown, exchange, guest)
            }
            guest.enter(.refusing(turndown, dropped: 0), now: .now)
            return true
        }
    }

    private func take(_ data: UnsafeRawBufferPointer, _ guest: Guest) {
        guard guest.body.count + data.count <= configuration.bodyLimit else {
            guest.phase = .refusing(.tooLarge, dropped: guest.body.count + data.count)
            guest.body = []
            return
        }
        guest.body.append(contentsOf: data)
    }

    private func refuse(_ turndown: Turndown, _ exchange: HTTPExchange, _ guest: Guest) -> Bool {
        guest.enter(.answering, now: .now)
        return exchange.answer(turndown.answer, header: turndown.header, closes: true)
    }
}
