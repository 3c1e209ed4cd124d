import Base
import Foundation
import JSON
import Pushes
import Testing

/// Payloads as the field sends them.
struct PayloadTests {
    private func read(_ text: String) throws(PayloadFault) -> CallSignal {
        try PayloadReader.read(Array(text.utf8), book: .builtIn).signal
    }

    @Test func theWeChatLikePushIsACallWithoutAnId() throws {
        let signal = try read(
            """
            {"aps":{"content-available":"1","alert":"Alice 邀请你进行通话","sound":"weixin.m4a","badge":0,
            "info":{"id":"1","address":"IANA"}}}
            """)
        #expect(signal.kind == .invite)
        // aps.info is free-form: its id is no call's.
        #expect(signal.key == nil)
        #expect(signal.callerName == "Alice 邀请你进行通话")
        #expect(signal.sound == "weixin.m4a")
        #expect(signal.expiresAt == nil && signal.ringTime == nil && !signal.isVideo)
    }

    @Test(arguments: [
        #"{"uuid":"A","displayName":"Bob","handle":"+491511","video":true,"ttl":20}"#,
        #"{"callId":"A","callerName":"Bob","callerNumber":"+491511","isVideo":1,"ring_timeout":"20"}"#,
        #"{"id":"A","nameCaller":"Bob","handle":"+491511","isVideo":"true","duration":20000}"#,
        #"{"call_id":"A","caller":{"name":"Bob"},"from":"+491511","callType":"video","ttl":20.0}"#,
    ])
    func commonShapesMeanTheSame(_ text: String) throws {
        let signal = try read(text)
        #expect(signal.key == "A" && signal.callerName == "Bob" && signal.handle == "+491511")
        #expect(signal.handleKind == .phoneNumber && signal.isVideo && signal.ringTime == .seconds(20))
    }

    @Test(arguments: [
        (#"{"callId":1,"cancel":true}"#, CallSignal.Kind.cancel), (#"{"callId":"1","cancel":"1"}"#, .cancel),
        (#"{"callId":"1","type":"call.cancel"}"#, .cancel),
        (#"{"callId":"1","event":"Answered Elsewhere"}"#, .answeredElsewhere),
        (#"{"callId":"1","kind":"declined-elsewhere"}"#, .declinedElsewhere),
        (#"{"callId":"1","cancel":false}"#, .invite),
        (#"{"callId":"1","type":"voip"}"#, .invite),
    ])
    func kinds(_ text: String, _ kind: CallSignal.Kind) throws {
        let signal = try read(text)
        #expect(signal.kind == kind && signal.key == "1")
    }

    @Test func aCancelMustNameItsCall() {
        #expect(throws: PayloadFault.self) { try read(#"{"cancel":true}"#) }
        #expect(throws: PayloadFault.self) { try read(#"{"cancel":true,"callId":""}"#) }
    }

    @Test(arguments: ["", "[]", "7", "null", "{", "{\"a\":}", "\u{feff}{}", "{\"a\":\"\\ud800\"}"])
    func whatIsNoJSONObjectIsRefusedInWords(_ text: String) {
        do throws(PayloadFault) {
            _ = try read(text)
            Issue.record("\(text) was taken")
        } catch {
            #expect(!error.description.isEmpty)
        }
    }

    @Test func sizesAndDepthsAreBounded() {
        #expect(throws: PayloadFault.self) { try read(#"{"a":""# + String(repeating: "x", count: 5120) + #""}"#) }
        let deep = String(repeating: "[", count: 2000) + String(repeating: "]", count: 2000)
        #expect(throws: PayloadFault.self) { try read(#"{"a":"# + deep + "}") }
        #expect(throws: JSONFailure.self) { try JSONValue.parse(deep) }
    }

    @Test func hostileTextIsMadeFitToShow() throws {
        let signal = try read(
            #"{"displayName":"  Al\u202eice\u0000\u0007\n<b>&\u200b\u2066  X ","handle":"\u001b[31m+49"}"#)
        #expect(signal.callerName == "Alice <b>& X")
        #expect(signal.handle == "[31m+49")
        let long = try read(#"{"displayName":""# + String(repeating: "é", count: 2000) + #""}"#)
        #expect(long.callerName!.utf8.count <= 260 && long.callerName!.hasSuffix("…"))
        let zalgo = try read(#"{"displayName":"a"# + String(repeating: #"̈"#, count: 1000) + #""}"#)
        #expect(zalgo.callerName!.unicodeScalars.count <= 8)
    }

    @Test func whoIsNamedByAnAddressIsCalledByIt() throws {
        for address in ["sip:bob@example.org", "tel:+4930123456"] {
            let signal = try read(#"{"callId":"1","caller":"\#(address)"}"#)
            #expect(signal.callerName == nil && signal.handle == address)
        }
        let named = try read(#"{"callId":"1","caller":"sip:bob@example.org","callerNumber":"12"}"#)
        #expect(named.callerName == nil && named.handle == "12")
    }

    @Test(arguments: [
        #"{"callUUID":"1","event":"call.accepted"}"#, #"{"callUUID":"1","event":"answered"}"#,
        #"{"callUUID":"1","status":"busy"}"#, #"{"callUUID":"1","caller":"X","reason":"cancelled"}"#,
        #"{"data":{"type":"cancel","callId":"1"},"aps":{"alert":"x"}}"#,
    ])
    func theCommonestWordsForAnEnd(_ text: String) throws {
        let signal = try read(text)
        #expect(signal.isEnd && signal.key == "1")
    }

    @Test func anEmptyNameIsNoName() throws {
        #expect(try read(#"{"displayName":"\u202e ","aps":{"alert":{"title":"T","body":"B"}}}"#).callerName == "T")
        #expect(try read(#"{"displayName":["x"],"aps":{"alert":7}}"#).callerName == "7")
    }

    @Test func timesInEveryDress() throws {
        func sent(_ value: String) throws -> Int64? { try read(#"{"sentAt":\#(value)}"#).sentAt?.nanoseconds }
        let second: Int64 = 1_764_486_702
        #expect(try sent(String(second)) == second * 1_000_000_000)
        #expect(try sent(String(second * 1000)) == second * 1_000_000_000)
        #expect(try sent(#""\#(second)""#) == second * 1_000_000_000)
        #expect(try sent(#""2025-11-30T07:11:42Z""#) == second * 1_000_000_000)
        #expect(try sent(#""2025-11-30T07:11:42.250Z""#) == second * 1_000_000_000 + 250_000_000)
        #expect(try sent(#""2025-11-30 08:11:42+01:00""#) == second * 1_000_000_000)
        #expect(try sent(#""2025-11-30 08:11:42+01""#) == second * 1_000_000_000)
        #expect(try sent(#""2025-11-30 03:41:42.0-0330""#) == second * 1_000_000_000)
        #expect(try sent(#""2025-11-30T08:11:42+01:""#) == nil)
        for nonsense in [
            "0", "-5", "\"\"", "\"soon\"", "1e300", "null", "{}", "\"2025-13-30T07:11:42Z\"",
            "\"2025-11-30T07:11:42Zx\"", "253402300799", "\"253402300799\"", "253402300799000",
        ] {
            #expect(try sent(nonsense) == nil, "\(nonsense)")
        }
    }

    @Test func aComputersAddressIsNoNumber() throws {
        let alert = #"{"groupKey":"g","alerts":[],"status":"firing","commonLabels":{"instance":"192.168.1.10"}}"#
        let signal = try DialectBook.builtIn.read(try JSONValue.parse(alert), .init(region: PhoneRegion("FR"))).signal
        #expect(signal.handle == "192.168.1.10" && signal.handleKind == .generic)
    }

    @Test func nonsenseNumbersAreAbsent() throws {
        for value in ["0", "-1", "1e300", "\"abc\"", "[]", "null"] {
            #expect(try read(#"{"ttl":\#(value)}"#).ringTime == nil)
        }
    }

    @Test func repeatedKeysAndBigNumbersDoNotCrash() throws {
        #expect(try read(#"{"callId":"1","callId":"2"}"#).key == "2")
        #expect(throws: PayloadFault.self) { try read(#"{"serial":99999999999999999999}"#) }
        #expect(try read(#"{"callId":1.5}"#).key == nil)
    }

    @Test func jsonGoesThereAndBack() throws {
        let text = #"{"a":[1,2.5,true,null,"é\n"],"b":{"c":""}}"#
        let value = try JSONValue.parse(text)
        #expect(try JSONValue.parse(value.encoded()) == value)
        #expect(value["a"] != nil && value["zz"] == nil)
    }
}

/// Inputs that broke the reader once, or that stand for a kind that must not. Found by `Scripts/fuzz`.
struct PayloadFailCases {
    @Test func areHarmless() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz")
        for folder in ["FailCases/payload", "corpus/payload"] {
            let files = try FileManager.default.contentsOfDirectory(
                at: root.appending(path: folder), includingPropertiesForKeys: nil)
            #expect(!files.isEmpty)
            for file in files {
                let bytes = [UInt8](try Data(contentsOf: file))
                do throws(PayloadFault) {
                    let signal = try PayloadReader.read(bytes, book: .builtIn).signal
                    #expect(
                        signal.kind == .invite || signal.meansOnlyCall || signal.key != nil, "\(file.lastPathComponent)"
                    )
                } catch {
                    #expect(!error.description.isEmpty, "\(file.lastPathComponent)")
                }
                guard let value = try? JSONValue.parse(bytes) else { continue }
                let text = value.encoded()
                #expect(try JSONValue.parse(text).encoded() == text, "\(file.lastPathComponent)")
            }
        }
    }

    @Test func numbersOfARegionBecomeInternational() throws {
        let germany = try #require(PhoneRegion("DE"))
        func read(_ text: String, _ region: PhoneRegion?) throws -> CallSignal {
            try PayloadReader.read(Array(text.utf8), book: .builtIn, .init(region: region)).signal
        }
        for written in ["030 1234567", "+49 (0)30 1234567", "0049301234567", "０３０/1234567"] {
            let signal = try read(#"{"id":"A","handle":"\#(written)"}"#, germany)
            #expect(signal.handle == "+49301234567" && signal.handleKind == .phoneNumber)
            #expect(try read(#"{"id":"A","handle":"\#(written)"}"#, nil).handle == written)
        }
        for stays in ["1001", "110", "alice", "sip:030@example.com", "tel:+49-30-1234567", "0301234567@example.com"] {
            #expect(try read(#"{"id":"A","handle":"\#(stays)"}"#, germany).handle == stays)
        }
        // Who says that it is something else is believed.
        for kind in ["generic", "email"] {
            let signal = try read(#"{"id":"A","handle":"0301234567","handleType":"\#(kind)"}"#, germany)
            #expect(signal.handle == "0301234567")
        }
        #expect(try read(#"{"id":"A","handle":"0301234567","handleType":"phone"}"#, germany).handle == "+49301234567")
    }
}
