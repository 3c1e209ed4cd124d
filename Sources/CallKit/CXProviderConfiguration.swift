internal import DBus
public import Foundation

/// What an app's calls are like.
open class CXProviderConfiguration: NSObject, NSCopying, @unchecked Sendable {
    // Unchecked: its owner's; a provider copies it.
    /// The app's name beside its calls; else its desktop file's.
    open internal(set) var localizedName: String?
    /// A sound's name: one of `ringctl sounds`, added with `ringctl sounds add FILE`; nil for the user's own ringtone.
    open var ringtoneSound: String?
    /// Accepted and not used: a notification takes an icon's name, not its pixels.
    open var iconTemplateImageData: Data?
    /// Independent calls at once, active and held; 1 to 8.
    open var maximumCallGroups = 2
    /// The size of a conference; 1 to 16.
    open var maximumCallsPerCallGroup = 5
    /// False keeps the app's calls out of `ringctl history`.
    open var includesCallsInRecents = true
    /// The app has video calls.
    open var supportsVideo = false
    /// Empty: any.
    open var supportedHandleTypes: Set<CXHandle.HandleType> = []
    /// Accepted and not used.
    open var supportsAudioTranslation = false

    /// Apple's defaults; the name is the desktop file's.
    public override init() { super.init() }

    /// Apple's defaults under a name of the app's.
    public convenience init(localizedName: String) {
        self.init()
        self.localizedName = localizedName
    }

    /// Another configuration that says the same.
    open func copy(with zone: NSZone? = nil) -> Any {
        let other = CXProviderConfiguration()
        other.localizedName = localizedName
        other.ringtoneSound = ringtoneSound
        other.iconTemplateImageData = iconTemplateImageData
        other.maximumCallGroups = maximumCallGroups
        other.maximumCallsPerCallGroup = maximumCallsPerCallGroup
        other.includesCallsInRecents = includesCallsInRecents
        other.supportsVideo = supportsVideo
        other.supportedHandleTypes = supportedHandleTypes
        other.supportsAudioTranslation = supportsAudioTranslation
        return other
    }

    /// As `CallProvider1` takes it; numbers out of its range are the nearest in it.
    var entries: [DBusValue.Entry] {
        var out: [DBusValue.Entry] = [
            .init("maximum-call-groups", .uint32(UInt32(min(8, max(1, maximumCallGroups))))),
            .init("maximum-calls-per-call-group", .uint32(UInt32(min(16, max(1, maximumCallsPerCallGroup))))),
            .init("includes-calls-in-recents", .bool(includesCallsInRecents)),
            .init("supports-video", .bool(supportsVideo)),
            .init("supported-handle-types", .strings(supportedHandleTypes.map(\.word).sorted())),
            .init("ringtone-sound", .string((ringtoneSound as NSString?)?.lastPathComponent ?? "")),
        ]
        if let localizedName { out.append(.init("localized-name", .string(localizedName))) }
        return out
    }
}
