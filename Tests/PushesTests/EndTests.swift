import Base
import JSON
import Pushes
import Testing

/// The end of a call is not taken for a call, whatever else a payload has.
struct EndTests {
    private func reading(_ payload: String, dialect: String? = nil) -> DialectBook.Reading? {
        try? DialectBook.builtIn.read(try JSONValue.parse(payload), .init(dialect: dialect))
    }

    private static let words = [
        "cancelCall", "call_cancelled", "CANCEL_CALL", "callEnded", "call.end", "hang_up", "CallHangup", "rejected",
        "call_declined", "missedCall", "call.missed", "timeout", "no_answer", "unanswered", "stopRinging", "bye",
        "call_terminated", "answered_elsewhere", "remote-cancel", "CALL_CANCELED",
    ]
    /// Families that say nothing of what a push is, or whose apps decide it.
    private static let calls = [
        #""callId":"1""#, #""callId":"1","displayName":"A""#, #""uuid":"1","displayName":"A""#,
        #""uuid":"1","callerName":"A","handle":"2""#, #""id":"1","nameCaller":"A""#, #""ringd":1,"callId":"1""#,
        #""sessionID":"1","VOIPCall":"1""#, #""videoSDKInfo":{"meetingId":"1"}"#,
        #""metadata":{"call_id":"1","voice_sdk_id":"2"}"#, #""roomID":"!a","rtcNotifyEventID":"1""#,
    ]

    @Test(arguments: words) func commonWordsForAnEnd(_ word: String) throws {
        for call in Self.calls {
            for key in ["type", "event", "kind", "action", "status", "callStatus", "eventType"] {
                let payload = #"{\#(call),"\#(key)":"\#(word)"}"#
                guard let signal = reading(payload)?.signal else { continue }
                #expect(signal.isEnd, "\(payload)")
                #expect(signal.key == "1", "\(payload)")
            }
        }
    }

    @Test(arguments: calls) func aFlagThatSaysCancel(_ call: String) throws {
        for flag in ["true", "1", #""true""#, #""yes""#, #""1""#, "1.0"] {
            let reading = reading(#"{\#(call),"cancel":\#(flag)}"#)
            #expect(reading?.signal.kind == .cancel && reading?.signal.key == "1", "\(flag)")
        }
        for flag in ["false", "0", "null", #""false""#, #""""#] {
            #expect(reading(#"{\#(call),"cancel":\#(flag)}"#)?.signal.kind == .invite, "\(flag)")
        }
    }

    @Test func anEndInOnePlaceBeatsACallInAnother() throws {
        for kind in ["voip", "audio", "call", "invite", "whatever"] {
            #expect(reading(#"{"id":"1","kind":"\#(kind)","event":"cancel"}"#)?.signal.kind == .cancel)
        }
        let words = try JSONValue.parse(#"{"a":"go","b":"stop","c":"x"}"#)
        let file = """
            [dialect]
            title = T
            [detect]
            need = /a
            [call]
            id = /a
            name = /a
            [kind /a]
            go = invite
            [kind /b]
            stop = cancel
            * = other
            [kind /c]
            * = other
            """
        let (book, faults) = DialectBook.builtIn.adding([("mine", file)])
        #expect(faults.isEmpty)
        #expect(try book.read(words).signal.kind == .cancel)
        let unknown = try JSONValue.parse(#"{"a":"go","b":"hm","c":"x"}"#)
        #expect(try book.read(unknown).signal.kind == .invite, "a word that nobody knows is no end")
    }

    @Test func whatTheFamilySaysItselfCountsMore() throws {
        let twilio = #"{"twi_call_sid":"CA1","twi_message_type":"twilio.voice.call","type":"cancel"}"#
        #expect(reading(twilio)?.signal.kind == .invite)
    }

    @Test func aWordThatIsNoWordIsNotPassedOver() throws {
        #expect(reading(#"{"twi_call_sid":"CA1","twi_message_type":["twilio.voice.cancel"]}"#) == nil)
        #expect(reading(#"{"session_id":"1","call_opponents":"1","signal_type":{"is":"endCall"}}"#) == nil)
    }

    /// Only `started` rings (callkit.md 3.7), and a text that was cut does not say that.
    @Test func stringeeHasToSayThatACallStarted() throws {
        #expect(reading(#"{"stringeePushNotification":"1.0","data":"{\"callId\":\"1\",\"callSta"}"#) == nil)
        #expect(reading(#"{"data":{"map":{"type":"CALL_EVENT","data":{"map":{"callId":"1"}}}}}"#) == nil)
    }

    /// Two families that claim a payload, of which one sees the end of a call in it: nothing rings.
    @Test func noOtherFamilySeesAnEnd() throws {
        let ends = FamilyTests.cases.filter { one in
            ["cancel", "answered-elsewhere", "declined-elsewhere", "missed"].contains(
                one.expected["kind"]?.string ?? "")
                && one.family != DialectBook.plainName
        }
        #expect(ends.count > 15)
        for end in ends {
            guard case .object(let members) = try JSONValue.parse(end.payload) else { continue }
            for call in FamilyTests.cases where call.name == "valid" && call.family != end.family {
                for more in try JSONValue.parse(call.payload).members ?? [] {
                    guard !members.contains(where: { $0.name == more.name }) else { continue }
                    // With another `never` of the family it is none of its payloads any more.
                    let both = JSONValue.object(members + [more])
                    guard DialectBook.builtIn.match(end.family, both) != nil else { continue }
                    let read = try? DialectBook.builtIn.read(both)
                    #expect(read?.signal.kind != .invite, "\(end) with \(call.family)'s \(more.name)")
                }
            }
            for other in DialectBook.builtInNames {
                let payload = try JSONValue.parse(end.payload)
                let read = try? DialectBook.builtIn.read(payload, .init(dialect: other))
                #expect(read?.signal.kind != .invite, "\(end), for an app of \(other)")
            }
        }
    }

    /// How a user says that an end is none.
    @Test func aUsersOwnFileMayRingForIt() throws {
        let file = "[dialect]\nextends = alertmanager\ntitle = T\n[kind /status]\nresolved = invite\nfiring = cancel\n"
        let payload = try JSONValue.parse(#"{"groupKey":"g","alerts":[],"status":"resolved"}"#)
        for name in ["alertmanager", "mine"] {
            let (book, _) = DialectBook.builtIn.adding([(name, file)])
            #expect(try book.read(payload, .init(dialect: name)).signal.kind == .invite)
        }
    }
}
