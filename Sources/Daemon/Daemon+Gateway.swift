internal import APNs
internal import Base
internal import Config
internal import Crypto
internal import EventLoop
internal import Gateway

/// The doors for pushes, and their certificates.
extension Daemon {
    func startGateway() {
        guard !configuration.apns.binary.isEmpty else { return }
        do {
            let credentials = try Credentials(directory: paths.certificates)
            edges.credentials = credentials
            try trustOwnKey(credentials)
            let gateway = try BinaryGateway(
                loop, gatewayConfiguration(), context: try .server(credentials.server),
                inheritedDescriptors: ServiceManager.takeSockets(),
                decide: { [unowned self] push in decide(push) },
                report: { [unowned self] event in
                    // Of pushes that were judged the service tells.
                    if event.kind != .pushRefused || event["reason"] == nil { emit(event) }
                })
            edges.gateway = gateway
            edges.gatewayFault = nil
            gateway.start()
            daily.arm(after: .seconds(86_400))
        } catch {
            edges.gatewayFault = "\(error)"
            emit(Event(.gatewayFault, level: .error, "the APNs gateway cannot start: \(error)"))
        }
    }

    /// What the binary door asks, in the service's terms.
    private func decide(_ push: InboundPush) -> PushVerdict {
        let request = PushRequest()
        if case .binary(let command) = push.transport { request.transport = .binary(command: command) }
        request.binaryToken = push.token
        if let expiration = push.expiration { request.set(.expiration, String(expiration)) }
        request.set(.priority, String(push.priority))
        request.append(push.payload)
        let sender = apns.sender(peer: push.peer, environment: push.environment, certificate: push.certificate)
        let answer = apns.take(request, from: sender)
        guard let reason = answer.reason else { return .accepted }
        return .refused(PushRefusal(reason))
    }

    /// The server's certificate lives 13 months and a daemon may live longer: looked at once a day and on reload.
    func renewCertificate() {
        daily.arm(after: .seconds(86_400))
        guard let credentials = edges.credentials, let gateway = edges.gateway else { return }
        do {
            guard try credentials.renewIfDue() else { return }
            gateway.reload(gatewayConfiguration(), context: try .server(credentials.server))
            emit(Event(.gatewayListening, "the gateway's certificate was about to end: a new one is in use"))
        } catch {
            emit(Event(.gatewayFault, level: .error, "the gateway's certificate cannot be renewed: \(error)"))
        }
    }

    func gatewayConfiguration() -> BinaryGateway.Configuration {
        let listeners = configuration.apns.binary.compactMap { wanted -> BinaryGateway.Listener? in
            let host = wanted.host.contains(":") ? "[\(wanted.host)]" : wanted.host
            guard let address = ListenAddress("\(host):\(wanted.port)") else { return nil }
            return BinaryGateway.Listener(
                address, profile: BinaryGateway.Profile(rawValue: wanted.profile.rawValue) ?? .auto)
        }
        var made = BinaryGateway.Configuration(listeners: listeners)
        made.authorityPath = paths.certificates + "/ca.pem"
        made.pushesPerSecond = configuration.apns.rate
        made.pushBurst = 2 * configuration.apns.rate
        return made
    }
}
