import APNs
import Base
import JSON
import Testing

/// The scanner that says whether bytes are a JSON object, against jansson, which builds them.
struct JSONTextTests {
    /// What jansson refuses that is JSON all the same: numbers beyond its own, and a name with a NUL in it.
    private static let janssonsOwn = [
        "too big integer", "too big negative integer", "real number overflow", "NUL byte in object key",
    ]

    private func agree(_ bytes: [UInt8]) {
        let mine = bytes.withUnsafeBufferPointer { JSONText.isObject($0) }
        do throws(JSONFailure) {
            let value = try JSONValue.parse(bytes)
            #expect(mine == (value.members != nil), "\(String(decoding: bytes, as: UTF8.self))")
        } catch {
            if Self.janssonsOwn.contains(where: error.description.contains) { return }
            #expect(!mine, "\(error): \(String(decoding: bytes, as: UTF8.self))")
        }
    }

    @Test(arguments: [
        "{}", " {\n\t\"a\" : 1 }\r\n", #"{"a":[1,2,{"b":null}],"c":true,"d":false,"e":-0.5e+10}"#,
        #"{"a":"\u00e9\ud83d\ude00\n\/"}"#,
        "[]", "1", "null", "\"x\"", "", " ", "{", "}", "{]", "[}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}",
        "{\"a\":1 \"b\":2}",
        "{'a':1}", "{a:1}", "{\"a\":01}", "{\"a\":-}", "{\"a\":1.}", "{\"a\":.5}", "{\"a\":1e}", "{\"a\":+1}",
        "{\"a\":0x1}",
        "{\"a\":tru}", "{\"a\":truee}", "{\"a\":nul", "{} x", "{}{}", "{\"a\":\"\u{1}\"}", "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12\"}",
        "{\"a\":\"\\ud800\"}", "{\"a\":\"\\udc00\"}", "{\"a\":\"\\ud800\\u0041\"}", "{\"a\":\"\\ud800\\udc00\"}",
        "{\"a\":\"\\ud800x\"}",
        "{\"a\":\"\\u0000\"}", "\u{feff}{}", "{\"a\":1}\u{0}", "{\"é\":\"日本\"}", "{\"a\":1,\"a\":2}", "{\"a\":NaN}",
        "{\"a\":12e400}",
        "{\"a\":99999999999999999999}", "{\"\\u0000\":1}", "[{\"a\":1}]",
    ])
    func shapes(_ text: String) { agree(Array(text.utf8)) }

    @Test func depths() {
        for depth in [1, 62, 63, 64, 65, 100, 5000] {
            let open = String(repeating: "[", count: depth)
            let close = String(repeating: "]", count: depth)
            agree(Array("{\"a\":\(open)\(close)}".utf8))
            agree(Array("{\"a\":\(open)".utf8))
            agree(Array((String(repeating: "{\"a\":", count: depth) + "1" + String(repeating: "}", count: depth)).utf8))
        }
    }

    @Test func badUTF8() {
        for bad: [UInt8] in [
            [0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x80], [0xe2, 0x82],
        ] {
            agree(Array("{\"a\":\"".utf8) + bad + Array("\"}".utf8))
            agree(Array("{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\":\"".utf8) + bad + Array("\"}".utf8))
            agree(bad)
        }
    }

    @Test func randomAndMutated() {
        var random = Noise(11)
        let seeds = [
            #"{"aps":{"alert":{"title":"邀请","body":"x"},"badge":3,"sound":"a.caf"},"callId":"7f3c","ttl":30.5,"video":true}"#,
            #"{"a":[[],{},"",0,-1,1e5,null,false],"b":"\\\"\u20ac\ud83d\ude00"}"#,
            #"{"x":{"y":{"z":[1,[2,[3,{"w":"v"}]]]}}}"#,
        ].map { Array($0.utf8) }
        let alphabet = Array("{}[]\",:\\ 0123456789-+.eEtruefalsn\n\u{1}é".utf8)
        for round in 0..<60_000 {
            var bytes: [UInt8]
            if round % 4 == 0 {
                bytes = (0..<Int(random.next() % 24)).map { _ in alphabet.randomElement(using: &random)! }
                if round % 8 == 0 { bytes = [UInt8(ascii: "{")] + bytes + [UInt8(ascii: "}")] }
            } else {
                bytes = seeds.randomElement(using: &random)!
                for _ in 0..<(1 + random.next() % 3) where !bytes.isEmpty {
                    let place = Int(random.next() % UInt64(bytes.count))
                    switch random.next() % 5 {
                    case 0: bytes.remove(at: place)
                    case 1: bytes.insert(alphabet.randomElement(using: &random)!, at: place)
                    case 2: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                    case 3: bytes.removeLast(Int(random.next() % UInt64(bytes.count)))
                    default: bytes[place] = alphabet.randomElement(using: &random)!
                    }
                }
            }
            agree(bytes)
        }
    }
}
