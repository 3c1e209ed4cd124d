package import Base

extension Configuration {
    /// `[screening]`: who may ring, and when.
    package struct Screening: Sendable, Equatable {
        package enum DoNotDisturb: String, Sendable, CaseIterable {
            /// The banner is shown; nothing is heard, nothing vibrates.
            case silent
            /// The call is not presented; a quiet notice says that it was missed.
            case refuse
            /// It rings all the same.
            case ignore
        }

        /// Whether the user may not be disturbed.
        package enum Switch: String, Sendable, CaseIterable {
            /// As the desktop's own switch says.
            case auto
            case on
            case off
        }

        /// What callers meet that are in neither list.
        package enum Unknown: String, Sendable, CaseIterable {
            case ring
            case silent
            case refuse
        }

        package var doNotDisturb = DoNotDisturb.silent
        package var `switch` = Switch.auto
        /// These always get through.
        package var vip: [HandlePattern] = []
        /// These never ring.
        package var block: [HandlePattern] = []
        /// These are no unknown callers.
        package var known: [HandlePattern] = []
        package var unknown = Unknown.ring
        /// A second call of the same caller within this time rings in spite of do-not-disturb and of `unknown`; zero: never.
        package var `repeat`: Duration = .seconds(180)
    }
}
