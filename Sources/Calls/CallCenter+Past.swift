package import Base

/// What an earlier run knew of apps, before anything has happened in this one: nothing follows from it, so it is no event,
/// and a start with a thousand apps is hardly the slower.
extension CallCenter {
    /// Makes room for so many apps, which are about to be remembered.
    package mutating func reserve(apps count: Int) { apps.reserveCapacity(count) }

    /// An app: how it takes calls (nil: not over the bus), who is logged in (empty: nobody, or it knows no accounts), and
    /// when it failed its duties, and whether so often that it gets no pushes.
    package mutating func remember(
        app: String, provider: ProviderConfiguration?, account: String, strikes: [Instant] = [], isSuspended: Bool
    ) {
        var state = apps[app] ?? AppState()
        state.provider = provider
        state.account = account
        state.strikes = strikes
        state.isSuspended = isSuspended
        apps[app] = state
    }
}
