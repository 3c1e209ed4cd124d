import Base
import DBus
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import Desktop

/// Each desktop's own switch, as its services would have it.
@Suite(.serialized)
struct DoNotDisturbTests {
    private static let notifications = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"

    private final class Rig {
        let base: BusRig
        var client: DoNotDisturb!
        var events: [Event] = []
        var changes = 0

        init(_ environment: [String: String] = [:]) throws {
            base = try BusRig()
            client = DoNotDisturb(base.loop, environment: environment) { [unowned self] in events.append($0) }
            client.onChange = { [unowned self] in changes += 1 }
        }

        func start() {
            base.bus.join(client)
            base.bus.connect()
        }

        @discardableResult
        func becomes(_ isOn: Bool?, _ source: String, hidesCritical: Bool = false) -> Bool {
            let wanted = DoNotDisturb.State(isOn: isOn, source: source, hidesCritical: hidesCritical)
            return base.wait { client.state == wanted }
        }

        func server(_ name: String, vendor: String = "test") throws -> FakeService {
            let service = try base.service(DoNotDisturbTests.notifications)
            service.be(name, vendor: vendor)
            return service
        }
    }

    @Test func plasma() throws {
        let rig = try Rig()
        let server = try rig.server("Plasma")
        server.answers["org.freedesktop.Notifications.Inhibited"] = .success([.variant(.bool(false))])
        rig.start()
        #expect(rig.becomes(false, "Plasma"))
        #expect(rig.events.isEmpty && rig.client.state.word == "off")
        server.answers["org.freedesktop.Notifications.Inhibited"] = .success([.variant(.bool(true))])
        server.changed(Self.path, Self.notifications, [.init("Inhibited", .bool(true))])
        #expect(rig.becomes(true, "Plasma"))
        #expect(rig.events.map(\.kind) == [.dndOn] && rig.events[0].text("source") == "Plasma")
        server.answers["org.freedesktop.Notifications.Inhibited"] = .success([.variant(.bool(false))])
        server.changed(Self.path, Self.notifications, [.init("Inhibited", .bool(false))])
        #expect(rig.becomes(false, "Plasma"))
        #expect(rig.events.map(\.kind) == [.dndOn, .dndOff] && rig.changes == 3)
    }

    /// Before 1.9 there was no level.
    @Test(arguments: [(nil, true), (100, true), (60, false), (1, false), (0, nil)] as [(UInt32?, Bool?)])
    func dunst(_ level: UInt32?, _ hides: Bool?) throws {
        let rig = try Rig()
        let server = try rig.server("dunst")
        func say(_ paused: Bool, _ level: UInt32?) {
            let levels = level.map { [DBusValue.Entry("pauseLevel", .uint32($0))] } ?? []
            server.answers["org.dunstproject.cmd0"] = .success([.dict([.init("paused", .bool(paused))] + levels)])
        }
        say(false, level == nil ? nil : 0)
        rig.start()
        #expect(rig.becomes(false, "dunst"))
        say(hides != nil, level)
        server.changed(Self.path, "org.dunstproject.cmd0", [.init("paused", .bool(hides != nil))])
        #expect(rig.becomes(hides != nil, "dunst", hidesCritical: hides == true))
    }

    @Test func othersPropertiesAreNoReasonToAsk() throws {
        let rig = try Rig()
        let server = try rig.server("dunst")
        server.answers["org.dunstproject.cmd0"] = .success([.dict([.init("paused", .bool(false))])])
        rig.start()
        #expect(rig.becomes(false, "dunst"))
        for _ in 0..<20 {
            server.changed(Self.path, "org.example.other", [.init("paused", .bool(true))])
            server.changed(Self.path, "org.dunstproject.cmd0", [.init("displayedLength", .uint32(1))])
        }
        rig.base.settle()
        #expect(server.count("GetAll") == 1)
        // A storm of what does is asked about twice: at its beginning, and when the first answer is there.
        for _ in 0..<200 { server.changed(Self.path, "org.dunstproject.cmd0", [.init("paused", .bool(true))]) }
        rig.base.settle(.milliseconds(400))
        #expect(server.count("GetAll") > 1 && server.count("GetAll") < 100)
    }

    @Test func swaync() throws {
        let rig = try Rig()
        let server = try rig.server("SwayNotificationCenter")
        server.own("org.erikreider.swaync.cc")
        server.answers["org.erikreider.swaync.cc.GetDnd"] = .success([.bool(true)])
        rig.start()
        #expect(rig.becomes(true, "SwayNC"))
        // Its signal says it, and comes with every banner: nothing is asked.
        func say(_ connection: DBusConnection, _ isOn: Bool) {
            connection.emit(
                path: "/org/erikreider/swaync/cc", interface: "org.erikreider.swaync.cc", member: "SubscribeV2",
                [.uint32(0), .bool(isOn), .bool(false), .bool(false)])
        }
        say(server.connection, false)
        #expect(rig.becomes(false, "SwayNC"))
        for _ in 0..<20 { say(server.connection, false) }
        rig.base.settle()
        #expect(server.count("GetDnd") == 1)
        // Another program's word counts for nothing.
        let stranger = try DBusConnection(rig.base.loop, address: rig.base.desk.bus)
        say(stranger, true)
        rig.base.settle()
        #expect(rig.client.state.isOn == false)
        server.answers["org.erikreider.swaync.cc.GetDnd"] = .success([.bool(true)])
        server.connection.emit(
            path: "/org/erikreider/swaync/cc", interface: "org.erikreider.swaync.cc", member: "Something", [])
        #expect(rig.becomes(true, "SwayNC"))
    }

    @Test func mako() throws {
        let rig = try Rig()
        let server = try rig.server("mako")
        server.answers["fr.emersion.Mako.Modes"] = .success([.variant(.strings(["default"]))])
        rig.start()
        #expect(rig.becomes(false, "mako"))
        server.answers["fr.emersion.Mako.Modes"] = .success([.variant(.strings(["default", "do-not-disturb"]))])
        server.changed("/fr/emersion/Mako", "fr.emersion.Mako", [.init("Modes", .strings([]))])
        #expect(rig.becomes(true, "mako", hidesCritical: true))
    }

    /// Its property is younger than its modes.
    @Test func makoOfOld() throws {
        let rig = try Rig()
        let server = try rig.server("mako")
        server.answers["fr.emersion.Mako.ListModes"] = .success([.strings(["do-not-disturb"])])
        rig.start()
        #expect(rig.becomes(true, "mako", hidesCritical: true))
    }

    @Test func xfce() throws {
        let rig = try Rig()
        let server = try rig.server("Xfce Notify Daemon")
        let xfconf = try rig.base.service("org.xfce.Xfconf")
        let question = "org.xfce.Xfconf.GetProperty"
        // Never touched.
        xfconf.answers[question] = .failure(DBusFailure("org.xfce.Xfconf.Error.PropertyNotFound", "no"))
        rig.start()
        #expect(rig.becomes(false, "Xfce"))
        #expect(xfconf.asked.last?.arguments.compactMap(\.text) == ["xfce4-notifyd", "/do-not-disturb"])
        xfconf.answers[question] = .success([.variant(.bool(true))])
        func changed(_ channel: String) {
            xfconf.connection.emit(
                path: "/org/xfce/Xfconf", interface: "org.xfce.Xfconf", member: "PropertyChanged",
                [.string(channel), .string("/do-not-disturb"), .variant(.bool(true))])
        }
        changed("xfwm4")
        rig.base.settle()
        #expect(rig.client.state.isOn == false)
        changed("xfce4-notifyd")
        #expect(rig.becomes(true, "Xfce"))
        // Its keeper may go without the server, and come back.
        xfconf.connection.close()
        #expect(rig.becomes(nil, ""))
        let second = try rig.base.service("org.xfce.Xfconf")
        second.answers[question] = .success([.variant(.bool(true))])
        #expect(rig.becomes(true, "Xfce"))
        withExtendedLifetime(server) {}
    }

    @Test func budgie() throws {
        let rig = try Rig()
        let server = try rig.server("Budgie Notification Server")
        server.own("org.budgie_desktop.Notifications")
        let name = "org.buddiesofbudgie.budgie.Dispatcher"
        server.answers["\(name).GetDoNotDisturbState"] = .success([.bool(false)])
        rig.start()
        #expect(rig.becomes(false, "Budgie"))
        server.answers["\(name).GetDoNotDisturbState"] = .success([.bool(true)])
        server.connection.emit(
            path: "/org/budgie_desktop/Notifications", interface: name, member: "DoNotDisturbChanged", [.bool(true)])
        #expect(rig.becomes(true, "Budgie", hidesCritical: true))
    }

    /// A `gsettings` that prints what a file says.
    private struct Settings {
        let scratch = Scratch()
        let environment: [String: String]

        init(_ desktop: String) throws {
            environment = ["PATH": scratch.at("bin") + ":/usr/bin:/bin", "XDG_CURRENT_DESKTOP": desktop]
            try scratch.make(
                "bin/gsettings",
                Data("#!/bin/sh\necho \"$*\" >>'\(scratch.at("asked"))'\ncat '\(scratch.at("value"))'\n".utf8))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.at("bin/gsettings"))
        }

        func say(_ text: String) throws { try scratch.make("value", Data(text.utf8)) }

        var asked: [String] {
            ((try? String(contentsOfFile: scratch.at("asked"), encoding: .utf8)) ?? "").split(separator: "\n")
                .map(String.init)
        }
    }

    @Test(arguments: [
        ("gnome-shell", "GNOME", "", "org.gnome.desktop.notifications show-banners", false, false),
        ("cinnamon", "Linux Mint", "", "org.cinnamon.desktop.notifications display-notifications", false, true),
        ("Notification Daemon", "MATE", "", "org.mate.NotificationDaemon do-not-disturb", true, true),
        ("io.elementary.notifications", "", "", "io.elementary.notifications do-not-disturb", true, false),
        ("Something Else", "", "ubuntu:GNOME", "org.gnome.desktop.notifications show-banners", false, false),
        ("Something Else", "", "X-Cinnamon", "org.cinnamon.desktop.notifications display-notifications", false, true),
    ])
    func settings(
        _ name: String, _ vendor: String, _ desktop: String, _ question: String, _ onIs: Bool, _ hides: Bool
    ) throws {
        let settings = try Settings(desktop)
        try settings.say("\(!onIs)\n")
        let rig = try Rig(settings.environment)
        let server = try rig.server(name, vendor: vendor)
        rig.start()
        let word = try #require(
            DesktopSwitch.of(
                ServerProfile(name: name, vendor: vendor), desktop: desktop.split(separator: ":").map(String.init))?
                .word)
        #expect(rig.becomes(false, word))
        #expect(settings.asked == ["get " + question])
        try settings.say("\(onIs)\n")
        // dconf names the folder that is written, and what in it.
        let schema = question.split(separator: " ")[0]
        let folder =
            schema == "org.mate.NotificationDaemon"
            ? "/org/mate/notification-daemon/" : "/" + schema.replacingOccurrences(of: ".", with: "/") + "/"
        let dconf = try DBusConnection(rig.base.loop, address: rig.base.desk.bus)
        func notify(_ prefix: String, _ changes: [String]) {
            dconf.emit(
                path: "/ca/desrt/dconf/Writer/user", interface: "ca.desrt.dconf.Writer", member: "Notify",
                [.string(prefix), .strings(changes), .string("tag")])
        }
        notify("/org/gnome/desktop/interface/", ["clock-format"])
        notify(folder + "other-key", [""])
        rig.base.settle()
        #expect(settings.asked.count == 1)
        notify(folder + question.split(separator: " ")[1], [""])
        #expect(rig.becomes(true, word, hidesCritical: hides))
        try settings.say("\(!onIs)\n")
        // A whole folder was reset.
        notify(String(folder.prefix { $0 != "." }.split(separator: "/")[0]).withSlashes, [""])
        #expect(rig.becomes(false, word))
        withExtendedLifetime(server) {}
    }

    @Test(arguments: ["", "maybe\n", "true", String(repeating: "true\n", count: 1000)])
    func whatIsNoAnswerIsUnknown(_ text: String) throws {
        let settings = try Settings("GNOME")
        try settings.say(text)
        let rig = try Rig(settings.environment)
        let server = try rig.server("gnome-shell")
        rig.start()
        rig.base.wait { !settings.asked.isEmpty }
        rig.base.settle(.milliseconds(300))
        #expect(rig.client.state == DoNotDisturb.State())
        withExtendedLifetime(server) {}
    }

    @Test func theServerIsFollowedWhenItIsAnother() throws {
        let rig = try Rig()
        let dunst = try rig.server("dunst")
        dunst.answers["org.dunstproject.cmd0"] = .success([
            .dict([.init("paused", .bool(true)), .init("pauseLevel", .uint32(20))])
        ])
        rig.start()
        #expect(rig.becomes(true, "dunst"))
        dunst.connection.close()
        #expect(rig.becomes(nil, ""))
        #expect(rig.events.map(\.kind) == [.dndOn, .dndOff])
        let plasma = try rig.server("Plasma")
        plasma.answers["org.freedesktop.Notifications.Inhibited"] = .success([.variant(.bool(true))])
        #expect(rig.becomes(true, "Plasma"))
        #expect(rig.events.map(\.kind) == [.dndOn, .dndOff, .dndOn])
    }

    @Test func anUnknownServerMayHaveTheProperty() throws {
        let rig = try Rig()
        let server = try rig.server("Nobody's Server")
        rig.start()
        rig.base.wait { server.count("Get") == 1 }
        rig.base.settle()
        #expect(rig.client.state == DoNotDisturb.State() && rig.client.state.word == "unknown")
        server.connection.close()
        let second = try rig.server("Nobody's Server")
        second.answers["org.freedesktop.Notifications.Inhibited"] = .success([.variant(.bool(true))])
        #expect(rig.becomes(true, "Plasma"))
    }

    @Test func nothingIsStartedForIt() throws {
        let rig = try Rig()
        for name in ["org.freedesktop.Notifications", "org.xfce.Xfconf"] {
            try rig.base.desk.scratch.make(
                "services/\(name).service",
                Data(
                    "[D-BUS Service]\nName=\(name)\nExec=/bin/sh -c 'touch \(rig.base.desk.scratch.at("started"))'\n"
                        .utf8))
        }
        rig.start()
        rig.base.settle(.milliseconds(200))
        let server = try rig.server("Xfce Notify Daemon")
        rig.base.wait { server.count("GetServerInformation") == 1 }
        rig.base.settle(.milliseconds(300))
        #expect(!FileManager.default.fileExists(atPath: rig.base.desk.scratch.at("started")))
        #expect(rig.client.state.isOn == nil)
    }

    @Test func theBusMayGoAndComeBack() throws {
        let rig = try Rig()
        let server = try rig.server("Plasma")
        server.answers["org.freedesktop.Notifications.Inhibited"] = .success([.variant(.bool(true))])
        rig.start()
        #expect(rig.becomes(true, "Plasma"))
        try rig.base.desk.kill("bus")
        #expect(rig.becomes(nil, ""))
        try rig.base.desk.up(["bus"])
        let second = try rig.server("Plasma")
        second.answers["org.freedesktop.Notifications.Inhibited"] = .success([.variant(.bool(true))])
        #expect(rig.becomes(true, "Plasma"))
        withExtendedLifetime(server) {}
    }
}

extension String {
    fileprivate var withSlashes: String { "/\(self)/" }
}
