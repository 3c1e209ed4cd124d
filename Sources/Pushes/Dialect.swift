internal import Base
internal import JSON

/// How one family of senders writes calls into payloads: the content of a dialect file (Docs/dialects.md).
package struct Dialect: Sendable, Hashable {
    /// Lower-case letters, digits and hyphens: the file's name.
    package var name: String
    /// For people: the sender's own name.
    package var title = ""
    package var about = ""
    /// Its pushes cannot be read by anybody but the sender's own code, and why: nothing of them is guessed.
    package var opaque: String?
    /// From the user's folder.
    package var isOwn = false

    /// By what a payload is known: `[detect]`.
    enum Test: Int, Sendable, CaseIterable {
        /// All of them must hold, where there is no mark.
        case need
        /// One of these too.
        case any
        /// None may hold.
        case never
        /// What no other sender has: one is enough, whatever else there is.
        case mark

        static let words = allCases.map { "\($0)" }
    }

    /// What is read from places in a payload: `[call]`.
    enum Field: Int, Sendable, CaseIterable {
        case id
        case name
        case handle
        case handleKind
        case video
        case sound
        case ring
        case ttl
        case sent
        case expires
        case serial

        /// As it is called in files.
        static let words = allCases.map { $0 == .handleKind ? "handle-kind" : "\($0)" }
        var word: String { Self.words[rawValue] }
    }

    private var tests: [[Condition]] = Array(repeating: [], count: Test.allCases.count)
    private var sources: [[ValueSource]] = Array(repeating: [], count: Field.allCases.count)

    subscript(_ test: Test) -> [Condition] {
        get { tests[test.rawValue] }
        set { tests[test.rawValue] = newValue }
    }

    /// In order: the first that is there counts.
    subscript(_ field: Field) -> [ValueSource] {
        get { sources[field.rawValue] }
        set { sources[field.rawValue] = newValue }
    }

    /// What a payload is that does not say.
    var kind = CallSignal.Kind.invite
    /// In order: the first that finds a value that it knows has it.
    var kinds: [ValueMap<CallSignal.Kind>] = []
    var videos: [ValueMap<Bool>] = []
    /// How long after it was sent a call can still be answered, where no payload says so.
    var fixedLifetime: Duration?
    /// Its cancels come to the device that took the call, too.
    var cancelsRingingOnly = false
    /// Its cancels may name no call, where there is only one.
    var cancelsOnlyCall = false

    // MARK: Writing

    struct Constant: Sendable, Hashable {
        var pointer: JSONPointer
        var value: JSONValue

        static func == (a: Self, b: Self) -> Bool { a.pointer == b.pointer }
        func hash(into hasher: inout Hasher) { hasher.combine(pointer) }
    }

    /// What a payload of this family has besides.
    var constants: [Constant] = []

    struct Unpack: Sendable, Hashable {
        var pointer: JSONPointer
        var form: Unpacking
    }

    /// Texts that hold values.
    var unpacks: [Unpack] = []

    init(name: String) { self.name = name }

    /// Names of dialects: `twilio`, `alert-manager`.
    package static func isName(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count) && text.first != "-"
            && text.utf8.allSatisfy {
                (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
            }
    }

    /// What its pushes can say, in the order of the kinds.
    package var says: [CallSignal.Kind] {
        guard opaque == nil else { return [] }
        var found: Set<CallSignal.Kind> = [kind]
        for map in kinds { found.formUnion(map.entries.map(\.meaning)) }
        return CallSignal.Kind.allCases.filter { found.contains($0) && $0 != .other }
    }

    /// It gives a call an id, so that a cancel can name it and a repeat is known.
    package var hasID: Bool { !self[.id].isEmpty }
}
