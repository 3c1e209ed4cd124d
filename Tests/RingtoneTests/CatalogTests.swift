import Base
import Foundation
import TestSupport
import Testing

@testable import Ringtone

@Suite struct CatalogTests {
    private let scratch = Scratch()

    private func catalog(theme: String? = nil) -> SoundCatalog {
        SoundCatalog(
            home: scratch.path, dataHome: scratch.at("home"),
            dataDirs: "\(scratch.at("one")):relative:\(scratch.at("two"))",
            themeName: theme, ownFolder: scratch.at("own"))
    }

    private func make(_ names: String...) throws {
        for name in names { try scratch.make(name) }
    }

    @Test func eachStepWinsOverTheNext() throws {
        try make(
            "home/ringd/sounds/pushed.flac", "one/ringd/sounds/app.wav", "two/ringd/sounds/user.oga",
            "one/sounds/freedesktop/stereo/phone-incoming-call.oga", "own/stereo/phone-incoming-call.oga")
        var request = SoundRequest(pushed: "pushed.caf", app: "app", user: "user")
        let all = catalog().resolve(request)
        #expect(all.candidates.map(\.step) == [.pushed, .app, .user, .theme, .own])
        #expect(all.path == scratch.at("home/ringd/sounds/pushed.flac"))
        #expect(all.name == "pushed")
        #expect(all.missing.isEmpty)
        request.pushed = "default"
        #expect(catalog().resolve(request).step == .app)
        request.app = nil
        #expect(catalog().resolve(request).step == .user)
        request.user = ""
        #expect(catalog().resolve(request).step == .theme)
        try FileManager.default.removeItem(atPath: scratch.at("one/sounds"))
        #expect(catalog().resolve(request).step == .own)
        try FileManager.default.removeItem(atPath: scratch.at("own"))
        #expect(catalog().resolve(request).step == .generated)
    }

    @Test func whatIsMissingIsSaid() throws {
        try make("own/stereo/phone-incoming-call.oga")
        let sound = catalog().resolve(SoundRequest(pushed: "weixin.m4a"))
        #expect(sound.step == .own)
        #expect(sound.missing == ["\"weixin.m4a\" is not installed: ringctl sounds add FILE"])
        try make("home/ringd/sounds/weixin.m4a")
        let raw = catalog().resolve(SoundRequest(pushed: "weixin.m4a"))
        #expect(raw.step == .own)
        #expect(raw.missing.first?.contains("needs converting") == true)
        try make("home/ringd/sounds/weixin.ogg")
        #expect(
            catalog().resolve(SoundRequest(pushed: "weixin.m4a")).path == scratch.at("home/ringd/sounds/weixin.ogg"))
    }

    @Test func theBetterOfSeveralFilesIsTaken() throws {
        try make(
            "home/ringd/sounds/a.mp3", "home/ringd/sounds/a.flac", "one/ringd/sounds/b.v2.wav",
            "home/ringd/sounds/b.wav")
        #expect(catalog().resolve(SoundRequest(pushed: "a")).path == scratch.at("home/ringd/sounds/a.flac"))
        #expect(catalog().resolve(SoundRequest(pushed: "a.mp3")).path == scratch.at("home/ringd/sounds/a.mp3"))
        #expect(catalog().resolve(SoundRequest(app: "b.v2")).candidates.first?.step == .app)
    }

    @Test(arguments: [
        "../../etc/passwd", "/etc/passwd", "a/b", "..", ".", ".hidden", "a\0b", "a\nb", "a\u{7f}",
        String(repeating: "a", count: 129), String(repeating: "é", count: 65), "sounds/../x.wav",
    ])
    func aHostileNameIsRefusedWithAReason(name: String) throws {
        try make("home/ringd/sounds/.hidden", "home/ringd/b", "own/stereo/phone-incoming-call.oga")
        for request in [SoundRequest(pushed: name), SoundRequest(app: name)] {
            let sound = catalog().resolve(request)
            #expect(sound.step == .own)
            #expect(sound.missing.count == 1)
            #expect(sound.missing.allSatisfy { $0.utf8.count < 300 && !$0.contains("\n") && !$0.contains("\0") })
        }
    }

    @Test func namesAtTheEdgeAreFine() throws {
        for name in [String(repeating: "a", count: 123), "微信", "two words", "-dash", "a..b"] {
            try make("home/ringd/sounds/\(name).wav")
            #expect(catalog().resolve(SoundRequest(pushed: name)).step == .pushed, "\(name)")
        }
    }

    @Test func aPushCannotNameAFolderOrAFifo() throws {
        try make("home/ringd/sounds/folder.wav/x", "own/stereo/phone-incoming-call.oga")
        mkfifo(scratch.at("home/ringd/sounds/fifo.wav"), 0o600)
        #expect(catalog().resolve(SoundRequest(pushed: "folder")).step == .own)
        #expect(catalog().resolve(SoundRequest(pushed: "fifo.wav")).step == .own)
    }

    @Test func themesInheritAndMayDisable() throws {
        try scratch.make("one/sounds/child/index.theme", Data("[Sound Theme]\nInherits=parent,../evil\n".utf8))
        try scratch.make(
            "two/sounds/parent/index.theme",
            Data("[Sound Theme]\nName=p\nInherits=child\nDirectories=loud\n[loud]\nInherits=nothing\n".utf8))
        try make("two/sounds/parent/loud/phone-incoming-call.ogg", "own/stereo/phone-incoming-call.oga")
        let catalog = catalog(theme: "child")
        #expect(catalog.themes.chain(from: "child") == ["child", "parent", "freedesktop"])
        #expect(catalog.resolve(SoundRequest()).path == scratch.at("two/sounds/parent/loud/phone-incoming-call.ogg"))
        try make("home/sounds/child/stereo/phone-incoming-call.disabled")
        #expect(catalog.resolve(SoundRequest()).isSilent)
        #expect(catalog.resolve(SoundRequest()).step == .silence)
        try make("home/ringd/sounds/mine.wav")
        // A disabled theme does not silence a sound that was chosen, and is no fallback for it.
        let mine = catalog.resolve(SoundRequest(user: "mine"))
        #expect(mine.candidates.map(\.step) == [.user, .own])
    }

    @Test func onlyWhoMayCanChooseSilence() throws {
        try make("own/stereo/phone-incoming-call.oga")
        #expect(catalog().resolve(SoundRequest(user: "none")).isSilent)
        #expect(catalog().resolve(SoundRequest(app: "none")).isSilent)
        #expect(!catalog().resolve(SoundRequest(pushed: "none")).isSilent)
    }

    @Test func onlyTheUserMayNameAPath() throws {
        try make("elsewhere.wav", "own/stereo/phone-incoming-call.oga")
        let path = scratch.at("elsewhere.wav")
        #expect(catalog().resolve(SoundRequest(user: path)).path == path)
        #expect(catalog().resolve(SoundRequest(pushed: path)).step == .own)
        #expect(catalog().resolve(SoundRequest(app: path)).step == .own)
    }

    @Test func themesAndOurSetAreFoundByName() throws {
        try make("one/sounds/freedesktop/stereo/bell.oga", "own/stereo/marimba-dusk.oga")
        #expect(
            catalog().resolve(SoundRequest(pushed: "bell.wav")).path
                == scratch.at("one/sounds/freedesktop/stereo/bell.oga"))
        #expect(catalog().resolve(SoundRequest(app: "marimba-dusk")).path == scratch.at("own/stereo/marimba-dusk.oga"))
    }

    @Test func theListNamesEachSoundOnce() throws {
        try make(
            "home/ringd/sounds/marimba-dusk.wav", "home/ringd/sounds/readme.txt", "own/stereo/marimba-dusk.oga",
            "own/stereo/phone-incoming-call.oga", "one/sounds/freedesktop/stereo/bell.oga",
            "one/sounds/freedesktop/stereo/phone-outgoing-busy.oga")
        let list = catalog().list()
        #expect(list.map(\.name) == ["marimba-dusk", "phone-incoming-call", "phone-outgoing-busy"])
        #expect(list.map(\.origin) == [.user, .own, .theme])
    }

    @Test func ourSetIsWhole() throws {
        let catalog = SoundCatalog(
            home: scratch.path, dataHome: nil, dataDirs: scratch.at("none"), ownFolder: Tree.sounds)
        let list = catalog.list()
        #expect(list.first { $0.name == SoundCatalog.incomingCall } != nil)
        #expect(list.count >= 9)
        for sound in list {
            let pcm = try SoundFile.decode(path: sound.path)
            #expect(pcm.samples.allSatisfy { $0.magnitude < 32767 }, "\(sound.name) clips")
            #expect(
                pcm.samples.first!.magnitude <= PCM.silence && pcm.samples.last!.magnitude <= PCM.silence,
                "\(sound.name)")
            // A ringtone keeps its own pause.
            guard !sound.name.hasPrefix("phone-") || sound.name == SoundCatalog.incomingCall else { continue }
            #expect(pcm.looped == pcm, "\(sound.name)")
            let first = try #require(pcm.samples.firstIndex { $0.magnitude > 328 }) / pcm.channels
            #expect(first * 1000 < 20 * pcm.rate, "\(sound.name) begins late")
        }
    }
}
