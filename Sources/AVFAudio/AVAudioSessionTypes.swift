public import Foundation

extension AVAudioSession {
    /// What the audio is for. Kept and given back.
    public struct Category: RawRepresentable, Hashable, Sendable {
        /// Apple's own value.
        public let rawValue: String
        /// A value of the system's own.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Sound that may be silenced.
        public static let ambient = Category(rawValue: "AVAudioSessionCategoryAmbient")
        /// What a session begins with.
        public static let soloAmbient = Category(rawValue: "AVAudioSessionCategorySoloAmbient")
        /// Media.
        public static let playback = Category(rawValue: "AVAudioSessionCategoryPlayback")
        /// Recording alone.
        public static let record = Category(rawValue: "AVAudioSessionCategoryRecord")
        /// A call.
        public static let playAndRecord = Category(rawValue: "AVAudioSessionCategoryPlayAndRecord")
        /// Several devices at once.
        public static let multiRoute = Category(rawValue: "AVAudioSessionCategoryMultiRoute")
    }

    /// How the audio is treated. Kept and given back.
    public struct Mode: RawRepresentable, Hashable, Sendable {
        /// Apple's own value.
        public let rawValue: String
        /// A value of the system's own.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Nothing special.
        public static let `default` = Mode(rawValue: "AVAudioSessionModeDefault")
        /// A call.
        public static let voiceChat = Mode(rawValue: "AVAudioSessionModeVoiceChat")
        /// A video call.
        public static let videoChat = Mode(rawValue: "AVAudioSessionModeVideoChat")
        /// Talk beside a game.
        public static let gameChat = Mode(rawValue: "AVAudioSessionModeGameChat")
        /// Recording a film.
        public static let videoRecording = Mode(rawValue: "AVAudioSessionModeVideoRecording")
        /// As little processing as possible.
        public static let measurement = Mode(rawValue: "AVAudioSessionModeMeasurement")
        /// A film.
        public static let moviePlayback = Mode(rawValue: "AVAudioSessionModeMoviePlayback")
        /// Spoken words.
        public static let spokenAudio = Mode(rawValue: "AVAudioSessionModeSpokenAudio")
        /// Short announcements.
        public static let voicePrompt = Mode(rawValue: "AVAudioSessionModeVoicePrompt")
    }

    /// Wishes about a category. Kept and given back.
    public struct CategoryOptions: OptionSet, Hashable, Sendable {
        /// Apple's own value.
        public let rawValue: UInt
        /// A value of the system's own.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Kept, without effect: the sound server mixes.
        public static let mixWithOthers = CategoryOptions(rawValue: 0x1)
        /// Kept, without effect: ringd pauses music for calls by itself.
        public static let duckOthers = CategoryOptions(rawValue: 0x2)
        /// The older name of `allowBluetoothHFP`.
        public static let allowBluetooth = CategoryOptions(rawValue: 0x4)
        /// Kept, without effect: the sound server chooses.
        public static let allowBluetoothHFP = CategoryOptions(rawValue: 0x4)
        /// Kept, without effect: the sound server chooses.
        public static let defaultToSpeaker = CategoryOptions(rawValue: 0x8)
        /// Kept, without effect.
        public static let interruptSpokenAudioAndMixWithOthers = CategoryOptions(rawValue: 0x11)
        /// Kept, without effect: the sound server chooses.
        public static let allowBluetoothA2DP = CategoryOptions(rawValue: 0x20)
        /// Kept, without effect.
        public static let allowAirPlay = CategoryOptions(rawValue: 0x40)
        /// Kept, without effect.
        public static let overrideMutedMicrophoneInterruption = CategoryOptions(rawValue: 0x80)
    }

    /// Of `setActive(_:options:)`. Without effect.
    public struct SetActiveOptions: OptionSet, Hashable, Sendable {
        /// Apple's own value.
        public let rawValue: UInt
        /// A value of the system's own.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Others may go on: ringd does that after a call.
        public static let notifyOthersOnDeactivation = SetActiveOptions(rawValue: 1)
    }

    /// Where a call is to be heard instead. Kept, without effect: desktops have a mixer for that.
    public enum PortOverride: UInt, Sendable {
        /// Where the route says.
        case none = 0
        /// The loudspeaker.
        case speaker = 0x7370_6b72
    }

    /// Whether the route is that of the system's media. Without effect.
    public enum RouteSharingPolicy: UInt, Sendable {
        /// The usual one.
        case `default` = 0
        /// That of music.
        case longFormAudio = 1
        /// The app's own.
        case independent = 2
        /// That of films.
        case longFormVideo = 3
    }

    /// What kind of device it is.
    public struct Port: RawRepresentable, Hashable, Sendable {
        /// Apple's own value.
        public let rawValue: String
        /// A value of the system's own.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The default source is said to be this.
        public static let builtInMic = Port(rawValue: "MicrophoneBuiltIn")
        /// A phone's earpiece.
        public static let builtInReceiver = Port(rawValue: "Receiver")
        /// The default sink is said to be this.
        public static let builtInSpeaker = Port(rawValue: "Speaker")
        /// Headphones with a wire.
        public static let headphones = Port(rawValue: "Headphones")
        /// The microphone of a headset with a wire.
        public static let headsetMic = Port(rawValue: "MicrophoneWired")
        /// Bluetooth, for calls.
        public static let bluetoothHFP = Port(rawValue: "BluetoothHFP")
        /// Bluetooth, for listening.
        public static let bluetoothA2DP = Port(rawValue: "BluetoothA2DPOutput")
        /// Bluetooth Low Energy.
        public static let bluetoothLE = Port(rawValue: "BluetoothLE")
        /// A car's.
        public static let carAudio = Port(rawValue: "CarAudio")
        /// On USB.
        public static let usbAudio = Port(rawValue: "USBAudio")
        /// A display's.
        // swift-format-ignore: AlwaysUseLowerCamelCase
        public static let HDMI = Port(rawValue: "HDMIOutput")
        /// In the network.
        public static let airPlay = Port(rawValue: "AirPlay")
        /// A line's input.
        public static let lineIn = Port(rawValue: "LineIn")
        /// A line's output.
        public static let lineOut = Port(rawValue: "LineOut")
    }

    /// In the notification that is never posted.
    public enum InterruptionType: UInt, Sendable {
        /// The audio may be taken back.
        case ended = 0
        /// The audio was taken away.
        case began = 1
    }

    /// In the notification that is never posted.
    public struct InterruptionOptions: OptionSet, Hashable, Sendable {
        /// Apple's own value.
        public let rawValue: UInt
        /// A value of the system's own.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// The app may go on playing.
        public static let shouldResume = InterruptionOptions(rawValue: 1)
    }

    /// In the notification that is never posted.
    public enum RouteChangeReason: UInt, Sendable {
        /// Nobody knows.
        case unknown = 0
        /// A device came.
        case newDeviceAvailable = 1
        /// A device went.
        case oldDeviceUnavailable = 2
        /// The category is another.
        case categoryChange = 3
        /// The route was overridden.
        case override = 4
        /// The machine woke.
        case wakeFromSleep = 6
        /// No device fits the category.
        case noSuitableRouteForCategory = 7
        /// The devices are set differently.
        case routeConfigurationChange = 8
    }

    /// Never posted: the sound server moves streams by itself.
    public static let interruptionNotification = Notification.Name("AVAudioSessionInterruptionNotification")
    /// Never posted: the sound server moves streams by itself.
    public static let routeChangeNotification = Notification.Name("AVAudioSessionRouteChangeNotification")
    /// Never posted: a restarted sound server shows in the app's own stream.
    public static let mediaServicesWereLostNotification = Notification.Name(
        "AVAudioSessionMediaServicesWereLostNotification")
    /// Never posted.
    public static let mediaServicesWereResetNotification = Notification.Name(
        "AVAudioSessionMediaServicesWereResetNotification")
}

/// The key of `AVAudioSession.InterruptionType`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let AVAudioSessionInterruptionTypeKey = "AVAudioSessionInterruptionTypeKey"
/// The key of `AVAudioSession.InterruptionOptions`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let AVAudioSessionInterruptionOptionKey = "AVAudioSessionInterruptionOptionKey"
/// The key of `AVAudioSession.RouteChangeReason`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let AVAudioSessionRouteChangeReasonKey = "AVAudioSessionRouteChangeReasonKey"
/// The key of the route before.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let AVAudioSessionRouteChangePreviousRouteKey = "AVAudioSessionRouteChangePreviousRouteKey"

/// One device of a route.
open class AVAudioSessionPortDescription: NSObject, @unchecked Sendable {
    // Unchecked: constants.
    /// What kind of device it is.
    public let portType: AVAudioSession.Port
    /// As people read it.
    public let portName: String
    /// The name again.
    public var uid: String { portName }

    init(_ type: AVAudioSession.Port, _ name: String) {
        portType = type
        portName = name
    }
}

/// What plays and records.
open class AVAudioSessionRouteDescription: NSObject, @unchecked Sendable {
    // Unchecked: constants.
    /// What records.
    public let inputs: [AVAudioSessionPortDescription]
    /// What plays.
    public let outputs: [AVAudioSessionPortDescription]

    init(inputs: [AVAudioSessionPortDescription], outputs: [AVAudioSessionPortDescription]) {
        self.inputs = inputs
        self.outputs = outputs
    }
}
