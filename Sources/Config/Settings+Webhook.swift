/// `[webhook]`.
extension Setting {
    private typealias Listener = Configuration.APNs.Listener

    private static func webhook(
        _ key: String, _ expects: String, _ help: String, whenEmpty: String = "",
        read: @escaping @Sendable (String, inout Configuration.Webhook) -> Bool,
        write: @escaping @Sendable (Configuration.Webhook) -> String
    ) -> Setting {
        Setting(
            section: "webhook", key: key, expects: expects, help: help, whenEmpty: whenEmpty,
            read: { read($0, &$1.webhook) }, write: { write($0.webhook) })
    }

    /// A whole path, or nothing for none.
    private static func path(_ text: String, _ set: (String?) -> Void) -> Bool {
        guard text.isEmpty || isPath(text) else { return false }
        set(text.isEmpty ? nil : text)
        return true
    }

    static let webhooks: [Setting] = [
        webhook(
            "listen", "none, or HOST:PORT, …",
            "Where webhooks are taken, e.g. 127.0.0.1:2198 (ringctl webhook). Beyond loopback only with open-to-network and a certificate.",
            read: { text, c in
                guard let list = Listener.list(text, hasProfile: false), !list.contains(where: \.isOptional) else {
                    return false
                }
                c.listen = list
                return true
            }, write: { Listener.text($0.listen, hasProfile: false) }),
        webhook(
            "token-file", "a file by its whole path",
            "The token that senders show; the file is made when webhooks are first on, and is the user's alone.",
            whenEmpty: "ringd/webhook-token in the state folder",
            read: { text, c in path(text) { c.tokenFile = $0 } }, write: { $0.tokenFile ?? "" }),
        webhook(
            "certificate", "none, own, or a PEM file by its whole path",
            "Speak TLS: with the gateway's certificate, which is for loopback names alone, or with one of yours.",
            read: { text, c in
                switch text {
                case "none": c.certificate = .none
                case "own": c.certificate = .own
                default:
                    guard isPath(text) else { return false }
                    c.certificate = .file(text)
                }
                return true
            },
            write: {
                switch $0.certificate {
                case .none: "none"
                case .own: "own"
                case .file(let path): path
                }
            }),
        webhook(
            "key", "a PEM file by its whole path", "The key of webhook.certificate, where that is a file.",
            whenEmpty: "in the certificate's file", read: { text, c in path(text) { c.key = $0 } },
            write: { $0.key ?? "" }),
        webhook(
            "open-to-network", "yes or no",
            "Take listeners beyond loopback: anybody who has the token can ring this desktop then.",
            read: { text, c in flag(text) { c.isOpenToNetwork = $0 } }, write: { word($0.isOpenToNetwork) }),
    ]
}
