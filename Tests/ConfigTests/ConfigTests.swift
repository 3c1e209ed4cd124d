import Base
import Config
import Foundation
import Testing

struct ConfigTests {
    @Test func anEmptyFileIsTheDefaults() {
        let (configuration, faults) = Configuration.read("")
        #expect(configuration == Configuration() && faults.isEmpty)
    }

    @Test func everySettingReadsBackWhatItWrites() {
        for setting in Setting.all {
            let text = "[\(setting.section)]\n\(setting.key) = \(setting.text(Configuration()))\n"
            let (configuration, faults) = Configuration.read(text)
            #expect(faults.isEmpty, "\(text)")
            #expect(configuration == Configuration(), "\(text)")
        }
    }

    @Test func theHistorysBounds() {
        let (set, none) = Configuration.read("[history]\nkeep = 1000000\ndays = 36500\n")
        #expect(none.isEmpty && set.history.keep == 1_000_000 && set.history.days == 36_500)
        for wrong in [
            "keep = 99", "keep = 1000001", "keep = all", "days = -1", "days = 36501", "days = 1.5", "day = 1",
        ] {
            let (left, faults) = Configuration.read("[history]\n\(wrong)\n")
            #expect(faults.count == 1 && left == Configuration(), "\(wrong)")
        }
    }

    @Test func wrongLinesAreNamedAndTheRestIsInForce() {
        let (configuration, faults) = Configuration.read(
            """
            # a comment
            stray = 1
            [ring]
            time = 12
            rais = 3
            raise = soon
            longest
            [sund]
            volume = 1
            [sound]
            volume = 101
            ramp = 2.5
            [app nodots]
            name = X
            [app com.example.talk]
            answer = url javascript:alert(1)
            open = url https://example.com/{nope}
            end = run true
            call-back = url tel:{handle}
            """)
        #expect(configuration.ring.time == .seconds(12))
        #expect(configuration.sound.ramp == .milliseconds(2500))
        #expect(configuration.sound.volume == 100)
        #expect(configuration.apps["com.example.talk"]?.callBack == .url(template: "tel:{handle}"))
        #expect(configuration.apps["com.example.talk"]?.answer == nil)
        #expect(faults.map(\.line) == [2, 5, 6, 7, 9, 11, 14, 16, 17, 18])
        #expect(faults[1].description.contains("did you mean raise"))
        #expect(faults[4].description.contains("did you mean [sound]"))
        #expect(faults[5].description.contains("0…100"))
    }

    @Test(arguments: [
        "127.0.0.1:2195", "localhost:2195 sandbox", "[::1]:2195 production", "127.0.0.1:1, 127.0.0.1:2 sandbox", "none",
        "127.0.0.1:1 optional", "127.9.9.9:1 sandbox optional", "[::1]:1 auto  optional ,127.0.0.1:0",
    ])
    func goodListeners(_ text: String) {
        #expect(Configuration.read("[apns]\nbinary = \(text)").1.isEmpty)
        #expect(Configuration.read("[apns]\nhttp2 = \(text)\nfeedback = \(text)").1.isEmpty)
    }

    @Test(arguments: [
        "0.0.0.0:2195", "192.168.1.4:2195", "127.0.0.1", "127.0.0.1:99999", "127.0.0.1:1 x", "example.com:1",
        "[::]:2195", "[::1:1", "1::1::1:1", "127.0.0.1:1 optional auto", "127.0.0.1:1,,127.0.0.1:2", "127.0.0.01:1",
        "127.1:1", "256.0.0.1:1", "[fe80::1%eth0]:1", "127.0.0.1:1 sandbox production",
        "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3,127.0.0.1:4,127.0.0.1:5,127.0.0.1:6,127.0.0.1:7,127.0.0.1:8,127.0.0.1:9",
    ])
    func badListeners(_ text: String) {
        let (configuration, faults) = Configuration.read("[apns]\nbinary = \(text)")
        #expect(faults.count == 1 && configuration.apns == Configuration().apns)
    }

    @Test func theRateOfPushesIsANumber() {
        #expect(Configuration.read("[apns]\nrate = 0").0.apns.rate == 0)
        #expect(Configuration.read("[apns]\nrate = 2500").0.apns.rate == 2500)
        for bad in ["-1", "fast", "1.5", "100001", ""] {
            let (configuration, faults) = Configuration.read("[apns]\nrate = \(bad)")
            #expect(faults.count == 1 && configuration.apns.rate == 100)
        }
    }

    @Test func linesMayEndAsOnWindows() {
        let (configuration, faults) = Configuration.read(
            "# x\r\n[ring]\r\ntime = 12\r\nrais = 3\r\n[sound]\nvolume = 5\r\n")
        #expect(configuration.ring.time == .seconds(12) && configuration.sound.volume == 5)
        #expect(faults.map(\.line) == [4])
    }

    @Test func editingAFileFromWindows() throws {
        let text = "[sound]\r\nvolume = 5\r\nramp = 1\r\n"
        #expect(
            try Configuration.edit(text, set: "sound.volume", to: "7").get()
                == "[sound]\r\nvolume = 7\r\nramp = 1\r\n")
        // "\r\n" is one Character and not "\n".
        #expect(throws: ConfigFault.self) {
            try Configuration.edit(text, set: "sound.device", to: "x\r\n[app a.b]\r\nanswer = run /x").get()
        }
    }

    @Test func soundsAreNamesNeverPaths() {
        for bad in ["/etc/passwd", "../x", ".hidden", String(repeating: "x", count: 200)] {
            #expect(Configuration.read("[app a.b]\nsound = \(bad)").1.count == 1)
        }
    }

    @Test func programsAreWordsWithoutAShell() {
        func words(_ text: String) -> Handoff? {
            Configuration.read("[app a.b]\nanswer = run \(text)").0.apps["a.b"]?.answer
        }
        #expect(words("/usr/bin/x a  b") == .run(["/usr/bin/x", "a", "b"]))
        #expect(
            words(#"/usr/bin/x "a b" 'c "d' e\ f "" $HOME; *"#)
                == .run(["/usr/bin/x", "a b", #"c "d"#, "e f", "", "$HOME;", "*"]))
        #expect(words(#"/usr/bin/x "open"#) == nil)
        #expect(words("x") == nil && words("") == nil)
    }

    @Test func aValueCannotBecomeAnotherURL() {
        let filled = Handoff.fill("https://meet.example/{key}?n={caller}") { field in
            field == "key" ? "../x?y#z&a=b" : "A B\"<>%é"
        }
        #expect(filled == "https://meet.example/..%2Fx%3Fy%23z%26a%3Db?n=A%20B%22%3C%3E%25%C3%A9")
    }

    @Test func editingKeepsEverythingElse() throws {
        let text = "# mine\n[ring]\ntime = 20 \n; end\n[sound]\nvolume = 50\n"
        #expect(
            try Configuration.edit(text, set: "ring.time", to: "25").get()
                == "# mine\n[ring]\ntime = 25\n; end\n[sound]\nvolume = 50\n")
        #expect(
            try Configuration.edit(text, set: "ring.raise", to: "never").get()
                == "# mine\n[ring]\ntime = 20 \nraise = never\n; end\n[sound]\nvolume = 50\n")
        #expect(try Configuration.edit("", set: "apns.binary", to: "none").get() == "[apns]\nbinary = none\n")
        #expect(throws: ConfigFault.self) { try Configuration.edit("", set: "ring.tim", to: "1").get() }
        #expect(throws: ConfigFault.self) { try Configuration.edit("", set: "ring.time", to: "1\nx = y").get() }
    }

    @Test func aSettingIsTakenOut() throws {
        let text = "# mine\r\n[ring]\r\ntime = 20\r\n; end\r\n[sound]\r\nvolume = 50\r\n[ring]\r\ntime = 21\r\n"
        #expect(
            try Configuration.edit(text, unset: "ring.time").get()
                == "# mine\r\n[ring]\r\n; end\r\n[sound]\r\nvolume = 50\r\n[ring]\r\n")
        #expect(try Configuration.edit(text, unset: "sound.ramp").get() == text)
        #expect(try Configuration.edit("", unset: "sound.ramp").get() == "")
        #expect(throws: ConfigFault.self) { try Configuration.edit(text, unset: "ring.tim").get() }
    }

    @Test func hugeFilesAreRefusedWhole() {
        let (configuration, faults) = Configuration.read(String(repeating: "x", count: (1 << 20) + 1))
        #expect(configuration == Configuration() && faults.count == 1)
        #expect(Configuration.read("[ring]\ntime = " + String(repeating: "1", count: 5000)).1.count == 1)
    }
}

/// Inputs that broke the reader once, or that stand for a kind that must not. Found by `Scripts/fuzz`.
struct ConfigFailCases {
    @Test func areHarmless() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz")
        for folder in ["FailCases/config", "corpus/config"] {
            let files = try FileManager.default.contentsOfDirectory(
                at: root.appending(path: folder), includingPropertiesForKeys: nil)
            #expect(!files.isEmpty)
            for file in files {
                let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
                let (configuration, faults) = Configuration.read(text)
                #expect(faults.map(\.line) == faults.map(\.line).sorted(), "\(file.lastPathComponent)")
                // What is in force says the same when it is written and read again.
                let written = Setting.all.map { "[\($0.section)]\n\($0.key) = \($0.text(configuration))" }
                let (read, more) = Configuration.read(written.joined(separator: "\n"))
                var again = read
                again.apps = configuration.apps
                again.apns.keys = configuration.apns.keys
                again.apns.faults = configuration.apns.faults
                #expect(again == configuration && more.isEmpty, "\(file.lastPathComponent)")
            }
        }
    }

    @Test func theRegionIsACountry() throws {
        let (configuration, faults) = Configuration.read("[calls]\nregion = de")
        #expect(faults.isEmpty && configuration.region?.code == "DE")
        #expect(Configuration().region == nil && Configuration.read("[calls]\nregion =\n").1.isEmpty)
        for (word, hint) in [("DEU", "did you mean DE?"), ("+49", "did you mean DE?"), ("UK", "did you mean GB?")] {
            let (kept, faults) = Configuration.read("[calls]\nregion = FR\nregion = \(word)\n")
            #expect(faults.map(\.line) == [3] && kept.region?.code == "FR")
            #expect(faults[0].reason.contains("two letters, like DE or US; \(hint); FR is in force"), "\(faults[0])")
            guard case .failure(let fault) = Configuration.edit("", set: "calls.region", to: word) else {
                Issue.record("\(word) is no region")
                continue
            }
            #expect(fault.reason.hasSuffix(hint))
        }
        let (_, unknown) = Configuration.read("[calls]\nregion = Germany\n")
        #expect(unknown.first?.reason.hasSuffix("like DE or US; none is in force") == true)
    }
}
