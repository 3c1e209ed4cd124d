internal import Base
internal import JSON

/// What may go wrong on purpose with a push (apns.md 6, 4). Written as a comma-separated list, the same in ringd.conf
/// (`[fault NAME]`, `do = …`) and in a payload (`"ringd-fault": "…"`).
package enum FaultAction: Sendable, Equatable {
    /// `status CODE [REASON]`, `reason REASON`: this answer instead of the true one; the push is not delivered.
    case answer(status: Int, reason: String)
    /// `delay SECONDS`: the answer comes late.
    case delay(Duration)
    /// `late SECONDS`: the answer comes at once, the delivery late.
    case late(Duration)
    /// `lose`: accepted, and never delivered.
    case lose
    /// `duplicate`: delivered twice.
    case duplicate
    /// `reorder`: delivered after the next push to the same device.
    case reorder
    /// `refuse-stream`: RST_STREAM with REFUSED_STREAM instead of an answer.
    case refuseStream
    /// `reset`: RST_STREAM with INTERNAL_ERROR instead of an answer.
    case reset
    /// `goaway [graceful|abrupt] [TEXT]`: GOAWAY; graceful answers what came, abrupt does not. The text is the debug
    /// data: a reason's name makes Apple's JSON of it.
    case goAway(isGraceful: Bool, text: String)
    /// `hang`: the connection never says a word again.
    case hang
    /// `close`: the connection is closed without a word; `cut`: with a TCP reset, which destroys what is under way.
    case close
    case cut

    /// The most seconds of `delay` and `late`.
    package static let longest = 3600.0

    package struct Fault: Error, Sendable, Equatable {
        package let words: String
    }

    /// The ways that `do` may be written, for help and for errors.
    package static let grammar =
        "status CODE [REASON], reason REASON, delay SECONDS, late SECONDS, lose, duplicate, reorder, refuse-stream, reset, goaway [graceful|abrupt] [TEXT], hang, close, cut"

    /// What the sender gets instead of an answer, in words; nil: an answer.
    var insteadOfAnswer: String? {
        switch self {
        case .refuseStream: "RST_STREAM, REFUSED_STREAM"
        case .reset: "RST_STREAM, INTERNAL_ERROR"
        case .goAway(isGraceful: false, _): "GOAWAY"
        case .hang: "silence"
        case .close: "the connection's end"
        case .cut: "a TCP reset"
        case .answer, .delay, .late, .lose, .duplicate, .reorder, .goAway: nil
        }
    }

    /// Reads a list; at most 8.
    package static func list(_ text: String) throws(Fault) -> [FaultAction] {
        guard text.utf8.count <= 512 else { throw Fault(words: "a fault has at most 512 bytes") }
        var out: [FaultAction] = []
        for part in text.split(separator: ",") { out.append(try read(part)) }
        guard (1...8).contains(out.count) else { throw Fault(words: "expected 1 to 8 of: \(grammar)") }
        return out
    }

    private static func read(_ part: Substring) throws(Fault) -> FaultAction {
        let words = part.split(whereSeparator: \.isWhitespace).map(String.init)
        let rest = words.dropFirst().joined(separator: " ")
        switch words.first {
        case "status": return try status(words)
        case "reason":
            guard let reason = PushReason(rawValue: rest) else { throw unknownReason(rest) }
            return .answer(status: reason.httpStatus, reason: reason.rawValue)
        case "delay": return .delay(try seconds(rest))
        case "late": return .late(try seconds(rest))
        case "goaway":
            let isAbrupt = words.count > 1 && words[1] == "abrupt"
            let hasMode = isAbrupt || words.count > 1 && words[1] == "graceful"
            return .goAway(isGraceful: !isAbrupt, text: words.dropFirst(hasMode ? 2 : 1).joined(separator: " "))
        case let word? where words.count == 1 && plain[word] != nil: return plain[word]!
        default: throw Fault(words: "\"\(Text.clean(String(part), limit: 60))\" is no fault; there are: \(grammar)")
        }
    }

    private static let plain: [String: FaultAction] = [
        "lose": .lose, "duplicate": .duplicate, "reorder": .reorder, "refuse-stream": .refuseStream, "reset": .reset,
        "hang": .hang, "close": .close, "cut": .cut,
    ]

    private static func status(_ words: [String]) throws(Fault) -> FaultAction {
        // Those without a body could not carry a reason.
        guard words.count > 1, let code = Int(words[1]), (200...599).contains(code), code != 204, code != 304 else {
            throw Fault(words: "status takes a code from 200 to 599 that may have a body")
        }
        let name = words.count > 2 ? words[2] : PushReason.allCases.first { $0.httpStatus == code }?.rawValue ?? ""
        guard name.utf8.count <= 64, name.allSatisfy({ $0.isLetter && $0.isASCII }) else {
            throw Fault(words: "a reason is one word of letters")
        }
        return .answer(status: code, reason: code == 200 ? "" : name)
    }

    private static func seconds(_ text: String) throws(Fault) -> Duration {
        let bare = text.hasSuffix("s") ? String(text.dropLast()) : text
        guard let value = Double(bare), (0...longest).contains(value) else {
            throw Fault(words: "a delay has 0 to 3600 seconds")
        }
        return .milliseconds(Int64(value * 1000))
    }

    private static func unknownReason(_ name: String) -> Fault {
        let hint = Text.nearest(to: name, in: PushReason.allCases.map(\.rawValue)).map { "; did you mean \($0)?" } ?? ""
        return Fault(words: "\"\(Text.clean(name, limit: 40))\" is none of APNs' reasons\(hint)")
    }
}

extension FaultAction {
    /// For people.
    package var words: String {
        switch self {
        case .answer(let status, let reason): "\(status) \(reason)"
        case .delay(let time): "delay \(time.shortText)"
        case .late(let time): "late \(time.shortText)"
        case .lose: "lose"
        case .duplicate: "duplicate"
        case .reorder: "reorder"
        case .refuseStream: "refuse-stream"
        case .reset: "reset"
        case .goAway(let isGraceful, let text):
            "goaway \(isGraceful ? "graceful" : "abrupt") \(Text.clean(text, limit: 40))"
        case .hang: "hang"
        case .close: "close"
        case .cut: "cut"
        }
    }
}

/// Which pushes a fault befalls.
package struct FaultRule: Sendable, Equatable {
    package var name: String
    /// The beginning of a token in lower-case hexadecimal; nil: any token.
    package var token: String?
    package var app: String?
    /// Every so many of those that fit; 1: all.
    package var every = 1
    /// The first so many of those that fit; nil: no end.
    package var times: Int?
    package var actions: [FaultAction] = []

    package init(name: String) { self.name = name }
}

/// The rules with their counts.
struct FaultRules {
    var rules: [FaultRule] = [] {
        didSet { counts = [Int](repeating: 0, count: rules.count) }
    }
    private var counts: [Int] = []

    init() {}

    /// What befalls this push: by the first rule that fits, then by a key in the payload, which may be wrong.
    mutating func actions(token: String, app: String?, body: Bytes) throws(FaultAction.Fault) -> [FaultAction] {
        for (index, rule) in rules.enumerated() {
            if let prefix = rule.token, !token.hasPrefix(prefix) { continue }
            if let wanted = rule.app, wanted != app { continue }
            counts[index] += 1
            if let times = rule.times, counts[index] > times * rule.every { continue }
            if counts[index] % rule.every == 0 { return rule.actions }
        }
        return try Self.inPayload(body)
    }

    var isEmpty: Bool { rules.isEmpty }

    static let key: StaticString = "\"ringd-fault\""

    /// A look at the bytes first: nearly no payload has the key.
    static func inPayload(_ body: Bytes) throws(FaultAction.Fault) -> [FaultAction] {
        guard body.contains(hyphenated: key), let json = try? JSONValue.parse(Array(body)),
            let value = json["ringd-fault"] ?? json["aps"]?["ringd-fault"]
        else { return [] }
        guard let text = value.string else {
            throw FaultAction.Fault(words: "it is to be text: \(FaultAction.grammar)")
        }
        return try FaultAction.list(text)
    }
}
