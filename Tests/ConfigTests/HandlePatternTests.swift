import Base
import Testing

struct HandlePatternTests {
    private func matches(_ pattern: String, _ handle: String) throws -> Bool {
        try HandlePattern(pattern).matches(handle)
    }

    @Test(arguments: [
        ("+49 (30) 123-456", "+4930123456"), ("0049 30 123.456", "+4930123456"),
        ("tel:+49-30-1;phone-context=x", "+49301"),
        ("SIP:Alice@Example.COM;transport=tls", "alice@example.com"), ("sips:bob@x?subject=a", "bob@x"),
        ("mailto:a@b", "a@b"), ("  030/12 34 ", "0301234"), ("\u{202a}+49\u{a0}30\u{2011}1\u{202c}", "+49301"),
        ("", ""), (" ", ""), ("Anonymous", ""), ("sip:anonymous@anonymous.invalid", ""), ("tel:", ""),
        ("user-name.with.dots", "user-name.with.dots"), ("GRÜN", "grün"), ("http://x", "http://x"), ("*31#", "*31#"),
        ("00", "+"), ("+", "+"), ("--", "--"), ("sip: tel:+49 30", "+4930"),
    ])
    func handlesHaveOneForm(_ handle: String, _ normal: String) {
        #expect(HandlePattern.normalise(handle) == normal)
        #expect(HandlePattern.normalise(normal) == normal)
    }

    @Test(arguments: [
        ("+4930*", "0049 30 99", true), ("+4930*", "tel:+49-30", true), ("+4930*", "+4931", false),
        ("0049 30 *", "+493099", true), ("*@spam.example", "sip:x@SPAM.example", true),
        ("*@spam.example", "x@spam.example.org", false), ("*", "", true), ("*", "anybody", true),
        ("anonymous", "", true), ("Anonymous", "sip:anonymous@anonymous.invalid", true), ("anonymous", "x", false),
        ("+49*0", "+490", true), ("+49*0", "+49", false), ("ab*ba", "aba", false), ("ab*ba", "abba", true),
        ("a*b*c", "a-b-c", true), ("a*b*c", "acb", false), ("**a**", "bab", true), ("*aab*", "aaab", true),
        ("*abab*abac*", "ababac", false), ("*abab*abac*", "abababac", true), ("*abab*abac*", "ababxabababac", true),
        ("alice", "ALICE", true),
        ("alice", "alice2", false), ("sip:*@x", "bob@x", true), ("*12-3", "99123", true), ("*31#", "x31#", true),
    ])
    func starsStandForAnything(_ pattern: String, _ handle: String, _ isMatch: Bool) throws {
        #expect(try matches(pattern, handle) == isMatch)
    }

    /// Against the plainest of matchers, over a small alphabet where pieces overlap all the time.
    @Test func agreesWithAnObviousMatcher() throws {
        func obvious(_ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
            guard let first = pattern.first else { return text.isEmpty }
            if first == "*" {
                return obvious(pattern.dropFirst(), text) || !text.isEmpty && obvious(pattern, text.dropFirst())
            }
            return text.first == first && obvious(pattern.dropFirst(), text.dropFirst())
        }
        var state: UInt64 = 7
        func next(_ below: UInt64) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % below)
        }
        for _ in 0..<20_000 {
            let pattern = (0..<next(8) + 1).map { _ in Array("ab*")[next(3)] }
            let text = (0..<next(12)).map { _ in Array("ab")[next(2)] }
            #expect(
                try matches(String(pattern), String(text)) == obvious(pattern[...], text[...]),
                "\(String(pattern)) \(String(text))")
        }
    }

    /// With backtracking this would outlive the universe.
    @Test func manyStarsAreNoTrap() throws {
        let pattern = try HandlePattern(String(repeating: "*a", count: 127) + "*b")
        for _ in 0..<200 { #expect(!pattern.matches(String(repeating: "a", count: 100_000))) }
        let long = try HandlePattern("*" + String(repeating: "a", count: 253) + "b*")
        #expect(!long.matches(String(repeating: "a", count: 1000)))
    }

    @Test func whatIsNoPatternIsRefused() {
        func fault(_ text: String) -> HandlePattern.Fault? {
            do throws(HandlePattern.Fault) {
                _ = try HandlePattern(text)
                return nil
            } catch {
                return error
            }
        }
        #expect(fault("") == .empty && fault(" \t") == .empty && fault("tel:") == .empty)
        #expect(fault(String(repeating: "a", count: 257)) == .tooLong)
        #expect(fault(String(repeating: "a", count: 256)) == nil)
        #expect(fault("a,b") == .badCharacter && fault("a\nb") == .badCharacter && fault("a\0") == .badCharacter)
    }

    @Test func listsAreBounded() throws {
        #expect(try HandlePattern.list("  ") == [])
        let three = try HandlePattern.list(" +49 30*,alice , *@x ")
        #expect(HandlePattern.text(three) == "+49 30*, alice, *@x")
        #expect(throws: HandlePattern.Fault.empty) { try HandlePattern.list("a,,b") }
        let most = Array(repeating: "a", count: 1000).joined(separator: ",")
        #expect(try HandlePattern.list(most).count == 1000)
        #expect(throws: HandlePattern.Fault.tooMany) { try HandlePattern.list(most + ",a") }
    }

    @Test func theSameCallersAreTheSamePattern() throws {
        #expect(try HandlePattern("0049 30") == HandlePattern("+49-30"))
        #expect(try Set([HandlePattern("A@b"), HandlePattern("sip:a@B")]).count == 1)
    }

    /// Germany is the region: either writing finds the other, and stars find the way the region writes.
    @Test(arguments: [
        ("030 1234567", "+49301234567", true), ("+49 30 1234567", "030/1234567", true),
        ("0049 30 1234567", "tel:030-1234567", true), ("+49 (0)30 1234567", "+49301234567", true),
        ("030 1234567", "+43301234567", false), ("030*", "+49301234567", true), ("+4930*", "030 1234567", true),
        ("*4567", "030 1234567", true), ("1001", "1001", true), ("1001", "+491001", false),
        ("00 1 201 555 0123", "+12015550123", true), ("alice", "sip:alice", true), ("anonymous", "", true),
        ("client:0301234567", "+49301234567", true),
    ])
    func numbersMatchInEitherWriting(_ pattern: String, _ handle: String, _ isMatch: Bool) throws {
        let germany = try #require(PhoneRegion("DE"))
        #expect(try HandlePattern(pattern).matches(handle, in: germany) == isMatch)
        #expect(try HandlePattern(pattern).resolved(in: germany).description == pattern)
    }

    @Test func aRegionsFormStays() throws {
        let america = try #require(PhoneRegion("US"))
        #expect(
            HandlePattern.spellings("(201) 555-0123", in: america) == ["+12015550123", "2015550123", "12015550123"])
        #expect(HandlePattern.spellings("alice", in: america) == ["alice"])
        #expect(HandlePattern.spellings("030 1234567", in: nil) == ["0301234567"])
        for handle in ["201 555 0123", "011 49 30 1234567", "911", "alice", ""] {
            let normal = HandlePattern.normalise(handle, in: america)
            #expect(HandlePattern.normalise(normal, in: america) == normal)
            #expect(HandlePattern.normalise(normal) == normal)
        }
        #expect(try HandlePattern("011 49 30 1234567").matches("+49301234567", in: america))
        #expect(try HandlePattern("030 1234567").resolved(in: nil) == HandlePattern("030 1234567"))
    }
}
