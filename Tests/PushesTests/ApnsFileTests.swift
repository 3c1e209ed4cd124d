import Foundation
import JSON
import Pushes
import Testing

@Suite struct ApnsFileTests {
    @Test func bundleAndHeadersAreTakenOut() throws {
        let file = try ApnsFile(
            #"{"Simulator Target Bundle":"com.example.talk","apns-priority":10,"APNS-Push-Type":"voip","callId":"42"}"#)
        #expect(file.bundle == "com.example.talk")
        #expect(file.headers.map(\.name) == ["apns-priority", "apns-push-type"])
        #expect(file.headers.map(\.value) == ["10", "voip"])
        #expect(file.payload == #"{"callId":"42"}"#)
    }

    @Test func aPlainPayloadStaysByteForByte() throws {
        let text = "{ \"aps\" : {\"alert\":\"é\"} ,\"n\":1.50}"
        #expect(try ApnsFile(text).payload == text)
    }

    @Test(arguments: [
        ("[1]", "JSON object"), ("{", "not JSON"), (#"{"apns-topic":true}"#, "a number or a short text"),
        (#"{"apns-topic":"a\u0000b"}"#, "a number or a short text"), (#"{"apns-id\n":"x"}"#, "header's name"),
    ])
    func whatIsWrongIsNamed(_ text: String, _ words: String) {
        let fault = #expect(throws: ApnsFile.Fault.self) { try ApnsFile(text) }
        #expect(fault?.description.contains(words) == true, "\(fault?.description ?? "")")
    }

    @Test func everyFindingOfTheFuzzersIsReplayed() throws {
        let fuzz = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz")
        var count = 0
        for folder in ["FailCases/apnsfile", "corpus/apnsfile"] {
            let files = (try? FileManager.default.contentsOfDirectory(atPath: fuzz.appending(path: folder).path)) ?? []
            for file in files {
                let data = try Data(contentsOf: fuzz.appending(path: "\(folder)/\(file)"))
                _ = try? ApnsFile(String(decoding: data, as: UTF8.self))
                count += 1
            }
        }
        #expect(count > 3)
    }
}
