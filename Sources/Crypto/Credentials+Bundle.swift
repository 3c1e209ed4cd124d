extension Credentials {
    /// Where distributions keep what they trust, in one file: Debian and its relatives; Fedora; openSUSE; Arch, Alpine.
    package static let systemAuthorities = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// The path of `bundle.pem`: the first of `system` that is there, and our authority. Written anew if either changed.
    ///
    /// For `SSL_CERT_FILE` and its like (curl, PHP, Python, Ruby, Go), which replace what is trusted instead of adding to
    /// it. Throws `.file` if it cannot be read or written.
    package func bundlePath(system: [String] = systemAuthorities) throws(CryptoFailure) -> String {
        let path = directory + "/bundle.pem"
        var wanted: [UInt8] = []
        if let file = system.first(where: PrivateFile.exists) {
            wanted = try PrivateFile.read(file, limit: 16 << 20)
            if let last = wanted.last, last != UInt8(ascii: "\n") { wanted.append(UInt8(ascii: "\n")) }
        }
        wanted += try authority.certificate.pem
        if PrivateFile.exists(path), let held = try? PrivateFile.read(path, limit: 17 << 20), held == wanted {
            PrivateFile.restrict(path)
            return path
        }
        try PrivateFile.write(wanted, to: path)
        notes.append("made the bundle of authorities \(path)")
        return path
    }
}
