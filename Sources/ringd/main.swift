internal import Base
internal import Daemon
internal import EventLoop
internal import Glibc

// The whole program is one loop on this thread; see the target Daemon.

/// Options, as getopt would have them; there are too few to need it.
private struct Arguments {
    var config: String?
    var sounds: String?
    var isDebug = false

    static let usage = """
        usage: ringd [--config FILE] [--sounds DIR] [--debug]

        Rings for calls that arrive by push. Usually started by systemd (systemctl --user start ringd);
        ringctl(1) speaks with it.

          --config FILE   instead of $XDG_CONFIG_HOME/ringd/ringd.conf
          --sounds DIR    ringd's own sounds, if they are not installed
          --debug         log more, to stderr
          --version       say which ringd this is

        example: ringd --sounds Sounds --debug
        """

    init() {
        var rest = CommandLine.arguments.dropFirst()
        func value(of option: String) -> String {
            guard let value = rest.popFirst() else { Self.refuse("\(option) needs a value") }
            return value
        }
        while let word = rest.popFirst() {
            switch word {
            case "--config": config = value(of: word)
            case "--sounds": sounds = value(of: word)
            case "--debug": isDebug = true
            case "--version":
                print("ringd \(Version.text)")
                exit(0)
            case "--help", "-h":
                print(Self.usage)
                exit(0)
            default: Self.refuse("unknown option \(word)")
            }
        }
    }

    private static func refuse(_ why: String) -> Never {
        Console.complain("ringd: \(why) (ringd --help)")
        exit(64)
    }
}

/// The folder this program lies in; the decoder lies beside it.
private func ownFolder() -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
        let count = readlink("/proc/self/exe", buffer.baseAddress!, buffer.count)
        let path = String(
            decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<max(0, count)]), as: UTF8.self)
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }
}

/// Started without stdin, stdout or stderr, our own descriptors would take their numbers, and log lines go into them.
private func openStandardDescriptors() {
    while true {
        let fd = open("/dev/null", O_RDWR)
        if fd > 2 {
            close(fd)
            return
        }
        if fd < 0 { return }
    }
}

private func serve() -> Int32 {
    openStandardDescriptors()
    let arguments = Arguments()
    signal(SIGPIPE, SIG_IGN)
    umask(0o077)
    do {
        let loop = try EventLoop()
        let daemon = Daemon(
            loop,
            Daemon.Options(
                environment: ChildProcess.environment, configFile: arguments.config, soundsFolder: arguments.sounds,
                decoder: ownFolder() + "/ringd-decode", isDebug: arguments.isDebug))
        let failure: Daemon.StartFailure? = daemon.assumeIsolated { daemon in
            do throws(Daemon.StartFailure) {
                try daemon.start()
                return nil
            } catch {
                return error
            }
        }
        if let failure {
            Console.complain("ringd: \(failure.message)")
            return failure.status
        }
        return try loop.run()
    } catch {
        Console.complain("ringd: \(error)")
        return 71
    }
}

exit(serve())
