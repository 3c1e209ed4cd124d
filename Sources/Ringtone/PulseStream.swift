internal import Base
internal import CPulse

/// How ringd's streams present themselves to the sound server.
package struct SoundOutput: Sendable, Equatable {
    /// What mixers and policies take the ring for.
    package enum Role: String, Sendable, CaseIterable {
        /// Music pauses (PulseAudio), the volume is the one of calls.
        case phone
        /// The volume is the one of system sounds, and their mute counts.
        case event
        case none
    }
    package var role: Role
    /// The sink's name; nil is the default sink, also when it changes during a ring.
    package var device: String?
    /// The server's address as in PULSE_SERVER; nil is the user's own.
    package var server: String?

    package init(role: Role = .phone, device: String? = nil, server: String? = nil) {
        self.role = role
        self.device = device
        self.server = server
    }
}

/// One playback stream, fed by write callbacks from a `Feeder` until it is stopped, ends or fails.
///
/// Confined to the loop. C callbacks get it unretained: `deinit` takes them off and ends the stream. What it reports
/// comes from inside those callbacks; one that was told to stop reports nothing more, but calls `onStopped` once.
final class PulseStream {
    enum News: Equatable {
        /// The server took the stream and the first samples are sent.
        case created
        /// The server plays it.
        case started
        /// A sound that does not loop was played to its end.
        case ended
        /// Somebody ended just this stream, or its device went: `PA_ERR_KILLED`.
        case killed
        case failed(String)
    }

    private let context: PulseContext
    private var feeder: Feeder
    private let report: (News) -> Void
    /// Called once when a stopped stream is silent, instead of any further report.
    var onStopped: (() -> Void)?
    private let pointer: OpaquePointer
    /// Frames sent, from the stream's start.
    private var sent = 0
    private var hasStarted = false
    private var isDraining = false
    private var isStopping = false

    private var frameSize: Int { feeder.pcm.channels * MemoryLayout<Int16>.size }

    /// What a stream is for.
    struct Purpose {
        /// Seconds of buffer, and how much of it may run empty before the server asks again.
        ///
        /// The difference `target - 2 * request` is what PulseAudio takes for the sink's own latency: at 0 a sound card
        /// would wake the server every few milliseconds.
        let target: Double
        let request: Double
        /// The event that it is the sound of; nil for none.
        let event: String?

        /// Two refills in 9 s.
        static let ring = Purpose(target: 9, request: 4.2, event: SoundCatalog.incomingCall)
        /// It only has to be there: two refills in half a minute.
        static let hold = Purpose(target: 30, request: 14, event: nil)
    }

    /// Playing starts once so many seconds are there.
    private static let prebuffer = 0.05

    init?(
        _ context: PulseContext, _ output: SoundOutput, _ feeder: Feeder, name: String, purpose: Purpose = .ring,
        report: @escaping (News) -> Void
    ) {
        self.context = context
        self.feeder = feeder
        self.report = report
        let properties = pa_proplist_new()
        defer { pa_proplist_free(properties) }
        for (key, value) in [(PA_PROP_MEDIA_NAME, name), (PA_PROP_MEDIA_ICON_NAME, "call-start")] {
            pa_proplist_sets(properties, key, value)
        }
        if let event = purpose.event {
            pa_proplist_sets(properties, PA_PROP_EVENT_ID, event)
            pa_proplist_sets(properties, PA_PROP_EVENT_DESCRIPTION, name)
        }
        if output.role != .none { pa_proplist_sets(properties, PA_PROP_MEDIA_ROLE, output.role.rawValue) }
        var form = pa_sample_spec()
        // The samples are the machine's own words; every machine ringd is built for is little-endian.
        form.format = PA_SAMPLE_S16LE
        form.rate = UInt32(feeder.pcm.rate)
        form.channels = UInt8(feeder.pcm.channels)
        guard let made = pa_stream_new_with_proplist(context.pointer, name, &form, nil, properties) else { return nil }
        pointer = made
        let me = Unmanaged.passUnretained(self).toOpaque()
        pa_stream_set_state_callback(pointer, { _, me in PulseStream.of(me).stateChanged() }, me)
        pa_stream_set_write_callback(pointer, { _, bytes, me in PulseStream.of(me).write(bytes) }, me)
        pa_stream_set_started_callback(pointer, { _, me in PulseStream.of(me).started() }, me)
        func bytes(_ seconds: Double) -> UInt32 { UInt32(Int(seconds * Double(feeder.pcm.rate)) * frameSize) }
        var buffer = pa_buffer_attr()
        buffer.maxlength = UInt32.max
        buffer.tlength = bytes(purpose.target)
        buffer.minreq = bytes(purpose.request)
        buffer.prebuf = bytes(Self.prebuffer)
        buffer.fragsize = UInt32.max
        // The default sink by its alias: naming it keeps intended-roles and a remembered device from sending the ring
        // into a headset that nobody wears, and it still follows a change of the default.
        let sink = output.device ?? "@DEFAULT_SINK@"
        guard pa_stream_connect_playback(pointer, sink, &buffer, pa_stream_flags_t(rawValue: 0), nil, nil) >= 0 else {
            return nil
        }
    }

    deinit {
        pa_stream_set_state_callback(pointer, nil, nil)
        pa_stream_set_write_callback(pointer, nil, nil)
        pa_stream_set_started_callback(pointer, nil, nil)
        pa_stream_disconnect(pointer)
        pa_stream_unref(pointer)
    }

    /// The server's number for this stream.
    var index: UInt32 { pa_stream_get_index(pointer) }

    private static func of(_ me: UnsafeMutableRawPointer?) -> PulseStream {
        Unmanaged.fromOpaque(me!).takeUnretainedValue()
    }

    private func tell(_ news: News) {
        // The listener may drop this stream.
        withExtendedLifetime(self) {
            if !isStopping { report(news) }
        }
    }

    private func tellStopped() {
        let onStopped = onStopped
        self.onStopped = nil
        withExtendedLifetime(self) { onStopped?() }
    }

    private func stateChanged() {
        switch pa_stream_get_state(pointer) {
        case PA_STREAM_READY:
            // Otherwise the first write callback follows at once; what it sends is what is meant by created.
            if isStopping { tellStopped() }
        case PA_STREAM_FAILED, PA_STREAM_TERMINATED:
            if isStopping {
                tellStopped()
            } else if pa_context_errno(context.pointer) == Int32(PA_ERR_KILLED.rawValue) {
                tell(.killed)
            } else {
                tell(.failed(context.whyNot))
            }
        default: break
        }
    }

    private func started() {
        guard !hasStarted else { return }
        hasStarted = true
        tell(.started)
    }

    // MARK: Samples

    private func write(_ bytes: Int) {
        guard !isStopping else { return }
        let isFirst = sent == 0
        var wanted = bytes / frameSize
        if let length = feeder.length { wanted = min(wanted, length - sent) }
        send(wanted, from: sent, seek: nil)
        if isFirst { tell(.created) }
        if let length = feeder.length, sent >= length { drain() }
    }

    /// `seek`: the stream's frame to begin at, if it is not where the last write ended.
    private func send(_ frames: Int, from: Int, seek: Int?) {
        var (position, left, jump) = (from, frames, seek)
        while left > 0 {
            var memory: UnsafeMutableRawPointer?
            var room = left * frameSize
            guard pa_stream_begin_write(pointer, &memory, &room) >= 0, let memory else { return }
            let count = min(left, room / frameSize)
            guard count > 0 else {
                pa_stream_cancel_write(pointer)
                return
            }
            feeder.fill(memory.assumingMemoryBound(to: Int16.self), frames: count, at: position)
            let offset = Int64((jump ?? 0) * frameSize)
            let mode = jump == nil ? PA_SEEK_RELATIVE : PA_SEEK_ABSOLUTE
            guard pa_stream_write(pointer, memory, count * frameSize, nil, offset, mode) >= 0 else { return }
            jump = nil
            position += count
            left -= count
        }
        sent = max(sent, position)
    }

    private func drain() {
        guard !isDraining else { return }
        isDraining = true
        let me = Unmanaged.passUnretained(self).toOpaque()
        let operation = pa_stream_drain(pointer, { _, _, me in PulseStream.of(me).tell(.ended) }, me)
        if let operation { pa_operation_unref(operation) }
    }

    // MARK: Changes

    /// Another gain, at once and without a gap: what the server still holds is made again and written over.
    func change(_ gain: Gain) {
        guard gain != feeder.gain else { return }
        feeder.gain = gain
        guard sent > 0, !isStopping else { return }
        let me = Unmanaged.passUnretained(self).toOpaque()
        let operation = pa_stream_update_timing_info(
            pointer, { _, ok, me in if ok != 0 { PulseStream.of(me).rewrite() } }, me)
        if let operation { pa_operation_unref(operation) }
    }

    private func rewrite() {
        guard !isStopping, let timing = pa_stream_get_timing_info(pointer), timing.pointee.read_index_corrupt == 0
        else {
            return
        }
        // A little ahead of what is being taken; what the sink holds already it gives back for what lies behind that.
        let margin = feeder.pcm.rate / 20
        let from = max(0, Int(timing.pointee.read_index) / frameSize) + margin
        if from < sent { send(sent - from, from: from, seek: from) }
    }

    /// Silence now: corked and flushed in one go. `onStopped` follows when the server has done it (or is gone); keep the
    /// stream until then, and release it.
    func stop() {
        guard !isStopping else { return }
        isStopping = true
        switch pa_stream_get_state(pointer) {
        case PA_STREAM_READY: break
        // A stream can only be ended once the server has named it: its silence is that nothing was sent.
        case PA_STREAM_CREATING: return
        default:
            confirmLater()
            return
        }
        let me = Unmanaged.passUnretained(self).toOpaque()
        if let cork = pa_stream_cork(pointer, 1, nil, nil) { pa_operation_unref(cork) }
        let flush = pa_stream_flush(pointer, { _, _, me in PulseStream.of(me).tellStopped() }, me)
        if let flush { pa_operation_unref(flush) } else { confirmLater() }
    }

    /// Not from inside the caller.
    private func confirmLater() { context.loop.later { [self] in tellStopped() } }
}
