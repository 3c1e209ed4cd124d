public import Foundation

/// What may be done.
public struct UNAuthorizationOptions: OptionSet, Hashable, Sendable {
    /// Apple's own value.
    public let rawValue: UInt
    /// A value of the system's own.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Accepted: there are no badges.
    public static let badge = UNAuthorizationOptions(rawValue: 1 << 0)
    /// Sounds.
    public static let sound = UNAuthorizationOptions(rawValue: 1 << 1)
    /// Banners.
    public static let alert = UNAuthorizationOptions(rawValue: 1 << 2)
    /// Accepted, without effect.
    public static let carPlay = UNAuthorizationOptions(rawValue: 1 << 3)
    /// Accepted; see `UNNotificationInterruptionLevel.critical`.
    public static let criticalAlert = UNAuthorizationOptions(rawValue: 1 << 4)
    /// Accepted, without effect.
    public static let providesAppNotificationSettings = UNAuthorizationOptions(rawValue: 1 << 5)
    /// Accepted, without effect.
    public static let provisional = UNAuthorizationOptions(rawValue: 1 << 6)
}

/// Whether the app may notify.
public enum UNAuthorizationStatus: Int, Sendable {
    /// Never on Linux.
    case notDetermined = 0
    /// There is none.
    case denied = 1
    /// There is a notification server.
    case authorized = 2
    /// Never on Linux.
    case provisional = 3
    /// Never on Linux.
    case ephemeral = 4
}

/// Whether the desktop does this.
public enum UNNotificationSetting: Int, Sendable {
    /// Nobody can know.
    case notSupported = 0
    /// Not now.
    case disabled = 1
    /// It does.
    case enabled = 2
}

/// What the notification server of this desktop does.
open class UNNotificationSettings: NSObject, @unchecked Sendable {
    // Unchecked: constants.
    /// Authorized if there is a notification server.
    public let authorizationStatus: UNAuthorizationStatus
    /// Banners.
    public let alertSetting: UNNotificationSetting
    /// Enabled.
    public let soundSetting: UNNotificationSetting
    /// Not supported.
    public let badgeSetting: UNNotificationSetting = .notSupported
    /// Not supported.
    public let lockScreenSetting: UNNotificationSetting = .notSupported
    /// Not supported.
    public let notificationCenterSetting: UNNotificationSetting = .notSupported

    init(isThere: Bool) {
        authorizationStatus = isThere ? .authorized : .denied
        alertSetting = isThere ? .enabled : .disabled
        soundSetting = .enabled
    }
}

/// How a notification is presented while the app is in front.
public struct UNNotificationPresentationOptions: OptionSet, Hashable, Sendable {
    /// Apple's own value.
    public let rawValue: UInt
    /// A value of the system's own.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Without effect.
    public static let badge = UNNotificationPresentationOptions(rawValue: 1 << 0)
    /// Its sound is played.
    public static let sound = UNNotificationPresentationOptions(rawValue: 1 << 1)
    /// The older name of banner and list: it is shown.
    public static let alert = UNNotificationPresentationOptions(rawValue: 1 << 2)
    /// It is shown.
    public static let list = UNNotificationPresentationOptions(rawValue: 1 << 3)
    /// It is shown.
    public static let banner = UNNotificationPresentationOptions(rawValue: 1 << 4)
}

/// The server's urgency.
public enum UNNotificationInterruptionLevel: UInt, Sendable {
    /// Low.
    case passive = 0
    /// Normal.
    case active = 1
    /// Critical.
    case timeSensitive = 2
    /// Critical, as `timeSensitive`.
    case critical = 3
}

/// A sound's name, as `ringctl sounds` has it; an ending is no matter.
public struct UNNotificationSoundName: RawRepresentable, Hashable, Sendable {
    /// The name.
    public let rawValue: String
    /// A sound of this name.
    public init(_ rawValue: String) { self.rawValue = rawValue }
    /// A sound of this name.
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// A sound that is played once, at most 30 seconds of it: one of `ringctl sounds`, by its file's name.
open class UNNotificationSound: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: constants.
    let name: String?

    init(_ name: String?) { self.name = name }

    /// One of `ringctl sounds`; one that is missing is replaced by the next best.
    public convenience init(named name: UNNotificationSoundName) { self.init(name.rawValue) }

    /// The user's own sound for messages.
    public class var `default`: UNNotificationSound { UNNotificationSound("message-new-instant") }
    /// The user's ringtone.
    public class var defaultRingtone: UNNotificationSound { UNNotificationSound("phone-incoming-call") }
    /// The theme's bell.
    public class var defaultCritical: UNNotificationSound { UNNotificationSound("bell") }
    /// As `init(named:)`.
    public class func ringtoneSoundNamed(_ name: UNNotificationSoundName) -> UNNotificationSound {
        UNNotificationSound(name.rawValue)
    }
    /// As `init(named:)`: no louder.
    public class func criticalSoundNamed(_ name: UNNotificationSoundName) -> UNNotificationSound {
        UNNotificationSound(name.rawValue)
    }

    /// The object itself: it does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// Why a notification was not taken.
public enum UNError: Int, Error, Sendable, CustomNSError, LocalizedError {
    /// There is no notification server.
    case notificationsNotAllowed = 1
    /// Never: there are no attachments.
    case attachmentInvalidURL = 100
    /// The trigger's time will not come.
    case notificationInvalidNoDate = 1400
    /// There is neither title, body nor sound.
    case notificationInvalidNoContent = 1401

    /// Apple's domain.
    public static var errorDomain: String { "UNErrorDomain" }
    /// Apple's number.
    public var errorCode: Int { rawValue }
    /// What is wrong, why, and what now.
    public var errorDescription: String? {
        switch self {
        case .notificationsNotAllowed:
            "no notification server took it: install one, e.g. dunst (ringctl doctor)"
        case .attachmentInvalidURL: "the attachment is not there"
        case .notificationInvalidNoDate: "the trigger names no time to come"
        case .notificationInvalidNoContent: "a notification needs a title, a body or a sound"
        }
    }
}
