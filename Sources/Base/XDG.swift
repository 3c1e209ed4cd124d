internal import Glibc

/// The folders of the XDG Base Directory Specification, for ringd's own things.
package enum XDG {
    package enum Kind: Sendable {
        case config
        case state
    }

    /// E.g. `~/.config/ringd`. A relative value of a variable is ignored, as the specification demands; without HOME
    /// the user database says where home is.
    package static func folder(_ kind: Kind, _ environment: [String: String]) -> String {
        let (variable, fallback) =
            switch kind {
            case .config: ("XDG_CONFIG_HOME", "/.config")
            case .state: ("XDG_STATE_HOME", "/.local/state")
            }
        return (absolute(environment[variable]) ?? home(environment) + fallback) + "/ringd"
    }

    /// Keys and certificates: state, because they are made here and stay on this machine.
    package static func certificates(_ environment: [String: String]) -> String {
        folder(.state, environment) + "/certs"
    }

    /// What senders of webhooks show: beside the keys, and made here like them.
    package static func webhookToken(_ environment: [String: String]) -> String {
        folder(.state, environment) + "/webhook-token"
    }

    private static func home(_ environment: [String: String]) -> String {
        if let home = absolute(environment["HOME"]) { return home }
        guard let entry = getpwuid(getuid()), let folder = entry.pointee.pw_dir else { return "" }
        let home = String(cString: folder)
        return home == "/" ? "" : home
    }

    private static func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }
}
