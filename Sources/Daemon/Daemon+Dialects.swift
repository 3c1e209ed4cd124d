internal import Base
internal import Config
internal import Pushes

/// Which dialects there are, and which of them an app's payloads are read in.
extension Daemon {
    /// Ours, and the user's own; read when a payload first needs them, or shortly after the start.
    var dialects: DialectBook {
        if let dialectBook, !areDialectsOld { return dialectBook }
        let (book, faults) = DialectBook.installed(in: paths.dialects, earlier: dialectBook)
        dialectBook = book
        areDialectsOld = false
        dialectFaults = faults
        for fault in faults {
            emit(
                Event(
                    .configFault, level: .warning, "\(fault); the dialect is not used, or as it was before",
                    [.init("key", .text("dialect"))]))
        }
        return book
    }

    /// What the configuration says of an app's payloads.
    func dialectChoice(_ app: String) -> DialectBook.Choice {
        guard let own = configuration.apps[app] else { return DialectBook.Choice(region: region) }
        return DialectBook.Choice(dialect: own.dialect, allowsPlain: own.allowsPlain, region: region)
    }

    /// What is wrong with the user's own files, and apps whose dialect there is not: theirs is found out, then.
    var dialectChecks: [String] {
        let book = dialects
        return dialectFaults
            + configuration.apps.sorted { $0.key < $1.key }.compactMap { id, app in
                guard let name = app.dialect, book[name] == nil else { return nil }
                let hint = Text.nearest(to: name, in: book.names).map { "; did you mean \($0)?" } ?? ""
                return "[app \(id)] dialect: there is no dialect \"\(name)\" (ringctl dialects)\(hint)"
            }
    }
}
