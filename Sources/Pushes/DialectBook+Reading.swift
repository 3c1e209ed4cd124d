package import Base
package import JSON

/// From a payload to what it says, by the dialect that it is written in.
extension DialectBook {
    /// What an app wants of its payloads.
    package struct Choice: Sendable, Equatable {
        /// Nil: found out for each payload.
        package var dialect: String?
        /// What no dialect knows may ring in the plain form.
        package var allowsPlain: Bool
        /// Where the user is: numbers without a country code are of there.
        package var region: PhoneRegion?

        package init(dialect: String? = nil, allowsPlain: Bool = true, region: PhoneRegion? = nil) {
            self.dialect = dialect
            self.allowsPlain = allowsPlain
            self.region = region
        }
    }

    package struct Reading: Sendable {
        package var signal: CallSignal
        package var dialect: String
        package var sureness: Sureness
        /// Why it is the plain form's, where that was a last resort.
        package var plainBecause: String?
        /// Where in the payload each field was found, by its name in dialect files; empty unless asked for.
        package var places: [String: String] = [:]
    }

    /// What a payload says. Throws for what is no call, or not one that this app takes. `tellsPlaces`: and where.
    package func read(
        _ payload: JSONValue, _ choice: Choice = Choice(), tellsPlaces: Bool = false
    ) throws(PayloadFault) -> Reading {
        guard payload.members != nil else { throw PayloadFault("the payload is not a JSON object") }
        var view = PayloadView(payload, tellsPlaces: tellsPlaces)
        let matches = self.matches(&view)
        var reading = try read(&view, matches, choice)
        reading.places = view.places ?? [:]
        // What rings although another family sees the end of a call in it would be the worst guess of all. Its own file is
        // how a user says otherwise.
        guard reading.signal.kind == .invite, self[reading.dialect]?.isOwn != true else { return reading }
        for other in matches.map(\.dialect) where other.name != reading.dialect {
            guard let end = other.end(in: &view) else { continue }
            throw PayloadFault("it has the marks of \(other.title), for which it is \(end.words): nothing rings")
        }
        return reading
    }

    private func read(
        _ view: inout PayloadView, _ matches: [Match], _ choice: Choice
    ) throws(PayloadFault) -> Reading {
        // A name of none is told of where it is written; what is written in some dialect is still read as that.
        if let name = choice.dialect, let dialect = self[name] {
            if name == Self.plainName || dialect.match(&view) != nil {
                return Reading(signal: try call(dialect, &view, choice), dialect: name, sureness: .certain)
            }
            // Ours, where it says so: what `ringctl push` and web hooks write rings whatever an app's own form is.
            if let own = self[Self.ownName], let match = own.match(&view), match.sureness == .certain {
                return Reading(signal: try call(own, &view, choice), dialect: own.name, sureness: .certain)
            }
            return try readPlain(&view, choice, "it is no payload of \(dialect.title)")
        }
        switch best(of: matches) {
        case .one(let match):
            return Reading(
                signal: try call(match.dialect, &view, choice), dialect: match.dialect.name,
                sureness: match.sureness)
        case .ambiguous(let all):
            let names = all.map(\.dialect.name).joined(separator: " or ")
            return try readPlain(&view, choice, "it may be \(names)")
        case .none: return try readPlain(&view, choice, "no dialect knows it")
        }
    }

    private func call(
        _ dialect: Dialect, _ view: inout PayloadView, _ choice: Choice
    ) throws(PayloadFault) -> CallSignal {
        try dialect.read(&view, choice.region, common: plain.kinds)
    }

    private func readPlain(
        _ view: inout PayloadView, _ choice: Choice, _ why: String
    ) throws(PayloadFault) -> Reading {
        guard choice.allowsPlain else {
            throw PayloadFault(
                "\(why), and the plain form is not wanted (plain = no, or ?dialect=): ringctl dialects explain")
        }
        return Reading(
            signal: try call(plain, &view, choice), dialect: Self.plainName, sureness: .none, plainBecause: why)
    }
}
