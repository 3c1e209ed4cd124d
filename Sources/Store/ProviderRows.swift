package import Base

/// What is to be known of an app that once registered over the bus, before it attaches again.
package struct ProviderRow: Sendable, Equatable {
    package var app: String
    /// Who is logged in; nil for nobody.
    package var account: String?
    /// False once its account is logged out: its pushes ring nothing.
    package var isBound: Bool
    /// The kinds of pushes that it asked for: words with spaces between, e.g. `voip alert`.
    package var types: String
    package var environment: String
    /// Flags and limits, in a form that only its reader knows.
    package var configuration: String
    /// What it has failed to do, in a form that only its reader knows.
    package var strikes: String
    /// It failed too often and gets no pushes.
    package var isSuspended: Bool

    package init(
        app: String, account: String? = nil, isBound: Bool = true, types: String, environment: String,
        configuration: String = "", strikes: String = "", isSuspended: Bool = false
    ) {
        self.app = app
        self.account = account
        self.isBound = isBound
        self.types = types
        self.environment = environment
        self.configuration = configuration
        self.strikes = strikes
        self.isSuspended = isSuspended
    }
}

/// An app has told its server of a token: one for each app, kind and environment.
package struct UploadRow: Sendable, Equatable {
    package var app: String
    package var kind: TokenRow.Kind
    package var environment: TokenRow.Environment
    package var account: String
    package var token: [UInt8]
    /// What the server calls this device; empty if it did not say.
    package var serverDevice: String
    package var at: WallTime

    package init(
        app: String, kind: TokenRow.Kind, environment: TokenRow.Environment, account: String, token: [UInt8],
        serverDevice: String = "", at: WallTime
    ) {
        self.app = app
        self.kind = kind
        self.environment = environment
        self.account = account
        self.token = token
        self.serverDevice = serverDevice
        self.at = at
    }
}

/// A handle that was dialled, or spoken with.
package struct AcquaintanceRow: Sendable, Equatable {
    package let app: String
    package let handle: String
    package let handleKind: String
    /// When the last such call began.
    package let last: WallTime
}
