public import Foundation

/// What may be done.
public struct UNAuthorizationOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let badge = UNAuthorizationOptions(rawValue: 1 << 0)
    public static let sound = UNAuthorizationOptions(rawValue: 1 << 1)
    public static let alert = UNAuthorizationOptions(rawValue: 1 << 2)
    public static let carPlay = UNAuthorizationOptions(rawValue: 1 << 3)
    public static let criticalAlert = UNAuthorizationOptions(rawValue: 1 << 4)
    public static let providesAppNotificationSettings = UNAuthorizationOptions(rawValue: 1 << 5)
    public static let provisional = UNAuthorizationOptions(rawValue: 1 << 6)
}

public enum UNAuthorizationStatus: Int, Sendable {
    case notDetermined = 0
    case denied = 1
    case authorized = 2
    case provisional = 3
    case ephemeral = 4
}

public enum UNNotificationSetting: Int, Sendable {
    case notSupported = 0
    case disabled = 1
    case enabled = 2
}

/// What the notification server of this desktop does.
open class UNNotificationSettings: NSObject, @unchecked Sendable {
    // Unchecked: constants.
    public let authorizationStatus: UNAuthorizationStatus
    public let alertSetting: UNNotificationSetting
    public let soundSetting: UNNotificationSetting
    public let badgeSetting: UNNotificationSetting = .notSupported
    public let lockScreenSetting: UNNotificationSetting = .notSupported
    public let notificationCenterSetting: UNNotificationSetting = .notSupported

    init(isThere: Bool) {
        authorizationStatus = isThere ? .authorized : .denied
        alertSetting = isThere ? .enabled : .disabled
        soundSetting = .enabled
    }
}

/// How a notification is presented while the app is in front.
public struct UNNotificationPresentationOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let badge = UNNotificationPresentationOptions(rawValue: 1 << 0)
    public static let sound = UNNotificationPresentationOptions(rawValue: 1 << 1)
    public static let alert = UNNotificationPresentationOptions(rawValue: 1 << 2)
    public static let list = UNNotificationPresentationOptions(rawValue: 1 << 3)
    public static let banner = UNNotificationPresentationOptions(rawValue: 1 << 4)
}

public enum UNNotificationInterruptionLevel: UInt, Sendable {
    case passive = 0
    case active = 1
    case timeSensitive = 2
    case critical = 3
}

public struct UNNotificationSoundName: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// A sound that is played once, at most 30 seconds of it: one of `ringctl sounds`, by its file's name.
open class UNNotificationSound: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: constants.
    let name: String?

    init(_ name: String?) { self.name = name }

    public convenience init(named name: UNNotificationSoundName) { self.init(name.rawValue) }

    /// The user's own sound for messages.
    public class var `default`: UNNotificationSound { UNNotificationSound("message-new-instant") }
    /// The user's ringtone.
    public class var defaultRingtone: UNNotificationSound { UNNotificationSound("phone-incoming-call") }
    public class var defaultCritical: UNNotificationSound { UNNotificationSound("bell") }
    public class func ringtoneSoundNamed(_ name: UNNotificationSoundName) -> UNNotificationSound {
        UNNotificationSound(name.rawValue)
    }
    public class func criticalSoundNamed(_ name: UNNotificationSoundName) -> UNNotificationSound {
        UNNotificationSound(name.rawValue)
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }
}

public enum UNError: Int, Error, Sendable, CustomNSError, LocalizedError {
    case notificationsNotAllowed = 1
    case attachmentInvalidURL = 100
    case notificationInvalidNoDate = 1400
    case notificationInvalidNoContent = 1401

    public static var errorDomain: String { "UNErrorDomain" }
    public var errorCode: Int { rawValue }
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
