package import Base
package import EventLoop

/// Makes a ring heard: give it a wish, it converges to it, whatever the sound server does meanwhile.
///
/// Confined to the loop it was made on. It stays connected while idle, which costs no wakeups, and rings from memory.
/// Everything it has to say goes through `report`, at times from inside a call to it.
package final class RingPlayer {
    let loop: EventLoop
    private let worker: Worker
    let pulse: PulseLoop
    package let output: SoundOutput
    private let tell: (Event) -> Void

    private var cache = SoundCache()
    private var ring: Playback?
    private var plays: [Playback] = []
    /// Streams told to stop, kept until the server confirms it.
    private var stopping: [PulseStream] = []

    var context: PulseContext?
    /// Has a stream of its own on this connection.
    weak var guest: CallAudio?
    private var attempts = 0
    private var wasReady = false
    private var retry: TimerSource!
    private var reopen: TimerSource!
    private var deadline: TimerSource!
    private var statusLimit: TimerSource!
    private var statusWaiters: [(SoundStatus) -> Void] = []
    private let me = WeakOnLoop<RingPlayer>()

    /// The last known state of the sound server; `refreshStatus` asks for it anew.
    package private(set) var status = SoundStatus()

    /// How long a ring may stay unheard before `sound.fallback` is reported.
    package static let patience: Duration = .seconds(2)

    /// Connects at once. `worker` decodes.
    package init(
        _ loop: EventLoop, worker: Worker, output: SoundOutput = SoundOutput(), report: @escaping (Event) -> Void
    ) throws(LoopFailure) {
        self.loop = loop
        self.worker = worker
        self.output = output
        tell = report
        pulse = try PulseLoop(loop)
        me.object = self
        retry = try TimerSource(loop) { [unowned self] in connect() }
        reopen = try TimerSource(loop) { [unowned self] in openAll() }
        deadline = try TimerSource(loop) { [unowned self] in deadlinePassed() }
        statusLimit = try TimerSource(loop) { [unowned self] in answerStatus() }
        connect()
    }

    // MARK: The wish

    /// What shall be heard. Another call or sound starts from its beginning; another loudness applies without a gap.
    package var wish: RingWish? {
        didSet {
            guard wish != oldValue else { return }
            defer { considerNap() }
            if let wish, let oldValue, let ring, wish.isSameSound(as: oldValue) {
                ring.gain = wish.gain
                ring.stream?.change(wish.gain)
                return
            }
            if let ring { end(ring) }
            ring = nil
            deadline.disarm()
            guard let wish else { return }
            let new = Playback(wish.sound, call: wish.id, gain: wish.gain, loops: wish.loops)
            ring = new
            if wish.sound.isSilent {
                new.isOver = true
                say(.soundStarted, new, "silent, as chosen", [.init("step", .text(new.sound.step.rawValue))])
                return
            }
            deadline.arm(after: Self.patience)
            begin(new)
        }
    }

    /// Plays a sound once; `then` is called when it was heard to its end, or why it was not.
    package func play(
        _ sound: ResolvedSound, volume: Double = 1, then: @escaping (Result<Void, SoundFailure>) -> Void
    ) {
        let new = Playback(sound, call: nil, gain: Gain(volume: volume), loops: false, then: then)
        plays.append(new)
        considerNap()
        if sound.isSilent {
            loop.later { [self] in finish(new, .success(())) }
            return
        }
        begin(new)
    }

    /// Ends every `play`.
    package func stopPlaying() {
        for play in plays {
            end(play)
            finish(play, .success(()))
        }
    }

    /// Decodes a sound ahead of time, so that a ring with it starts at once.
    package func preload(_ sound: ResolvedSound) {
        guard let path = sound.path, let key = SoundCache.Key(path), cache.find(key) == nil else { return }
        decode(path) { player, result in
            switch result {
            case .success(let pcm): player.cache.keep(pcm, key)
            case .failure(let failure): player.sayFault(nil, "\(failure)", path: path)
            }
        }
    }

    // MARK: Samples

    private func begin(_ playback: Playback) {
        fetch(playback)
        if context == nil {
            attempts = 0
            connect()
        }
    }

    private func fetch(_ playback: Playback) {
        let path = playback.current?.path
        let key = path.flatMap(SoundCache.Key.init)
        if playback.loops, let key, let pcm = cache.find(key) {
            playback.pcm = pcm
            open(playback)
            return
        }
        decode(path, looped: playback.loops) { [weak playback] player, result in
            guard let playback, player.isCurrent(playback) else { return }
            switch result {
            case .success(let pcm):
                if playback.loops, let key { player.cache.keep(pcm, key) }
                if pcm.wasCut {
                    player.sayFault(playback, "\(playback.name) is cut to \(PCM.maxSeconds) s", path: path)
                }
                playback.pcm = pcm
                player.open(playback)
            case .failure(let failure):
                player.sayFault(playback, "\(failure)", path: path)
                if playback.then != nil {
                    player.finish(playback, .failure(failure))
                } else {
                    playback.candidate += 1
                    player.fetch(playback)
                }
            }
        }
    }

    /// On the worker; nil is the generated chime.
    private func decode(
        _ path: String?, looped: Bool = true, then: @escaping (RingPlayer, Result<PCM, SoundFailure>) -> Void
    ) {
        let ticket = nextTicket
        nextTicket += 1
        waiting[ticket] = then
        worker.post { [loop, me] in
            let result: Result<PCM, SoundFailure>
            if let path {
                do throws(SoundFailure) {
                    let pcm = try SoundFile.decode(path: path)
                    result = .success(looped ? pcm.looped : pcm)
                } catch {
                    result = .failure(error)
                }
            } else {
                result = .success(.generated)
            }
            loop.post {
                guard let player = me.object, let then = player.waiting.removeValue(forKey: ticket) else { return }
                then(player, result)
            }
        }
    }

    private var waiting: [UInt64: (RingPlayer, Result<PCM, SoundFailure>) -> Void] = [:]
    private var nextTicket: UInt64 = 0

    // MARK: Streams

    private func isCurrent(_ playback: Playback) -> Bool { playback === ring || plays.contains { $0 === playback } }

    private func openAll() {
        for playback in (ring.map { [$0] } ?? []) + plays { open(playback) }
    }

    /// Makes the stream, if everything it needs is there and it is not made.
    private func open(_ playback: Playback) {
        guard let context, context.state == .ready, playback.stream == nil, playback.pcm != nil, !playback.isOver else {
            return
        }
        guard let feeder = playback.feeder(at: .now) else {
            over(playback, "played to its end while the sound server was away")
            return
        }
        var output = output
        if playback.avoidsDevice { output.device = nil }
        let name = playback.then == nil ? "Incoming call" : "Ringtone"
        var made: PulseStream?
        made = PulseStream(context, output, feeder, name: name) { [weak self, weak playback] news in
            guard let self, let playback else { return }
            heard(news, of: playback)
        }
        playback.stream = made
        if made == nil { failed(playback, context.whyNot) }
    }

    private func heard(_ news: PulseStream.News, of playback: Playback) {
        guard isCurrent(playback) else { return }
        switch news {
        case .created:
            let isFirst = playback.createdAt == nil
            if isFirst { playback.createdAt = .now }
            sayStarted(playback, isFirst: isFirst)
        case .started:
            playback.heardAt = playback.heardAt ?? .now
            if playback === ring { deadline.disarm() }
            defer { considerNap() }
            let latency = Instant.now - playback.since
            say(
                .soundHeard, playback, "\(playback.name), after \(latency.shortText)",
                [.init("sound", .text(playback.name)), .init("latency_ms", .real(latency.milliseconds))])
            checkMute(playback)
        case .ended: over(playback, "played to its end")
        case .killed: killed(playback)
        case .failed(let why): failed(playback, why)
        }
    }

    /// Nothing more is to be heard of it, though the wish may stand.
    private func over(_ playback: Playback, _ why: String) {
        playback.isOver = true
        playback.stream = nil
        if playback === ring { deadline.disarm() }
        sayStopped(playback, why, acknowledged: nil)
        finish(playback, .success(()))
    }

    private func finish(_ playback: Playback, _ result: Result<Void, SoundFailure>) {
        plays.removeAll { $0 === playback }
        considerNap()
        let then = playback.then
        playback.then = nil
        then?(result)
    }

    private func end(_ playback: Playback) {
        playback.isOver = true
        guard let stream = playback.stream else {
            if playback.createdAt != nil { sayStopped(playback, "stopped", acknowledged: nil) }
            return
        }
        playback.stream = nil
        let asked = Instant.now
        stream.onStopped = { [weak self, weak stream] in
            guard let self else { return }
            stopping.removeAll { $0 === stream }
            sayStopped(playback, "stopped", acknowledged: .now - asked)
        }
        stopping.append(stream)
        stream.stop()
    }

    /// A ring that plays steadily needs no attention; anything that was just asked for does.
    private func considerNap() {
        let isSteady = ring?.stream != nil && ring?.heardAt != nil && ring?.loops == true
        pulse.mayNap = isSteady && plays.isEmpty
        pulse.attend()
    }

    /// For whoever is awake anyway: does now what the end of a nap would wake us for.
    package func attendWhileAwake() { pulse.attendWhileAwake() }

    /// The stream was ended from outside. With a sink there it was the user, in a mixer, who wants silence.
    private func killed(_ playback: Playback) {
        playback.stream = nil
        guard let context, context.state == .ready else { return }
        context.askSink { [weak self, weak playback] sink in
            guard let self, let playback, isCurrent(playback), !playback.isOver else { return }
            if sink != nil {
                over(playback, "ended in a mixer")
            } else {
                failed(playback, "no sound device is left")
            }
        }
    }

    private func failed(_ playback: Playback, _ why: String) {
        playback.stream = nil
        guard let context, context.state == .ready else { return }
        if output.device != nil, !playback.avoidsDevice {
            playback.avoidsDevice = true
            sayFault(playback, "device \(output.device ?? "") does not play (\(why)): the default one instead")
            loop.later { [weak self] in self?.openAll() }
            return
        }
        if playback.then != nil {
            finish(
                playback, .failure(SoundFailure(playback.name, "is not played (\(why))", cure: "see ringctl doctor")))
            return
        }
        sayFault(playback, "the sound server does not play it (\(why)): trying again")
        reopen.arm(after: .seconds(1))
    }

    private func deadlinePassed() {
        guard let ring, ring.heardAt == nil else { return }
        let why =
            ring.pcm == nil
            ? "it is still being decoded"
            : context?.state == .ready ? "the sound server took it and does not play it" : "there is no sound server"
        say(
            .soundFallback, ring, "unheard after \(Self.patience.shortText): \(why)", level: .warning,
            [.init("why", .text(why))])
    }

    // MARK: The connection

    private var isWanted: Bool {
        !plays.isEmpty || (ring.map { !$0.isOver } ?? false) || !statusWaiters.isEmpty || guest?.wish == true
    }

    /// At once, if there is no connection.
    func connectForGuest() {
        guard context == nil else { return }
        attempts = 0
        connect()
    }

    private func connect() {
        guard context == nil else { return }
        retry.disarm()
        let made = PulseContext(pulse, server: output.server) { [weak self] _ in
            // Not from inside libpulse: it is in the middle of its own change.
            self?.loop.later { self?.contextChanged() }
        }
        context = made
        if made.state != .connecting { loop.later { [weak self] in self?.contextChanged() } }
    }

    private func contextChanged() {
        guard let context else { return }
        switch context.state {
        case .connecting: break
        case .ready:
            guard !wasReady else { return }
            wasReady = true
            attempts = 0
            openAll()
            guest?.connectionReady()
            askStatus()
        case .failed(let why): lost(why)
        }
    }

    private func lost(_ why: String) {
        // Streams first: they point into the context.
        for playback in (ring.map { [$0] } ?? []) + plays { playback.stream = nil }
        stopping = []
        guest?.connectionLost()
        context = nil
        if wasReady || attempts == 0 {
            say(
                .soundServer, nil, "sound server \(wasReady ? "lost" : "not reached"): \(why)", level: .warning,
                [.init("connected", .flag(false)), .init("why", .text(why))])
        }
        wasReady = false
        considerNap()
        status = SoundStatus()
        status.failure = why
        // A wish is pressed every second. Without one a few tries will do: to connect when a call comes takes 2 ms.
        let idle: [Double] = [0.2, 0.5, 1, 2, 5, 10, 30]
        let delay = isWanted ? [0.2, 0.5][attempts: attempts] ?? 1 : idle[attempts: attempts]
        attempts += 1
        answerStatus()
        if let delay { retry.arm(after: .microseconds(Int64(delay * 1e6))) }
    }

    // MARK: Status

    /// Asks the sound server anew, connecting if need be; `then` gets what is known a second later at the latest.
    package func refreshStatus(then: @escaping (SoundStatus) -> Void) {
        statusWaiters.append(then)
        statusLimit.arm(after: .seconds(1))
        pulse.attend()
        if context == nil { connect() } else if context?.state == .ready { askStatus() }
    }

    private func askStatus() {
        context?.ask { [weak self] status in
            guard let self else { return }
            if self.status.server != status.server {
                say(
                    .soundServer, nil, "connected to \(status.server ?? "a sound server")",
                    [
                        .init("connected", .flag(true)), .init("server", .text(status.server ?? "")),
                        .init("sink", .text(status.sinkName ?? "")),
                    ])
            }
            self.status = status
            answerStatus()
        }
    }

    private func answerStatus() {
        statusLimit.disarm()
        let waiters = statusWaiters
        statusWaiters = []
        for waiter in waiters { waiter(status) }
    }

    /// Somebody who wonders about a silent ring shall find the reason in the log.
    private func checkMute(_ playback: Playback) {
        guard let context, let stream = playback.stream else { return }
        context.askSink { [weak self, weak playback] sink in
            guard let self, let playback, let sink, sink.isMuted else { return }
            sayFault(playback, "it plays, but \"\(sink.description)\" is muted", muted: true)
        }
        context.askMuted(stream: stream.index) { [weak self, weak playback] muted in
            guard let self, let playback, muted else { return }
            sayFault(playback, "it plays, but the mixer remembers ringd's sounds as muted", muted: true)
        }
    }

    // MARK: Events

    private func say(
        _ kind: Event.Kind, _ playback: Playback?, _ message: String, level: Event.Level = .info,
        _ fields: [Event.Field]
    ) {
        tell(Event(kind, call: playback?.call, level: level, message, fields))
    }

    private func sayStarted(_ playback: Playback, isFirst: Bool) {
        let latency = Instant.now - playback.since
        let missing = playback.sound.missing.joined(separator: "; ")
        var words = isFirst ? playback.name : "\(playback.name) goes on"
        if !missing.isEmpty && isFirst { words += " (\(missing))" }
        var fields: [Event.Field] = [
            .init("sound", .text(playback.name)), .init("path", .text(playback.current?.path ?? "")),
            .init("step", .text(playback.step.rawValue)), .init("latency_ms", .real(latency.milliseconds)),
            .init("missing", .text(missing)), .init("resumed", .flag(!isFirst)),
        ]
        // How one turn of the loop looks, for a report's picture; ten seconds say enough.
        if isFirst, let pcm = playback.pcm {
            fields.append(.init("step_ms", .number(50)))
            fields.append(.init("envelope", .reals(Array(pcm.envelope(step: .milliseconds(50)).prefix(200)))))
        }
        say(.soundStarted, playback, words, fields)
    }

    private func sayStopped(_ playback: Playback, _ why: String, acknowledged: Duration?) {
        var fields: [Event.Field] = [.init("sound", .text(playback.name)), .init("why", .text(why))]
        if let heardAt = playback.heardAt {
            fields.append(.init("played_ms", .real((Instant.now - heardAt).milliseconds)))
        }
        if let acknowledged { fields.append(.init("ack_ms", .real(acknowledged.milliseconds))) }
        say(.soundStopped, playback, "\(playback.name): \(why)", fields)
    }

    private func sayFault(_ playback: Playback?, _ message: String, path: String? = nil, muted: Bool = false) {
        var fields: [Event.Field] = []
        if let path { fields.append(.init("path", .text(path))) }
        if muted { fields.append(.init("muted", .flag(true))) }
        say(.soundFault, playback, message, level: .warning, fields)
    }
}

/// A reference that may travel to a worker and back; it is followed on the loop's thread only.
private final class WeakOnLoop<Object: AnyObject>: @unchecked Sendable {
    // Set once before it is shared, read on the loop; letting go of a weak reference is safe on any thread.
    weak var object: Object?
}

extension Duration {
    fileprivate var milliseconds: Double { Double(nanoseconds) / 1e6 }
}

extension [Double] {
    /// The element, or nil past the end.
    fileprivate subscript(attempts index: Int) -> Double? { indices.contains(index) ? self[index] : nil }
}
