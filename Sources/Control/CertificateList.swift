internal import Base
internal import Crypto
internal import JSON

/// `ringctl certs`.
enum CertificateList {
    private struct Row {
        var file: String
        var what: String
        var whom = ""
        var certificate: Certificate?
    }

    static func run(_ session: Session) throws(Refusal) {
        let folder = session.certificates
        let names = PrivateFile.names(in: folder) { name in
            name == "provider.txt"
                || !name.hasPrefix(".") && ["pem", "key", "p8", "p12", "cer"].contains { name.hasSuffix("." + $0) }
        }
        let rows = names.map { row($0, folder) }
        if session.isJSON { return try session.say(json(folder, rows)) }
        guard !rows.isEmpty else { throw .refused("nothing is in \(folder) yet (ringctl certs init)") }
        try session.say(folder)
        let width = min(40, rows.map(\.file.count).max() ?? 0) + 2
        for row in rows { try session.say(line(row, width, session.style)) }
    }

    private static func line(_ row: Row, _ width: Int, _ style: Style) -> String {
        let what = row.whom.isEmpty && row.certificate == nil ? row.what : row.what.rightPadded(to: 20)
        var line = row.file.rightPadded(to: width) + what
        guard let certificate = row.certificate else { return line + row.whom }
        line += row.whom.rightPadded(to: 34)
        let until = certificate.notAfter.formatted("%Y-%m-%d")
        let left = certificate.notAfter.seconds - WallTime.now.seconds
        let end =
            left < 0
            ? style(.red, "ended \(until)")
            : left < Credentials.renewalDays * 86_400 ? style(.yellow, "until \(until)") : "until \(until)"
        return line + " \(end)  \(Hex.text(certificate.facts.fingerprint.prefix(4)))"
    }

    private static func row(_ name: String, _ folder: String) -> Row {
        let file = Text.clean(name)
        if name == "bundle.pem" { return Row(file: file, what: "authorities", whom: "the system's and ca.pem") }
        if name == "provider.txt" { return Row(file: file, what: "its ids", whom: ids("\(folder)/\(name)")) }
        var material = KeyMaterial()
        do throws(CryptoFailure) {
            try material.add(PrivateFile.read("\(folder)/\(name)"), file: file)
        } catch {
            return Row(
                file: file, what: error.code == .password ? "has a password" : "cannot be used",
                whom: error.code == .password ? "" : error.message)
        }
        guard let certificate = material.leaf else {
            let id = CertificateShow.keyID([name])
            return Row(
                file: file, what: id == nil ? "private key" : "provider key",
                whom: id.map { "key id \($0)" } ?? material.keys.first?.kind ?? "")
        }
        return Row(file: file, what: certificate.role.words, whom: whom(certificate), certificate: certificate)
    }

    private static func ids(_ path: String) -> String {
        guard let bytes = try? PrivateFile.read(path) else { return "" }
        let lines = String(decoding: bytes.prefix(1024), as: UTF8.self).split(separator: "\n")
        return lines.filter { !$0.hasPrefix("#") }.map { Text.clean(String($0), limit: 40) }.joined(separator: ", ")
    }

    private static func whom(_ certificate: Certificate) -> String {
        let facts = certificate.facts
        switch certificate.role {
        case .voip, .push: return facts.bundle ?? facts.topics.first ?? facts.commonName ?? ""
        case .server:
            let names = certificate.serverNames
            return names.count == 1 ? names[0] : "\(names[0]) and \(names.count - 1) more"
        case .authority, .other: return facts.commonName ?? facts.subject
        }
    }

    private static func json(_ folder: String, _ rows: [Row]) -> JSONValue {
        let files = rows.map { row in
            JSONValue.object(
                ("file", .string(row.file)), ("what", .string(row.what)), ("for", .string(row.whom)),
                ("not_after", row.certificate.map { .integer($0.notAfter.seconds) } ?? .null),
                ("fingerprint", row.certificate.map { .string(Hex.text($0.facts.fingerprint)) } ?? .null))
        }
        return .object(("folder", .string(folder)), ("files", .array(files)))
    }
}
