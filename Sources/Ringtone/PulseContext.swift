internal import Base
internal import CPulse

/// One connection to a sound server, from connect to failure; a failed one is thrown away and another made.
///
/// Confined to the loop. C callbacks get it unretained: `deinit` ends the context, which cancels every one of them.
final class PulseContext {
    enum State: Equatable {
        case connecting
        case ready
        case failed(String)
    }

    let loop: PulseLoop
    fileprivate(set) var state = State.connecting
    let pointer: OpaquePointer
    private let onChange: (State) -> Void

    /// `server`: nil is the user's own. `onChange` may come before `init` returns, if the connection fails at once.
    init(_ loop: PulseLoop, server: String?, onChange: @escaping (State) -> Void) {
        self.loop = loop
        self.onChange = onChange
        let properties = pa_proplist_new()
        defer { pa_proplist_free(properties) }
        pa_proplist_sets(properties, PA_PROP_APPLICATION_NAME, "ringd")
        pa_proplist_sets(properties, PA_PROP_APPLICATION_ID, "org.ringd.Ringd1")
        pa_proplist_sets(properties, PA_PROP_APPLICATION_ICON_NAME, "call-start")
        pointer = pa_context_new_with_proplist(loop.api, "ringd", properties)
        pa_context_set_state_callback(
            pointer, { _, me in PulseContext.of(me).changed() }, Unmanaged.passUnretained(self).toOpaque())
        // A daemon must not start a sound server outside of its unit.
        if pa_context_connect(pointer, server, PA_CONTEXT_NOAUTOSPAWN, nil) < 0, state == .connecting {
            state = .failed(whyNot)
        }
    }

    deinit {
        pa_context_set_state_callback(pointer, nil, nil)
        pa_context_disconnect(pointer)
        pa_context_unref(pointer)
    }

    /// libpulse's word for the last thing that went wrong.
    var whyNot: String { String(cString: pa_strerror(pa_context_errno(pointer))) }

    private func changed() {
        let now: State
        switch pa_context_get_state(pointer) {
        case PA_CONTEXT_READY: now = .ready
        case PA_CONTEXT_FAILED: now = .failed(whyNot)
        case PA_CONTEXT_TERMINATED: now = .failed("Connection terminated")
        default: now = .connecting
        }
        guard now != state else { return }
        state = now
        withExtendedLifetime(self) { onChange(now) }
    }

    fileprivate static func of(_ context: UnsafeMutableRawPointer?) -> PulseContext {
        Unmanaged.fromOpaque(context!).takeUnretainedValue()
    }

    // MARK: Questions

    /// Asks for server and sink; `then` gets what is known when both are answered. Not called if the connection fails.
    func ask(_ then: @escaping (SoundStatus) -> Void) {
        var status = SoundStatus()
        status.isConnected = true
        let server = Question<pa_server_info> { [weak self] info in
            if let info {
                let name = String(cString: info.pointee.server_name)
                status.server = Text.clean(name + " " + String(cString: info.pointee.server_version))
            }
            self?.askSink { sink in
                status.sinkName = sink?.name
                status.sinkDescription = sink?.description
                status.isMuted = sink?.isMuted
                status.volume = sink?.volume
                then(status)
            }
        }
        questions.append(server)
        let operation = pa_context_get_server_info(
            pointer, { _, info, me in Question<pa_server_info>.answer(me, info, isLast: true) }, server.context)
        end(operation)
    }

    struct Sink {
        let name: String
        let description: String
        let isMuted: Bool
        /// 1 is 100 % in a mixer.
        let volume: Double

        fileprivate init(_ info: pa_sink_info) {
            name = Text.clean(String(cString: info.name))
            description = Text.clean(String(cString: info.description))
            isMuted = info.mute != 0
            var volume = info.volume
            self.volume = Double(pa_cvolume_avg(&volume)) / Double(PA_VOLUME_NORM)
        }
    }

    /// The default sink, or nil if there is none.
    func askSink(_ then: @escaping (Sink?) -> Void) {
        let question = Question<pa_sink_info> { then($0.map { Sink($0.pointee) }) }
        questions.append(question)
        let operation = pa_context_get_sink_info_by_name(
            pointer, "@DEFAULT_SINK@",
            { _, info, end, me in
                // An answer, then the list's end; or the end (or an error) alone.
                Question<pa_sink_info>.answer(me, end == 0 ? info : nil, isLast: end != 0)
            }, question.context)
        end(operation)
    }

    /// Whether a stream of ours is muted in the mixer.
    func askMuted(stream index: UInt32, _ then: @escaping (Bool) -> Void) {
        let question = Question<pa_sink_input_info> { then($0.map { $0.pointee.mute != 0 } ?? false) }
        questions.append(question)
        let operation = pa_context_get_sink_input_info(
            pointer, index,
            { _, info, end, me in
                Question<pa_sink_input_info>.answer(me, end == 0 ? info : nil, isLast: end != 0)
            }, question.context)
        end(operation)
    }

    /// Alive while C may answer: until the connection ends. Those answered are dropped with the next question.
    private var questions: [any AnyObject & Answerable] = [] {
        didSet { if questions.count > 1 { questions.removeAll { $0.isAnswered } } }
    }

    private func end(_ operation: OpaquePointer?) {
        if let operation { pa_operation_unref(operation) }
    }
}

private protocol Answerable {
    var isAnswered: Bool { get }
}

/// A question to the server and who waits for its answer; answered once, whatever libpulse's lists send after it.
private final class Question<Info>: Answerable {
    private var then: ((UnsafePointer<Info>?) -> Void)?
    /// C will not call again.
    private(set) var isAnswered = false

    init(_ then: @escaping (UnsafePointer<Info>?) -> Void) { self.then = then }

    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func answer(_ context: UnsafeMutableRawPointer?, _ info: UnsafePointer<Info>?, isLast: Bool) {
        let me = Unmanaged<Question<Info>>.fromOpaque(context!).takeUnretainedValue()
        let then = me.then
        me.then = nil
        if isLast { me.isAnswered = true }
        then?(info)
    }
}
