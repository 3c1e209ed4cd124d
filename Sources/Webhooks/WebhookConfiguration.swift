package import Sockets

extension WebhookServer {
    /// Where to listen, who may come in, and the limits that keep a sender from harming the rest.
    package struct Configuration: Sendable, Equatable {
        package var listeners: [ListenAddress]
        /// What a sender has to show; nobody comes in while it is empty.
        package var secret: [UInt8]
        /// PEM: a certificate with those above it, and its key. Nil: plain HTTP, on loopback only.
        package var certificate: String?
        package var key: String?
        /// Bytes of a body.
        package var bodyLimit = 256 << 10
        /// Connections at one time, over all listeners; 1 or more.
        package var connections = 64
        /// For a request line with its headers, for a body, and for a connection that says nothing: each.
        package var idle: Duration = .seconds(30)
        /// Listeners beyond loopback are taken; those need a certificate as well.
        package var isOpenToNetwork = false

        package init(listeners: [ListenAddress] = [], secret: [UInt8] = []) {
            self.listeners = listeners
            self.secret = secret
        }
    }

    /// A POST whose sender is known and whose body is here.
    package struct Request: Sendable {
        /// Decoded; no segment has a control character.
        package var path: [String]
        package var query: [Field]
        /// As sent; empty if it was not.
        package var contentType: String
        package var body: [UInt8]
        /// Address and port.
        package var peer: String

        package struct Field: Sendable, Equatable {
            package var name: String
            package var value: String
        }

        /// The first value of that name.
        package subscript(_ name: String) -> String? { query.first { $0.name == name }?.value }
    }

    package struct Answer: Sendable, Equatable {
        /// Of HTTP.
        package var status: Int
        /// JSON.
        package var body: String

        package init(status: Int, body: String) {
            self.status = status
            self.body = body
        }
    }
}
