import Base
import JSON
import Pushes
import Testing

/// What a dialect writes it reads again, and nobody takes it for another's.
struct DialectWritingTests {
    static let readable = DialectBook.builtIn.dialects.filter { $0.opaque == nil && !$0.says.isEmpty }.map(\.name)

    private func signal(_ kind: CallSignal.Kind) -> CallSignal {
        var signal = CallSignal()
        signal.kind = kind
        signal.key = "5F0E1E2A-7C34-4B0C-9E0B-2D7C9C0A1F11"
        signal.callerName = "Zoë & \"Söhne\" 你好"
        signal.handle = "+4930123456"
        signal.handleKind = .phoneNumber
        signal.video = true
        signal.ringTime = .seconds(25)
        signal.sentAt = WallTime(nanoseconds: 4_070_908_800_125_000_000)
        signal.expiresAt = WallTime(nanoseconds: 4_070_908_840_000_000_000)
        signal.serial = 7
        return signal
    }

    @Test(arguments: readable) func isReadAgain(_ name: String) throws {
        let book = DialectBook.builtIn
        let dialect = try #require(book[name])
        for kind in dialect.says {
            let wanted = signal(kind)
            let payload = try JSONValue.parse(try dialect.write(wanted).encoded())
            // The plain form is what is left: it is told apart by nothing.
            let isPlain = name == DialectBook.plainName
            let reading = try book.read(payload, .init(dialect: isPlain ? name : nil))
            #expect(reading.dialect == name, "\(kind)")
            let read = reading.signal
            #expect(read.kind == kind)
            #expect(read.key == (dialect.hasID ? wanted.key : nil))
            #expect(
                read.callerName == wanted.callerName || read.callerName == nil && name == "agora-chat"
                    || name == "plivo")
            #expect(read.video == true || read.video == nil)
            // Whole seconds are all that some of them have.
            if let sent = read.sentAt { #expect(sent.seconds == wanted.sentAt?.seconds) }
            if let ring = read.ringTime { #expect(ring == wanted.ringTime) }
            if let handle = read.handle { #expect(handle == wanted.handle || name == "matrix") }
        }
    }

    /// As little as `ringctl push --dialect` may be told.
    @Test(arguments: readable) func littleIsReadAgain(_ name: String) throws {
        let book = DialectBook.builtIn
        let dialect = try #require(book[name])
        for kind in dialect.says {
            for caller in kind == .invite ? ["Alice"] : [nil, "Alice"] {
                var wanted = CallSignal()
                wanted.kind = kind
                wanted.key = dialect.hasID || kind != .invite ? "abc-1" : nil
                wanted.callerName = caller
                let payload = try dialect.write(wanted)
                let reading = try book.read(payload, .init(dialect: name == DialectBook.plainName ? name : nil))
                #expect(reading.dialect == name, "\(kind)")
                #expect(reading.signal.kind == kind && reading.signal.key == wanted.key)
            }
        }
    }

    @Test func whatCouldNotBeReadIsNotWritten() throws {
        let (book, faults) = DialectBook.builtIn.adding([
            ("mine", "[dialect]\ntitle = T\n[detect]\nneed = /a\n[call]\nid = /id\nname = /n\n")
        ])
        #expect(faults.isEmpty)
        let mine = try #require(book["mine"])
        do {
            _ = try mine.write(signal(.invite))
            Issue.record("was written")
        } catch {
            #expect(error.description.contains("/a"))
        }
    }

    /// Twilio's cancels come to the device that took the call, too; in ringd's own form they are not to end it.
    @Test func aCancelForRingingCallsStaysOne() throws {
        let book = DialectBook.builtIn
        let twilio = try JSONValue.parse(#"{"twi_call_sid":"CA1","twi_message_type":"twilio.voice.cancel"}"#)
        let signal = try book.read(twilio).signal
        #expect(signal.kind == .cancel && signal.endsRingingOnly)
        let own = try book.read(try #require(book[DialectBook.ownName]).write(signal)).signal
        #expect(own.kind == .missed && own.key == "CA1")
        let again = try book.read(try #require(book["twilio"]).write(signal)).signal
        #expect(again.kind == .cancel && again.endsRingingOnly)
    }

    @Test func whatAFamilyCannotSayIsRefused() throws {
        let plivo = try #require(DialectBook.builtIn["plivo"])
        #expect(throws: PayloadFault.self) { try plivo.write(signal(.cancel)) }
        let sinch = try #require(DialectBook.builtIn["sinch"])
        #expect(throws: PayloadFault.self) { try sinch.write(signal(.invite)) }
    }

    @Test func textsInsideAreTexts() throws {
        var call = signal(.invite)
        call.callerName = "Alice & Bob=?"
        let twilio = try #require(DialectBook.builtIn["twilio"]).write(call)
        #expect(twilio["twi_params"]?.string == "callerName=Alice%20%26%20Bob%3D%3F")
        let quickblox = try #require(DialectBook.builtIn["quickblox"]).write(call)
        #expect(quickblox["timestamp"]?.string == "4070908800125" && quickblox["conferenceType"]?.string == "1")
    }
}
