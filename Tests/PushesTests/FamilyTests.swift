import Base
import Foundation
import JSON
import Pushes
import Testing

/// Payloads of every family, as files: what each of them says, and that nobody takes it for another family's.
struct FamilyTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "payloads")
    static let families = (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? []

    struct Case: Sendable, CustomTestStringConvertible {
        var family: String
        var name: String
        var payload: [UInt8]
        var expected: JSONValue
        var sureness: String
        var testDescription: String { "\(family)/\(name)" }
    }

    static let cases: [Case] = families.flatMap { family -> [Case] in
        let home = folder.appending(path: family)
        guard let text = try? String(contentsOf: home.appending(path: "expected.json"), encoding: .utf8),
            let expected = try? JSONValue.parse(text)
        else { return [] }
        return (expected["cases"]?.members ?? []).compactMap { member in
            guard let bytes = try? Data(contentsOf: home.appending(path: member.name + ".json")) else { return nil }
            return Case(
                family: family, name: member.name, payload: [UInt8](bytes), expected: member.value,
                sureness: expected["sureness"]?.string ?? "")
        }
    }

    @Test func everyFamilyHasItsFiles() throws {
        let readable = DialectBook.builtIn.dialects.filter { $0.opaque == nil }.map(\.name)
        #expect(Set(readable).subtracting(Self.families).isEmpty)
        for family in Self.families {
            let home = Self.folder.appending(path: family)
            let files = try FileManager.default.contentsOfDirectory(atPath: home.path).filter { $0 != "expected.json" }
            #expect(Set(files) == Set(Self.cases.filter { $0.family == family }.map { $0.name + ".json" }), "\(family)")
            guard DialectBook.builtIn[family]?.opaque == nil else { continue }
            for name in ["valid", "duplicate", "wrong-types", "hostile"] { #expect(files.contains(name + ".json")) }
            if DialectBook.builtIn[family]?.hasID == true && family != "matrix" {
                #expect(files.contains("missing-id.json"), "\(family)")
            }
        }
    }

    @Test(arguments: cases) func saysWhatItSays(_ one: Case) throws {
        let reading: DialectBook.Reading
        do {
            reading = try PayloadReader.read(one.payload, book: .builtIn)
        } catch {
            #expect(one.expected["fault"] == true, "\(error)")
            #expect(!error.description.isEmpty)
            return
        }
        #expect(one.expected["fault"] == nil, "was read: \(reading.signal)")
        let isPlain = one.expected["plain"] == true
        #expect(reading.dialect == (isPlain ? DialectBook.plainName : one.family))
        if one.name == "valid" { #expect(reading.sureness.rawValue == one.sureness) }
        let signal = reading.signal
        func seconds(_ time: WallTime?) -> JSONValue? { time.map { .integer($0.seconds) } }
        func text(_ value: String?) -> JSONValue? { value.map { .string($0) } }
        let said: [(String, JSONValue?)] = [
            ("kind", .string(signal.kind.rawValue)), ("key", text(signal.key)), ("name", text(signal.callerName)),
            ("handle", text(signal.handle)),
            ("handleKind", signal.handleKind == .generic ? nil : .string(signal.handleKind.rawValue)),
            ("video", signal.video.map { .bool($0) }), ("sound", text(signal.sound)),
            ("ring", signal.ringTime.map { .integer($0.components.seconds) }), ("sent", seconds(signal.sentAt)),
            ("expires", seconds(signal.expiresAt)), ("serial", signal.serial.map { .integer($0) }),
            ("ringingOnly", signal.endsRingingOnly ? true : nil), ("onlyCall", signal.meansOnlyCall ? true : nil),
        ]
        for (field, value) in said { #expect(value == one.expected[field], "\(field)") }
    }

    /// With a dialect named, payloads of all others are none of its.
    @Test func noDialectTakesAnothersPayloads() throws {
        for one in Self.cases where one.name == "valid" && one.family != DialectBook.plainName {
            let json = try JSONValue.parse(one.payload)
            guard case .one(let match) = DialectBook.builtIn.detect(json) else {
                Issue.record("\(one.family): not told apart")
                continue
            }
            #expect(match.dialect.name == one.family)
            #expect(!match.because.isEmpty)
        }
    }
}
