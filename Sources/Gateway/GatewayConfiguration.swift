internal import Base
package import Sockets

extension Gateway {
    /// What is served on a port.
    package enum Service: String, Sendable, CaseIterable {
        /// Pushes: the HTTP/2 provider API and the legacy binary protocol, told apart by their first bytes.
        case provider
        /// The legacy feedback service.
        case feedback
        /// HTTP CONNECT: a way in for senders that know Apple's names only.
        case proxy
    }

    /// What a listener knows about the environment of its pushes.
    package enum Profile: String, Sendable, CaseIterable {
        /// The host name that the sender asks for (CONNECT or SNI) decides; without one of Apple's names the token does.
        case auto
        case sandbox
        case production
    }

    /// One place to listen on.
    package struct Listener: Sendable, Hashable {
        package var address: ListenAddress
        package var profile: Profile
        package var service: Service
        /// That it cannot be had is not worth a word: port 443 for most users.
        package var isOptional: Bool

        package init(
            _ address: ListenAddress = .default, profile: Profile = .auto, service: Service = .provider,
            isOptional: Bool = false
        ) {
            self.address = address
            self.profile = profile
            self.service = service
            self.isOptional = isOptional
        }
    }

    /// What a connection does that opens more streams than were announced and acknowledged.
    package enum StreamViolation: String, Sendable, CaseIterable {
        /// RST_STREAM with REFUSED_STREAM.
        case refuse
        /// GOAWAY with the words of Apple's service: "Maximum active streams violated for this endpoint."
        case goaway
    }

    /// Where to listen, and the limits that keep a sender from harming the rest.
    package struct Configuration: Sendable, Equatable {
        package var listeners: [Listener]
        /// Listeners beyond loopback are taken; only with a TLS context that requires trusted certificates.
        package var isOpenToNetwork = false
        /// Connections at one time, handshakes included; 1 or more.
        package var connections = 1024
        /// From the connection to the end of its TLS handshake.
        package var handshakeDeadline: Duration = .seconds(10)
        /// From the last push to the cut; Apple's gateways let connections live for hours.
        package var idleLimit: Duration = .seconds(3600)
        /// How long a connection that is being closed may go on sending before it is cut.
        package var drainDeadline: Duration = .seconds(2)
        /// The file that a sender should trust; named in explanations.
        package var authorityPath = "ca.pem"
        package var binary = Binary()
        package var http2 = HTTP2()

        /// The legacy protocol's own.
        package struct Binary: Sendable, Equatable {
            package var frames = BinaryParser.Limits()
            /// From the first byte of a frame to its last.
            package var frameDeadline: Duration = .seconds(60)
            /// Pushes at once, and a second, per connection. Above it a connection is not read from: the sender's writes
            /// block, nothing is lost. No limit where `pushesPerSecond` is 0.
            package var pushBurst = 200
            package var pushesPerSecond = 100
        }

        /// The HTTP/2 provider API's own (apns.md 1.2).
        package struct HTTP2: Sendable, Equatable {
            /// Streams at a time, once a sender is known.
            package var streams = 1000
            /// Before the first valid provider token.
            package var firstStreams = 1
            /// After a refused push one stream at a time, until one is taken.
            package var slowsDown = true
            /// Refused pushes in a row before GOAWAY; 0 for never. Those with 410 do not count.
            package var errorLimit = 0
            package var violation = StreamViolation.refuse
            /// From the beginning of a request to its end.
            package var requestDeadline: Duration = .seconds(60)
        }

        package init(listeners: [Listener] = [Listener()]) { self.listeners = listeners }
    }
}

extension ListenAddress {
    /// The legacy gateway's home: 127.0.0.1:2195.
    package static let `default` = ListenAddress(host: [127, 0, 0, 1], port: 2195)
}
