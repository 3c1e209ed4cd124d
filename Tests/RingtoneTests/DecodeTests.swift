import Base
import Foundation
import TestSupport
import Testing

@testable import Ringtone

@Suite struct DecodeTests {
    private let scratch = Scratch()

    /// A tone of 1.5 s, stereo, 44.1 kHz, as a file of that form.
    private func tone(_ name: String, _ arguments: String...) throws -> String {
        let path = scratch.at(name)
        try run(
            "ffmpeg",
            ["-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "sine=441:d=1.5:r=44100", "-ac", "2"] + arguments + [
                path
            ])
        return path
    }

    @Test func sixteenBitSamplesComeThroughExactly() throws {
        let pcm = PCM.noise(seconds: 0.2, rate: 44100)
        try scratch.make("a.wav", pcm.wave)
        #expect(try SoundFile.decode(path: scratch.at("a.wav")) == pcm)
        try run("ffmpeg", ["-nostdin", "-v", "error", "-i", scratch.at("a.wav"), scratch.at("a.flac")])
        #expect(try SoundFile.decode(path: scratch.at("a.flac")) == pcm)
        try run("ffmpeg", ["-nostdin", "-v", "error", "-i", scratch.at("a.wav"), scratch.at("a.aiff")])
        #expect(try SoundFile.decode(path: scratch.at("a.aiff")) == pcm)
        try run("ffmpeg", ["-nostdin", "-v", "error", "-i", scratch.at("a.wav"), scratch.at("a.caf")])
        #expect(try SoundFile.decode(path: scratch.at("a.caf")) == pcm)
        try run(
            "ffmpeg", ["-nostdin", "-v", "error", "-i", scratch.at("a.wav"), "-c:a", "pcm_f32le", scratch.at("f.wav")])
        #expect(try SoundFile.decode(path: scratch.at("f.wav")) == pcm)
    }

    @Test(arguments: [
        ("a.ogg", ["-c:a", "libvorbis"], 44100), ("a.oga", ["-c:a", "libvorbis"], 44100),
        ("a.mp3", ["-c:a", "libmp3lame"], 44100), ("a.opus", ["-c:a", "libopus"], 48000),
    ])
    func compressedFormats(name: String, codec: [String], rate: Int) throws {
        let path = scratch.at(name)
        try run(
            "ffmpeg",
            ["-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=441:d=1.5:r=44100", "-ac", "2"] + codec + [path])
        let pcm = try SoundFile.decode(path: path)
        #expect(pcm.rate == rate && pcm.channels == 2)
        // An MP3 may keep its encoder's padding, a frame or two.
        #expect(abs(pcm.frames - rate * 3 / 2) <= (name.hasSuffix("mp3") ? 2400 : 0))
        #expect(pcm.audibleFrames > rate)
    }

    @Test func moreChannelsAreMixedDown() throws {
        let pcm = try SoundFile.decode(path: try tone("six.flac", "-ac", "6"))
        #expect(pcm.channels == 2)
        #expect(pcm.frames == 66150)
        #expect(pcm.audibleFrames > 60000)
    }

    @Test func longSoundsAreCut() throws {
        try scratch.make("long.wav", PCM.noise(seconds: 0, silence: 60, channels: 1, rate: 8000).wave)
        #expect(try !SoundFile.decode(path: scratch.at("long.wav")).wasCut)
        try run(
            "ffmpeg",
            ["-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=441:d=61:r=8000", scratch.at("longer.wav")])
        let cut = try SoundFile.decode(path: scratch.at("longer.wav"))
        #expect(cut.wasCut && cut.frames == 60 * 8000)
    }

    @Test func whatIsNoSoundIsRefused() throws {
        try scratch.make("text.wav", Data("not a sound at all".utf8))
        try scratch.make("empty.wav", Data())
        try scratch.make("none.wav", PCM.noise(seconds: 0).wave)
        try scratch.make("cut.wav", PCM.noise(seconds: 1).wave.prefix(20))
        mkfifo(scratch.at("fifo.wav"), 0o600)
        // A sparse file costs nothing; its size alone refuses it.
        _ = FileManager.default.createFile(atPath: scratch.at("huge.wav"), contents: PCM.noise(seconds: 0.1).wave)
        truncate(scratch.at("huge.wav"), 1 << 30)
        for name in ["text.wav", "empty.wav", "none.wav", "cut.wav", "fifo.wav", "huge.wav", "absent.wav", "."] {
            #expect(throws: SoundFailure.self, "\(name)") { try SoundFile.decode(path: scratch.at(name)) }
        }
    }

    // MARK: Installing

    private var catalog: SoundCatalog {
        SoundCatalog(home: scratch.path, dataHome: scratch.at("home"), dataDirs: scratch.at("none"))
    }

    @Test func aKnownFormatIsCopied() throws {
        let pcm = PCM.noise(seconds: 0.1)
        try scratch.make("Door Bell.wav", pcm.wave)
        let sound = try catalog.install(file: scratch.at("Door Bell.wav"), converter: nil)
        #expect(sound.name == "Door Bell")
        #expect(try SoundFile.decode(path: sound.path) == pcm)
        #expect(catalog.resolve(SoundRequest(pushed: "Door Bell.caf")).step == .pushed)
        // The newer one takes its place, whatever its form.
        let mp3 = try catalog.install(file: try tone("Door Bell.mp3"), converter: nil)
        #expect(catalog.resolve(SoundRequest(pushed: "Door Bell")).path == mp3.path)
        #expect(catalog.list().count == 1)
    }

    /// (name, codec, frames exact?)
    @Test(arguments: [
        ("weixin.m4a", "aac", true), ("lossless.m4a", "alac", true), ("alac.caf", "alac", true),
        ("ima.caf", "adpcm_ima_qt", false),
    ])
    func otherFormatsAreConverted(name: String, codec: String, isExact: Bool) throws {
        let path = try tone(name, "-c:a", codec)
        #expect(throws: SoundFailure.self) { try catalog.install(file: path, converter: nil) }
        let sound = try catalog.install(file: path, converter: Tree.converter)
        #expect(sound.path.hasSuffix(".flac"))
        let pcm = try SoundFile.decode(path: sound.path)
        #expect(pcm.rate == 44100 && pcm.channels == 2)
        #expect(isExact ? pcm.frames == 66150 : abs(pcm.frames - 66150) < 64, "\(pcm.frames)")
        // No priming at the start, no padding at the end: the tone is there from first to last.
        #expect(pcm.samples.prefix(400).contains { $0.magnitude > 1000 })
        #expect(pcm.samples.suffix(400).contains { $0.magnitude > 1000 })
        #expect(catalog.resolve(SoundRequest(pushed: name)).step == .pushed)
    }

    @Test func whatCannotBeConvertedIsRefusedInOneLine() throws {
        try scratch.make("bad.m4a", Data("nothing".utf8))
        // A playlist would name other files to read.
        try scratch.make("list.m4a", Data("#EXTM3U\n#EXTINF:1,\n/etc/passwd\n".utf8))
        for name in ["bad.m4a", "list.m4a", "absent.m4a"] {
            let failure = #expect(throws: SoundFailure.self) {
                try catalog.install(file: scratch.at(name), converter: Tree.converter)
            }
            #expect(failure?.description.contains("\n") == false)
            #expect(failure?.description.contains(name) == true)
        }
        #expect(catalog.list().isEmpty)
        #expect(throws: SoundFailure.self) {
            try catalog.install(file: scratch.at("bad.m4a"), converter: scratch.at("no-such-program"))
        }
        #expect(throws: SoundFailure.self) {
            try catalog.install(file: scratch.at("bad.m4a"), as: "../x", converter: Tree.converter)
        }
    }

    @Test func aConverterThatHangsIsEnded() throws {
        let script = scratch.at("hang")
        try scratch.make("hang", Data("#!/bin/sh\nexec sleep 60\n".utf8))
        chmod(script, 0o700)
        let began = Instant.now
        #expect(throws: SoundFailure.self) {
            try Converter(path: script, limit: .milliseconds(200)).run("/in", to: scratch.at("out"))
        }
        #expect(Instant.now - began < .seconds(30))
    }
}
