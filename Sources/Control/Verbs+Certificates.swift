internal import Base
internal import Crypto

extension Verbs {
    static let certificateVerbs = [
        Verb(
            name: "certs", summary: "Keys and certificates here: what for, until when.",
            example: "ringctl certs"
        ) { _, session throws(Refusal) in try CertificateList.run(session) },
        Verb(
            name: "certs init",
            summary: "Make what is missing of keys and certificates.",
            options: [.init(name: "app", value: "APP-ID", help: "also a VoIP certificate as .pem, .p12 and .cer")]
                + passwords("of the .p12 file (none, if not given)"),
            details: """
                What is there and in order stays as it is; say it as often as you like.

                Senders that read a variable trust this gateway with
                SSL_CERT_FILE=~/.local/state/ringd/certs/bundle.pem, others with ca.pem.
                A push by curl, with the token from ringctl apps:

                  cd ~/.local/state/ringd/certs
                  curl -i --http2 --cacert ca.pem --cert voip-com.example.talk.pem \\
                      -H 'apns-topic: com.example.talk.voip' -H 'apns-push-type: voip' \\
                      -d '{"callId":"'$(cat /proc/sys/kernel/random/uuid)'"}' \\
                      https://localhost:2197/3/device/TOKEN

                An id rings once: for ten minutes after its call is over, pushes with it
                ring nothing.

                With the provider key instead: -H "authorization: bearer
                $(ringctl apns token)"; Docs/apns.md has more.
                """,
            example: "ringctl certs init --app com.example.talk --password-file ~/.p12-password"
        ) { invocation, session throws(Refusal) in try CertificateInit.run(invocation, session) },
        Verb(
            name: "certs show", takes: "FILE…", summary: "What is in such files, and what is wrong with it.",
            options: passwords("of what is encrypted"),
            details: """
                Several files are looked at as one: certificate and key, and whether they
                belong together.
                """,
            example: "ringctl certs show aps.cer applecert.p12", count: 1...16
        ) { invocation, session throws(Refusal) in try CertificateShow.run(invocation, session) },
        Verb(
            name: "certs convert", takes: "FILE…",
            summary: "From .cer, .p12, .pem and .p8 into one file.",
            options: [
                .init(name: "out", value: "FILE|-", help: "where to; beside the first FILE, if not given"),
                .init(name: "to", value: "pem|p12|der", help: "as what; by the ending of --out, if not given"),
                .init(name: "key-first", help: "PEM with the key before the certificate"),
                .init(name: "legacy", help: "PKCS#12 for old readers: Triple DES, SHA-1"),
                .init(name: "force", help: "replace a file that is there"),
            ] + passwords("of what is encrypted")
                + [
                    .init(name: "out-password", value: "P", help: "to encrypt .p12, or the key in a PEM, with"),
                    .init(name: "out-password-file", value: "FILE|-", help: "the same from a file's first line"),
                ],
            details: """
                Instead of openssl x509 -inform der, openssl pkcs12 -nodes, and
                cat cert.pem key.pem > ck.pem. Files may be of any form and in any order,
                and the key must belong to the certificate. What is written is 0600.
                """,
            example: "ringctl certs convert voip.cer VoIPKey.p12 --password-file pw --out ck.pem", count: 1...16
        ) { invocation, session throws(Refusal) in try CertificateConvert.run(invocation, session) },
    ]

    private static func passwords(_ what: String) -> [Verb.Option] {
        [
            .init(name: "password", value: "P", help: "password \(what); others on this machine can see it"),
            .init(
                name: "password-file", value: "FILE|-", help: "the same from a file's first line, where nobody sees it"),
        ]
    }
}

extension Invocation {
    /// The password that `--NAME` or `--NAME-file` gives; nil without either.
    func password(_ name: String = "password") throws(Refusal) -> String? {
        switch (options[name], options[name + "-file"]) {
        case (_?, _?): throw .usage("\(verb): give --\(name) or --\(name)-file, not both")
        case (let text?, nil): return text
        case (nil, let path?): return try InputFile.password(path)
        case (nil, nil): return nil
        }
    }

    /// Refuses a line that asks for standard input (`-`) more than once. To be called before anything is read.
    func checkInput() throws(Refusal) {
        let files = arguments + [options["password-file"], options["out-password-file"]].compactMap { $0 }
        guard files.count(where: { $0 == "-" }) <= 1 else {
            throw .usage("\(verb): standard input (-) can be read once")
        }
    }

    /// What all the files hold together.
    func material() throws(Refusal) -> KeyMaterial {
        let password = try password()
        var material = KeyMaterial()
        for path in arguments {
            let bytes = try InputFile.read(path, limit: KeyMaterial.sizeLimit)
            do throws(CryptoFailure) {
                try material.add(bytes, file: Text.clean(path), passwords: password.map { [$0] } ?? [])
            } catch {
                throw Refusal(error, password: password)
            }
        }
        return material
    }
}

extension Refusal {
    /// A failure of `Crypto`, with what to do about a password.
    init(_ failure: CryptoFailure, password: String? = nil) {
        let cure = failure.code == .password && password == nil ? " (--password-file FILE)" : ""
        // What OpenSSL says of a wrong password helps nobody.
        let text = failure.code == .password ? failure.message : failure.description
        self = .refused(Text.clean(text, limit: 1000) + cure)
    }
}
