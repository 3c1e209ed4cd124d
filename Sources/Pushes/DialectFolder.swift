internal import Base

extension DialectBook {
    /// Ours and those of a user's folder, `*.dialect`. `earlier`: what was read before, of which a file that has a fault now
    /// leaves in force what it said then: calls that ring by it are to be ended by it. What cannot be used is named by its
    /// path, and left out.
    package static func installed(
        in folder: String, earlier: DialectBook? = nil
    ) -> (book: DialectBook, faults: [String]) {
        let files = TextFolder.read(folder, suffix: ".dialect", limit: DialectFile.sizeLimit)
        let (book, faults) = builtIn.adding(
            files.compactMap { file in file.text.map { (file.name, $0) } }, earlier: earlier)
        let unread = files.filter { $0.text == nil }.map { "\($0.path) \($0.fault)" }
        // A file may be called anything.
        return (
            book,
            (unread + faults.map { "\(folder)/\($0.name).dialect: \($0.fault)" }).map { Text.clean($0, limit: 600) }
        )
    }
}
