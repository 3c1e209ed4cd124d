internal import Base
internal import DBus
internal import EventLoop
internal import Glibc
internal import JSON

/// `ringctl watch`: lines for a pipe, a screen for a terminal.
enum Watch {
    static func run(_ session: Session, isPlain: Bool) throws(Refusal) {
        if session.isJSON || isPlain || !Console.isTerminal(0) || !Console.isTerminal(1) {
            return try stream(session)
        }
        try WatchScreen(session).run()
    }

    private static func stream(_ session: Session) throws(Refusal) {
        if !session.isJSON { try session.say(session.style(.dim, "watching; Ctrl-C ends")) }
        try session.follow { kind, event throws(Refusal) in
            if session.isJSON {
                try session.say(.object([.init("kind", .string(kind))] + (event.json.members ?? [])))
            } else {
                let line = line(kind, event)
                try session.say(session.style.line(line.text, level: line.level, kind: kind))
            }
        }
    }

    static func line(_ kind: String, _ event: DBusValue) -> WatchModel.Line {
        let wall = WallTime(nanoseconds: event["wall_ns"]?.integer ?? 0)
        let call = event["call"]?.text.map { String($0.prefix(8)) } ?? "        "
        return WatchModel.Line(
            text: "\(wall.clockText)  \(call)  \(kind.rightPadded(to: 22)) \(event["message"]?.text ?? "")", kind: kind,
            level: event["level"]?.integer ?? 6)
    }
}

/// The screen: live calls with their time left on top, what happens below, what would happen to a call at the foot.
private final class WatchScreen {
    private let session: Session
    private var model = WatchModel()
    private var terminal: Terminal?
    private var end: Refusal?
    private var connection: DBusConnection!
    private var tick: TimerSource!

    init(_ session: Session) { self.session = session }

    func run() throws(Refusal) {
        // Says at once if nobody is there, before the screen is taken.
        _ = try session.monitor("Status")
        let loop: EventLoop
        (loop, connection) = try session.connect()
        guard let terminal = Terminal() else { throw .refused("watch: this is no terminal (ringctl watch --plain)") }
        self.terminal = terminal
        defer { self.terminal = nil }
        var sources: [AnyObject] = []
        do throws(LoopFailure) {
            tick = try TimerSource(loop, accuracy: .milliseconds(50)) { [unowned self] in draw() }
            sources.append(try IOSource(loop, fd: 0, .read) { [unowned self] _ in typed() })
            sources.append(try SignalSource(loop, SIGWINCH) { [unowned self] in draw() })
            for signo in [SIGINT, SIGTERM, SIGHUP] {
                sources.append(try SignalSource(loop, signo) { [unowned self] in leave() })
            }
        } catch {
            throw .refused("\(error)")
        }
        connection.onMessage = { [unowned self] message in
            if message.kind == .signal, message.interface == "org.ringd.Monitor1", message.member == "Event",
                message.arguments.count == 2
            {
                happened(message.arguments[0].text ?? "", message.arguments[1])
            }
            return false
        }
        connection.onDisconnect = { [unowned self] in end = .unreachable("the session bus went away") }
        connection.addMatch(Session.eventRule)
        refreshCalls()
        refreshFoot()
        draw()
        while end == nil {
            do throws(LoopFailure) {
                try loop.turn(timeout: .seconds(3600))
            } catch {
                end = .refused("\(error)")
            }
        }
        withExtendedLifetime(sources) {}
        if let end, end.status != 0 { throw end }
    }

    private func leave() { end = Refusal(status: 0, message: "") }

    private func happened(_ kind: String, _ event: DBusValue) {
        model.add(Watch.line(kind, event))
        if kind.hasPrefix("call.") { refreshCalls() }
        if kind.hasSuffix(".server") || kind.hasPrefix("config.") || kind.hasPrefix("bus.") { refreshFoot() }
        if kind == "daemon.stopping" { model.calls = [] }
        draw()
    }

    private func ask(_ interface: String, _ member: String, then: @escaping ([DBusValue]) -> Void) {
        connection.call(
            OutboundMessage(to: Session.name, path: Session.path, interface: interface, member: member)
        ) { [weak self] result in
            guard case .success(let values) = result else { return }
            then(values)
            self?.draw()
        }
    }

    private func refreshCalls() {
        ask("org.freedesktop.DBus.ObjectManager", "GetManagedObjects") { [weak self] values in
            self?.model.calls = Session.calls(in: values).map { call in
                let kind = call["Video"]?.flag == true ? "video" : ""
                let app = call["App"]?.text ?? ""
                return WatchModel.LiveCall(
                    id: call["UUID"]?.text ?? "", state: call["State"]?.text ?? "", caller: call["Caller"]?.text ?? "",
                    detail: [kind, app == "org.ringd.ringctl" ? "" : app].filter { !$0.isEmpty }.joined(
                        separator: " · "),
                    began: Instant(nanoseconds: call["Began"]?.integer ?? 0),
                    deadline: Instant(nanoseconds: call["Deadline"]?.integer ?? 0))
            }
        }
    }

    private func refreshFoot() {
        ask("org.ringd.Monitor1", "Doctor") { [weak self] values in
            self?.model.foot = "a call now: \(Doctor.verdict(values.first?.elements ?? []).words)"
        }
    }

    private func typed() {
        let keys = terminal?.keys() ?? []
        if keys.isEmpty { return leave() }
        model.notice = ""
        switch keys {
        case [0x1b, 0x5b, 0x41]: model.select(-1)
        case [0x1b, 0x5b, 0x42]: model.select(1)
        case [0x1b, 0x5b, 0x35, 0x7e]: model.scroll(by: 10)
        case [0x1b, 0x5b, 0x36, 0x7e]: model.scroll(by: -10)
        default:
            for key in keys {
                switch key {
                case UInt8(ascii: "q"),
                    0x1b where keys.count == 1, 0x04:
                    leave()
                case UInt8(ascii: "a"): act("Answer")
                case UInt8(ascii: "d"): act("Decline")
                case UInt8(ascii: "s"): act("Silence")
                case UInt8(ascii: "k"): model.scroll(by: 1)
                case UInt8(ascii: "j"): model.scroll(by: -1)
                default: break
                }
            }
        }
        draw()
    }

    private func act(_ member: String) {
        guard let call = model.chosen else {
            model.notice = "no call is live"
            return
        }
        connection.call(
            OutboundMessage(
                to: Session.name, path: Session.path, interface: "org.ringd.CallController1", member: member,
                [.string(call.id)])
        ) { [weak self] result in
            if case .failure(let failure) = result { self?.model.notice = failure.message }
            self?.draw()
        }
    }

    private func draw() {
        guard let terminal, end == nil else { return }
        let (width, height) = terminal.size
        terminal.draw(model.rendered(width: width, height: height, now: .now, style: session.style))
        // A countdown moves; a quiet screen sleeps.
        if model.calls.contains(where: \.isRinging) { tick.arm(after: .milliseconds(500)) } else { tick.disarm() }
    }
}
