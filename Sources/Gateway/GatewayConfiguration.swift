extension BinaryGateway {
    /// What a listener knows about the environment of its pushes.
    package enum Profile: String, Sendable, CaseIterable {
        /// The host name that the sender asks for (SNI) decides; without one of Apple's names the token does.
        case auto
        case sandbox
        case production
    }

    /// One place to listen on.
    package struct Listener: Sendable, Hashable {
        package var address: ListenAddress
        package var profile: Profile

        package init(_ address: ListenAddress = .default, profile: Profile = .auto) {
            self.address = address
            self.profile = profile
        }
    }

    /// Where to listen, and the limits that keep a sender from harming the rest.
    package struct Configuration: Sendable, Equatable {
        package var listeners: [Listener]
        package var frames = BinaryParser.Limits()
        /// Connections at one time, handshakes included; 1 or more.
        package var connections = 64
        /// From the connection to the end of its TLS handshake.
        package var handshakeDeadline: Duration = .seconds(10)
        /// From the first byte of a frame to its last.
        package var frameDeadline: Duration = .seconds(60)
        /// From the last push to the cut; Apple's gateway let connections live for hours.
        package var idleLimit: Duration = .seconds(3600)
        /// How long a connection that is being closed may go on sending before it is cut.
        package var drainDeadline: Duration = .seconds(2)
        /// Pushes at once, and a second, per connection. Above it a connection is not read from: the sender's writes
        /// block, nothing is lost. No limit where `pushesPerSecond` is 0.
        package var pushBurst = 200
        package var pushesPerSecond = 100
        /// The file that a sender should trust; named in explanations.
        package var authorityPath = "ca.pem"

        package init(listeners: [Listener] = [Listener()]) { self.listeners = listeners }
    }
}
