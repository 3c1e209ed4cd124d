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

    open class func sharedInstance() -> AVAudioSession { shared }

    private override init() { super.init() }

    // MARK: Category and mode

    public var category: Category { state.withLock { $0.category } }
    public var mode: Mode { state.withLock { $0.mode } }
    public var categoryOptions: CategoryOptions { state.withLock { $0.options } }
    public var availableCategories: [Category] {
        [.ambient, .soloAmbient, .playback, .record, .playAndRecord, .multiRoute]
    }
    public var availableModes: [Mode] {
        [
            .default, .voiceChat, .videoChat, .gameChat, .videoRecording, .measurement, .moviePlayback, .spokenAudio,
            .voicePrompt,
        ]
    }

    open func setCategory(_ category: Category) throws { try setCategory(category, mode: mode, options: []) }

    open func setCategory(_ category: Category, options: CategoryOptions) throws {
        try setCategory(category, mode: mode, options: options)
    }

    open func setCategory(_ category: Category, mode: Mode, options: CategoryOptions = []) throws {
        try check(availableCategories.contains(category) && availableModes.contains(mode))
        state.withLock { state in
            state.category = category
            state.mode = mode
            state.options = options
        }
    }

    open func setCategory(
        _ category: Category, mode: Mode, policy: RouteSharingPolicy, options: CategoryOptions = []
    ) throws {
        try setCategory(category, mode: mode, options: options)
    }

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

    public var sampleRate: Double { state.withLock { $0.sampleRate } }
    public var preferredSampleRate: Double { sampleRate }
    public var ioBufferDuration: TimeInterval { state.withLock { $0.bufferDuration } }
    public var preferredIOBufferDuration: TimeInterval { ioBufferDuration }
    public var isInputAvailable: Bool { true }
    public var outputVolume: Float { 1 }

    open func setPreferredSampleRate(_ sampleRate: Double) throws {
        try check((8000...192_000).contains(sampleRate))
        state.withLock { $0.sampleRate = sampleRate }
    }

    open func setPreferredIOBufferDuration(_ duration: TimeInterval) throws {
        try check(duration > 0 && duration < 10)
        state.withLock { $0.bufferDuration = duration }
    }

    open func overrideOutputAudioPort(_ portOverride: PortOverride) throws {
        state.withLock { $0.output = portOverride }
    }

    /// What plays and records: the sound server's defaults, by that name.
    public var currentRoute: AVAudioSessionRouteDescription {
        AVAudioSessionRouteDescription(
            inputs: [AVAudioSessionPortDescription(.builtInMic, "Default source")],
            outputs: [AVAudioSessionPortDescription(.builtInSpeaker, "Default sink")])
    }
    public var availableInputs: [AVAudioSessionPortDescription]? { currentRoute.inputs }
    open func setPreferredInput(_ inPort: AVAudioSessionPortDescription?) throws {}

    // MARK: Permission

    public enum RecordPermission: UInt, Sendable {
        case undetermined = 0x756e_6474
        case denied = 0x6465_6e79
        case granted = 0x6772_6e74
    }

    /// A desktop program may record; a sandbox asks its portal when the device is opened.
    public var recordPermission: RecordPermission { state.withLock { $0.permission } }

    @preconcurrency open func requestRecordPermission(_ response: @escaping @Sendable (Bool) -> Void) {
        DispatchQueue.main.async { response(true) }
    }

    private func check(_ isRight: Bool) throws {
        // kAudioSessionBadPropertySizeError's neighbour in Apple's list: '!cat' or 'what' are not told apart by apps.
        guard isRight else { throw NSError(domain: NSOSStatusErrorDomain, code: -50) }
    }
}

/// Apple's name for errors of the operating system's own numbers; Foundation on Linux has none.
let NSOSStatusErrorDomain = "NSOSStatusErrorDomain"

/// The newer home of the record permission.
open class AVAudioApplication: NSObject, @unchecked Sendable {
    // Unchecked: it has no state.
    public enum recordPermission: Int, Sendable {
        case undetermined = 0
        case denied = 1
        case granted = 2
    }

    private static let app = AVAudioApplication()
    public class var shared: AVAudioApplication { app }
    public var recordPermission: recordPermission { .granted }

    @preconcurrency open class func requestRecordPermission(
        completionHandler response: @escaping @Sendable (Bool) -> Void
    ) {
        DispatchQueue.main.async { response(true) }
    }

    open class func requestRecordPermission() async -> Bool { true }
}
