internal import Base
internal import JSON
internal import Pushes

/// What is made of one payload, in words or as JSON.
struct Trial {
    let session: Session
    let payload: JSONValue

    init(_ session: Session, _ payload: JSONValue) {
        self.session = session
        self.payload = payload
    }

    /// By one dialect, whoever else may know it.
    func of(_ dialect: Dialect) throws(Refusal) {
        // The plain form goes with every dialect.
        let book = DialectBook(
            dialect.name == DialectBook.plainName ? [dialect] : [DialectBook.builtIn.plain, dialect])
        let match = book.match(dialect.name, payload)
        guard let match else {
            if session.isJSON {
                try session.say(.object(("dialect", .string(dialect.name)), ("matches", false)))
            } else {
                try session.say("the payload is not known by [detect]; of its conditions these hold not:")
                for condition in dialect.unmet(in: payload) { try session.say("  \(condition)") }
            }
            throw Refusal(status: 1, message: "")
        }
        try tell(match, book, .init(dialect: dialect.name))
    }

    /// As ringd finds it out.
    func detection(_ book: DialectBook) throws(Refusal) {
        switch book.detect(payload) {
        case .one(let match): try tell(match, book, .init())
        case .ambiguous(let all):
            if !session.isJSON {
                try session.say("may be \(all.map(\.dialect.name).joined(separator: " or ")): so none of them")
            }
            try tell(nil, book, .init())
        case .none: try tell(nil, book, .init())
        }
    }

    private func tell(_ match: DialectBook.Match?, _ book: DialectBook, _ choice: DialectBook.Choice) throws(Refusal) {
        let reading: DialectBook.Reading
        do throws(PayloadFault) { reading = try book.read(payload, choice, tellsPlaces: true) } catch {
            if session.isJSON {
                try session.say(
                    .object(
                        ("dialect", match.map { .string($0.dialect.name) } ?? .null),
                        ("sureness", .string((match?.sureness ?? .none).rawValue)), ("because", because(match)),
                        ("fault", .string(error.description))))
            } else {
                try head(match)
                try session.say("no call: \(error)")
            }
            throw Refusal(status: 1, message: "")
        }
        if session.isJSON {
            return try session.say(
                .object(
                    ("dialect", .string(reading.dialect)), ("sureness", .string(reading.sureness.rawValue)),
                    ("because", because(match)), ("signal", .object(fields(reading.signal).map { .init($0.0, $0.1) })),
                    (
                        "places",
                        .object(
                            reading.places.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) })
                    )))
        }
        try head(match)
        for (name, value) in fields(reading.signal) {
            let place = reading.places[Self.fieldOfFile[name] ?? name].map { session.style(.dim, "  from \($0)") } ?? ""
            try session.say(
                "  " + String(name.map { $0 == "_" ? " " : $0 }).rightPadded(to: 16) + (value.string ?? value.encoded())
                    + place)
        }
    }

    private func head(_ match: DialectBook.Match?) throws(Refusal) {
        guard let match else {
            return try session.say("plain form: no dialect knows this payload (an app with plain = no does not ring)")
        }
        let sureness = match.sureness.rawValue
        try session.say("\(session.style(.bold, match.dialect.name)) (\(match.dialect.title)), \(sureness)")
        try session.say(session.style(.dim, "  because of " + match.because.joined(separator: ", ")))
    }

    private func because(_ match: DialectBook.Match?) -> JSONValue {
        .array((match?.because ?? []).map(JSONValue.string))
    }

    /// Where a field's name in dialect files is another.
    private static let fieldOfFile = ["handle_kind": "handle-kind", "unknown_kind": "kind"]

    /// What is known of the call, by the names of the canonical form.
    private func fields(_ signal: CallSignal) -> [(String, JSONValue)] {
        var out: [(String, JSONValue)] = [("kind", .string(signal.kind.rawValue))]
        func add(_ name: String, _ value: JSONValue?) { if let value { out.append((name, value)) } }
        add("unknown_kind", signal.unknownKind.map(JSONValue.string))
        let none = session.isJSON ? nil : "(none: it cannot be cancelled, nor known again)"
        add("id", (signal.key ?? none).map(JSONValue.string))
        add("name", signal.callerName.map(JSONValue.string))
        add("handle", signal.handle.map(JSONValue.string))
        if signal.handle != nil { add("handle_kind", .string(signal.handleKind.rawValue)) }
        add("video", signal.video.map(JSONValue.bool))
        add("sound", signal.sound.map(JSONValue.string))
        add("ring", signal.ringTime.map { .string($0.shortText) })
        add("sent", signal.sentAt.map { .string($0.formatted("%Y-%m-%d %H:%M:%S %z")) })
        add(
            "expires",
            signal.expiresAt.map {
                .string($0.formatted("%Y-%m-%d %H:%M:%S %z") + ($0 < .now ? ", which is past: it rings no more" : ""))
            })
        add("serial", signal.serial.map(JSONValue.integer))
        if signal.endsRingingOnly { add("ends", "a ringing call only") }
        if signal.meansOnlyCall { add("means", "the app's only call") }
        return out
    }
}
