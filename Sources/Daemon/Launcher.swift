internal import Base
internal import DBus
internal import EventLoop
internal import Glibc

/// Starts programs for calls, never through a shell.
///
/// Under systemd the user manager starts them, as a transient unit each: a child of ours would inherit the service's
/// sandbox, in which no browser can start its own, and would die with the service. Elsewhere they are children.
final class Launcher {
    private let loop: EventLoop
    private let environment: [String: String]
    private let isService: Bool
    private var children: [Int32: ChildSource] = [:]
    private var units = 0
    /// Programs at once: a flood of answered calls must not become a flood of processes.
    private static let mostChildren = 16

    init(_ loop: EventLoop, environment: [String: String]) {
        self.loop = loop
        // sd_notify's socket is there exactly if the unit is ours.
        isService = environment["NOTIFY_SOCKET"] != nil && environment["INVOCATION_ID"] != nil
        var variables = environment
        // Ours, not the program's: it would speak to systemd and the journal in our name.
        for name in [
            "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "JOURNAL_STREAM", "LISTEN_FDS", "LISTEN_PID",
            "INVOCATION_ID",
        ] {
            variables[name] = nil
        }
        self.environment = variables
    }

    /// `done` gets nil once the program was started, else why not; `ended` is called if a child of ours ends with
    /// anything but 0.
    func launch(
        _ words: [String], _ variables: [String: String], _ connection: DBusConnection?,
        ended: @escaping (ChildStatus) -> Void, done: @escaping (String?) -> Void
    ) {
        guard let program = ChildProcess.path(of: words[0], environment) else {
            return done("there is no program \(words[0])")
        }
        guard isService, let connection else { return spawn(program, words, variables, ended, done) }
        units += 1
        connection.call(unit(program, words, variables), timeout: .seconds(8)) { [weak self] result in
            switch result {
            case .success: done(nil)
            case .failure: self?.spawn(program, words, variables, ended, done)
            }
        }
    }

    private func spawn(
        _ program: String, _ words: [String], _ variables: [String: String], _ ended: @escaping (ChildStatus) -> Void,
        _ done: (String?) -> Void
    ) {
        guard children.count < Self.mostChildren else { return done("\(children.count) programs run already") }
        do throws(LoopFailure) {
            let child = try ChildProcess(
                [program] + words.dropFirst(), environment: environment.merging(variables) { $1 })
            children[child.pid] = try ChildSource(loop, pid: child.pid) { [unowned self] status in
                children[child.pid] = nil
                if status != .exited(0) { ended(status) }
            }
            done(nil)
        } catch {
            done("\(error)")
        }
    }

    /// org.freedesktop.systemd1(5), StartTransientUnit.
    private func unit(_ program: String, _ words: [String], _ variables: [String: String]) -> OutboundMessage {
        let command = DBusValue.structure([.string(program), .strings(words), .bool(false)])
        let properties: [(String, DBusValue)] = [
            ("Description", .string("\(words[0]), started for a call")),
            ("ExecStart", .array(of: "(sasb)", [command])),
            ("Environment", .strings(variables.map { "\($0.key)=\($0.value)" })),
            ("CollectMode", .string("inactive-or-failed")), ("Slice", .string("app.slice")),
        ]
        return OutboundMessage(
            to: "org.freedesktop.systemd1", path: "/org/freedesktop/systemd1",
            interface: "org.freedesktop.systemd1.Manager", member: "StartTransientUnit",
            [
                .string("ringd-call-\(getpid())-\(units).service"), .string("fail"),
                .array(of: "(sv)", properties.map { .structure([.string($0.0), .variant($0.1)]) }),
                .array(of: "(sa(sv))", []),
            ])
    }
}

extension ChildStatus {
    var text: String {
        switch self {
        case .exited(let code): "ended with status \(code)"
        case .killed(let signal): "was killed by signal \(signal)"
        }
    }
}
