internal import Base
public import Foundation

/// The audio session as CallKit apps use it: wishes about category and mode, kept and given back.
///
/// On a desktop the sound server shares devices between programs, so nothing here opens one: an app plays and records with
/// PulseAudio or PipeWire as it does on Linux. What counts is the order: configure, then wait for
/// `provider(_:didActivate:)`. While a call is connected ringd itself holds the sound server's "phone" role, so that music
/// is paused or ducked.
open class AVAudioSession: NSObject, @unchecked Sendable {
    // Unchecked: what changes is behind `state`'s lock.

    private struct State {
        var category = Category.soloAmbient
        var mode = Mode.default
        var options: CategoryOptions = []
        var isActive = false
        var isActivatedBySystem = false
        var sampleRate = 48_000.0
        var bufferDuration = 0.02
        var output = PortOverride.none
        var permission = RecordPermission.granted
    }

    private let state = Lock(State())
    private static let shared = AVAudioSession()

    /// The process's only session.
    open class func sharedInstance() -> AVAudioSession { shared }

    private override init() { super.init() }

    // MARK: Category and mode

    /// As it was set; `soloAmbient` at first.
    public var category: Category { state.withLock { $0.category } }
    /// As it was set; `default` at first.
    public var mode: Mode { state.withLock { $0.mode } }
    /// As they were set.
    public var categoryOptions: CategoryOptions { state.withLock { $0.options } }
    /// All that there are.
    public var availableCategories: [Category] {
        [.ambient, .soloAmbient, .playback, .record, .playAndRecord, .multiRoute]
    }
    /// All that there are.
    public var availableModes: [Mode] {
        [
            .default, .voiceChat, .videoChat, .gameChat, .videoRecording, .measurement, .moviePlayback, .spokenAudio,
            .voicePrompt,
        ]
    }

    /// Keeps the mode, and takes the options away. Throws for a category that there is not.
    open func setCategory(_ category: Category) throws { try setCategory(category, mode: mode, options: []) }

    /// Keeps the mode. Throws for a category that there is not.
    open func setCategory(_ category: Category, options: CategoryOptions) throws {
        try setCategory(category, mode: mode, options: options)
    }

    /// Kept and given back. Throws (`NSOSStatusErrorDomain`, -50) for values that there are not.
    open func setCategory(_ category: Category, mode: Mode, options: CategoryOptions = []) throws {
        try check(availableCategories.contains(category) && availableModes.contains(mode))
        state.withLock { state in
            state.category = category
            state.mode = mode
            state.options = options
        }
    }

    /// As without the policy, which has no effect.
    open func setCategory(
        _ category: Category, mode: Mode, policy: RouteSharingPolicy, options: CategoryOptions = []
    ) throws {
        try setCategory(category, mode: mode, options: options)
    }

    /// Keeps the category. Throws for a mode that there is not.
    open func setMode(_ mode: Mode) throws {
        try check(availableModes.contains(mode))
        state.withLock { $0.mode = mode }
    }

    // MARK: Activation

    /// Accepted: for a call the activation that counts is the system's, `provider(_:didActivate:)`.
    open func setActive(_ active: Bool, options: SetActiveOptions = []) throws {
        state.withLock { $0.isActive = active }
    }

    /// Other programs' sound is for them to say; ringd pauses it for calls.
    public var isOtherAudioPlaying: Bool { false }
    /// False.
    public var secondaryAudioShouldBeSilencedHint: Bool { false }

    /// The system gave the app the audio, or took it.
    package func systemActivated(_ isActive: Bool) {
        state.withLock { state in
            state.isActivatedBySystem = isActive
            state.isActive = isActive
        }
    }

    /// Media may run: the last word was `didActivate`.
    package var isActivatedBySystem: Bool { state.withLock { $0.isActivatedBySystem } }

    // MARK: Wishes

    /// The wish, in hertz; 48,000 at first.
    public var sampleRate: Double { state.withLock { $0.sampleRate } }
    /// The wish, in hertz.
    public var preferredSampleRate: Double { sampleRate }
    /// The wish, in seconds; 0.02 at first.
    public var ioBufferDuration: TimeInterval { state.withLock { $0.bufferDuration } }
    /// The wish, in seconds.
    public var preferredIOBufferDuration: TimeInterval { ioBufferDuration }
    /// True: whether there is a microphone shows when the app opens it.
    public var isInputAvailable: Bool { true }
    /// 1: the volume is the sound server's.
    public var outputVolume: Float { 1 }

    /// Hertz, 8,000 to 192,000; others throw.
    open func setPreferredSampleRate(_ sampleRate: Double) throws {
        try check((8000...192_000).contains(sampleRate))
        state.withLock { $0.sampleRate = sampleRate }
    }

    /// Seconds, over 0 and under 10; others throw.
    open func setPreferredIOBufferDuration(_ duration: TimeInterval) throws {
        try check(duration > 0 && duration < 10)
        state.withLock { $0.bufferDuration = duration }
    }

    /// Kept, without effect: desktops have a mixer for that.
    open func overrideOutputAudioPort(_ portOverride: PortOverride) throws {
        state.withLock { $0.output = portOverride }
    }

    /// What plays and records: the sound server's defaults, by that name.
    public var currentRoute: AVAudioSessionRouteDescription {
        AVAudioSessionRouteDescription(
            inputs: [AVAudioSessionPortDescription(.builtInMic, "Default source")],
            outputs: [AVAudioSessionPortDescription(.builtInSpeaker, "Default sink")])
    }
    /// The default source.
    public var availableInputs: [AVAudioSessionPortDescription]? { currentRoute.inputs }
    /// Nil: the app chooses when it opens its stream.
    public var preferredInput: AVAudioSessionPortDescription? { nil }
    /// 1, as calls have it.
    public var inputNumberOfChannels: Int { 1 }
    /// 2: the sound server mixes for what is there.
    public var outputNumberOfChannels: Int { 2 }
    /// 0 seconds: the app's own stream knows.
    public var inputLatency: TimeInterval { 0 }
    /// 0 seconds: the app's own stream knows.
    public var outputLatency: TimeInterval { 0 }
    /// Accepted, without effect: the app chooses when it opens its stream.
    open func setPreferredInput(_ inPort: AVAudioSessionPortDescription?) throws {}

    // MARK: Permission

    /// Whether the app may record.
    public enum RecordPermission: UInt, Sendable {
        /// Never on Linux.
        case undetermined = 0x756e_6474
        /// Never on Linux.
        case denied = 0x6465_6e79
        /// Always on Linux.
        case granted = 0x6772_6e74
    }

    /// A desktop program may record; a sandbox asks its portal when the device is opened.
    public var recordPermission: RecordPermission { state.withLock { $0.permission } }

    /// True, on the main queue: a desktop program may record.
    @preconcurrency open func requestRecordPermission(_ response: @escaping @Sendable (Bool) -> Void) {
        DispatchQueue.main.async { response(true) }
    }

    private func check(_ isRight: Bool) throws {
        // kAudioSessionBadPropertySizeError's neighbour in Apple's list: '!cat' or 'what' are not told apart by apps.
        guard isRight else { throw NSError(domain: NSOSStatusErrorDomain, code: -50) }
    }
}

/// Apple's name for errors of the operating system's own numbers; Foundation on Linux has none.
// swift-format-ignore: AlwaysUseLowerCamelCase
let NSOSStatusErrorDomain = "NSOSStatusErrorDomain"

/// The newer home of the record permission.
open class AVAudioApplication: NSObject, @unchecked Sendable {
    // Unchecked: it has no state.
    /// Whether the app may record; granted.
    public enum recordPermission: Int, Sendable {
        /// Never on Linux.
        case undetermined = 0
        /// Never on Linux.
        case denied = 1
        /// Always on Linux.
        case granted = 2
    }

    private static let app = AVAudioApplication()
    /// The only one.
    public class var shared: AVAudioApplication { app }
    /// Whether the app may record; granted.
    public var recordPermission: recordPermission { .granted }

    /// True, on the main queue.
    @preconcurrency open class func requestRecordPermission(
        completionHandler response: @escaping @Sendable (Bool) -> Void
    ) {
        DispatchQueue.main.async { response(true) }
    }

    /// True: a desktop program may record.
    open class func requestRecordPermission() async -> Bool { true }
}
