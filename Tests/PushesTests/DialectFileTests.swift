import Base
import Foundation
import JSON
import Pushes
import Testing

/// Dialect files: ours, a user's own, and what is wrong with others.
struct DialectFileTests {
    @Test(arguments: DialectBook.builtInNames)
    func ours(_ name: String) throws {
        let text = try #require(DialectBook.text(of: name))
        let (dialect, faults) = DialectFile.read(text, name: name, base: { name, _ in DialectBook.text(of: name) })
        #expect(faults.isEmpty)
        #expect(dialect?.title.isEmpty == false)
    }

    private let own = """
        [dialect]
        title = My PBX
        [detect]
        need = /pbx/call
        [call]
        id = /pbx/call | after call-
        name = /pbx/who/0 | before comma, /pbx/who | not nobody
        handle = /pbx/from
        ring = /pbx/wait | ms
        lifetime = 45
        sent = /pbx/at
        [kind /pbx/state]
        gone = cancel
        * = invite
        """

    private func read(_ payload: String, _ files: [DialectBook.File]) throws -> DialectBook.Reading {
        let (book, faults) = DialectBook.builtIn.adding(files)
        #expect(faults.isEmpty)
        return try book.read(try JSONValue.parse(payload))
    }

    @Test func aUsersOwn() throws {
        let reading = try read(
            #"{"pbx":{"call":"Call-9","who":["Alice, sales"],"from":"12","wait":9500,"at":"2030-01-01T00:00:00Z","state":"here"}}"#,
            [("my-pbx", own)])
        #expect(reading.dialect == "my-pbx" && reading.sureness == .likely)
        let signal = reading.signal
        #expect(signal.key == "9" && signal.callerName == "Alice" && signal.handle == "12")
        #expect(signal.ringTime == .milliseconds(9500))
        #expect(signal.expiresAt?.seconds == 1_893_456_045)
        #expect(signal.unknownKind == "here")
        #expect(
            try read(#"{"pbx":{"call":"9","who":"Nobody","state":"gone"}}"#, [("my-pbx", own)]).signal.kind == .cancel)
    }

    @Test func oneThatExtendsOurs() throws {
        let text = """
            [dialect]
            extends = twilio
            title = Twilio, with our parameter
            [call]
            name = /twi_params/who
            """
        let payload =
            #"{"twi_call_sid":"CA1","twi_message_type":"twilio.voice.call","twi_from":"client:a","twi_params":"who=Zoe&callerName=x"}"#
        for name in ["twilio", "twilio-mine"] {
            let reading = try read(payload, [(name, text)])
            #expect(reading.dialect == name)
            #expect(reading.signal.callerName == "Zoe" && reading.signal.key == "CA1")
        }
        let two = try read(payload, [("a", "[dialect]\nextends = b\n"), ("b", text)])
        #expect(two.plainBecause != nil, "equally good: neither")
    }

    @Test func aFileThatIsSpoiltLeavesWhatItSaid() throws {
        let (book, _) = DialectBook.builtIn.adding([
            ("my-pbx", own), ("twilio", "[dialect]\nextends = twilio\ntitle = T"),
        ])
        let spoilt = [("my-pbx", own + "\nnonsense"), ("twilio", "nonsense")]
        let (kept, faults) = DialectBook.builtIn.adding(spoilt, earlier: book)
        #expect(faults.count == 2 && kept["my-pbx"]?.isOwn == true && kept["twilio"]?.title == "T")
        #expect(DialectBook.builtIn.adding(spoilt).book["my-pbx"] == nil)
        // One that is gone is gone.
        #expect(DialectBook.builtIn.adding([], earlier: book).book["my-pbx"] == nil)
    }

    @Test func whereEachFieldWasFound() throws {
        let payload = try JSONValue.parse(
            #"{"twi_call_sid":"CA1","twi_message_type":"twilio.voice.call","twi_from":"client:a","twi_params":"displayName=Z"}"#
        )
        let places = try DialectBook.builtIn.read(payload, tellsPlaces: true).places
        #expect(
            places == [
                "id": "/twi_call_sid", "kind": "/twi_message_type", "handle": "/twi_from",
                "name": "/twi_params/displayName",
            ])
        #expect(try DialectBook.builtIn.read(payload).places.isEmpty)
    }

    @Test func whatIsNoNewCallForOneOfTwoDoesNotRing() throws {
        let text = "[dialect]\ntitle = T\n[detect]\nneed = /x\n[call]\nid = /id\nname = /n\n"
        let files = [("a", text), ("b", text + "[kind /state]\ngone = cancel\n")]
        #expect(try read(#"{"x":1,"id":"1","n":"N","state":"here"}"#, files).dialect == DialectBook.plainName)
        #expect(throws: PayloadFault.self) { try read(#"{"x":1,"id":"1","n":"N","state":"gone"}"#, files) }
    }

    /// One in the place of ours, upon ours, and a third upon that one.
    @Test func oneUponAnotherInThePlaceOfOurs() throws {
        let (book, faults) = DialectBook.builtIn.adding([
            ("twilio", "[dialect]\nextends = twilio\ntitle = T\n[call]\nname = /twi_params/who\n"),
            ("z", "[dialect]\nextends = twilio\ntitle = Z\n[call]\nring = /z\n"),
        ])
        #expect(faults.isEmpty)
        let payload = try JSONValue.parse(#"{"twi_call_sid":"CA1","twi_params":"who=Zoe&callerName=x","z":7}"#)
        let signal = try book.read(payload, .init(dialect: "z")).signal
        #expect(signal.callerName == "Zoe" && signal.ringTime == .seconds(7))
    }

    @Test func elementsOfAListThatIsText() throws {
        let file = """
            [dialect]
            title = T
            [detect]
            need = /data
            [unpack]
            /data = json
            /who = json
            [call]
            id = /data/legs/*/id
            name = /who/*
            serial = /data/legs/*/n
            """
        let payload = #"{"data":"{\"legs\":[{\"n\":1},{\"id\":\"7\",\"n\":9},3]}","who":"[null,\"Zoe\"]"}"#
        let signal = try read(payload, [("mine", file)]).signal
        #expect(signal.key == "7" && signal.callerName == "Zoe" && signal.serial == 9)
    }

    @Test func circlesEnd() {
        let (_, faults) = DialectBook.builtIn.adding([
            ("a", "[dialect]\nextends = b\n"), ("b", "[dialect]\nextends = a\n"),
        ])
        #expect(faults.map(\.name) == ["a", "b"])
    }

    @Test(arguments: [
        ("[call]\nid = callId", "pointer"), ("[call]\nidd = /a", "did you mean id"),
        ("[call]\nkind = invitation", "kind"),
        ("[call]\nid = /a | upper", "filter"), ("[call]\nlifetime = 0", "1…86400"),
        ("[call]\nid = /a if /b like c", "VALUE"),
        ("[call]\nid = /*/a/*", "one *"), ("[call]\nid = ", "1 to 16"), ("[call]\nid = /a/", "pointer"),
        ("[call]\nid = /a\nid = /b", "twice"), ("[kind /a]\nx = call", "kind"), ("[kind a]\nx = cancel", "pointer"),
        ("[kind /a]\n!!! = cancel", "value"), ("[video /a]\n1 = maybe", "yes or no"), ("[unpack]\n/a = xml", "form"),
        ("[unpack]\na = json", "pointer"), ("[write]\n/a = text", "JSON"),
        ("[detect]\nneeds = /a", "did you mean need"),
        ("[detect]\nany = /a/b/c/d/e/f/g/h/i/j/k/l/m", "pointer"), ("[who]\na = b", "section"), ("key", "key = value"),
        ("[call]\nid = /a%zz", "pointer"), ("[call]\nid = /a~2", "pointer"), ("[dialect]\nextends = nothing", "extend"),
    ])
    func faultsHaveWords(_ text: String, _ words: String) throws {
        let (dialect, faults) = DialectFile.read(
            "[dialect]\ntitle = T\n[detect]\nneed = /a\n[call]\nname = /n\n" + text, name: "mine",
            base: { name, _ in DialectBook.text(of: name) })
        #expect(dialect == nil)
        let first = try #require(faults.first)
        #expect("\(first)".contains(words), "\(first)")
    }

    @Test(arguments: [
        ("[detect]\nneed = /a\n[call]\nname = /n", "title"), ("[dialect]\ntitle = T\n[call]\nname = /n", "[detect]"),
        ("[dialect]\ntitle = T\n[detect]\nneed = /a\n[call]\nid = /n", "name nor handle"),
        ("[dialect]\ntitle = T\nopaque = because\n[call]\nid = /n", "opaque"),
    ])
    func whatAFileLacks(_ text: String, _ words: String) throws {
        let (dialect, faults) = DialectFile.read(text, name: "mine")
        #expect(dialect == nil)
        #expect("\(try #require(faults.first))".contains(words))
    }

    @Test(arguments: ["", "A", "-a", "a/b", "..", "a b", String(repeating: "a", count: 41)])
    func namesAreSimple(_ name: String) {
        #expect(DialectFile.read(own, name: name).dialect == nil)
    }

    /// What Docs/dialects.md shows is so.
    @Test func theExamplesOfTheManualWork() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Docs/dialects.md")
        let manual = try String(contentsOf: path, encoding: .utf8)
        let blocks = manual.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        let file = try #require(blocks.first { $0.contains("[dialect]") }?.dropFirst(4))
        let reading = try read(
            #"{"pbx":{"call":"call-7","state":"RINGING","type":"group","group":"Sales","from":"hidden","wait":9000,"media":"av"}}"#,
            [("my-pbx", String(file))])
        #expect(reading.dialect == "my-pbx" && reading.signal.key == "7" && reading.signal.callerName == "Sales")
        #expect(reading.signal.handle == nil && reading.signal.video == true && reading.signal.ringTime == .seconds(9))
        let own = try #require(blocks.first { $0.contains(#""ringd": 1"#) }?.dropFirst(5))
        let canonical = try DialectBook.builtIn.read(try JSONValue.parse(String(own)))
        #expect(canonical.dialect == "ringd" && canonical.signal.serial == 1 && canonical.signal.sound == "Classic")
        #expect(canonical.signal.expiresAt != nil && canonical.signal.sentAt != nil)
    }
}
