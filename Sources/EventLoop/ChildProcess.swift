internal import Glibc

/// A program started without a shell: argument words, an environment, and nothing inherited but stdout and stderr.
/// On any thread.
package struct ChildProcess {
    package let pid: Int32

    /// Starts `words[0]` (a path, or a name looked up in PATH). Throws if it cannot be executed.
    ///
    /// The child's signal mask is empty: ours blocks what the loop takes by signalfd. Every descriptor of ours is
    /// close-on-exec. With `errorsTo` stderr goes there and stdout nowhere; with `outputTo` it is the other way round.
    package init(
        _ words: [String], environment: [String: String], errorsTo descriptor: Int32? = nil, outputTo: Int32? = nil
    ) throws(LoopFailure) {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        if let descriptor {
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
            posix_spawn_file_actions_adddup2(&actions, descriptor, 2)
        } else if let outputTo {
            posix_spawn_file_actions_adddup2(&actions, outputTo, 1)
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        }
        let arguments = CStrings(words)
        let variables = CStrings(environment.map { "\($0.key)=\($0.value)" })
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, words[0], &actions, &attributes, arguments.pointers, variables.pointers)
        guard code == 0 else { throw LoopFailure(code: code, doing: "starting \(words[0])") }
        self.pid = pid
    }

    /// The path of an executable: a path as it is, a name by PATH; nil if there is none.
    package static func path(of name: String, _ environment: [String: String]) -> String? {
        let folders =
            name.contains("/") ? [""] : (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map { $0 + "/" }
        return folders.map { $0 + name }.first { access($0, X_OK) == 0 }
    }

    package static var environment: [String: String] {
        var out: [String: String] = [:]
        var cursor = environ
        while let entry = cursor.pointee {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                out[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            cursor += 1
        }
        return out
    }
}

/// A null-terminated array of C strings, freed at the end of its life.
private final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ texts: [String]) {
        count = texts.count
        pointers = .allocate(capacity: count + 1)
        for (index, text) in texts.enumerated() { pointers[index] = strdup(text) }
        pointers[count] = nil
    }

    deinit {
        for index in 0..<count { free(pointers[index]) }
        pointers.deallocate()
    }
}
