internal import Base

/// One key of `ringd.conf`: how it is read and shown. The single table behind parsing, `ringctl config` and its help.
package struct Setting: Sendable {
    package let section: String
    package let key: String
    /// For people: the values it takes.
    package let expects: String
    package let help: String
    /// What an empty value means.
    var whenEmpty = ""
    /// Behind the words of a fault: what was meant by a value that is not understood.
    var hint: @Sendable (String) -> String = { _ in "" }
    let read: @Sendable (String, inout Configuration) -> Bool
    let write: @Sendable (Configuration) -> String

    package var name: String { section + "." + key }

    /// The value, or in parentheses what stands for none.
    package func words(_ configuration: Configuration) -> String {
        let text = write(configuration)
        return text.isEmpty ? "(\(whenEmpty))" : text
    }

    func inForce(_ configuration: Configuration) -> String {
        let text = write(configuration)
        return text.isEmpty && !whenEmpty.isEmpty ? whenEmpty : text
    }

    package func text(_ configuration: Configuration) -> String { write(configuration) }

    /// Where one may knock: `none` closes it.
    var isDoor: Bool { expects.hasPrefix("none, or HOST:PORT") }

    package static let all: [Setting] = desktop + calls + screening + past + doors + limits + rules + webhooks

    /// What is heard and seen.
    private static let desktop: [Setting] = [
        Setting(
            section: "ring", key: "time", expects: "1…90 seconds",
            help: "How long a call rings when its push does not say.",
            read: { text, c in seconds(text, 1...90) { c.ring.time = $0 } }, write: { number($0.ring.time) }),
        Setting(
            section: "ring", key: "longest", expects: "1…90 seconds",
            help: "No call rings longer, whatever its push asks.",
            read: { text, c in seconds(text, 1...90) { c.ring.longest = $0 } }, write: { number($0.ring.longest) }),
        Setting(
            section: "ring", key: "raise", expects: "2…60 seconds, or never",
            help: "The notification comes back into sight this often while it rings.",
            read: { text, c in
                if text == "never" {
                    c.ring.raise = nil
                    return true
                }
                return seconds(text, 2...60) { c.ring.raise = $0 }
            }, write: { $0.ring.raise.map(number) ?? "never" }),
        Setting(
            section: "ring", key: "keep-banner-when-silenced", expects: "yes or no",
            help: "Leave the notification in sight when a call is silenced.",
            read: { text, c in flag(text) { c.ring.keepsBannerWhenSilenced = $0 } },
            write: { word($0.ring.keepsBannerWhenSilenced) }),
        Setting(
            section: "ring", key: "vibrate", expects: "yes or no", help: "Vibrate through feedbackd, where it runs.",
            read: { text, c in flag(text) { c.vibration = $0 } }, write: { word($0.vibration) }),
        Setting(
            section: "sound", key: "enabled", expects: "yes or no", help: "Play a ringtone at all.",
            read: { text, c in flag(text) { c.sound.isOn = $0 } }, write: { word($0.sound.isOn) }),
        Setting(
            section: "sound", key: "ringtone", expects: "a sound's name (ringctl sounds), or none for silence",
            help: "The ringtone for calls whose push and app name none; empty for the sound theme's.",
            whenEmpty: "the sound theme's phone-incoming-call",
            read: { text, c in soundName(text) { c.sound.ringtone = $0 } }, write: { $0.sound.ringtone ?? "" }),
        Setting(
            section: "sound", key: "volume", expects: "0…100", help: "The stream's own volume, in percent.",
            read: { text, c in whole(text, 0...100) { c.sound.volume = $0 } }, write: { String($0.sound.volume) }),
        Setting(
            section: "sound", key: "ramp", expects: "0…30 seconds", help: "The volume rises to full over this time.",
            read: { text, c in seconds(text, 0...30) { c.sound.ramp = $0 } }, write: { number($0.sound.ramp) }),
        Setting(
            section: "sound", key: "role", expects: "phone, event or none",
            help: "PulseAudio's media.role: phone pauses music, event sits on the notification slider.",
            read: { text, c in choice(text) { c.sound.role = $0 } }, write: { $0.sound.role.rawValue }),
        Setting(
            section: "sound", key: "device", expects: "a sink's name (pactl list short sinks)",
            help: "Where to ring; empty follows the default sink.", whenEmpty: "the default sink",
            read: { text, c in
                guard text.utf8.count <= 255 else { return false }
                c.sound.device = text.isEmpty ? nil : text
                return true
            }, write: { $0.sound.device ?? "" }),
        Setting(
            section: "sound", key: "theme", expects: "a sound theme's name",
            help: "The theme in which phone-incoming-call is looked up.",
            read: { text, c in soundName(text) { c.sound.theme = $0 ?? "freedesktop" } }, write: { $0.sound.theme }),
    ]

    /// What is remembered of calls.
    private static let past: [Setting] = [
        Setting(
            section: "history", key: "keep", expects: "100…1000000", help: "So many past calls are kept, the newest.",
            read: { text, c in whole(text, 100...1_000_000) { c.history.keep = $0 } },
            write: { String($0.history.keep) }),
        Setting(
            section: "history", key: "days", expects: "0…36500",
            help: "Calls are forgotten after so many days; 0 keeps them.",
            read: { text, c in whole(text, 0...36_500) { c.history.days = $0 } },
            write: { String($0.history.days) }),
    ]

    // MARK: Values

    static func seconds(
        _ text: String, _ range: ClosedRange<Double>, _ set: (Duration) -> Void
    ) -> Bool {
        let bare = text.hasSuffix("s") ? String(text.dropLast()) : text
        guard let value = Double(bare), range.contains(value) else { return false }
        set(.milliseconds(Int64((value * 1000).rounded())))
        return true
    }

    static func number(_ duration: Duration) -> String {
        let millis = duration.nanoseconds / 1_000_000
        return millis % 1000 == 0 ? String(millis / 1000) : Decimal.text(millis, unit: 1000, places: 3)
    }

    static func whole(_ text: String, _ range: ClosedRange<Int>, _ set: (Int) -> Void) -> Bool {
        guard let value = Int(text), range.contains(value) else { return false }
        set(value)
        return true
    }

    /// One of an enumeration's words.
    static func choice<Choice: RawRepresentable<String>>(_ text: String, _ set: (Choice) -> Void) -> Bool {
        guard let value = Choice(rawValue: text) else { return false }
        set(value)
        return true
    }

    static func flag(_ text: String, _ set: (Bool) -> Void) -> Bool {
        switch text.lowercased() {
        case "yes", "true", "on", "1": set(true)
        case "no", "false", "off", "0": set(false)
        default: return false
        }
        return true
    }

    static func word(_ flag: Bool) -> String { flag ? "yes" : "no" }

    /// Whether there is such a dialect is known where the files are.
    static func dialect(_ text: String, _ set: (String?) -> Void) -> Bool {
        guard (1...40).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0 < 0x80 && $0 > 0x20 && $0 != UInt8(ascii: "/") })
        else { return false }
        set(text == "auto" ? nil : text)
        return true
    }

    static func soundName(_ text: String, _ set: (String?) -> Void) -> Bool {
        guard text.utf8.count <= 128, !text.contains("/"), text.first != "." else { return false }
        set(text.isEmpty ? nil : text)
        return true
    }
}
