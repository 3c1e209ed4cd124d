package import Base
package import EventLoop
internal import Glibc
package import Sockets

/// Webhooks in: POSTs over HTTP/1.1, for senders that speak no APNs. On the loop's thread.
///
/// Who may come in, and how much they may bring, is decided here; what a request is for is `answer`'s. That and `report` are
/// called from inside of the loop's handlers, and may call `stop()`. Nothing runs, and libmicrohttpd is not even loaded,
/// before `start()`.
package final class WebhookServer {
    let loop: EventLoop
    package private(set) var configuration: Configuration
    /// Why it cannot serve, for people.
    package private(set) var fault: String?
    let answer: (Request) -> Answer
    let report: (Event) -> Void
    private(set) var gatekeeper: Gatekeeper
    private let library: String
    private var http: HTTPDaemon?
    private var source: IOSource?
    private var timer: TimerSource?
    /// libmicrohttpd's own: it has work at once, mostly in TLS.
    private var soon: TimerSource?
    private var doors: [Door] = []
    /// By their sockets.
    var guests: [Int32: Guest] = [:]
    private var isRunning = false
    private var isStopWanted = false
    private var refusals = Withholding(now: .now)
    private var faults = Withholding(now: .now)

    /// While there is no room, who has not shown the secret has this long for each step.
    private static let patience: Duration = .seconds(2)

    /// `library`: another name than libmicrohttpd's, for tests.
    package init(
        _ loop: EventLoop, _ configuration: Configuration, library: String? = nil,
        answer: @escaping (Request) -> Answer, report: @escaping (Event) -> Void
    ) throws(LoopFailure) {
        self.loop = loop
        self.configuration = configuration
        self.library = library ?? HTTPDaemon.library
        self.answer = answer
        self.report = report
        gatekeeper = Gatekeeper(configuration)
        // Deadlines of seconds: 50 ms of slack lets the kernel join them with other wake-ups.
        timer = try TimerSource(loop, accuracy: .milliseconds(50)) { [weak self] in self?.timeUp() }
        soon = try TimerSource(loop, accuracy: .microseconds(1)) { [weak self] in self?.run() }
    }

    deinit { leave() }

    // MARK: Life

    /// Listens on everything that is configured. What fails is reported; a port that is taken is tried again.
    package func start() { reload(configuration) }

    /// Takes new settings. Listeners that stay are not closed; connections stay, but for a new certificate or limit.
    package func reload(_ new: Configuration) {
        // From inside of a request: once that is over.
        guard !isRunning else { return loop.later { [weak self] in self?.reload(new) } }
        let isOther =
            new.certificate != configuration.certificate || new.key != configuration.key
            || new.connections != configuration.connections
        configuration = new
        gatekeeper = Gatekeeper(new)
        fault = nil
        guard !new.listeners.isEmpty else { return stop() }
        if http == nil || isOther {
            leave()
            do {
                try begin()
            } catch {
                return fault("\(error.cause)", error.words)
            }
        }
        listen()
    }

    private func begin() throws(HTTPFailure) {
        let made = try HTTPDaemon(
            library: library, connections: configuration.connections, certificate: configuration.certificate,
            key: configuration.key, handler: self)
        do throws(LoopFailure) {
            source = try IOSource(loop, fd: made.descriptor, .read, yields: true) { [weak self] _ in self?.run() }
        } catch {
            throw HTTPFailure(cause: "no-loop", words: "webhooks: \(error)")
        }
        http = made
    }

    private func listen() {
        // Port 0 may be asked for several times, and is another port each time.
        var held = doors
        doors = []
        for wish in configuration.listeners {
            if let place = held.firstIndex(where: { $0.wish == wish }) {
                doors.append(held.remove(at: place))
            } else {
                doors.append(Door(wish, server: self))
            }
        }
        // Before others are bound, in whose place they may be.
        held = []
        doors.removeAll { !mayListen($0.wish) }
        for door in doors { door.open(afresh: true) }
        arm()
    }

    private func mayListen(_ wish: ListenAddress) -> Bool {
        guard !wish.isLoopback else { return true }
        guard configuration.isOpenToNetwork else {
            fault(
                "not-loopback",
                "will not listen for webhooks on \(wish): it is not loopback; set webhook.open-to-network = yes as well"
            )
            return false
        }
        guard configuration.certificate != nil else {
            fault(
                "no-tls",
                "will not listen for webhooks on \(wish) without TLS, since the token would be read on its way; set webhook.certificate"
            )
            return false
        }
        return true
    }

    /// Stops listening and ends every connection at once. Nothing is called back after that.
    package func stop() {
        guard !isRunning else {
            isStopWanted = true
            return
        }
        leave()
    }

    private func leave() {
        doors = []
        timer?.disarm()
        soon?.disarm()
        // In this order: the descriptor leaves our epoll before it is closed.
        source?.cancel()
        source = nil
        http = nil
        guests = [:]
    }

    /// Where it listens now, with real port numbers, in the order of the configuration.
    package var addresses: [ListenAddress] { doors.compactMap(\.address) }

    /// Connections at this moment.
    package var connectionCount: Int { guests.count }

    /// True while it would wake up by itself at some time.
    package var hasDeadline: Bool { timer?.deadline != nil || soon?.deadline != nil }

    // MARK: Work

    private var isFull: Bool { guests.count >= configuration.connections }

    /// A socket that a door accepted.
    func admit(_ socket: Socket) {
        guard let http else { return }
        let address = socket.peerAddress
        let fd = socket.giveUp()
        guests[fd] = Guest(peer: address?.description ?? "", now: .now)
        let isAdded = working { http.add(fd, address: address?.socketAddress ?? []) }
        if !isAdded {
            guests[fd] = nil
            fault("cannot-accept", "webhooks cannot take a connection: libmicrohttpd refuses it")
        }
        run()
    }

    private func run() {
        guard let http else { return }
        working { http.run() }
        cutThoseWhoLeft()
        arm()
    }

    /// libmicrohttpd does not see an end that comes together with data (0.9.75: after a short read it waits for the next
    /// edge), and would keep the connection until its time is over.
    private func cutThoseWhoLeft() {
        // What is not worked off yet may be another request.
        guard let http, http.timeout != .zero else { return }
        for (fd, guest) in guests where !guest.isCut {
            if case .answering = guest.phase { continue }
            var byte: UInt8 = 0
            if recv(fd, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0 { cut(fd, guest) }
        }
    }

    /// The descriptor is the library's: it finds the end there, and closes it.
    private func cut(_ fd: Int32, _ guest: Guest) {
        guest.isCut = true
        shutdown(fd, Int32(SHUT_RDWR))
    }

    /// libmicrohttpd is not to be stopped by what it calls.
    private func working<Result>(_ body: () -> Result) -> Result {
        isRunning = true
        let result = body()
        isRunning = false
        if isStopWanted {
            isStopWanted = false
            leave()
        }
        return result
    }

    func arm() {
        let isFull = isFull
        for door in doors where door.isOpen == isFull { door.isOpen = !isFull }
        let due = doors.compactMap(\.deadline) + guests.values.compactMap(deadline)
        if let next = due.min() { timer?.arm(at: next) } else { timer?.disarm() }
        if let wait = http?.timeout { soon?.arm(after: wait) } else { soon?.disarm() }
    }

    /// nil for one that is going.
    private func deadline(of guest: Guest) -> Instant? {
        guard !guest.isCut else { return nil }
        return guest.since + (isFull && !guest.isWelcome ? min(configuration.idle, Self.patience) : configuration.idle)
    }

    private func timeUp() {
        let now = Instant.now
        for door in doors { door.timeUp(now: now) }
        for (fd, guest) in guests {
            guard let deadline = deadline(of: guest), now >= deadline else { continue }
            cut(fd, guest)
        }
        run()
    }

    // MARK: Events

    func fault(_ cause: String, _ words: String) {
        fault = words
        guard faults.admit(now: .now) != nil else { return }
        report(Event(.webhookFault, level: .error, words, [.init("cause", .text(cause))]))
    }

    /// Somebody came who may not; the target is left out, since a token may be in it.
    func reportRefusal(_ turndown: Turndown, of peer: String) {
        guard let withheld = refusals.admit(now: .now) else { return }
        let more = withheld > 0 ? " (\(withheld) before it were not reported: too many at once)" : ""
        var fields: [Event.Field] = [
            .init("peer", .text(peer)), .init("status", .number(Int64(turndown.status))),
            .init("cause", .text(turndown.cause)),
        ]
        if withheld > 0 { fields.append(.init("withheld", .number(Int64(withheld)))) }
        report(
            Event(
                .webhookRefused, level: .warning,
                "webhook of \(peer) refused, \(turndown.status): \(turndown.error); \(turndown.cure)\(more)", fields))
    }
}

extension Gatekeeper {
    fileprivate init(_ configuration: WebhookServer.Configuration) {
        self.init(secret: Secret(configuration.secret), bodyLimit: configuration.bodyLimit)
    }
}
