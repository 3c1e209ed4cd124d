internal import Base
internal import Config
internal import Crypto
internal import DBus
internal import Glibc
internal import Pushes

/// What is wrong with a configuration: its lines, the files that they name, and what a ringd that reads it found.
struct ConfigCheck {
    let session: Session

    init(_ session: Session) { self.session = session }

    func faults(in text: String, of path: String) throws(Refusal) -> [ConfigFault] {
        let (configuration, wrong) = Configuration.read(text)
        let mine = wrong + Self.files(configuration, text) + dialects(configuration)
        // What ringd alone can know; what it found in an older text is marked so.
        let words = Set(mine.map { "\($0)" })
        let others = fromDaemon(path).filter { !words.contains($0) }.map { fault in
            ConfigFault(0, nil, "ringd found at its last reading (ringctl config reload): \(fault)")
        }
        return mine.sorted { $0.line < $1.line } + others
    }

    /// The keys and authorities that the file names, read as ringd reads them.
    static func files(_ configuration: Configuration, _ text: String) -> [ConfigFault] {
        var out: [ConfigFault] = []
        for (id, key) in configuration.apns.keys.sorted(by: { $0.key < $1.key }) {
            guard let why = failure(key.file, { bytes throws(CryptoFailure) in _ = try VerifyingKey(pem: bytes) })
            else { continue }
            out.append(
                ConfigFault(
                    key.line, "[key \(id)] file",
                    "\(why); put the key there or correct the path, then reload; until then its tokens are refused"))
        }
        let line = Configuration.line(of: "apns.authorities", in: text) ?? 1
        for path in configuration.apns.authorities {
            guard let why = failure(path, { bytes throws(CryptoFailure) in _ = try Certificate.all(pem: bytes) })
            else { continue }
            out.append(
                ConfigFault(
                    line, "apns.authorities",
                    "\(path) cannot be used: \(why); until it can, its certificates are not trusted"))
        }
        return out
    }

    /// The dialects that apps are to have, and the user's own files.
    private func dialects(_ configuration: Configuration) -> [ConfigFault] {
        let (book, faults) = Dialects.book(session)
        let unknown = configuration.apps.sorted { $0.key < $1.key }.compactMap { id, app -> ConfigFault? in
            guard let name = app.dialect, book[name] == nil else { return nil }
            return ConfigFault(0, "[app \(id)] dialect", "[app \(id)]: \(Dialects.unknown(name, book).message)")
        }
        return unknown + faults.map { ConfigFault(0, nil, $0) }
    }

    private static func failure(_ path: String, _ use: ([UInt8]) throws(CryptoFailure) -> Void) -> String? {
        var info = stat()
        guard stat(path, &info) == 0 || errno != ENOENT && errno != ENOTDIR else { return "there is no file \(path)" }
        // Not to wait for what no ringd would read.
        guard info.st_mode & S_IFMT == S_IFREG else { return "\(path) is not a file" }
        do {
            try use(try InputFile.read(path, limit: 1 << 16))
            return nil
        } catch let refusal as Refusal {
            return refusal.message
        } catch {
            return "\(error)"
        }
    }

    /// Nothing, if none runs or it reads another file.
    private func fromDaemon(_ path: String) -> [String] {
        func ask(_ member: String) -> [DBusValue]? {
            try? session.call("org.ringd.Monitor1", member, timeout: .seconds(3), startsDaemon: false)
        }
        guard let theirs = ask("Status")?.first?["config"]?.text, Self.real(theirs) == Self.real(path) else {
            return []
        }
        return ask("Configuration")?.last?.elements?.compactMap(\.text) ?? []
    }

    private static func real(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
