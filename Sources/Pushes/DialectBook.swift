package import Base
package import JSON

/// All dialects there are, and which of them a payload is written in.
package struct DialectBook: Sendable {
    /// In the order of their names.
    package private(set) var dialects: [Dialect]

    /// The form that everything falls back to: a text, and what keys are commonly called.
    package static let plainName = "plain"
    /// The canonical form.
    package static let ownName = "ringd"
    package let plain: Dialect

    package init(_ dialects: [Dialect]) {
        self.dialects = dialects.sorted { $0.name < $1.name }
        var fallback = Dialect(name: Self.plainName)
        fallback.title = "plain form"
        plain = dialects.last { $0.name == Self.plainName } ?? fallback
        for (place, dialect) in self.dialects.enumerated() where dialect.name != Self.plainName {
            for name in dialect.telltales { byMember[name, default: []].append(place) }
        }
    }

    /// By the name of a payload's member on top: the dialects that it may be a sign of. A payload has few members, and
    /// most of the dialects are never looked at.
    private var byMember: [String: [Int]] = [:]

    /// A user's file: its name without `.dialect`, and its text.
    package typealias File = (name: String, text: String)

    /// With the user's own; one that has the name of another takes its place. Files with faults are left out.
    /// `earlier`: for a file that has faults, what it said before, if that is there.
    package func adding(
        _ files: [File], earlier: DialectBook? = nil
    ) -> (book: DialectBook, faults: [(name: String, fault: ConfigFault)]) {
        var own: [Dialect] = []
        var faults: [(name: String, fault: ConfigFault)] = []
        for file in files {
            let (dialect, wrong) = DialectFile.read(file.text, name: file.name) { name, above in
                // One that extends its own name means ours.
                (name == above ? nil : files.first { $0.name == name }?.text) ?? Self.text(of: name)
            }
            faults += wrong.map { (file.name, $0) }
            if var dialect {
                dialect.isOwn = true
                own.append(dialect)
            } else if let before = earlier?[file.name], before.isOwn {
                own.append(before)
            }
        }
        let names = Set(own.map(\.name))
        return (DialectBook(dialects.filter { !names.contains($0.name) } + own), faults)
    }

    package subscript(_ name: String) -> Dialect? { dialects.first { $0.name == name } }

    package var names: [String] { dialects.map(\.name) }

    // MARK: Which one

    package enum Sureness: String, Sendable, Comparable {
        /// Nothing but the plain form is left.
        case none
        /// It has what the family's payloads have.
        case likely
        /// It has what no other family has.
        case certain

        package static func < (a: Sureness, b: Sureness) -> Bool { a.rank < b.rank }
        private var rank: Int { self == .none ? 0 : self == .likely ? 1 : 2 }
    }

    package struct Match: Sendable {
        package var dialect: Dialect
        package var sureness: Sureness
        fileprivate var marks: [Condition]
        fileprivate var others: [Condition]

        /// What speaks for it, in words.
        package var because: [String] {
            let own = marks.map { $0.description + " (nobody else's)" }
            return own + others.filter { !marks.contains($0) }.map(\.description)
        }

        /// How many conditions hold: of two families whose keys are there, the one that asked for more.
        var weight: Int { marks.count + others.count }

        /// A user's own file goes before one of ours that is as good.
        fileprivate var rank: (Sureness, Int, Int) { (sureness, weight, dialect.isOwn ? 1 : 0) }
    }

    package enum Detection: Sendable {
        case one(Match)
        /// Equally good, and so none of them.
        case ambiguous([Match])
        case none
    }

    /// Nil: a payload is not of this dialect.
    package func match(_ name: String, _ payload: JSONValue) -> Match? {
        var view = PayloadView(payload)
        return self[name]?.match(&view)
    }

    package func detect(_ payload: JSONValue) -> Detection {
        var view = PayloadView(payload)
        return detect(&view)
    }

    func detect(_ view: inout PayloadView) -> Detection { best(of: matches(&view)) }

    /// Everyone whose payload it may be, in the order of their names.
    func matches(_ view: inout PayloadView) -> [Match] {
        var candidates: Set<Int> = []
        for member in view.root.members ?? [] { candidates.formUnion(byMember[member.name] ?? []) }
        return candidates.sorted().compactMap { dialects[$0].match(&view) }
    }

    func best(of matches: [Match]) -> Detection {
        var best: [Match] = []
        for match in matches {
            if let first = best.first {
                if match.rank < first.rank { continue }
                if match.rank > first.rank { best = [] }
            }
            best.append(match)
        }
        guard let first = best.first else { return .none }
        return best.count == 1 ? .one(first) : .ambiguous(best)
    }
}

extension Dialect {
    /// Nil: a payload is not of this family.
    func match(_ view: inout PayloadView) -> DialectBook.Match? {
        let marks = self[.mark].filter { $0.holds(in: &view) }
        let need = self[.need].prefix { $0.holds(in: &view) }
        // The rarest key is the first, and mostly not there: that is all that a payload of others costs.
        if marks.isEmpty && need.count < self[.need].count { return nil }
        let any = self[.any].filter { $0.holds(in: &view) }
        if marks.isEmpty && (self[.need].isEmpty && any.isEmpty || any.isEmpty && !self[.any].isEmpty) { return nil }
        for condition in self[.never] where condition.holds(in: &view) { return nil }
        return DialectBook.Match(
            dialect: self, sureness: marks.isEmpty ? .likely : .certain, marks: marks, others: need + any)
    }

    /// Members on top of a payload without all of which it is none of this family's.
    fileprivate var telltales: Set<String> {
        let conditions = self[.mark] + (self[.need].isEmpty ? self[.any] : Array(self[.need].prefix(1)))
        return Set(conditions.compactMap(\.path.pointer.first))
    }

    /// Why it is not: what would have to hold, in words.
    package func unmet(in payload: JSONValue) -> [String] {
        var view = PayloadView(payload)
        return self[.need].filter { !$0.holds(in: &view) }.map(\.description)
            + [self[.any].map(\.description).joined(separator: " or ")].filter { !$0.isEmpty }
            + self[.never].filter { $0.holds(in: &view) }.map { "never \($0)" }
            + [self[.mark].map(\.description).joined(separator: " or ")].filter { !$0.isEmpty }.map { "or else \($0)" }
    }
}
