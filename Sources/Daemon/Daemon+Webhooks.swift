internal import APNs
internal import Base
internal import Config
internal import Crypto
internal import EventLoop
internal import Sockets
internal import Webhooks

/// The door for webhooks (Docs/webhooks.md): where it is, and who may come in. `Daemon+WebhookRoutes.swift` has the rest.
extension Daemon {
    var webhookTokenPath: String { configuration.webhook.tokenFile ?? paths.webhookToken }

    /// At start and with each change. Nothing is made, loaded or read while it is off.
    func reloadWebhooks() {
        guard !configuration.webhook.listen.isEmpty || edges.webhooks != nil else { return }
        edges.webhookFault = nil
        do {
            let wanted = try webhookConfiguration()
            if let webhooks = edges.webhooks { return webhooks.reload(wanted) }
            let webhooks = try WebhookServer(
                loop, wanted, answer: { [unowned self] request in answer(request) },
                report: { [unowned self] event in emit(event) })
            edges.webhooks = webhooks
            webhooks.start()
        } catch {
            // Never with an old token or certificate.
            edges.webhooks?.stop()
            edges.webhookFault = "\(error)"
            emit(
                Event(
                    .webhookFault, level: .error, "webhooks are not taken: \(error)",
                    [.init("cause", .text("configuration"))]))
        }
    }

    private func webhookConfiguration() throws -> WebhookServer.Configuration {
        let webhook = configuration.webhook
        var made = WebhookServer.Configuration(listeners: webhook.listen.compactMap(\.address))
        guard !made.listeners.isEmpty else { return made }
        made.secret = try WebhookToken.load(webhookTokenPath)
        made.isOpenToNetwork = webhook.isOpenToNetwork
        let identity: Identity
        switch webhook.certificate {
        case .none: return made
        case .own:
            let credentials = try edges.credentials ?? Credentials(directory: paths.certificates)
            edges.credentials = credentials
            identity = credentials.server
        case .file(let path): identity = try Identity(path: path, keyPath: webhook.key)
        }
        let pem = String(decoding: try identity.pem, as: UTF8.self)
        made.certificate = pem
        made.key = pem
        return made
    }

    /// Where it is, in words; empty if nowhere.
    var webhookAddresses: [String] { edges.webhooks?.addresses.map(\.description) ?? [] }
}
