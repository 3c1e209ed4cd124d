import Base
import EventLoop
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Ringtone

/// Against a real PulseAudio with module-role-cork, as desktops have it.
@Suite(.serialized) struct CallAudioTests {
    private let desk: Desk
    private let scratch = Scratch()

    init() throws {
        desk = try Desk()
        try desk.pactl("load-module", "module-role-cork")
    }

    /// A player of music, pacat: it obeys, and says what it was asked.
    private final class Music {
        private let process: ChildProcess
        private let desk: Desk
        private let log: String

        init(_ desk: Desk, _ log: String) throws {
            self.desk = desk
            self.log = log
            let complaints = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            defer { close(complaints) }
            process = try ChildProcess(
                ["pacat", "--playback", "--property=media.role=music", "--latency-msec=50", "/dev/zero"],
                environment: ProcessInfo.processInfo.environment.merging(["PULSE_SERVER": desk.server]) { $1 },
                errorsTo: complaints)
            for _ in 0..<500 where try !isThere { usleep(10_000) }
        }

        deinit {
            kill(process.pid, SIGKILL)
            waitpid(process.pid, nil, 0)
        }

        private var entry: String? {
            get throws {
                try desk.pactl("list", "sink-inputs").components(separatedBy: "Sink Input #")
                    .first { $0.contains("media.role = \"music\"") }
            }
        }

        var isThere: Bool { get throws { try entry != nil } }
        var isPaused: Bool { get throws { try entry?.contains("Corked: yes") == true } }

        /// Every request that the server made, in order; none is missed between two looks.
        var requests: [String] {
            ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n").compactMap { line in
                line.contains("request-uncork") ? "uncork" : line.contains("request-cork") ? "cork" : nil
            }
        }
    }

    private final class Scene {
        let stage: Stage
        var audio: CallAudio!
        var said: [Event] = []

        init(_ server: String) throws {
            stage = try Stage(server)
            audio = try CallAudio(stage.loop) { [unowned self] in said.append($0) }
            audio.join(stage.player)
        }

        func kinds(_ kind: Event.Kind) -> Int { said.count { $0.kind == kind } }
    }

    private func ringtone() throws -> RingWish {
        try scratch.make("test.wav", PCM.noise(seconds: 1).wave)
        return .files(scratch.at("test.wav"))
    }

    @Test func musicIsPausedForTheCallAndComesBack() throws {
        let scene = try Scene(desk.server)
        let music = try Music(desk, scratch.at("music.log"))
        #expect(try music.isThere && !music.isPaused)
        scene.audio.wish = true
        #expect(try scene.stage.turn { scene.kinds(.audioHeld) == 1 })
        #expect(try scene.stage.turn { try music.isPaused })
        let list = try desk.pactl("list", "sink-inputs")
        #expect(list.contains("media.role = \"phone\"") && list.contains("media.name = \"Call\""))
        #expect(!list.contains("event.id"))
        scene.audio.wish = false
        #expect(try scene.stage.turn { try !music.isPaused })
        #expect(music.requests == ["cork", "uncork"] && scene.kinds(.audioReleased) == 1)
        #expect(
            try scene.stage.turn { try desk.pactl("list", "short", "sink-inputs").split(separator: "\n").count == 1 })
    }

    @Test func fromRingToCallThereIsNoGap() throws {
        let scene = try Scene(desk.server)
        let music = try Music(desk, scratch.at("music.log"))
        let wish = try ringtone()
        for turn in 1...5 {
            scene.stage.player.wish = wish
            #expect(try scene.stage.turn { scene.stage.count(.soundHeard) == turn })
            #expect(try scene.stage.turn { try music.isPaused })
            // The order that the daemon keeps.
            scene.audio.wish = true
            scene.stage.player.wish = nil
            #expect(
                try scene.stage.turn { scene.stage.count(.soundStopped) == turn && scene.kinds(.audioHeld) == turn })
            for _ in 0..<10 {
                #expect(try music.isPaused)
                try scene.stage.turn(seconds: 0.01)
            }
            #expect(music.requests.count == 2 * turn - 1)
            scene.audio.wish = false
            #expect(try scene.stage.turn { try !music.isPaused })
            #expect(music.requests.count == 2 * turn)
        }
    }

    @Test(arguments: [false, true]) func aServerThatReturnsIsHeldAgain(inOrder: Bool) throws {
        let scene = try Scene(desk.server)
        scene.audio.wish = true
        #expect(try scene.stage.turn { scene.kinds(.audioHeld) == 1 })
        if inOrder { try desk.exit() } else { try desk.kill() }
        #expect(try scene.stage.turn { !scene.stage.player.status.isConnected })
        try desk.up()
        try desk.pactl("load-module", "module-role-cork")
        let music = try Music(desk, scratch.at("music.log"))
        #expect(try scene.stage.turn { scene.kinds(.audioHeld) == 2 })
        #expect(scene.said.last?["resumed"] == .flag(true))
        #expect(try scene.stage.turn { try music.isPaused })
        scene.audio.wish = false
        #expect(try scene.stage.turn { try !music.isPaused })
    }

    @Test func aCallThatEndsWhileTheServerIsAwayHoldsNothing() throws {
        let scene = try Scene(desk.server)
        scene.audio.wish = true
        #expect(try scene.stage.turn { scene.kinds(.audioHeld) == 1 })
        try desk.kill()
        #expect(try scene.stage.turn { !scene.stage.player.status.isConnected })
        scene.audio.wish = false
        #expect(scene.kinds(.audioReleased) == 1)
        try desk.up()
        #expect(try scene.stage.turn { scene.stage.player.status.isConnected })
        try scene.stage.turn(seconds: 0.3)
        #expect(try desk.pactl("list", "short", "sink-inputs").isEmpty && scene.kinds(.audioHeld) == 1)
    }

    @Test func anotherPlayerTakesItOver() throws {
        let scene = try Scene(desk.server)
        let music = try Music(desk, scratch.at("music.log"))
        scene.audio.wish = true
        #expect(try scene.stage.turn { scene.kinds(.audioHeld) == 1 })
        // PulseAudio asks a player again that has not obeyed yet, and takes it back once: pacat counts.
        #expect(try scene.stage.turn { try music.isPaused })
        let second = try RingPlayer(scene.stage.loop, worker: scene.stage.worker, output: scene.stage.player.output) {
            _ in
        }
        scene.audio.join(second)
        #expect(try scene.stage.turn { scene.kinds(.audioHeld) == 2 })
        #expect(try scene.stage.turn { try music.isPaused })
        scene.audio.wish = false
        #expect(try scene.stage.turn { try !music.isPaused })
        withExtendedLifetime(second) {}
    }

    @Test func endedInAMixerMusicComesBack() throws {
        let scene = try Scene(desk.server)
        scene.audio.wish = true
        #expect(try scene.stage.turn { scene.kinds(.audioHeld) == 1 })
        let index = try desk.pactl("list", "short", "sink-inputs").split(separator: "\t").first.map(String.init)
        try desk.killStream(try #require(index))
        #expect(try scene.stage.turn { scene.kinds(.audioReleased) == 1 })
        try scene.stage.turn(seconds: 1.5)
        #expect(try desk.pactl("list", "short", "sink-inputs").isEmpty)
        // The next call is another matter.
        scene.audio.wish = false
        scene.audio.wish = true
        #expect(try scene.stage.turn { scene.kinds(.audioHeld) == 2 })
    }

    @Test func aWishThatGoesAtOnceLeavesNothing() throws {
        let scene = try Scene(desk.server)
        #expect(try scene.stage.turn { scene.stage.player.status.isConnected })
        for _ in 0..<20 {
            scene.audio.wish = true
            scene.audio.wish = false
        }
        try scene.stage.turn(seconds: 0.3)
        #expect(try desk.pactl("list", "short", "sink-inputs").isEmpty)
    }

    @Test func holdingWakesTheLoopSeldomAndRestNever() throws {
        let scene = try Scene(desk.server)
        scene.audio.wish = true
        #expect(try scene.stage.turn { scene.kinds(.audioHeld) == 1 })
        try scene.stage.turn(seconds: 1)
        var turns = 0
        let end = Instant.now + .seconds(4)
        while .now < end {
            if try scene.stage.loop.turn(timeout: end - .now) { turns += 1 }
        }
        #expect(turns <= 4, "\(turns) turns in 4 s")
        scene.audio.wish = false
        #expect(try scene.stage.turn { try desk.pactl("list", "short", "sink-inputs").isEmpty })
        try scene.stage.turn(seconds: 0.5)
        // A turn that times out is one in which nothing happened.
        #expect(try !scene.stage.loop.turn(timeout: .milliseconds(1500)))
    }
}
