import Base
import BusService
import Config
import Foundation
import Testing

/// What is written about interfaces names all of them.
struct DocsTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func page(_ name: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(name), encoding: .utf8)
    }

    @Test func everyEventIsDocumented() throws {
        let text = try page("Docs/events.md")
        for kind in Event.Kind.allCases { #expect(text.contains("`\(kind.rawValue)`"), "\(kind.rawValue)") }
    }

    @Test func everyMethodIsDocumented() throws {
        let text = try page("Docs/dbus.md")
        for interface in BusInterface.described {
            #expect(text.contains(interface.name))
            for method in interface.methodNames { #expect(text.contains(method), "\(interface.name).\(method)") }
        }
    }

    /// `RINGD_WRITE=1 swift test --filter DocsTests` writes the files anew.
    @Test func theInstalledInterfacesAreOurs() throws {
        for interface in BusInterface.described {
            let file = root.appendingPathComponent("Systemd/interfaces/\(interface.name).xml")
            if ProcessInfo.processInfo.environment["RINGD_WRITE"] != nil {
                try interface.file.write(to: file, atomically: true, encoding: .utf8)
            }
            #expect(try String(contentsOf: file, encoding: .utf8) == interface.file, "\(file.lastPathComponent)")
        }
    }

    @Test func theReadMeNamesOnlySettingsThatExist() throws {
        let text = try page("README.md")
        let known = Set(Setting.all.map(\.name))
        for match in text.matches(of: /`((?:ring|sound|screening|apns|webhook)\.[a-z0-9-]+)/) where match.1 != "ring.md"
        {
            #expect(known.contains(String(match.1)), "\(match.1)")
        }
    }

    @Test func theReadMeNamesEverySettingOfScreening() throws {
        let text = try page("README.md")
        for setting in Setting.all where setting.section == "screening" {
            #expect(text.contains("`\(setting.name)`"), "\(setting.name)")
        }
    }

    /// What an app can name of Apple's modules has a line in the table of what works.
    @Test func everyTypeOfTheModulesIsDocumented() throws {
        let spans = try page("Docs/swift-modules.md").split(separator: "`", omittingEmptySubsequences: false)
        // Every other one is code; what is dotted names each of its parts.
        let named = Set(
            spans.enumerated().filter { !$0.offset.isMultiple(of: 2) }.flatMap {
                $0.element.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
            })
        for module in ["CallKit", "PushKit", "AVFAudio", "UserNotifications"] {
            let folder = root.appendingPathComponent("Sources/\(module)")
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            var types: Set<String> = []
            for file in files where file.pathExtension == "swift" {
                let source = try String(contentsOf: file, encoding: .utf8)
                let declaration = /(?:public|open) (?:final )?(?:class|struct|enum|protocol) (?!func |var )(\w+)/
                for match in source.matches(of: declaration) { types.insert(String(match.1)) }
            }
            #expect(types.count > 5, "\(module)")
            for type in types { #expect(named.contains(type[...]), "\(module).\(type)") }
        }
    }
}
