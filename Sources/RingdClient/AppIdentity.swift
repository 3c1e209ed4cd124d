internal import Base
internal import Foundation

/// Which app this program is: the id that is its D-Bus name and its desktop file's.
package enum AppIdentity {
    /// `RINGD_APP_ID`, else the desktop file that starts this program.
    package static func find(
        _ environment: [String: String] = ProcessInfo.processInfo.environment,
        program: String = Bundle.main.executablePath ?? CommandLine.arguments[0]
    ) -> String? {
        if let id = environment["RINGD_APP_ID"], !id.isEmpty { return AppID.isValid(id) ? id : nil }
        let name = (program as NSString).lastPathComponent
        for folder in folders(environment) {
            // A folder of some thousand files is read once, at the start of the app.
            guard let files = try? FileManager.default.contentsOfDirectory(atPath: folder) else { continue }
            for file in files.sorted() where file.hasSuffix(".desktop") {
                let id = String(file.dropLast(8))
                guard AppID.isValid(id), starts(program: name, path: program, file: folder + "/" + file) else {
                    continue
                }
                return id
            }
        }
        return nil
    }

    /// XDG Base Directory Specification: the user's own first.
    private static func folders(_ environment: [String: String]) -> [String] {
        let home =
            environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? (environment["HOME"] ?? NSHomeDirectory()) + "/.local/share"
        let others = environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        return ([home] + others.split(separator: ":").map(String.init)).map { $0 + "/applications" }
    }

    /// The first word of `Exec=`, unquoted (Desktop Entry Specification, "The Exec key").
    private static func starts(program: String, path: String, file: String) -> Bool {
        guard let handle = FileHandle(forReadingAtPath: file) else { return false }
        defer { try? handle.close() }
        guard let data = try? handle.read(upToCount: 65_536), let text = String(data: data, encoding: .utf8) else {
            return false
        }
        for line in text.split(separator: "\n") where line.hasPrefix("Exec=") {
            let command = line.dropFirst(5).drop { $0 == " " }
            let word: Substring =
                command.first == "\"" ? command.dropFirst().prefix { $0 != "\"" } : command.prefix { $0 != " " }
            return word == path || (String(word) as NSString).lastPathComponent == program
        }
        return false
    }
}
