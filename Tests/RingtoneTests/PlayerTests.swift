import Base
import EventLoop
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Ringtone

/// Against a real PulseAudio with a null sink, whose monitor tells what would be heard, sample for sample.
///
/// One after the other: each has a server of its own, but the machine may have two cores.
@Suite(.serialized) struct PlayerTests {
    private let desk: Desk
    private let scratch = Scratch()

    init() throws { desk = try Desk() }

    private func file(_ pcm: PCM, _ name: String = "test.wav") throws -> String {
        try scratch.make(name, pcm.wave)
        return scratch.at(name)
    }

    /// How often this thread went to sleep so far.
    private func sleeps() -> Int {
        let status = (try? String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary") }
        return line.flatMap { Int($0.split(separator: "\t").last ?? "") } ?? 0
    }

    private func meet(_ heard: [Int16], _ pcm: PCM) throws -> (heard: Int, pcm: Int) {
        let met = TestSupport.meet(heard, pcm.samples)
        let (start, place) = try #require(met)
        #expect(place < 2 * 48000 / 40, "the first \(place / 2) frames are missing")
        return (start, place)
    }

    @Test func aRingLoopsSampleForSample() throws {
        let pcm = PCM.noise(seconds: 0.5, silence: 1)
        let stage = try Stage(desk.server)
        let recording = try desk.record()
        stage.player.wish = .files(try file(pcm))
        #expect(try stage.turn { stage.first(.soundHeard) != nil })
        try stage.turn(seconds: 4.8)
        let heard = try recording.finish()
        let (start, place) = try meet(heard, pcm)
        // Three turns and the beginning of the fourth, seams and pauses and all.
        let expected = (pcm.samples + pcm.samples + pcm.samples + pcm.samples.prefix(9600)).dropFirst(place)
        #expect(heard.count - start >= expected.count)
        #expect(heard.dropFirst(start).prefix(expected.count).elementsEqual(expected))
        let started = try #require(stage.first(.soundStarted))
        #expect(started.text("step") == "user" && started.text("sound") == "test")
        #expect(started.call == stage.player.wish?.id)
    }

    @Test func stoppingSilencesAtOnceAndIsConfirmed() throws {
        let stage = try Stage(desk.server)
        let recording = try desk.record()
        stage.player.wish = .files(try file(.noise(seconds: 12)))
        #expect(try stage.turn { stage.first(.soundHeard) != nil })
        try stage.turn(seconds: 0.5)
        stage.player.wish = nil
        #expect(try stage.turn { stage.first(.soundStopped) != nil })
        let atStop = Int(recording.seconds * 48000)
        try stage.turn(seconds: 0.6)
        let heard = try recording.finish()
        let last = try #require(heard.lastIndex { $0 != 0 }) / 2
        // There were seconds of sound in the buffer; what is heard after the stop is the sink's own latency.
        #expect(last < atStop + 48000 / 4, "\(last - atStop) frames after the stop")
        #expect(try desk.pactl("list", "short", "sink-inputs").isEmpty)
    }

    /// It crashes, or it exits in order, which ends each stream before the connection.
    @Test(arguments: [false, true]) func aServerThatReturnsFindsTheRingInTime(inOrder: Bool) throws {
        let pcm = PCM.noise(seconds: 10)
        let stage = try Stage(desk.server)
        stage.player.wish = .files(try file(pcm))
        #expect(try stage.turn { stage.first(.soundHeard) != nil })
        let began = try #require(stage.first(.soundHeard)).at
        try stage.turn(seconds: 0.4)
        if inOrder { try desk.exit() } else { try desk.kill() }
        #expect(try stage.turn { stage.events.contains { $0.kind == .soundServer && $0["connected"] == .flag(false) } })
        try desk.up()
        let recording = try desk.record()
        #expect(try stage.turn { stage.count(.soundHeard) == 2 })
        try stage.turn(seconds: 0.5)
        let resumed = try #require(stage.events.last { $0.kind == .soundHeard }).at
        #expect(stage.events.last { $0.kind == .soundStarted }?["resumed"] == .flag(true))
        let heard = try recording.finish()
        let start = try #require(onset(heard)) * 2
        let place = try #require(find(heard[start..<start + 64], in: pcm.samples[...]))
        let expected = (resumed - began).seconds
        // Where the tune is against where it would be by now; generous, for a busy machine.
        #expect(abs(Double(place / 2) / 48000 - expected) < 0.4, "at \(Double(place / 2) / 48000), not \(expected)")
        #expect(stage.player.status.isConnected)
    }

    @Test func aServerThatComesLateIsUsedForTheRestOfTheRing() throws {
        try desk.kill()
        let stage = try Stage(desk.server)
        stage.player.wish = .files(try file(.noise(seconds: 1)))
        #expect(try stage.turn { stage.first(.soundFallback) != nil })
        #expect(stage.first(.soundHeard) == nil)
        #expect(!stage.player.status.isConnected && stage.player.status.failure != nil)
        try desk.up()
        #expect(try stage.turn { stage.first(.soundHeard) != nil })
        #expect(stage.count(.soundFallback) == 1)
    }

    @Test func aServerThatHangsIsReportedAndNeverPlaysAnEndedRing() throws {
        let stage = try Stage(desk.server)
        #expect(try stage.turn { stage.player.status.isConnected })
        Glibc.kill(desk.pid(), SIGSTOP)
        stage.player.wish = .files(try file(.noise(seconds: 1)))
        #expect(try stage.turn { stage.first(.soundFallback) != nil })
        stage.player.wish = nil
        try stage.turn(seconds: 0.2)
        Glibc.kill(desk.pid(), SIGCONT)
        try stage.turn(seconds: 0.5)
        #expect(stage.first(.soundHeard) == nil)
        #expect(try desk.pactl("list", "short", "sink-inputs").isEmpty)
        stage.player.wish = .files(try file(.noise(seconds: 1)))
        #expect(try stage.turn { stage.first(.soundHeard) != nil })
    }

    @Test func anotherVolumeAppliesWithoutAGapAndSoon() throws {
        let pcm = PCM.noise(seconds: 12)
        let stage = try Stage(desk.server)
        let recording = try desk.record()
        let wish = RingWish.files(try file(pcm))
        stage.player.wish = wish
        #expect(try stage.turn { stage.first(.soundHeard) != nil })
        try stage.turn(seconds: 0.5)
        var quieter = wish
        quieter.volume = 0.5
        stage.player.wish = quieter
        // Far less than is buffered: the change cannot have waited for the buffer to run out.
        try stage.turn(seconds: 1.5)
        let heard = try recording.finish()
        let (start, place) = try meet(heard, pcm)
        let sent = pcm.samples.dropFirst(place)
        // A half on the slider is an eighth of the amplitude.
        let full = zip(heard[start...], sent).prefix { $0 == $1 }.count
        #expect(full > 9600 && full < heard.count - start - 9600)
        let rest = zip(heard[(start + full)...], sent.dropFirst(full))
        #expect(rest.allSatisfy { $0 == Int16((Int32($1) * 8192) >> 16) })
        #expect(stage.count(.soundStarted) == 1)
    }

    @Test func aRampBeginsQuietly() throws {
        let pcm = PCM.noise(seconds: 12)
        let stage = try Stage(desk.server)
        let recording = try desk.record()
        var wish = RingWish.files(try file(pcm))
        wish.ramp = 1
        stage.player.wish = wish
        #expect(try stage.turn { stage.first(.soundHeard) != nil })
        try stage.turn(seconds: 1.6)
        let heard = try recording.finish()
        let start = try #require(onset(heard)) * 2
        #expect(heard[start..<start + 9600].allSatisfy { $0.magnitude < 1200 })
        // By now it is at full volume, and where it belongs.
        let late = start + 96000 * 5 / 4
        let place = try #require(find(heard[late..<late + 64], in: pcm.samples[...]))
        #expect(abs(place - (late - start)) < 2 * 48000 / 40)
        #expect(heard[late..<late + 9600].elementsEqual(pcm.samples[place..<place + 9600]))
    }

    @Test func anotherSoundStartsFromItsBeginning() throws {
        let first = PCM.noise(seconds: 12)
        let second = PCM(samples: first.samples.map { -$0 / 2 }, channels: 2, rate: 48000)
        let stage = try Stage(desk.server)
        stage.player.wish = .files(try file(first))
        #expect(try stage.turn { stage.first(.soundHeard) != nil })
        let recording = try desk.record()
        stage.player.wish = .files(try file(second, "second.wav"))
        #expect(try stage.turn { stage.count(.soundHeard) == 2 && stage.count(.soundStopped) == 1 })
        try stage.turn(seconds: 0.5)
        let heard = try recording.finish()
        // A moment after its first frame: see `meet`.
        let start = try #require(find(second.samples[4800..<4864], in: heard[...]))
        #expect(heard[start..<start + 9600].elementsEqual(second.samples[4800..<14400]))
    }

    @Test func aBrokenFileGivesWayToTheNextAndAtLastToTheChime() throws {
        let stage = try Stage(desk.server)
        try scratch.make("broken.oga")
        stage.player.wish = .files(scratch.at("broken.oga"), scratch.at("absent.wav"), try file(.noise(seconds: 1)))
        #expect(try stage.turn { stage.first(.soundHeard) != nil })
        #expect(stage.count(.soundFault) == 2)
        #expect(stage.first(.soundStarted)?.text("path") == scratch.at("test.wav"))
        stage.player.wish = .files(scratch.at("broken.oga"))
        #expect(try stage.turn { stage.count(.soundHeard) == 2 })
        #expect(stage.events.last { $0.kind == .soundStarted }?.text("step") == "generated")
    }

    @Test func silenceIsAChoice() throws {
        let stage = try Stage(desk.server)
        var wish = RingWish.files()
        wish.sound = ResolvedSound(candidates: [], isSilent: true)
        stage.player.wish = wish
        try stage.turn(seconds: 2.4)
        #expect(stage.first(.soundStarted)?.text("step") == "silence")
        #expect(stage.first(.soundHeard) == nil && stage.first(.soundFallback) == nil)
    }

    @Test func aPreloadedSoundNeedsNoWorker() throws {
        let stage = try Stage(desk.server)
        let wish = RingWish.files(try file(.noise(seconds: 1)))
        stage.player.preload(wish.sound)
        #expect(try stage.turn { stage.player.status.isConnected })
        try stage.turn(seconds: 0.3)
        // The worker is kept busy: a ring that needed it would wait.
        stage.worker.post { sleep(3) }
        stage.player.wish = wish
        #expect(try stage.turn(2) { stage.first(.soundHeard) != nil })
    }

    @Test func playingOnceEndsByItself() throws {
        let pcm = PCM.noise(seconds: 0.7)
        let stage = try Stage(desk.server)
        let recording = try desk.record()
        var result: Result<Void, SoundFailure>?
        stage.player.play(RingWish.files(try file(pcm)).sound) { result = $0 }
        #expect(try stage.turn { result != nil })
        #expect(throws: Never.self) { try result?.get() }
        try stage.turn(seconds: 0.2)
        let heard = try recording.finish()
        let (start, place) = try meet(heard, pcm)
        let sent = pcm.samples.dropFirst(place)
        #expect(heard[start..<start + sent.count].elementsEqual(sent))
        #expect(heard[(start + sent.count)...].allSatisfy { $0 == 0 })
        try scratch.make("broken.oga")
        result = nil
        stage.player.play(RingWish.files(scratch.at("broken.oga")).sound) { result = $0 }
        #expect(try stage.turn { result != nil })
        #expect(throws: SoundFailure.self) { try result?.get() }
    }

    @Test func aMissingDeviceIsReplacedByTheDefault() throws {
        let stage = try Stage(desk.server, device: "no.such.sink")
        stage.player.wish = .files(try file(.noise(seconds: 1)))
        #expect(try stage.turn { stage.first(.soundHeard) != nil })
        #expect(stage.first(.soundFault)?.message.contains("no.such.sink") == true)
    }

    @Test func endedInAMixerItStaysSilent() throws {
        let stage = try Stage(desk.server)
        stage.player.wish = .files(try file(.noise(seconds: 1)))
        #expect(try stage.turn { stage.first(.soundHeard) != nil })
        let index = try desk.pactl("list", "short", "sink-inputs").split(separator: "\t").first.map(String.init)
        #expect(try desk.pactl("list", "sink-inputs").contains("media.role = \"phone\""))
        try desk.killStream(try #require(index))
        #expect(try stage.turn { stage.first(.soundStopped) != nil })
        try stage.turn(seconds: 1.5)
        #expect(stage.count(.soundHeard) == 1)
    }

    @Test func statusAndAMutedSinkAreTold() throws {
        _ = try desk.pactl("set-sink-mute", "ring", "1")
        let stage = try Stage(desk.server)
        var status: SoundStatus?
        stage.player.refreshStatus { status = $0 }
        #expect(try stage.turn { status != nil })
        #expect(status?.isConnected == true && status?.isMuted == true && status?.volume == 1)
        #expect(status?.sinkName == "ring" && status?.sinkDescription == "Ring")
        #expect(status?.server?.hasPrefix("pulseaudio ") == true)
        stage.player.wish = .files(try file(.noise(seconds: 1)))
        #expect(try stage.turn { stage.first(.soundFault)?["muted"] == .flag(true) })
        // Without a server it answers as well.
        stage.player.wish = nil
        try desk.kill()
        #expect(try stage.turn { !stage.player.status.isConnected })
        status = nil
        stage.player.refreshStatus { status = $0 }
        #expect(try stage.turn { status != nil })
        #expect(status?.isConnected == false && status?.failure != nil)
    }

    @Test func idleAndConnectedNothingWakesTheLoop() throws {
        let stage = try Stage(desk.server)
        stage.player.wish = .files(try file(.noise(seconds: 1)))
        #expect(try stage.turn { stage.first(.soundHeard) != nil })
        stage.player.wish = nil
        #expect(try stage.turn { stage.first(.soundStopped) != nil })
        try stage.turn(seconds: 0.5)
        // A turn that times out is one in which nothing happened.
        #expect(try !stage.loop.turn(timeout: .milliseconds(2500)))
    }

    @Test func ringingWakesTheLoopSeldom() throws {
        let stage = try Stage(desk.server)
        stage.player.wish = .files(try file(.noise(seconds: 1)))
        #expect(try stage.turn { stage.first(.soundHeard) != nil })
        try stage.turn(seconds: 2)
        var turns = 0
        let before = sleeps()
        let end = Instant.now + .seconds(8)
        while .now < end {
            if try stage.loop.turn(timeout: end - .now) { turns += 1 }
        }
        // At most one a second; a busy machine's late timers only make them fewer.
        let woken = sleeps() - before
        #expect(woken <= 8, "slept \(woken) times in 8 s")
        #expect(turns >= 2)
    }
}
