extension Configuration {
    /// `[webhook]`: pushes by HTTP/1.1, for senders that speak no APNs (Docs/webhooks.md). Off unless it says where.
    package struct Webhook: Sendable, Equatable {
        /// Of TLS.
        package enum Certificate: Sendable, Equatable {
            /// Plain HTTP.
            case none
            /// The gateway's, of ringd's own authority, which vouches for loopback names alone.
            case own
            /// A PEM file by its whole path: the certificate, and those above it.
            case file(String)
        }

        /// Where it is served; empty for nowhere. Profiles mean nothing here.
        package var listen: [APNs.Listener] = []
        /// The whole path of the file with the token that senders show; nil: `webhook-token` in the state folder.
        package var tokenFile: String?
        package var certificate = Certificate.none
        /// The certificate's key, by its whole path; nil: it is in the same file.
        package var key: String?
        /// Beyond loopback, too.
        package var isOpenToNetwork = false
    }
}
