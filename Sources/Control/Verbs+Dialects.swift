internal import Base
internal import JSON
internal import Pushes

extension Verbs {
    static let dialectVerbs = [
        Verb(
            name: "dialects", summary: "The payload families that ringd reads.",
            details: """
                A dialect is a file that says where in a payload a call's id, its caller
                and the rest stand. Your own go to ~/.config/ringd/dialects/NAME.dialect,
                without building anything; one with the name of ours takes its place.

                ringd finds out which dialect a payload is written in; [app APP-ID] in
                ringd.conf can say it (dialect = NAME), and whether what no dialect knows
                may ring in the plain form (plain = yes or no).
                """, example: "ringctl dialects"
        ) { _, session throws(Refusal) in try Dialects.list(session) },
        Verb(
            name: "dialects show", takes: "NAME", summary: "Print a dialect's file, to learn from or to change.",
            example: "ringctl dialects show twilio > my-twilio.dialect", count: 1...1
        ) { invocation, session throws(Refusal) in try Dialects.show(invocation.arguments[0], session) },
        Verb(
            name: "dialects check", takes: "FILE", summary: "Name what is wrong with a dialect file, and try it.",
            options: [.init(name: "payload", value: "FILE|-", help: "say what it makes of this payload, and why")],
            example: "ringctl dialects check my-pbx.dialect --payload push.json", count: 1...1
        ) { invocation, session throws(Refusal) in try Dialects.check(invocation, session) },
        Verb(
            name: "dialects explain", takes: "FILE|-",
            summary: "Which dialect a payload is, how sure, and what it says.",
            details: """
                A .apns file is its payload. certain: it has what no other family has;
                likely: it has what the family's payloads have; none: only the plain form
                is left.
                """, example: "ringctl dialects explain push.json", count: 1...1
        ) { invocation, session throws(Refusal) in try Dialects.explain(invocation.arguments[0], session) },
    ]
}

/// `ringctl dialects …`: all of it without ringd, from the same code.
enum Dialects {
    /// Ours and the user's.
    static func book(_ session: Session) -> (book: DialectBook, faults: [String]) {
        DialectBook.installed(in: session.dialectFolder)
    }

    static func list(_ session: Session) throws(Refusal) {
        let (book, faults) = book(session)
        if session.isJSON {
            return try session.say(
                .object(
                    ("dialects", .array(book.dialects.map(json))), ("faults", .array(faults.map(JSONValue.string)))))
        }
        for dialect in book.dialects {
            let what = dialect.opaque.map { "not read: \($0)" } ?? dialect.says.map(\.rawValue).joined(separator: ", ")
            let name = dialect.name.rightPadded(to: 18)
            let line = name + dialect.title.rightPadded(to: 36) + what + (dialect.isOwn ? "  (yours)" : "")
            try session.say(dialect.opaque == nil ? line : session.style(.dim, line))
        }
        for fault in faults { try session.say(session.style(.yellow, "! \(fault)")) }
    }

    private static func json(_ dialect: Dialect) -> JSONValue {
        .object(
            ("name", .string(dialect.name)), ("title", .string(dialect.title)), ("about", .string(dialect.about)),
            ("says", .array(dialect.says.map { .string($0.rawValue) })), ("has_id", .bool(dialect.hasID)),
            ("opaque", dialect.opaque.map(JSONValue.string) ?? .null), ("own", .bool(dialect.isOwn)))
    }

    static func show(_ name: String, _ session: Session) throws(Refusal) {
        let path = session.dialectFolder + "/" + name + ".dialect"
        var text: String?
        if Dialect.isName(name) {
            // An empty file is one that the shell has just made, for what is printed here.
            let own = try OutputFile.read(path).flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
            text = own ?? DialectBook.text(of: name)
        }
        guard let text else { throw unknown(name, book(session).book) }
        if session.isJSON { return try session.say(.object(("name", .string(name)), ("text", .string(text)))) }
        try session.say(text.trimmedLineEnd)
    }

    static func unknown(_ name: String, _ book: DialectBook) -> Refusal {
        let hint = Text.nearest(to: name, in: book.names).map { "; did you mean \($0)?" } ?? ""
        return .refused("there is no dialect \"\(Text.clean(name, limit: 60))\" (ringctl dialects)\(hint)")
    }

    // MARK: Trying

    static func check(_ invocation: Invocation, _ session: Session) throws(Refusal) {
        let path = invocation.arguments[0]
        let file = path.split(separator: "/").last.map(String.init) ?? path
        let name = file.hasSuffix(".dialect") ? String(file.dropLast(8)) : file
        let text = String(decoding: try InputFile.read(path, limit: DialectFile.sizeLimit), as: UTF8.self)
        let others = TextFolder.read(session.dialectFolder, suffix: ".dialect", limit: DialectFile.sizeLimit)
        let (dialect, faults) = DialectFile.read(text, name: name) { below, above in
            (below == above ? nil : others.first { $0.name == below }?.text) ?? DialectBook.text(of: below)
        }
        guard let dialect else {
            if session.isJSON {
                try session.say(
                    .object(
                        (
                            "faults",
                            .array(
                                faults.map {
                                    .object(("line", .integer(Int64($0.line))), ("reason", .string($0.reason)))
                                })
                        )))
            } else {
                for fault in faults { try session.say("\(path): \(fault.line > 0 ? "\(fault)" : fault.reason)") }
            }
            throw Refusal(status: 1, message: "")
        }
        guard let payload = invocation.options["payload"] else {
            if session.isJSON { return try session.say(.object(("faults", .array([])))) }
            return try session.say("\(path): no faults; says \(dialect.says.map(\.rawValue).joined(separator: ", "))")
        }
        try Trial(session, try payloadJSON(payload)).of(dialect)
    }

    static func explain(_ path: String, _ session: Session) throws(Refusal) {
        let (book, faults) = book(session)
        if !session.isJSON {
            for fault in faults { try session.say(session.style(.yellow, "! \(fault)")) }
        }
        try Trial(session, try payloadJSON(path)).detection(book)
    }

    /// A payload, or what is one in an `.apns` file.
    private static func payloadJSON(_ path: String) throws(Refusal) -> JSONValue {
        let bytes = try InputFile.read(path, limit: 1 << 20)
        let text = (try? ApnsFile(String(decoding: bytes, as: UTF8.self)))?.payload
        do throws(JSONFailure) {
            if let text { return try JSONValue.parse(text) }
            return try JSONValue.parse(bytes)
        } catch {
            throw .refused("\(Text.clean(path)) is not JSON: \(error)")
        }
    }
}
