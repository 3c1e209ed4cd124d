import APNs
import Base
import Crypto
import EventLoop
import Foundation
import Gateway
import HTTP2
import Sockets
import Testing

/// A directory of its own for a test, removed at its end.
final class Folder {
    let path = FileManager.default.temporaryDirectory.appending(path: "ringd-test-\(UUID().uuidString)").path
    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A program's end, with what it wrote.
struct Finished {
    let status: Int32
    let output: String
}

/// A running program whose output goes to a file, so that no pipe fills up.
final class Program {
    private let process = Process()
    private let log: URL

    init(_ path: String, _ arguments: [String], in folder: Folder) throws {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        log = URL(filePath: folder.path).appending(path: UUID().uuidString)
        try Data().write(to: log)
        let out = try FileHandle(forWritingTo: log)
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.standardOutput = out
        process.standardError = out
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    func finish() throws -> Finished {
        process.waitUntilExit()
        return Finished(status: process.terminationStatus, output: try String(contentsOf: log, encoding: .utf8))
    }
}

/// A gateway on a free port, with everything that came of it.
final class Rig {
    let loop: EventLoop
    let folder = Folder()
    let credentials: Credentials
    let service = PushService()
    private(set) var gateway: Gateway!
    /// What reached the device.
    private(set) var deliveries: [PushService.Delivery] = []
    private(set) var events: [Event] = []
    var clients: [Client] = []
    private var senders: [PushSender] = []
    /// Signs provider tokens that the service knows.
    let key: SigningKey
    static let keyID = "RINGKEY123"
    static let team = "RINGTEAM12"

    /// `org.example.App` is registered; `Frames.token` is its VoIP token in production.
    init(
        inherited: [Int32] = [], start: Bool = true, clients: TLSContext.Clients = .any,
        _ change: (inout Gateway.Configuration) -> Void = { _ in }
    ) throws {
        loop = try EventLoop()
        credentials = try Credentials(directory: folder.path + "/certs")
        key = try .makeP256()
        nonisolated(unsafe) let verifying = key.verifyingKey
        service.tokens.keys[Self.keyID] = APNs.ProviderKey(id: Self.keyID, team: Self.team) {
            verifying.verify($0, signature: $1)
        }
        for (kind, environment, bytes) in Frames.tokens {
            service.directory.restore(
                Registration(token: DeviceToken(bytes)!, app: "org.example.App", kind: kind, environment: environment))
        }
        var configuration = Gateway.Configuration(
            listeners: [Gateway.Listener(ListenAddress(host: [127, 0, 0, 1], port: 0))])
        configuration.authorityPath = credentials.authorityPath
        // Tests send faster than anybody.
        service.rules.deviceRate = 0
        change(&configuration)
        service.report = { [unowned self] in events.append($0) }
        service.deliver = { [unowned self] in
            deliveries.append($0)
            return PushService.Outcome("rang")
        }
        let agenda = try Agenda(loop)
        service.later = { agenda.after($0, $1) }
        gateway = try Gateway(
            loop, configuration, context: try .server(credentials.server, clients: clients), service: service,
            inheritedDescriptors: inherited, report: { [unowned self] in events.append($0) })
        if start { gateway.start() }
    }

    /// What came in by any door, refused or not.
    var pushes: [PushRecord] { service.log.since(0, limit: 10_000) }
    var pushCount: Int { service.log.recordCount }

    var port: UInt16 { gateway.addresses.first?.port ?? 0 }

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
            for sender in senders { sender.step() }
        }
    }

    func run(_ program: Program) throws -> Finished {
        try turn("the program ends") { !program.isRunning }
        return try program.finish()
    }

    func causes() -> [String] { events.compactMap { $0.text("cause") } }

    /// A connected client with a VoIP certificate.
    func client(name: String = "localhost", through proxied: String? = nil) throws -> Client {
        let identity = try Identity(path: try credentials.voipClient(app: "org.example.App"))
        let context = try TLSContext.client(identity, trusting: [credentials.authority.certificate])
        return try add(Client(port: port, session: try .client(context, name: name), connect: proxied))
    }

    /// A provider token of this moment.
    func providerToken(age: Int64 = 0) throws -> String {
        try ProviderTokenWriter.token(
            key: key, keyID: Self.keyID, teamID: Self.team, issuedAt: WallTime.now.seconds - age)
    }

    /// A sender of the HTTP/2 API; without a certificate it is to show a provider token.
    func sender(
        certificate: Bool = false, name: String = "localhost", alpn: Bool = true, through proxied: String? = nil
    ) throws -> PushSender {
        let identity = certificate ? try Identity(path: try credentials.voipClient(app: "org.example.App")) : nil
        let context = try TLSContext.client(
            identity, trusting: [credentials.authority.certificate], isHTTP2: alpn)
        let sender = try PushSender(
            add(Client(port: port, session: try .client(context, name: name), connect: proxied)))
        senders.append(sender)
        return sender
    }

    /// Pushes and waits for the answer.
    func answer(_ sender: PushSender, _ id: Int32) throws -> HTTP2Client.Response {
        try turn("an answer") { sender.responses[id] != nil }
        return sender.responses[id]!
    }

    /// A client that speaks HTTP/2 by hand: the preface is sent, and SETTINGS.
    func frameClient(settings: [(UInt16, UInt32)] = []) throws -> Client {
        let context = try TLSContext.client(trusting: [credentials.authority.certificate], isHTTP2: true)
        let client = try add(Client(port: port, session: try .client(context, name: "localhost")))
        client.send(H2Frame.preface + H2Frame.settings(settings).bytes)
        return client
    }

    /// A client that begins with other bytes than the preface.
    func rawPreface(_ text: String) throws -> Client {
        let context = try TLSContext.client(trusting: [credentials.authority.certificate], isHTTP2: true)
        let client = try add(Client(port: port, session: try .client(context, name: "localhost")))
        client.send(Array(text.utf8))
        return client
    }

    /// A client that shows no certificate.
    func bareClient() throws -> Client {
        let context = try TLSContext.client(trusting: [credentials.authority.certificate])
        return try add(Client(port: port, session: try .client(context, name: "localhost")))
    }

    /// A connection without TLS.
    func rawClient() throws -> Client { try add(Client(port: port, session: nil)) }

    private func add(_ client: Client) throws -> Client {
        clients.append(client)
        return client
    }
}

/// The other side of a connection, driven by `Rig.turn`.
final class Client {
    private let fd: Int32
    private let session: TLSSession?
    private var toSend: [UInt8] = []
    private var wire: [UInt8] = []
    private(set) var received: [UInt8] = []
    private(set) var isEnded = false
    /// The errno that reading or writing ended with, if it was no proper end.
    private(set) var failure: Int32 = 0
    private(set) var tlsFailure: TLSFailure?
    private var isClosed = false

    /// What is still to come of the CONNECT door's answer; nil: it is through, or there is no such door.
    private var connectAnswer: [UInt8]?

    /// `connect`: HOST:PORT to ask the CONNECT door for, first.
    init(port: UInt16, session: TLSSession?, connect name: String? = nil) throws {
        if let name {
            wire = Array("CONNECT \(name) HTTP/1.1\r\nHost: \(name)\r\n\r\n".utf8)
            connectAnswer = []
        }
        fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.session = session
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(fd, $0, 16) }
        }
        guard result == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        _ = fcntl(fd, F_SETFL, O_NONBLOCK)
    }

    deinit { if !isClosed { close(fd) } }

    var isOpen: Bool { session?.isOpen ?? true }
    /// Everything given to `send` is on its way.
    var isFlushed: Bool { toSend.isEmpty && wire.isEmpty }

    func send(_ bytes: [UInt8]) { toSend += bytes }

    /// False once the other side has reset the connection, or closed it without listening to the end.
    func mayStillWrite() -> Bool { Glibc.send(fd, [0], 1, Int32(MSG_NOSIGNAL)) == 1 }

    func hangUp() {
        isClosed = true
        isEnded = true
        close(fd)
    }

    func step() {
        guard !isEnded else { return }
        if let answer = connectAnswer {
            var more: [UInt8] = []
            readRaw { more += $0 }
            let all = answer + more
            let isThrough = String(decoding: all, as: UTF8.self).hasSuffix("\r\n\r\n")
            connectAnswer = isThrough ? nil : all
            return writeWire()
        }
        if let session { stepTLS(session) } else { readRaw { received += $0 } }
        if session == nil {
            wire += toSend
            toSend = []
        }
        writeWire()
    }

    private func stepTLS(_ session: TLSSession) {
        var bytes: [UInt8] = []
        readRaw { bytes += $0 }
        do throws(TLSFailure) {
            try session.receive(bytes)
            var isBusy = true
            while isBusy {
                var buffer = [UInt8](repeating: 0, count: 4096)
                var progress: Result<TLSSession.Progress, TLSFailure> = .success(.needMore)
                buffer.withUnsafeMutableBytes { raw in
                    do throws(TLSFailure) { progress = .success(try session.read(into: raw)) } catch {
                        progress = .failure(error)
                    }
                }
                if case .bytes(let count) = try progress.get() {
                    received += buffer[..<count]
                } else {
                    isBusy = false
                }
            }
            if session.isOpen && wire.isEmpty && !toSend.isEmpty {
                try session.send(Array(toSend.prefix(200_000)))
                toSend.removeFirst(min(200_000, toSend.count))
            }
        } catch {
            tlsFailure = tlsFailure ?? error
        }
        wire += session.takeOutput()
    }

    private func readRaw(_ take: (ArraySlice<UInt8>) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = recv(fd, &buffer, buffer.count, 0)
        if count > 0 { take(buffer[..<count]) }
        if count == 0 { isEnded = true }
        if count < 0 && errno != EAGAIN {
            failure = errno
            isEnded = true
        }
    }

    private func writeWire() {
        guard !wire.isEmpty else { return }
        let count = Glibc.send(fd, wire, wire.count, Int32(MSG_NOSIGNAL))
        if count > 0 { wire.removeFirst(count) }
        if count < 0 && errno != EAGAIN { failure = errno }
    }
}
