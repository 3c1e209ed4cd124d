import Base
import EventLoop
import Glibc
import Sockets
import Testing
import Webhooks

/// A server on a free port of a loop, with everything that came of it.
final class Rig {
    let loop: EventLoop
    private(set) var server: WebhookServer!
    private(set) var requests: [WebhookServer.Request] = []
    private(set) var events: [Event] = []
    /// What the next requests are answered.
    var reply = WebhookServer.Answer(status: 200, body: #"{"outcome":"rings"}"#)
    /// Done while a request is answered.
    var meanwhile: (Rig) -> Void = { _ in }
    private var clients: [Client] = []

    static let secret = "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IQ"
    static let here = ListenAddress(host: [127, 0, 0, 1], port: 0)

    init(
        start: Bool = true, library: String? = nil, _ change: (inout WebhookServer.Configuration) -> Void = { _ in }
    ) throws {
        loop = try EventLoop()
        let answer: (WebhookServer.Request) -> WebhookServer.Answer = { [unowned self] request in
            requests.append(request)
            meanwhile(self)
            return reply
        }
        let report: (Event) -> Void = { [unowned self] in events.append($0) }
        var configuration = Self.configuration
        change(&configuration)
        server = try WebhookServer(loop, configuration, library: library, answer: answer, report: report)
        if start { server.start() }
    }

    static var configuration: WebhookServer.Configuration {
        WebhookServer.Configuration(listeners: [here], secret: Array(secret.utf8))
    }

    var port: UInt16 { server.addresses.first?.port ?? 0 }

    func client() throws -> Client {
        let client = try Client(port: port)
        clients.append(client)
        return client
    }

    /// Sends and waits for so many whole answers.
    func ask(_ text: String, answers: Int = 1) throws -> [Reply] {
        let client = try client()
        client.send(text)
        return try replies(client, answers)
    }

    func replies(_ client: Client, _ count: Int = 1) throws -> [Reply] {
        try turn("\(count) answers") { client.replies.count >= count || client.isOver }
        return client.replies
    }

    /// Until the other side has closed.
    func end(_ client: Client) throws { try turn("the end of a connection") { client.isOver } }

    /// Turns the loop, and every client, until `condition` holds. Gives up after a time that only a hang needs.
    func turn(_ what: String, until condition: () throws -> Bool) throws {
        let end = Instant.now + .seconds(30)
        while try !condition() {
            if Instant.now > end {
                Issue.record("never came true: \(what); events: \(events.map(\.message))")
                throw CancellationError()
            }
            try loop.turn(timeout: .milliseconds(1))
            for client in clients { client.step() }
        }
    }

    /// So many turns at which nothing is ready.
    func settle() throws {
        var quiet = 0
        while quiet < 20 {
            quiet = try loop.turn(timeout: .milliseconds(1)) ? 0 : quiet + 1
            for client in clients { client.step() }
        }
    }
}

/// An HTTP answer.
struct Reply: Equatable {
    let status: Int
    let head: String
    let body: String

    /// Lower-case name.
    func header(_ name: String) -> String? {
        head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name + ":") }.map {
            String($0.dropFirst(name.count + 1).drop(while: \.isWhitespace))
        }
    }
}

struct NotConnected: Error {}

/// A raw socket.
final class Client {
    private let fd: Int32
    private(set) var received: [UInt8] = []
    private(set) var isOver = false
    private var unsent: [UInt8] = []

    init(port: UInt16) throws {
        fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let code = withUnsafeBytes(of: &address) {
            connect(fd, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        }
        guard code == 0 else { throw NotConnected() }
        _ = fcntl(fd, F_SETFL, O_NONBLOCK)
    }

    deinit { close(fd) }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        unsent += bytes
        step()
    }

    /// No more from here.
    func endWriting() { shutdown(fd, Int32(SHUT_WR)) }

    func step() {
        while !unsent.isEmpty {
            let count = unsent.withUnsafeBytes { Glibc.send(fd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { break }
            unsent.removeFirst(count)
        }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while !isOver {
            let count = recv(fd, &chunk, chunk.count, 0)
            if count > 0 {
                received += chunk[..<count]
            } else if count == 0 || errno != EAGAIN {
                isOver = true
            } else {
                return
            }
        }
    }

    var text: String { String(decoding: received, as: UTF8.self) }

    /// Every whole answer, those of 1xx too.
    var replies: [Reply] {
        var out: [Reply] = []
        var rest = Substring(text)
        while let end = rest.range(of: "\r\n\r\n") {
            let head = String(rest[..<end.lowerBound])
            let status = Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0
            let bare = Reply(status: status, head: head, body: "")
            let size = Int(bare.header("content-length") ?? "0") ?? 0
            let body = rest[end.upperBound...].utf8.prefix(size)
            guard body.count == size else { break }
            out.append(Reply(status: status, head: head, body: String(decoding: Array(body), as: UTF8.self)))
            rest = rest[body.endIndex...]
        }
        return out
    }
}

extension Substring {
    fileprivate func range(of text: String) -> Range<Index>? {
        guard let found = firstRange(of: text) else { return nil }
        return found
    }
}

/// A POST as senders write it.
func post(
    _ target: String = "/push/com.example.talk", _ body: String = "{}", token: String? = Rig.secret,
    headers: [String] = [], length: Int? = nil
) -> String {
    let bearer = token.map { ["Authorization: Bearer \($0)"] } ?? []
    let lines =
        ["POST \(target) HTTP/1.1", "Host: localhost", "Content-Length: \(length ?? body.utf8.count)"] + bearer
        + headers
    return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
}
