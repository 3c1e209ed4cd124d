import Base
import JSON
import Pushes
import Testing

/// Payloads of all families with parts of them replaced by whatever: never a crash, never a text that is unfit to show.
struct MutatedPayloadTests {
    /// The same numbers in every run.
    private struct Dice {
        var state: UInt64
        mutating func roll(_ sides: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % sides
        }
    }

    private static let junk: [JSONValue] = [
        .null, true, false, 0, -1, 1, 2, .integer(.max), .integer(.min), .real(1e300), .real(-0.5), "", " ", "0",
        "true",
        "video", "null", "\u{202e}evil\u{2066}", "a\u{0}b\u{1b}[2J", "{", "{}", "[]", #"{"callId":"x","a":[1]}"#,
        "a=b&c=%zz",
        "sip:", "\"<sip:x@y>;q=\"", .array([]), .object([]), .array([.object([]), "x"]),
        .string(String(repeating: "長", count: 3000)), .string(String(repeating: "e\u{301}\u{302}", count: 2000)),
        .array(Array(repeating: .array([.object(("a", 1))]), count: 50)), "2026-11-30T07:11:42Z", "9999999999999999999",
    ]

    private func mutated(_ value: JSONValue, _ dice: inout Dice, depth: Int = 0) -> JSONValue {
        if dice.roll(6) == 0 { return Self.junk[dice.roll(Self.junk.count)] }
        guard depth < 12 else { return value }
        switch value {
        case .object(var members) where !members.isEmpty:
            let at = dice.roll(members.count)
            switch dice.roll(8) {
            case 0: members.remove(at: at)
            case 1: members.append(members[at])
            case 2: members[at] = .init(members[dice.roll(members.count)].name, members[at].value)
            default: members[at] = .init(members[at].name, mutated(members[at].value, &dice, depth: depth + 1))
            }
            return .object(members)
        case .array(var elements) where !elements.isEmpty:
            let at = dice.roll(elements.count)
            elements[at] = mutated(elements[at], &dice, depth: depth + 1)
            return .array(elements)
        default: return Self.junk[dice.roll(Self.junk.count)]
        }
    }

    @Test func neverCrashAndNeverShowWhatIsUnfit() throws {
        var dice = Dice(state: 11)
        let book = DialectBook.builtIn
        var read = 0
        for one in FamilyTests.cases {
            let whole = try JSONValue.parse(one.payload)
            for _ in 0..<60 {
                var payload = whole
                for _ in 0...dice.roll(3) { payload = mutated(payload, &dice) }
                guard payload.members != nil else { continue }
                do throws(PayloadFault) {
                    check(try book.read(payload).signal)
                    read += 1
                } catch {
                    #expect(!error.description.isEmpty && error.description.utf8.count <= 303)
                }
                // By the family's own dialect, whatever became of what it is known by.
                if let dialect = book[one.family], let reading = try? book.read(payload, .init(dialect: dialect.name)) {
                    check(reading.signal)
                }
            }
        }
        #expect(read > 4000)
    }

    private func check(_ signal: CallSignal) {
        if let key = signal.key {
            #expect((1...16_384).contains(key.utf8.count))
        } else {
            #expect(signal.kind == .invite || signal.meansOnlyCall)
        }
        #expect(signal.kind != .other)
        for text in [signal.callerName, signal.handle] {
            guard let text else { continue }
            #expect(!text.isEmpty && text.utf8.count <= 260)
            for scalar in text.unicodeScalars {
                switch scalar.properties.generalCategory {
                case .control, .surrogate, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
                    Issue.record("unfit to show: \(text)")
                case .format: #expect([0x200c, 0x200d].contains(scalar.value), "unfit to show: \(text)")
                default: break
                }
            }
        }
        if let time = signal.ringTime { #expect(time > .zero) }
    }
}
