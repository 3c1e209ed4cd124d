package import APNs

extension Configuration {
    /// `[apns]`, `[key KEY-ID]` and `[fault NAME]`: the doors for pushes, what Apple's service would know, and what is to
    /// go wrong on purpose. The defaults are Apple's, where Apple has one (apns.md 1).
    package struct APNs: Sendable, Equatable {
        package enum Profile: String, Sendable, CaseIterable {
            /// By the host name that the client asked for, else by the token.
            case auto
            case sandbox
            case production
        }

        package struct Listener: Sendable, Equatable {
            /// A numeric address; IPv6 without brackets.
            package var host: String
            package var port: UInt16
            package var profile: Profile
            /// Where binding is refused (EACCES, as for 443 without root), nothing is amiss.
            package var isOptional: Bool

            package init(host: String, port: UInt16, profile: Profile, isOptional: Bool = false) {
                self.host = host
                self.port = port
                self.profile = profile
                self.isOptional = isOptional
            }
        }

        /// Whose client certificates are taken.
        package enum Certificates: String, Sendable, CaseIterable {
            /// Any: whose it is decides nothing on loopback, since the token names the app.
            case any
            /// Our own authority's, and those of `authorities`.
            case trusted
        }

        /// What meets a sender that opens more streams than it may (apns.md 1.2).
        package enum StreamViolation: String, Sendable, CaseIterable {
            case refuse
            case goaway
        }

        // MARK: Doors

        /// Where the legacy binary protocol is served; empty for nowhere.
        package var binary = [Listener(host: "127.0.0.1", port: 2195, profile: .auto)]
        /// Where the HTTP/2 provider API is.
        package var http2 = [
            Listener(host: "127.0.0.1", port: 2197, profile: .auto),
            Listener(host: "127.0.0.1", port: 443, profile: .auto, isOptional: true),
        ]
        /// Where the legacy feedback service is.
        package var feedback = [Listener(host: "127.0.0.1", port: 2196, profile: .auto)]
        /// Where an HTTP proxy leads Apple's names to us, and no others; profiles mean nothing here.
        package var proxy = [Listener(host: "127.0.0.1", port: 2199, profile: .auto)]
        package var certificates = Certificates.any
        /// PEM files, by their whole paths, whose certificates are trusted beside our own.
        package var authorities: [String] = []

        // MARK: Limits

        /// Pushes per second and binary connection, after twice as many at once; 0 for no limit.
        package var rate = 100
        /// Streams at a time that an HTTP/2 sender may have, once it has shown a provider token that is good.
        package var streams = 1000
        /// And until then.
        package var firstStreams = 1
        /// One stream at a time after a refused push, until the next that is taken.
        package var slowsDown = true
        /// A connection is closed after so many refused pushes; 0: never.
        package var errorLimit = 0
        package var streamViolation = StreamViolation.refuse
        /// Connections at a time, over all doors.
        package var connections = 1024
        /// A connection that says nothing for so long is closed.
        package var idle: Duration = .seconds(3600)
        /// Bytes of a binary push's payload: 256, 2048 or 5120.
        package var binaryPayloadLimit = 5120

        // MARK: Rules

        /// How long a provider token is good after its `iat`.
        package var tokenLifetime: Duration = .seconds(3600)
        /// A connection may show a new provider token this often; zero: whenever it likes.
        package var tokenUpdates: Duration = .seconds(1200)
        /// Pushes per second to one device token, after twice as many at once; 0 for no limit.
        package var deviceRate = 100
        /// How long pushes to a removed app are still taken.
        package var unregisterDelay: Duration = .zero
        /// How long pushes of priority 5 and 1 wait; zero: they do not.
        package var powerSaving: Duration = .zero
        /// The live service's spelling instead of the documentation's.
        package var saysBadEnvironmentKeyInToken = false
        package var keys: [String: Key] = [:]
        /// In the file's order: the first that fits a push befalls it.
        package var faults: [FaultRule] = []

        /// No file has more keys, or more faults.
        package static let mostKeys = 400
        package static let mostFaults = 64
    }

    /// `[key KEY-ID]`: a key whose provider tokens are trusted.
    package struct Key: Sendable, Equatable {
        package enum Environment: String, Sendable, CaseIterable {
            case sandbox
            case production
            case both
        }

        /// A `.p8`, a public key or a certificate as PEM, by its whole path.
        package var file = ""
        /// The `iss` that its tokens must have; nil: any.
        package var team: String?
        package var environment = Environment.both
        /// Bundle ids that it may push to; empty: every one.
        package var topics: [String] = []
        /// The key that may share a connection with it, where it has topics.
        package var related: String?
        /// Where its section begins: the file is read later, and may be at fault then.
        package var line = 0
    }
}
