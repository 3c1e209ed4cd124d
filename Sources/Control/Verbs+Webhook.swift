internal import Base
internal import Config
internal import Crypto
internal import DBus
internal import Glibc
internal import JSON

extension Verbs {
    static let webhookVerbs = [
        Verb(
            name: "webhook", summary: "Ring by a plain HTTP POST: where, and lines to copy.",
            options: [
                .init(name: "app", value: "APP-ID", help: "whose calls they are; com.example.talk, if not given")
            ],
            details: """
                For senders that speak no APNs: curl, Alertmanager, Grafana, a Matrix homeserver.
                Off at first. Docs/webhooks.md has what is answered, and what may be set.
                """,
            example: "ringctl webhook --app com.example.talk"
        ) { invocation, session throws(Refusal) in
            let app = invocation.options["app"] ?? "com.example.talk"
            guard AppID.isValid(app) else {
                throw .usage("webhook: \"\(Text.clean(app))\" is no app id like com.example.talk")
            }
            try Webhook(app: app, session: session).run()
        }
    ]
}

/// `ringctl webhook`.
private struct Webhook {
    private let app: String
    private let session: Session
    private let settings: Configuration.Webhook
    /// Where ringd listens now; nil if it does not run.
    private let places: [String]?

    init(app: String, session: Session) throws(Refusal) {
        self.app = app
        self.session = session
        settings = try session.configuration().webhook
        do throws(Refusal) {
            let status = try session.call("org.ringd.Monitor1", "Status", startsDaemon: false).first
            places = status?["webhooks"]?.elements?.compactMap(\.text) ?? []
        } catch {
            places = nil
        }
    }

    private var tokenFile: String { settings.tokenFile ?? session.webhookToken }
    private var isTLS: Bool { settings.certificate != .none }
    private var configured: [String] {
        settings.listen.map { ($0.host.contains(":") ? "[\($0.host)]" : $0.host) + ":\($0.port)" }
    }
    private var base: String { "\(isTLS ? "https" : "http")://\(places?.first ?? configured.first ?? "")" }
    private var url: String { "\(base)/push/\(app)" }
    private var matrixURL: String { "\(base)/_matrix/push/v1/notify" }

    private var curl: String {
        let trust = settings.certificate == .own ? "--cacert '\(session.certificates)/ca.pem' " : ""
        return "curl \(trust)-H \"Authorization: Bearer $(cat '\(tokenFile)')\" "
            + "-d '{\"callId\":\"'$(cat /proc/sys/kernel/random/uuid)'\",\"displayName\":\"Alice\"}' \(url)"
    }

    func run() throws(Refusal) {
        let isOn = !settings.listen.isEmpty
        if session.isJSON {
            return try session.say(
                .object(
                    ("on", .bool(isOn)), ("running", .bool(places != nil)),
                    ("listening", .array((places ?? []).map { .string($0) })),
                    ("configured", .array(configured.map { .string($0) })), ("token_file", .string(tokenFile)),
                    ("app", .string(app)), ("url", isOn ? .string(url) : .null),
                    ("matrix_url", isOn ? .string(matrixURL) : .null), ("curl", isOn ? .string(curl) : .null)))
        }
        guard isOn else {
            return try session.say(
                """
                Webhooks are off. To turn them on, for programs on this computer:
                  ringctl config set webhook.listen 127.0.0.1:2198
                  ringctl webhook
                """)
        }
        try session.say("listening  \(standing)")
        try session.say(
            "token      \(tokenFile)\(access(tokenFile, F_OK) == 0 ? "" : " (made when ringd turns them on)")")
        try session.say("app        \(app) (another one: --app APP-ID; ringctl apps add APP-ID registers it)\n")
        try session.say(session.style(.bold, "curl") + "\n  \(curl)\n")
        try session.say(
            session.style(.bold, "Alertmanager") + """
                , in alertmanager.yml (its user must be able to read the file: give it a copy)
                  receivers:
                    - name: ringd
                      webhook_configs:
                        - url: \(url)
                          http_config:
                            authorization:
                              credentials_file: \(tokenFile)

                """)
        try session.say(
            session.style(.bold, "Grafana") + """
                , a contact point of type Webhook
                  URL                   \(url)
                  Authorization Header  scheme Bearer, credentials: what cat '\(tokenFile)' prints

                """)
        try session.say(
            session.style(.bold, "Matrix") + """
                , a pusher of kind http; its pushkey is the app's VoIP token (ringctl apps \(app))
                  echo "\(matrixURL)?token=$(cat '\(tokenFile)')"
                """)
    }

    private var standing: String {
        guard let places else { return "nowhere: ringd does not run (systemctl --user start ringd)" }
        if places.isEmpty {
            return "nowhere, though \(configured.joined(separator: ", ")) is configured (ringctl doctor)"
        }
        return places.map { "\(isTLS ? "https" : "http")://\($0)" }.joined(separator: ", ")
    }
}

extension Session {
    /// What ringd.conf says, without its faults; the defaults if it is not there.
    func configuration() throws(Refusal) -> Configuration {
        guard access(configFile, F_OK) == 0 else { return Configuration() }
        let bytes = try InputFile.read(configFile, limit: 1 << 20)
        return Configuration.read(String(decoding: bytes, as: UTF8.self)).0
    }
}
