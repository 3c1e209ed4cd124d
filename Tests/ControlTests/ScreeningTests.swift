import DBus
import Foundation
import JSON
import TestSupport
import Testing

@testable import Control

/// The verbs of `[screening]`, without a ringd.
struct ScreeningVerbTests {
    private let scratch = Scratch()

    private func ringctl(_ arguments: String...) throws -> Outcome {
        try attempt(
            Tree.program("ringctl"), arguments,
            environment: [
                "PATH": "/usr/bin:/bin", "HOME": scratch.path, "XDG_CONFIG_HOME": scratch.at("config"),
                "XDG_RUNTIME_DIR": scratch.path,
            ], isWhole: true)
    }

    private var file: String {
        (try? String(contentsOfFile: scratch.at("config/ringd/ringd.conf"), encoding: .utf8)) ?? ""
    }

    @Test func callersAreBlockedAndLetRingAgain() throws {
        #expect(try ringctl("block").out == "nobody is blocked (ringctl block PATTERN)\n")
        let added = try ringctl("block", "+49 30*", "*@spam.example")
        #expect(added.status == 0 && added.out.contains("from the next start on"))
        #expect(file == "[screening]\nblock = +49 30*, *@spam.example\n")
        #expect(try ringctl("block").out == "+49 30*\n*@spam.example\n")
        // The same, written another way.
        #expect(try ringctl("block", "0049-30*").out == "is blocked already\n")
        #expect(try ringctl("block", "--json").out == #"{"block":["+49 30*","*@spam.example"]}"# + "\n")
        #expect(try ringctl("unblock", "0049-30*").status == 0)
        #expect(file == "[screening]\nblock = *@spam.example\n")
        #expect(try ringctl("unblock", "*@spam.example").status == 0)
        #expect(try ringctl("block").out.hasPrefix("nobody is blocked"))
    }

    @Test func vipsAreAListOfTheirOwn() throws {
        #expect(try ringctl("vip", "Boss@example.com", "anonymous").status == 0)
        #expect(try ringctl("vip").out == "Boss@example.com\nanonymous\n" && file.contains("vip = Boss@example.com"))
        #expect(try ringctl("vip", "remove", "boss@EXAMPLE.com").status == 0)
        #expect(try ringctl("vip", "--json").out == #"{"vip":["anonymous"]}"# + "\n")
    }

    @Test(arguments: [
        ("a,b", "has a comma"), ("", "is empty"), (String(repeating: "x", count: 257), "longer than 256 bytes"),
        ("tel:", "is empty"),
    ])
    func badPatternsNameTheCure(_ pattern: String, _ words: String) throws {
        _ = try ringctl("block", "alice")
        for verb in ["block", "unblock", "vip"] {
            let refused = try ringctl(verb, "good", pattern)
            #expect(refused.status == 1 && refused.complaint.contains(words), "\(refused.complaint)")
        }
        #expect(file == "[screening]\nblock = alice\n")
    }

    @Test func whatIsNotThereIsNotRemoved() throws {
        _ = try ringctl("block", "+4930*", "alice@example.com")
        let before = file
        #expect(try ringctl("unblock", "+4930123").complaint.contains("blocked by +4930*"))
        #expect(try ringctl("unblock", "alise@example.com").complaint.contains("did you mean alice@example.com?"))
        #expect(try ringctl("unblock", "alice@example.com", "nobody").status == 1)
        #expect(file == before)
        #expect(try ringctl("unblock").status == 2)
    }

    @Test func aLineThatCannotBeReadIsNotLost() throws {
        try scratch.make("config/ringd/ringd.conf", Data("[screening]\nblock = a,,b\n".utf8))
        let refused = try ringctl("block", "c")
        #expect(refused.status == 1 && refused.complaint.contains("line 2") && refused.complaint.contains("mend"))
        #expect(file == "[screening]\nblock = a,,b\n")
    }

    @Test func theSwitchIsSet() throws {
        for word in ["on", "off", "auto"] {
            #expect(try ringctl("dnd", word).status == 0)
            #expect(file == "[screening]\nswitch = \(word)\n")
        }
        #expect(try ringctl("dnd", "offf").complaint.contains("did you mean ringctl dnd off?"))
        #expect(try ringctl("dnd").status == 3)
        #expect(try ringctl("config", "set", "screening.switch", "maybe").complaint.contains("auto, on or off"))
    }

    @Test func theDoctorKnowsThatNothingIsHeard() {
        func verdict(_ dnd: String) -> String {
            Doctor.verdict(
                [("notifications", "good"), ("sound", "good"), ("ringtone", "good"), ("do-not-disturb", dnd)].map {
                    .dict(("name", .string($0.0)), ("verdict", .string($0.1)))
                }
            ).words
        }
        #expect(verdict("good") == "rings" && verdict("absent") == "rings")
        #expect(verdict("warning") == "rings, but you would not hear it")
        #expect(verdict("bad").contains("missed"))
    }

    @Test func numbersOfTheRegionAreTheSameInEitherWriting() throws {
        #expect(try ringctl("config", "set", "calls.region", "de").status == 0)
        #expect(try ringctl("block", "030 1234567").status == 0)
        #expect(try ringctl("block", "+49 30 1234567").out == "is blocked already\n")
        #expect(try ringctl("unblock", "+49301234567").status == 0)
        #expect(try ringctl("block").out.hasPrefix("nobody is blocked"))
        _ = try ringctl("block", "030*")
        #expect(try ringctl("unblock", "+49301234567").complaint.contains("is blocked by 030*"))
        let refused = try ringctl("config", "set", "calls.region", "UK")
        #expect(refused.status != 0 && refused.complaint.contains("did you mean GB?"))
    }
}
