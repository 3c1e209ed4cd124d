package import APNs
package import Base
package import Crypto

/// A push as it came in, by whatever door: what the one who decides about it gets to see.
package struct InboundPush: Sendable, Equatable {
    package enum Transport: Sendable, Hashable {
        /// The legacy protocol; `command` is 0, 1 or 2.
        case binary(command: UInt8)
        /// The HTTP/2 provider API.
        case http2
        /// D-Bus.
        case bus
    }

    /// The sender's own name for a push.
    package enum Identifier: Sendable, Hashable {
        /// Commands 1 and 2 of the legacy protocol.
        case number(UInt32)
        /// `apns-id`, byte for byte.
        case text(String)
    }

    package var transport: Transport
    /// What the door says; the token has the last word where it is `.unknown`.
    package var environment: PushEnvironment
    /// As sent; of a size that tokens have, otherwise not checked.
    package var token: [UInt8]
    /// As sent; not empty and within the limit, otherwise not checked.
    package var payload: [UInt8]
    package var identifier: Identifier?
    /// Seconds since 1970 until which it may be kept; 0: not at all; nil: nothing said.
    package var expiration: Int64?
    /// 10, 5 or 1.
    package var priority: UInt8
    /// The sender's client certificate; its issuer was not checked unless the door was told to.
    package var certificate: PeerCertificate?
    /// Where it came from, e.g. `127.0.0.1:51234`; for logs.
    package var peer: String
    package var arrived: Instant

    package init(
        transport: Transport, environment: PushEnvironment = .unknown, token: [UInt8], payload: [UInt8],
        identifier: Identifier? = nil, expiration: Int64? = nil, priority: UInt8 = 10,
        certificate: PeerCertificate? = nil, peer: String, arrived: Instant = .now
    ) {
        self.transport = transport
        self.environment = environment
        self.token = token
        self.payload = payload
        self.identifier = identifier
        self.expiration = expiration
        self.priority = priority
        self.certificate = certificate
        self.peer = peer
        self.arrived = arrived
    }
}
