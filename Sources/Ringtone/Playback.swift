internal import Base

/// One sound on its way to being heard: which of its files, its samples, its stream, and when what happened.
final class Playback {
    /// What was decoded last, or is being decoded: an index into the sound's candidates; past them the generated chime.
    var candidate = 0
    let sound: ResolvedSound
    let call: CallUUID?
    let loops: Bool
    var gain: Gain
    /// Called once, for a sound that is played, not rung.
    var then: ((Result<Void, SoundFailure>) -> Void)?

    /// When it was wished for.
    let since: Instant
    /// When the server first played it; the ring's own time counts from here.
    var heardAt: Instant?
    /// When the stream was first made.
    var createdAt: Instant?
    var pcm: PCM?
    var stream: PulseStream?
    /// The configured device is not there: the default one instead.
    var avoidsDevice = false
    /// It was played to its end, or somebody ended it in a mixer: no new stream for it.
    var isOver = false

    init(
        _ sound: ResolvedSound, call: CallUUID?, gain: Gain, loops: Bool, since: Instant = .now,
        then: ((Result<Void, SoundFailure>) -> Void)? = nil
    ) {
        self.sound = sound
        self.call = call
        self.gain = gain
        self.loops = loops
        self.since = since
        self.then = then
    }

    /// The file in hand; nil for the generated chime.
    var current: ResolvedSound.Candidate? {
        sound.candidates.indices.contains(candidate) ? sound.candidates[candidate] : nil
    }

    var name: String { current?.name ?? "generated chime" }
    var step: ResolvedSound.Step { current?.step ?? .generated }

    /// What a stream made at `now` has to play: after a restart of the server, what would be heard by now had it stayed.
    /// Nil if that is over.
    func feeder(at now: Instant) -> Feeder? {
        guard let pcm else { return nil }
        var feeder = Feeder(pcm: pcm, loops: loops, gain: gain)
        feeder.elapsed = (now - since).seconds
        if let heardAt {
            let frames = Int((now - heardAt).seconds * Double(pcm.rate))
            guard loops || frames < pcm.frames else { return nil }
            feeder.first = frames % pcm.frames
        }
        return feeder
    }
}
