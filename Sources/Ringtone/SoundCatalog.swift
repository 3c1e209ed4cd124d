internal import Base
internal import Glibc

/// A sound that can be asked for by name.
package struct InstalledSound: Sendable, Equatable {
    package enum Origin: String, Sendable {
        /// The user's folder.
        case user
        /// An administrator's or a package's folder.
        case system
        /// ringd's own set.
        case own
        /// The desktop's sound theme.
        case theme
    }
    package let name: String
    package let path: String
    package let origin: Origin
}

/// Where sounds live and which one a call gets. A value: it reads the file system at each question, holds nothing open,
/// and may be used on any thread.
package struct SoundCatalog: Sendable, Equatable {
    /// The user's sounds: `$XDG_DATA_HOME/ringd/sounds`.
    package let userFolder: String
    /// `…/ringd/sounds` of each of `$XDG_DATA_DIRS`.
    let systemFolders: [String]
    let themes: SoundTheme
    /// The desktop's sound theme; nil is `freedesktop`.
    package var themeName: String?
    /// The folder of our own set (a theme's folder), if it is not installed as the theme `ringd`.
    let ownFolder: String?

    /// The sound every phone theme has.
    package static let incomingCall = "phone-incoming-call"

    /// `home` and the two XDG variables as the environment has them; relative entries are ignored, as XDG wants.
    package init(
        home: String, dataHome: String?, dataDirs: String?, themeName: String? = nil, ownFolder: String? = nil
    ) {
        func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let first = absolute(dataHome) ?? home + "/.local/share"
        let listed = (dataDirs ?? "").split(separator: ":").compactMap { absolute(String($0)) }
        let rest = listed.isEmpty ? ["/usr/local/share", "/usr/share"] : Array(listed.prefix(32))
        userFolder = first + "/ringd/sounds"
        systemFolders = rest.map { $0 + "/ringd/sounds" }
        themes = SoundTheme(bases: ([first] + rest).map { $0 + "/sounds" })
        self.themeName = themeName
        self.ownFolder = ownFolder
    }

    /// This process's environment. Call it before threads change it.
    package init(themeName: String? = nil, ownFolder: String? = nil) {
        func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
        self.init(
            home: variable("HOME") ?? "/", dataHome: variable("XDG_DATA_HOME"), dataDirs: variable("XDG_DATA_DIRS"),
            themeName: themeName, ownFolder: ownFolder)
    }

    /// The push's sound, else the app's, the user's, the theme's ringtone, ours; and the later ones as what to play if
    /// an earlier one cannot be decoded.
    package func resolve(_ request: SoundRequest) -> ResolvedSound {
        var found: [ResolvedSound.Candidate] = []
        var missing: [String] = []
        func add(_ step: ResolvedSound.Step, _ path: String) {
            guard !found.contains(where: { $0.path == path }) else { return }
            let file = path[path.index(after: path.lastIndex(of: "/")!)...]
            found.append(.init(step: step, name: SoundName.split(String(file)).stem, path: path))
        }
        func silence() -> ResolvedSound { ResolvedSound(candidates: [], isSilent: true, missing: missing) }

        let asked = [(ResolvedSound.Step.pushed, request.pushed), (.app, request.app), (.user, request.user)]
        for case (let step, let wanted?) in asked where !wanted.isEmpty && wanted != "default" {
            // A stranger cannot silence a call by naming silence.
            if wanted == "none", step != .pushed {
                if found.isEmpty { return silence() }
                continue
            }
            // The user's own setting may be a path; nobody else's.
            if step == .user, wanted.hasPrefix("/") {
                if Folder.isFile(wanted) { add(step, wanted) } else { missing.append("\(wanted) is not there") }
                continue
            }
            do throws(SoundFailure) {
                let name = try SoundName(wanted)
                if let path = find(name) {
                    add(step, path)
                } else {
                    missing.append(whyMissing(name))
                }
            } catch {
                missing.append("\(error)")
            }
        }
        switch themes.find(Self.incomingCall, in: themes.chain(from: themeName ?? "freedesktop")) {
        case .file(let path): add(.theme, path)
        case .disabled: if found.isEmpty { return silence() }
        case nil: break
        }
        if let path = own(Self.incomingCall) { add(.own, path) }
        return ResolvedSound(candidates: found, missing: missing)
    }

    /// Everything that can be named, the user's first; of two with one name only the one that would be played.
    package func list() -> [InstalledSound] {
        var all: [InstalledSound] = []
        var seen: Set<String> = []
        func add(_ folder: String, _ origin: InstalledSound.Origin) {
            for entry in Folder.entries(folder) {
                let (stem, suffix) = SoundName.split(entry)
                let path = folder + "/" + entry
                guard Self.suffixes.contains(suffix), !seen.contains(stem), Folder.isFile(path) else { continue }
                seen.insert(stem)
                all.append(InstalledSound(name: stem, path: path, origin: origin))
            }
        }
        add(userFolder, .user)
        for folder in systemFolders { add(folder, .system) }
        for folder in ownFolders { add(folder + "/stereo", .own) }
        // Of a desktop's hundred beeps only what belongs to calls.
        for theme in themes.chain(from: themeName ?? "freedesktop") {
            for base in themes.bases {
                for entry in Folder.entries("\(base)/\(theme)/stereo") where entry.hasPrefix("phone-") {
                    let (stem, suffix) = SoundName.split(entry)
                    guard Self.suffixes.contains(suffix), !seen.contains(stem) else { continue }
                    seen.insert(stem)
                    all.append(InstalledSound(name: stem, path: "\(base)/\(theme)/stereo/\(entry)", origin: .theme))
                }
            }
        }
        return all
    }

    // MARK: One name

    /// What libsndfile reads, the better first.
    static let suffixes = ["flac", "oga", "ogg", "wav", "opus", "mp3", "aiff", "aif", "aifc", "au", "caf", "w64"]

    /// The installed sound of that name. An extension in the name is a wish, not a demand: `weixin.m4a` is met by
    /// `weixin.flac`.
    func find(_ name: SoundName) -> String? {
        for folder in [userFolder] + systemFolders {
            if let path = Self.find(name, in: folder) { return path }
        }
        let stems = name.text == name.stem ? [name.text] : [name.text, name.stem]
        for stem in stems {
            if case .file(let path)? = themes.find(stem, in: themes.chain(from: themeName ?? "freedesktop")) {
                return path
            }
            if let path = own(stem) { return path }
        }
        return nil
    }

    private static func find(_ name: SoundName, in folder: String) -> String? {
        let entries = Folder.entries(folder)
        func best(_ matches: (_ stem: String, _ entry: String) -> Bool) -> String? {
            let hits = entries.compactMap { entry -> (rank: Int, path: String)? in
                let (stem, suffix) = SoundName.split(entry)
                guard matches(stem, entry), let rank = suffixes.firstIndex(of: suffix) else { return nil }
                return (rank, folder + "/" + entry)
            }
            return hits.sorted { $0.rank < $1.rank }.first { Folder.isFile($0.path) }?.path
        }
        return best { _, entry in entry == name.text } ?? best { stem, _ in stem == name.text }
            ?? best { stem, _ in stem == name.stem }
    }

    private func whyMissing(_ name: SoundName) -> String {
        let shown = Text.clean(name.text, limit: 128)
        // Dropped into the folder by hand, in a format that needs conversion.
        for folder in [userFolder] + systemFolders {
            let raw = Folder.entries(folder).first { $0 == name.text || SoundName.split($0).stem == name.stem }
            if let raw { return "\"\(shown)\" needs converting: ringctl sounds add \(folder)/\(Text.clean(raw))" }
        }
        return "\"\(shown)\" is not installed: ringctl sounds add FILE"
    }

    private var ownFolders: [String] { (ownFolder.map { [$0] } ?? []) + themes.bases.map { $0 + "/ringd" } }

    private func own(_ name: String) -> String? {
        for folder in ownFolders {
            if case .file(let path)? = SoundTheme.find(name, inTheme: folder) { return path }
        }
        return nil
    }
}
