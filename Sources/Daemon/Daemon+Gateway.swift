internal import APNs
internal import Base
internal import Config
internal import Crypto
internal import EventLoop
internal import Gateway
internal import Sockets

/// The doors for pushes, and their certificates.
extension Daemon {
    func startGateway() {
        guard configuration.apns.hasDoors else { return }
        do {
            let credentials = try Credentials(directory: paths.certificates)
            edges.credentials = credentials
            try trustOwnKey(credentials)
            let report: (Event) -> Void = { [unowned self] event in emit(event) }
            let gateway = try Gateway(
                loop, gatewayConfiguration(), context: try gatewayContext(credentials), service: apns,
                inheritedDescriptors: ServiceManager.takeSockets(), report: report)
            edges.gateway = gateway
            edges.gatewayFault = nil
            makeRoomForConnections()
            gateway.start()
            daily.arm(after: .seconds(86_400))
            // What senders' SSL_CERT_FILE names is to be there from the beginning. It takes milliseconds, so not before
            // READY=1.
            loop.later { [unowned self] in self.assumeIsolated { $0.makeBundle() } }
        } catch {
            edges.gatewayFault = "\(error)"
            emit(Event(.gatewayFault, level: .error, "the APNs gateway cannot start: \(error)"))
        }
    }

    /// Under new settings: other doors, other limits, other certificates that are trusted.
    func reloadGateway() {
        guard let credentials = edges.credentials, let gateway = edges.gateway else { return startGateway() }
        do {
            makeRoomForConnections()
            gateway.reload(gatewayConfiguration(), context: try gatewayContext(credentials))
        } catch {
            emit(Event(.gatewayFault, level: .error, "the gateway keeps its old settings: \(error)"))
        }
        renewCertificate()
    }

    /// A descriptor for each connection, beside those that everything else here needs.
    private func makeRoomForConnections() {
        let wanted = configuration.apns.connections + 256
        let granted = Descriptors.raiseLimit(to: wanted)
        guard granted < wanted else { return }
        emit(
            Event(
                .gatewayFault, level: .warning,
                "the system grants \(granted) descriptors where \(wanted) are needed for apns.connections = \(configuration.apns.connections): set LimitNOFILE= in the unit, or ulimit -n",
                [.init("cause", .text("too-few-descriptors"))]))
    }

    private func makeBundle() {
        do {
            _ = try edges.credentials?.bundlePath()
        } catch {
            emit(Event(.gatewayFault, level: .warning, "bundle.pem cannot be made: \(error)"))
        }
    }

    /// The server's certificate lives 13 months and a daemon may live longer: looked at once a day and on reload.
    func renewCertificate() {
        daily.arm(after: .seconds(86_400))
        forgetOldClients()
        guard let credentials = edges.credentials, let gateway = edges.gateway else { return }
        do {
            guard try credentials.renewIfDue() else { return }
            gateway.reload(gatewayConfiguration(), context: try gatewayContext(credentials))
            reloadWebhooks()
            emit(Event(.gatewayListening, "the gateway's certificate was about to end: a new one is in use"))
        } catch {
            emit(Event(.gatewayFault, level: .error, "the gateway's certificate cannot be renewed: \(error)"))
        }
    }

    private func gatewayContext(_ credentials: Credentials) throws(CryptoFailure) -> TLSContext {
        guard configuration.apns.certificates == .trusted else { return try .server(credentials.server) }
        return try .server(
            credentials.server,
            clients: .trusted(
                [credentials.authority.certificate] + authorities, isRequired: configuration.apns.isOpenToNetwork))
    }

    private func gatewayConfiguration() -> Gateway.Configuration {
        let apns = configuration.apns
        var made = Gateway.Configuration(listeners: apns.listeners)
        made.isOpenToNetwork = apns.isOpenToNetwork
        made.authorityPath = paths.certificates + "/ca.pem"
        made.connections = apns.connections
        made.idleLimit = apns.idle
        made.binary.frames = BinaryParser.Limits(payload: apns.binaryPayloadLimit)
        made.binary.pushesPerSecond = apns.rate
        made.binary.pushBurst = 2 * apns.rate
        made.http2.streams = apns.streams
        made.http2.firstStreams = min(apns.firstStreams, apns.streams)
        made.http2.slowsDown = apns.slowsDown
        made.http2.errorLimit = apns.errorLimit
        made.http2.violation = apns.streamViolation == .goaway ? .goaway : .refuse
        return made
    }
}

extension Configuration.APNs {
    private var all: [Listener] { binary + http2 + feedback + proxy }

    var hasDoors: Bool { !all.isEmpty }

    /// The configuration has seen to it that certificates are trusted ones then.
    var isOpenToNetwork: Bool { all.contains { !($0.address?.isLoopback ?? true) } }

    /// Pushes of both protocols are taken at the doors of both. A door that is named twice is one.
    fileprivate var listeners: [Gateway.Listener] {
        var seen: Set<ListenAddress> = []
        let doors: [(list: [Listener], service: Gateway.Service)] = [
            (binary + http2, .provider), (feedback, .feedback), (proxy, .proxy),
        ]
        return doors.flatMap { list, service in
            list.compactMap { wanted in
                guard let address = wanted.address, address.port == 0 || seen.insert(address).inserted else {
                    return nil
                }
                return Gateway.Listener(
                    address, profile: Gateway.Profile(rawValue: wanted.profile.rawValue) ?? .auto, service: service,
                    isOptional: wanted.isOptional)
            }
        }
    }
}

extension Configuration.APNs.Listener {
    /// Never nil for what the configuration let through.
    var address: ListenAddress? { ListenAddress(host: host, port: port) }
}

extension Gateway.Service {
    /// For people.
    var door: String {
        switch self {
        case .provider: "pushes"
        case .feedback: "feedback"
        case .proxy: "proxy"
        }
    }
}

extension Gateway {
    /// Every door that is open, in words.
    var doorWords: String {
        Service.allCases.compactMap { service in
            let places = doors.filter { $0.service == service }.map { "\($0.address)" }
            return places.isEmpty ? nil : "\(places.joined(separator: " ")) (\(service.door))"
        }.joined(separator: ", ")
    }
}
