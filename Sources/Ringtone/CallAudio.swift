package import Base
package import EventLoop

/// The system's hold on the sound server while a call is connected: a stream of the role "phone" that plays silence, so
/// that what PulseAudio pauses or ducks for calls (module-role-cork, module-role-ducking) stays so from the moment of
/// answer to the end, whatever the app's own media does; then music comes back.
///
/// It goes by the player's connection. One connection's requests are carried out in order: a wish that is stated before
/// the ring's is taken back leaves no moment between ring and call in which nothing holds. Idle it is nothing at all.
/// Confined to the player's loop; reports may come from inside a call to it.
package final class CallAudio {
    /// A call is connected. Survives restarts of the sound server.
    package var wish = false {
        didSet { if wish != oldValue { wish ? begin() : end() } }
    }

    private let report: (Event) -> Void
    private weak var player: RingPlayer?
    private var stream: PulseStream?
    /// Told to stop, kept until the server confirms it.
    private var stopping: [PulseStream] = []
    private var reopen: TimerSource!
    /// It was said that music is paused, and not yet that it may go on.
    private var isSaid = false
    /// The user ended the stream in a mixer: not again for this wish.
    private var isOver = false

    /// A second of it, over and over, at the least that every server takes.
    private static let silence = PCM(samples: Array(repeating: 0, count: 8000), channels: 1, rate: 8000)

    package init(_ loop: EventLoop, report: @escaping (Event) -> Void) throws(LoopFailure) {
        self.report = report
        reopen = try TimerSource(loop) { [unowned self] in open() }
    }

    /// Whose connection it is to use from now on; nil: nobody's. The player does not keep it alive.
    package func join(_ new: RingPlayer?) {
        reopen.disarm()
        retire()
        player?.guest = nil
        player = new
        new?.guest = self
        if wish { begin() }
    }

    // MARK: The player's word

    func connectionReady() { open() }

    /// Before it is gone: streams point into it.
    func connectionLost() {
        stream = nil
        stopping = []
        reopen.disarm()
    }

    // MARK: The stream

    private func begin() {
        isOver = false
        player?.connectForGuest()
        open()
    }

    private func open() {
        guard wish, !isOver, stream == nil, let player, let context = player.context, context.state == .ready else {
            return
        }
        var output = SoundOutput(role: .phone)
        output.server = player.output.server
        let feeder = Feeder(pcm: Self.silence, loops: true, gain: Gain(volume: 1))
        player.pulse.attend()
        stream = PulseStream(context, output, feeder, name: "Call", purpose: .hold) { [weak self] in self?.heard($0) }
        if stream == nil { reopen.arm(after: .seconds(1)) }
    }

    private func heard(_ news: PulseStream.News) {
        switch news {
        case .created:
            report(
                Event(
                    .audioHeld, isSaid ? "music is paused for the call again" : "music is paused for the call",
                    [.init("resumed", .flag(isSaid))]))
            isSaid = true
        case .started, .ended: break
        case .killed:
            stream = nil
            guard let context = player?.context, context.state == .ready else { return }
            context.askSink { [weak self] sink in
                guard let self, wish else { return }
                // With a sink there it was the user, who wants music. Without one there is nothing to hold.
                guard sink != nil else { return reopen.arm(after: .seconds(1)) }
                isOver = true
                sayReleased()
            }
        case .failed:
            stream = nil
            reopen.arm(after: .seconds(1))
        }
    }

    private func end() {
        reopen.disarm()
        sayReleased()
        retire()
    }

    /// A stream that the server has not named yet can only be ended later.
    private func retire() {
        guard let stream else { return }
        self.stream = nil
        stream.onStopped = { [weak self, weak stream] in self?.stopping.removeAll { $0 === stream } }
        stopping.append(stream)
        stream.stop()
    }

    private func sayReleased() {
        guard isSaid else { return }
        isSaid = false
        report(Event(.audioReleased, "music may go on"))
    }
}
