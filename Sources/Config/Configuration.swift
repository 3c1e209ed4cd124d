package import Base

/// Everything `ringd.conf` can say, with its defaults.
package struct Configuration: Sendable, Equatable {
    package var ring = Ring()
    package var sound = Sound()
    package var vibration = true
    package var screening = Screening()
    /// `[calls]`: where the user's numbers are at home; nil leaves numbers as they come.
    package var region: PhoneRegion?
    package var history = History()
    package var apns = APNs()
    package var webhook = Webhook()
    package var apps: [String: App] = [:]

    /// `[ring]`
    package struct Ring: Sendable, Equatable {
        /// Ring time when the push names none.
        package var time: Duration = .seconds(30)
        /// No call rings longer.
        package var longest: Duration = .seconds(90)
        /// The notification is raised again this often; nil for never.
        package var raise: Duration? = .seconds(4)
        package var keepsBannerWhenSilenced = false
    }

    /// `[sound]`
    package struct Sound: Sendable, Equatable {
        package enum Role: String, Sendable, CaseIterable {
            case phone
            case event
            case none
        }

        package var isOn = true
        /// A ringtone's name, or the name of an added sound.
        package var ringtone: String?
        /// 0…100, of the stream's own volume.
        package var volume = 100
        /// The volume rises over this time; zero for none.
        package var ramp: Duration = .zero
        package var role = Role.phone
        /// A PulseAudio sink; nil follows the default.
        package var device: String?
        /// The sound theme to look names up in.
        package var theme = "freedesktop"
    }

    /// `[history]`
    package struct History: Sendable, Equatable {
        /// The newest so many calls stay.
        package var keep = 20_000
        /// And of those the ones that began within so many days; 0 for all of them.
        package var days = 0
    }

    /// `[app APP-ID]`
    package struct App: Sendable, Equatable {
        /// What people call it.
        package var name: String?
        package var sound: String?
        package var answer: Handoff?
        /// What a click on the banner's body does.
        package var open: Handoff?
        package var callBack: Handoff?
        /// Told when the user declines or hangs up.
        package var end: Handoff?
        package var busy = Busy.wait
        package var glare = Glare.wait
        /// A call from the peer of a live one ends that: the peer has lost it (callkit.md 5.6).
        package var recall = false
        package var mustReport = MustReport.lenient
        /// A call that nobody takes rings again and again for this long; nil: it is missed at once.
        package var insistence: Duration?
        /// The dialect of its payloads; nil: found out for each.
        package var dialect: String?
        /// What no dialect knows rings in the plain form: the alert's text is the caller.
        package var allowsPlain = true

        package init() {}

        /// What a call meets while another one is live.
        package enum Busy: String, Sendable, CaseIterable {
            /// It waits, and may be taken.
            case wait
            /// It is missed at once, as on a line of old.
            case busy
        }

        /// When a call comes from whom the user is just dialling (callkit.md 5.6).
        package enum Glare: String, Sendable, CaseIterable {
            /// It waits, as any other.
            case wait
            /// The call with the lesser id stays, and is taken for the user; so Matrix does.
            case lesserID = "lesser-id"
            /// The call that came is taken for the user.
            case accept
        }

        /// Whether a push that the app does not make a call of is held against the app (callkit.md 5.6).
        package enum MustReport: String, Sendable, CaseIterable {
            case lenient
            case strict
        }
    }

    package init() {}
}

/// How a call is given to an app.
package enum Handoff: Sendable, Equatable {
    /// A method on the app's own D-Bus object; the bus starts the app.
    case dbus(busName: String?, path: String?, interface: String?, method: String?)
    /// Opens a URL made from a template: `{name}` is replaced by the percent-encoded field.
    case url(template: String)
    /// Runs a program: words as configured, the call in its environment; no shell.
    case run([String])

    /// Schemes that a URL may have. A payload never chooses one: it is literal in the template.
    package static let schemes = ["https", "sip", "sips", "tel", "xmpp", "matrix"]

    package static let fields = ["id", "key", "caller", "handle", "app", "video"]
}
