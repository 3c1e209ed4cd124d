import Base
import BusService
import Config
import Foundation
import Testing

/// What is written about interfaces names all of them.
struct DocsTests {
    private func page(_ name: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent(name), encoding: .utf8)
    }

    @Test func everyEventIsDocumented() throws {
        let text = try page("Docs/events.md")
        for kind in Event.Kind.allCases { #expect(text.contains("`\(kind.rawValue)`"), "\(kind.rawValue)") }
    }

    @Test func everyMethodIsDocumented() throws {
        let text = try page("Docs/dbus.md")
        for interface in BusInterface.root + [.call] {
            #expect(text.contains(interface.name))
            for method in interface.methodNames { #expect(text.contains(method), "\(interface.name).\(method)") }
        }
    }

    @Test func theReadMeNamesOnlySettingsThatExist() throws {
        let text = try page("README.md")
        let known = Set(Setting.all.map(\.name))
        for match in text.matches(of: /`((?:ring|sound|screening|apns)\.[a-z0-9-]+)/) where match.1 != "ring.md" {
            #expect(known.contains(String(match.1)), "\(match.1)")
        }
    }

    @Test func theReadMeNamesEverySettingOfScreening() throws {
        let text = try page("README.md")
        for setting in Setting.all where setting.section == "screening" {
            #expect(text.contains("`\(setting.name)`"), "\(setting.name)")
        }
    }
}
