import APNs
import Base
import Config
import Testing

/// `[apns]`, `[key …]` and `[fault …]`.
struct GatewayConfigTests {
    private func apns(_ text: String) -> (Configuration.APNs, [ConfigFault]) {
        let (configuration, faults) = Configuration.read(text)
        return (configuration.apns, faults)
    }

    /// Each key with a value that is not the default, and some that are none.
    @Test(arguments: [
        ("http2", "127.0.0.1:2297 sandbox", ["127.0.0.1", "0.0.0.0:1", ""]),
        ("feedback", "none", ["somewhere", "127.0.0.1:1 both", ""]),
        ("proxy", "127.0.0.1:8080 optional", ["127.0.0.1:1 sandbox", "proxy.example.com:1"]),
        ("certificates", "trusted", ["", "none", "Trusted"]),
        ("authorities", "/a/b.pem, /c d/e.pem", ["ca.pem", "/a,b", "/1,/2,/3,/4,/5,/6,/7,/8,/9"]),
        ("streams", "500", ["0", "10001", "many", ""]),
        ("first-streams", "7", ["0", "-1"]),
        ("slow-down", "no", ["maybe", ""]),
        ("error-limit", "25", ["-1", "100001"]),
        ("stream-violation", "goaway", ["GOAWAY", "cut"]),
        ("connections", "65536", ["0", "65537"]),
        ("idle", "5", ["0", "0.5", "forever"]),
        ("binary-payload-limit", "256", ["255", "4096", ""]),
        ("token-lifetime", "7200", ["0", "-1", "1h"]),
        ("token-updates", "0", ["86401", "x"]),
        ("device-rate", "0", ["100001", "1.5"]),
        ("unregister-delay", "2592000", ["2592001", "-1"]),
        ("power-saving", "0.5", ["3601", "nan"]),
        ("bad-environment-key-reason", "BadEnvironmentKeyInToken", ["BadEnvironmentKey", ""]),
    ])
    func everySetting(_ key: String, _ good: String, _ bad: [String]) throws {
        let setting = try #require(Setting.all.first { $0.name == "apns.\(key)" })
        let (configuration, faults) = Configuration.read("[apns]\n\(key) = \(good)")
        #expect(faults.isEmpty, "\(faults)")
        #expect(configuration != Configuration())
        // What it writes reads back.
        let written = setting.text(configuration)
        #expect(Configuration.read("[apns]\n\(key) = \(written)").0 == configuration, "\(written)")
        for value in bad {
            let (configuration, faults) = Configuration.read("[apns]\n\(key) = \(value)")
            #expect(configuration == Configuration() && faults.count == 1, "\(key) = \(value)")
            #expect(faults.first?.key == "apns.\(key)")
            #expect(faults.first?.reason.contains("is in force") == true)
        }
    }

    @Test(arguments: [
        ("listen", "127.0.0.1:2198, [::1]:2198", ["127.0.0.1", "127.0.0.1:1 optional", "127.0.0.1:1 sandbox", ""]),
        ("token-file", "/home/me/token", ["token", "~/token"]),
        ("certificate", "own", ["cert.pem", "", "yes"]), ("certificate", "/a/b c.pem", []),
        ("key", "/a/b.key", ["b.key"]), ("open-to-network", "yes", ["0.0.0.0", ""]),
    ])
    func everySettingOfWebhooks(_ key: String, _ good: String, _ bad: [String]) throws {
        let setting = try #require(Setting.all.first { $0.name == "webhook.\(key)" })
        let (configuration, faults) = Configuration.read("[webhook]\n\(key) = \(good)")
        #expect(faults.isEmpty && configuration != Configuration(), "\(faults)")
        #expect(Configuration.read("[webhook]\n\(key) = \(setting.text(configuration))").0 == configuration)
        for value in bad {
            let (configuration, faults) = Configuration.read("[webhook]\n\(key) = \(value)")
            #expect(configuration == Configuration() && faults.count == 1, "\(key) = \(value)")
        }
    }

    /// It is said twice, and the token is not read on its way; wherever the lines stand.
    @Test func webhooksStayOnLoopbackUnlessTwoLinesSayOtherwise() {
        let open = "listen = 0.0.0.0:2198\n"
        for (lines, words) in [
            (open, "open-to-network = yes"), (open + "certificate = /a.pem", "open-to-network = yes"),
            (open + "open-to-network = yes", "certificate = /"),
            (open + "open-to-network = yes\ncertificate = own", "certificate = /"),
        ] {
            let (configuration, faults) = Configuration.read("[webhook]\n" + lines)
            #expect(configuration.webhook.listen.isEmpty)
            #expect(faults.count == 1 && faults[0].line == 2 && faults[0].reason.contains(words), "\(faults)")
        }
        let (configuration, faults) = Configuration.read(
            "[webhook]\n\(open)open-to-network = yes\ncertificate = /a.pem")
        #expect(faults.isEmpty && configuration.webhook.listen.map(\.port) == [2198])
    }

    @Test func aListenerMayBeOptional() {
        let listeners = apns("").0.http2
        #expect(listeners.map(\.port) == [2197, 443] && listeners.map(\.isOptional) == [false, true])
        let text = Setting.all.first { $0.name == "apns.http2" }!.text(Configuration())
        #expect(text == "127.0.0.1:2197 auto, 127.0.0.1:443 auto optional")
    }

    @Test func theWholeFileDecidesWhetherADoorMayBeOpen() {
        let (configuration, faults) = apns("[apns]\nhttp2 = 0.0.0.0:2197\nbinary = [fe80::1]:1\nfeedback = none")
        #expect(
            configuration.http2 == Configuration().apns.http2 && configuration.binary == Configuration().apns.binary)
        #expect(faults.map(\.line) == [2, 3] && faults.map(\.key) == ["apns.http2", "apns.binary"])
        for fault in faults {
            #expect(fault.reason.contains("certificates = trusted") && fault.reason.contains("is in force"))
        }
        // Whatever the order.
        for text in [
            "[apns]\nhttp2 = 0.0.0.0:2197\ncertificates = trusted",
            "[apns]\ncertificates = trusted\n[ring]\ntime = 5\n[apns]\nhttp2 = 0.0.0.0:2197",
        ] {
            let (configuration, faults) = apns(text)
            #expect(faults.isEmpty && configuration.http2.map(\.host) == ["0.0.0.0"])
        }
    }

    @Test func settingOneThingIsCheckedAgainstTheRest() throws {
        let trusted = "[apns]\ncertificates = trusted\n"
        let open = try Configuration.edit(trusted, set: "apns.binary", to: "0.0.0.0:2195").get()
        #expect(open.contains("binary = 0.0.0.0:2195"))
        #expect(throws: ConfigFault.self) {
            try Configuration.edit("", set: "apns.binary", to: "0.0.0.0:2195").get()
        }
        #expect(throws: ConfigFault.self) {
            try Configuration.edit(open, set: "apns.certificates", to: "any").get()
        }
        // An old fault is not the new setting's.
        let wrong = "[apns]\nhttp2 = 0.0.0.0:1\n"
        #expect((try? Configuration.edit(wrong, set: "apns.streams", to: "5").get()) != nil)
    }

    @Test func aDoorIsClosedByAWord() throws {
        #expect(
            Configuration.read("[apns]\nproxy =").1.map(\.reason).first?.contains("say none to close a door") == true)
        #expect(Configuration.read("[apns]\nproxy = none").0.apns.proxy.isEmpty)
        for value in ["", " "] {
            guard case .failure(let fault) = Configuration.edit("", set: "apns.http2", to: value) else {
                Issue.record("an empty list of doors was taken")
                continue
            }
            #expect(fault.reason.contains("say none to close a door"))
        }
    }

    @Test func takingASettingOutIsCheckedAgainstTheRest() {
        let open = "[apns]\ncertificates = trusted\nbinary = 0.0.0.0:2195\n"
        #expect(throws: ConfigFault.self) { try Configuration.edit(open, unset: "apns.certificates").get() }
        #expect((try? Configuration.edit(open, unset: "apns.binary").get()) == "[apns]\ncertificates = trusted\n")
    }

    @Test func keys() throws {
        let (configuration, faults) = apns(
            """
            [key ABC123DEFG]
            file = /home/me/AuthKey_ABC123DEFG.p8
            team = TEAM000001
            environment = sandbox
            topics = com.example.talk, com.example.mail
            related = XYZ987WVUT
            [key XYZ987WVUT]
            file = /home/me/other.pem
            """)
        #expect(faults.isEmpty, "\(faults)")
        let key = try #require(configuration.keys["ABC123DEFG"])
        #expect(key.file == "/home/me/AuthKey_ABC123DEFG.p8" && key.team == "TEAM000001")
        #expect(key.environment == .sandbox && key.related == "XYZ987WVUT" && key.line == 2)
        #expect(key.topics == ["com.example.talk", "com.example.mail"])
        #expect(configuration.keys["XYZ987WVUT"]?.environment == .both)
    }

    @Test(arguments: [
        ("[key]\nfile = /x", "ABC123DEFG"), ("[key a b]\nfile = /x", "ABC123DEFG"), ("[key a/b]\nfile = /x", "letters"),
        ("[key K]\nfile = x.p8", "whole path"), ("[key K]\nfile = /x\nteam = a b", "team id"),
        ("[key K]\nfile = /x\nenvironment = test", "sandbox, production or both"),
        ("[key K]\nfile = /x\ntopics = nodots", "bundle id"),
        ("[key K]\nfile = /x\ntopics = com.example.talk.voip", "write com.example.talk:"),
        ("[key K]\nfile = /x\nrelated = -", "id"), ("[key K]\nfile = /x\nteams = X", "did you mean team"),
        ("[key K]\nteam = TEAM000001", "names no file"), ("[kei K]\nfile = /x", "did you mean [key KEY-ID]"),
    ])
    func wrongKeys(_ text: String, _ words: String) {
        let faults = apns(text).1
        #expect(faults.count == 1 && faults[0].description.contains(words), "\(faults)")
    }

    @Test func faultsOnPurpose() {
        let (configuration, faults) = apns(
            """
            [fault busy]
            token = 9F2C
            every = 10
            times = 3
            do = delay 2.5, status 503
            [fault gone]
            app = com.example.talk
            do = goaway abrupt Shutdown
            """)
        #expect(faults.isEmpty, "\(faults)")
        #expect(configuration.faults.map(\.name) == ["busy", "gone"])
        let busy = configuration.faults[0]
        #expect(busy.token == "9f2c" && busy.every == 10 && busy.times == 3 && busy.app == nil)
        #expect(busy.actions == [.delay(.milliseconds(2500)), .answer(status: 503, reason: "ServiceUnavailable")])
        #expect(configuration.faults[1].actions == [.goAway(isGraceful: false, text: "Shutdown")])
    }

    @Test(arguments: [
        ("[fault]\ndo = lose", "NAME"), ("[fault x]\ndo = explode", "is no fault"),
        ("[fault x]\nevery = 2", "does nothing"),
        ("[fault x]\ndo = lose\nevery = 0", "1 to 1000000"), ("[fault x]\ndo = lose\ntimes = -1", "1 to 1000000"),
        ("[fault x]\ndo = lose\ntoken = xyz", "hexadecimal"), ("[fault x]\ndo = lose\napp = talk", "com.example.talk"),
        ("[fault x]\ndo = reason BadDevicToken", "did you mean BadDeviceToken"),
        ("[fault x]\ndo = status 99", "200 to 599"), ("[fault x]\ndo = delay 3601", "3600"),
        ("[fault x]\ndo = lose\ntimer = 1", "did you mean times"),
    ])
    func wrongFaults(_ text: String, _ words: String) {
        let faults = apns(text).1
        #expect(faults.count == 1 && faults[0].description.contains(words), "\(faults)")
    }

    @Test func thereIsAnEndToAll() {
        let keys = (0..<500).map { "[key K\($0)]\nfile = /x\n" }.joined()
        #expect(apns(keys).0.keys.count == Configuration.APNs.mostKeys && apns(keys).1.count == 100)
        let faults = (0..<70).map { "[fault f\($0)]\ndo = lose\n" }.joined()
        #expect(apns(faults).0.faults.count == Configuration.APNs.mostFaults && apns(faults).1.count == 6)
    }
}
