internal import Glibc

extension SoundCatalog {
    /// Copies a sound into the user's folder after checking that it decodes; what libsndfile cannot read goes through
    /// `converter` (the path of ringd-decode). Blocks, for up to a minute: for a worker's thread.
    ///
    /// - Parameter name: what it shall be called; nil takes the file's own name.
    /// - Returns: the sound as installed. It takes the place of an older one with that name.
    package func install(
        file: String, as name: String? = nil, converter: String?
    ) throws(SoundFailure) -> InstalledSound {
        let entry = String(file[(file.lastIndex(of: "/").map(file.index(after:)) ?? file.startIndex)...])
        let (ownStem, suffix) = SoundName.split(entry)
        let stem = try SoundName(name ?? ownStem).text
        guard Folder.make(userFolder) else {
            throw SoundFailure(
                userFolder, "cannot be made (\(String(cString: strerror(errno))))", cure: "check who owns it")
        }
        let refused: SoundFailure?
        do throws(SoundFailure) {
            _ = try SoundFile.decode(path: file)
            refused =
                Self.suffixes.contains(suffix)
                ? nil : SoundFailure(file, "has no sound file's extension", cure: "name it .wav, .flac or .oga")
        } catch {
            refused = error
        }
        let target = "\(userFolder)/\(stem).\(refused == nil ? suffix : "flac")"
        if let refused {
            // Nothing to convert in what is not a file.
            guard Folder.isFile(file), let converter else { throw refused }
            try Converter(path: converter).run(file, to: target)
            _ = try SoundFile.decode(path: target)
        } else {
            try Self.copy(file, to: target)
        }
        for other in Folder.entries(userFolder) where SoundName.split(other).stem == stem {
            let path = userFolder + "/" + other
            if path != target, Self.suffixes.contains(SoundName.split(other).suffix) { unlink(path) }
        }
        return InstalledSound(name: stem, path: target, origin: .user)
    }

    /// Whole or not at all: written beside its place, then renamed.
    private static func copy(_ source: String, to target: String) throws(SoundFailure) {
        func failure(_ path: String) -> SoundFailure {
            SoundFailure(path, "copying stopped (\(String(cString: strerror(errno))))", cure: "is the disk full?")
        }
        let input = open(source, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard input >= 0 else { throw failure(source) }
        defer { close(input) }
        let draft = "\(target).\(getpid()).part"
        let output = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard output >= 0 else { throw failure(target) }
        var left = SoundFile.maxBytes
        while left > 0 {
            let moved = sendfile(output, input, nil, 1 << 20)
            if moved == 0 { break }
            guard moved > 0 else {
                let error = failure(target)
                close(output)
                unlink(draft)
                throw error
            }
            left -= Int64(moved)
        }
        guard fsync(output) == 0, close(output) == 0, rename(draft, target) == 0 else {
            let error = failure(target)
            unlink(draft)
            throw error
        }
    }
}
