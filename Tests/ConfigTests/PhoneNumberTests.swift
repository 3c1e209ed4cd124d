import Base
import Foundation
import Testing

struct PhoneNumberTests {
    private struct Row {
        let line: Int
        let region: PhoneRegion?
        let text: String
        let expected: String?
    }

    /// What Scripts/regions asked phonenumbers: a dash for no region, and for what stays as it is.
    private func rows() throws -> [Row] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Numbers/numbers.tsv")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        return try lines.enumerated().dropFirst().map { index, line in
            let parts = line.split(separator: "\t").map(String.init)
            try #require(parts.count == 3, "line \(index + 1)")
            let region = PhoneRegion(parts[0])
            try #require(region != nil || parts[0] == "-", "line \(index + 1)")
            return Row(line: index + 1, region: region, text: parts[1], expected: parts[2] == "-" ? nil : parts[2])
        }
    }

    @Test func everyRegionAgreesWithLibphonenumber() throws {
        let rows = try rows()
        #expect(rows.count > 2500 && Set(rows.compactMap(\.region)).count == PhoneRegion.codes.count)
        for row in rows {
            let found = PhoneNumber.e164(row.text, in: row.region)
            #expect(
                found == row.expected,
                "numbers.tsv:\(row.line): \(row.region?.code ?? "-") \(row.text): \(found ?? "-"), not \(row.expected ?? "-")"
            )
        }
    }

    /// What an address book, a PBX and a web form make of it.
    @Test(arguments: [
        ("DE", "030 1234567", "+49301234567"), ("DE", "(0 30) 12 34 56-7", "+49301234567"),
        ("DE", "\u{202a}030\u{a0}123\u{2011}4567\u{202c}", "+49301234567"), ("de", "+49 (0)30 1234567", "+49301234567"),
        ("DE", "49 30 12345678", "+493012345678"), ("DE", "00 1 201 555 0123", "+12015550123"),
        ("DE", "０３０１２３４５６７", "+49301234567"), ("DE", "＋４９ ３０ １２３４５６７", "+49301234567"),
        ("IT", "06 1234 5678", "+390612345678"), ("VA", "06 698 12345", "+390669812345"),
        ("SM", "0549 886377", "+3780549886377"), ("SM", "886377", "+3780549886377"),
        ("US", "(201) 555-0123", "+12015550123"), ("US", "1-201-555-0123", "+12015550123"),
        ("US", "011 49 30 1234567", "+49301234567"), ("AU", "0011 49 30 1234567", "+49301234567"),
        ("RU", "8 (495) 123-45-67", "+74951234567"), ("RU", "8~10 49 30 1234567", "+49301234567"),
        ("HU", "06 1 234 5678", "+3612345678"), ("KZ", "8 (7172) 12 34 56", "+77172123456"),
        ("AG", "460-1234", "+12684601234"), ("JP", "010 1 201 555 0123", "+12015550123"),
    ])
    func numbersHaveOneForm(_ region: String, _ text: String, _ expected: String) {
        #expect(PhoneNumber.e164(text, in: PhoneRegion(region)) == expected)
    }

    @Test(arguments: [
        "", " ", "+", "1001", "110", "112", "116117", "12345678", "alice", "alice@example.com", "sip:+49301234567@x",
        "*31#030123456", "030 1234567 ext. 12", "030 1234567;12", "0800 FLOWERS", "+49 30 1234567 + 1", "++49301234567",
        "+49\n301234567", "030²1234567", "+49 30", "0 112", "00 49", "000000000",
        String(repeating: "1", count: 25), String(repeating: "1", count: 100_000),
        String(repeating: "(", count: 65) + "030 1234567",
    ])
    func whatCannotBeToldStays(_ text: String) {
        #expect(PhoneNumber.e164(text, in: PhoneRegion("DE")) == nil)
    }

    /// What Alertmanager calls an instance was a French number.
    @Test(arguments: PhoneRegion.codes) func addressesOfComputersAreNone(_ region: String) {
        for address in ["192.168.1.10", "172.16.254.1", "10.0.0.12", "8.8.8.8", "255.255.255.255", "93.184.215.14"] {
            #expect(PhoneNumber.e164(address, in: PhoneRegion(region)) == nil)
        }
        #expect(PhoneNumber.e164("70.12.34.56", in: PhoneRegion("BF")) == "+22670123456", "pairs of digits")
        #expect(PhoneNumber.e164("01.23.45.67.89", in: PhoneRegion("FR")) == "+33123456789")
    }

    @Test func withoutARegionOnlyAPlusTells() {
        #expect(PhoneNumber.e164("+49 (0)30 123 45 67", in: nil) == "+49301234567")
        #expect(PhoneNumber.e164("0049 30 1234567", in: nil) == nil)
        #expect(PhoneNumber.e164("030 1234567", in: nil) == nil)
    }

    /// Every shape of digits in every region: what comes out is a number, and stays one.
    @Test func whatIsToldIsTheSameAgain() throws {
        let regions: [PhoneRegion?] = [nil] + PhoneRegion.codes.map(PhoneRegion.init)
        var state: UInt64 = 11
        func next(_ below: UInt64) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % below)
        }
        var told = 0
        for region in regions {
            for _ in 0..<20 {
                let front = ["", "0", "00", "+", "1", "8", "011", "+54 ", "+52", "+7 8", "+39 0"][next(11)]
                let text = front + (0..<next(16)).map { _ in String(next(10)) }.joined()
                guard let number = PhoneNumber.e164(text, in: region) else { continue }
                told += 1
                #expect(number.wholeMatch(of: /\+[1-9][0-9]{4,14}/) != nil, "\(text) \(number)")
                #expect(PhoneNumber.e164(number, in: region) == number, "\(text) \(number)")
                #expect(PhoneNumber.e164(number, in: nil) == number, "\(text) \(number)")
                guard let region else { continue }
                for local in PhoneNumber.national(number, in: region) {
                    #expect(local.allSatisfy { $0.isASCII && $0.isNumber }, "\(number) \(local)")
                }
            }
        }
        #expect(told > 400)
    }

    @Test func theRegionsOwnWritingIsKnown() throws {
        func national(_ region: String, _ number: String) throws -> [String] {
            try PhoneNumber.national(number, in: #require(PhoneRegion(region)))
        }
        #expect(try national("DE", "+49301234567") == ["0301234567"])
        #expect(try national("IT", "+390612345678") == ["0612345678"])
        #expect(try national("US", "+12015550123") == ["12015550123", "2015550123"])
        #expect(try national("HU", "+3612345678") == ["0612345678"])
        #expect(try national("DE", "+12015550123") == [] && national("DE", "alice") == [])
    }

    @Test func codesAreGuessed() {
        #expect(PhoneRegion.codes.count > 240 && PhoneRegion.codes == PhoneRegion.codes.sorted())
        #expect(PhoneRegion("de")?.code == "DE" && PhoneRegion("DEU") == nil && PhoneRegion("00") == nil)
        #expect(PhoneRegion("") == nil && PhoneRegion("XX") == nil && PhoneRegion("ß") == nil)
        let guesses = ["+49", "49", "0", "DEU", "UK", "uk", "D", "800", "+999", "Germany"].map(PhoneRegion.nearest)
        #expect(guesses == ["DE", "DE", nil, "DE", "GB", "GB", guesses[6], nil, nil, nil])
    }
}
