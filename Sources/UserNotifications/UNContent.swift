public import Foundation

/// What a notification says.
open class UNNotificationContent: NSObject, NSCopying, NSMutableCopying, @unchecked Sendable {
    // Unchecked: a center copies what it is given; the mutable one is its owner's.

    struct Values {
        var title = ""
        var subtitle = ""
        var body = ""
        var badge: NSNumber?
        var sound: UNNotificationSound?
        var userInfo: [AnyHashable: Any] = [:]
        var categoryIdentifier = ""
        var threadIdentifier = ""
        var interruptionLevel = UNNotificationInterruptionLevel.active
        var relevanceScore = 0.0
        var targetContentIdentifier: String?
    }

    var values: Values

    /// Empty.
    public override init() {
        values = Values()
        super.init()
    }

    init(_ values: Values) {
        self.values = values
        super.init()
    }

    /// The summary; without one the body is.
    open var title: String { values.title }
    /// Shown as the first line of the text.
    open var subtitle: String { values.subtitle }
    /// The text. Plain: what looks like markup is shown as it is.
    open var body: String { values.body }
    /// Kept, and shown nowhere.
    open var badge: NSNumber? { values.badge }
    /// Played once by ringd, unless a call rings; nil for none.
    open var sound: UNNotificationSound? { values.sound }
    /// The app's own; the response brings it back.
    open var userInfo: [AnyHashable: Any] { values.userInfo }
    /// Which category's buttons it has; "" for none.
    open var categoryIdentifier: String { values.categoryIdentifier }
    /// Kept, without effect.
    open var threadIdentifier: String { values.threadIdentifier }
    /// How urgent it is; `active` at first.
    open var interruptionLevel: UNNotificationInterruptionLevel { values.interruptionLevel }
    /// Kept, without effect.
    open var relevanceScore: Double { values.relevanceScore }

    /// Kept, without effect.
    open var targetContentIdentifier: String? { values.targetContentIdentifier }

    /// Another object that says the same, and stays so.
    open func copy(with zone: NSZone? = nil) -> Any { UNNotificationContent(values) }

    /// Another object that says the same, to be changed.
    open func mutableCopy(with zone: NSZone? = nil) -> Any { UNMutableNotificationContent(values) }
}

/// Content to be filled in; a request takes a copy.
open class UNMutableNotificationContent: UNNotificationContent, @unchecked Sendable {
    /// The summary; without one the body is.
    open override var title: String {
        get { values.title }
        set { values.title = newValue }
    }
    /// Shown as the first line of the text.
    open override var subtitle: String {
        get { values.subtitle }
        set { values.subtitle = newValue }
    }
    /// The text. Plain: what looks like markup is shown as it is.
    open override var body: String {
        get { values.body }
        set { values.body = newValue }
    }
    /// Kept, and shown nowhere: desktops have no badges that all of them draw.
    open override var badge: NSNumber? {
        get { values.badge }
        set { values.badge = newValue }
    }
    /// Played once by ringd, unless a call rings; nil for none.
    open override var sound: UNNotificationSound? {
        get { values.sound }
        set { values.sound = newValue }
    }
    /// The app's own; the response brings it back.
    open override var userInfo: [AnyHashable: Any] {
        get { values.userInfo }
        set { values.userInfo = newValue }
    }
    /// Which category's buttons it has; "" for none.
    open override var categoryIdentifier: String {
        get { values.categoryIdentifier }
        set { values.categoryIdentifier = newValue }
    }
    /// Kept, without effect.
    open override var threadIdentifier: String {
        get { values.threadIdentifier }
        set { values.threadIdentifier = newValue }
    }
    /// How urgent it is; `active` at first.
    open override var interruptionLevel: UNNotificationInterruptionLevel {
        get { values.interruptionLevel }
        set { values.interruptionLevel = newValue }
    }
    /// Kept, without effect.
    open override var relevanceScore: Double {
        get { values.relevanceScore }
        set { values.relevanceScore = newValue }
    }
    /// Kept, without effect.
    open override var targetContentIdentifier: String? {
        get { values.targetContentIdentifier }
        set { values.targetContentIdentifier = newValue }
    }
}

/// When a notification is due.
open class UNNotificationTrigger: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: constants.
    /// It is due again and again.
    public let repeats: Bool

    init(repeats: Bool) { self.repeats = repeats }

    /// Seconds from now; nil if it will not be any more.
    func delay(from now: Date) -> TimeInterval? { 0 }

    /// The object itself: it does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// Never made on Linux: a push that is no call reaches no app by this module.
open class UNPushNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {}

/// Due after some time.
open class UNTimeIntervalNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    /// Seconds.
    public let timeInterval: TimeInterval

    /// `timeInterval` over 0; at least 60 if it `repeats`, as on iOS.
    public init(timeInterval: TimeInterval, repeats: Bool) {
        precondition(timeInterval > 0, "a time interval must be greater than 0")
        precondition(!repeats || timeInterval >= 60, "a time interval must be at least 60 if repeating")
        self.timeInterval = timeInterval
        super.init(repeats: repeats)
    }

    override func delay(from now: Date) -> TimeInterval? { timeInterval }

    /// That long from now.
    open func nextTriggerDate() -> Date? { Date(timeIntervalSinceNow: timeInterval) }
}

/// Due when the clock says so.
open class UNCalendarNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    /// What the clock has to say, in the user's calendar.
    public let dateComponents: DateComponents

    /// The next time that matches, and each time if it `repeats`.
    public init(dateMatching dateComponents: DateComponents, repeats: Bool) {
        self.dateComponents = dateComponents
        super.init(repeats: repeats)
    }

    override func delay(from now: Date) -> TimeInterval? {
        Calendar.current.nextDate(after: now, matching: dateComponents, matchingPolicy: .nextTime)?
            .timeIntervalSince(now)
    }

    /// The next time from now; nil if there is none.
    open func nextTriggerDate() -> Date? { delay(from: Date()).map { Date(timeIntervalSinceNow: $0) } }
}

/// A notification and when it is due.
open class UNNotificationRequest: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: constants; the content is a copy.
    /// By which it is replaced and removed.
    public let identifier: String
    /// A copy of what it was made with.
    public let content: UNNotificationContent
    /// When it is due; nil: at once.
    public let trigger: UNNotificationTrigger?

    /// `trigger` nil: at once. The same `identifier` again replaces what has it.
    public init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
        self.identifier = identifier
        self.content = content.copy() as! UNNotificationContent
        self.trigger = trigger
    }

    /// The object itself: it does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// A notification that is due or shown.
open class UNNotification: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: constants.
    /// When it was due.
    public let date: Date
    /// What asked for it.
    public let request: UNNotificationRequest

    init(date: Date, request: UNNotificationRequest) {
        self.date = date
        self.request = request
    }

    /// The object itself: it does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

// MARK: - Actions

/// Kept, without effect on a desktop.
public struct UNNotificationActionOptions: OptionSet, Hashable, Sendable {
    /// Apple's own value.
    public let rawValue: UInt
    /// A value of the system's own.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Only when unlocked.
    public static let authenticationRequired = UNNotificationActionOptions(rawValue: 1 << 0)
    /// It removes something.
    public static let destructive = UNNotificationActionOptions(rawValue: 1 << 1)
    /// It opens the app.
    public static let foreground = UNNotificationActionOptions(rawValue: 1 << 2)
}

/// A button.
open class UNNotificationAction: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: constants.
    /// What the response says.
    public let identifier: String
    /// The button's words.
    public let title: String
    /// Kept, without effect.
    public let options: UNNotificationActionOptions

    /// A button with these words.
    public init(identifier: String, title: String, options: UNNotificationActionOptions = []) {
        self.identifier = identifier
        self.title = title
        self.options = options
    }

    /// The object itself: it does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// What else is wanted of a kind of notification.
public struct UNNotificationCategoryOptions: OptionSet, Hashable, Sendable {
    /// Apple's own value.
    public let rawValue: UInt
    /// A value of the system's own.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The delegate is told when the user closes it.
    public static let customDismissAction = UNNotificationCategoryOptions(rawValue: 1 << 0)
    /// Without effect.
    public static let allowInCarPlay = UNNotificationCategoryOptions(rawValue: 1 << 1)
    /// Without effect.
    public static let hiddenPreviewsShowTitle = UNNotificationCategoryOptions(rawValue: 1 << 2)
    /// Without effect.
    public static let hiddenPreviewsShowSubtitle = UNNotificationCategoryOptions(rawValue: 1 << 3)
}

/// Which buttons a kind of notification has.
open class UNNotificationCategory: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: constants.
    /// What content names it by.
    public let identifier: String
    /// Its buttons, in order; servers show two or three.
    public let actions: [UNNotificationAction]
    /// Kept, without effect.
    public let intentIdentifiers: [String]
    /// What else is wanted.
    public let options: UNNotificationCategoryOptions

    /// Put into force with `setNotificationCategories(_:)`.
    public init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        options: UNNotificationCategoryOptions = []
    ) {
        self.identifier = identifier
        self.actions = actions
        self.intentIdentifiers = intentIdentifiers
        self.options = options
    }

    /// As without the placeholder, which has no effect.
    public convenience init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        hiddenPreviewsBodyPlaceholder: String?, options: UNNotificationCategoryOptions = []
    ) {
        self.init(
            identifier: identifier, actions: actions, intentIdentifiers: intentIdentifiers, options: options)
    }

    /// The object itself: it does not change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The same identifier.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? UNNotificationCategory)?.identifier == identifier
    }

    /// By the identifier.
    open override var hash: Int { identifier.hashValue }
}

/// The body was clicked.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let UNNotificationDefaultActionIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
/// The notification was closed by the user; only with `customDismissAction`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let UNNotificationDismissActionIdentifier = "com.apple.UNNotificationDismissActionIdentifier"

/// What the user did.
open class UNNotificationResponse: NSObject, @unchecked Sendable {
    // Unchecked: constants.
    /// With which notification.
    public let notification: UNNotification
    /// Which button, or `UNNotificationDefaultActionIdentifier` for the body.
    public let actionIdentifier: String

    init(notification: UNNotification, actionIdentifier: String) {
        self.notification = notification
        self.actionIdentifier = actionIdentifier
    }
}
