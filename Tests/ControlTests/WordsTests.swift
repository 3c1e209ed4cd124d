import Base
import Foundation
import TestSupport
import Testing

@testable import Control

/// What people read.
struct WordsTests {
    @Test func aCallThatIsOverIsNamedWithItsCure() {
        let id = PushWords.id(in: Array(#"{"aps":{},"callId":"4\u001b2"}"#.utf8))
        #expect(
            PushWords.outcome("already-over", id: "42")
                == "call 42 is over, and an id rings once in ten minutes: send a new one")
        #expect(PushWords.outcome("already-over")?.contains("send a new one") == true)
        #expect(PushWords.outcome("already-over", id: id)?.contains("\u{1b}") == false)
        #expect(PushWords.id(in: Array("no JSON".utf8)) == nil)
        for word in ["rings", "queued", "tombstone", "already-over", "recorded"] {
            #expect(PushWords.outcome(word)?.contains("tombstone") == false, "\(word)")
        }
        #expect(PushWords.repeats("the call is over (tombstone): it does not ring again", "already-over"))
        #expect(!PushWords.repeats("no call id in the payload", "already-over"))
    }

    @Test func aSeriesOfDevicesIsKnownByItsName() {
        let devices = ["desktop", "alice-2", "alice-1", "alice-10", "bob-1", "carol-x", "dave"]
        #expect(
            Verbs.series("alice", among: devices)
                == "there is no device alice; there are alice-1 … alice-10 (ringctl device)")
        #expect(Verbs.series("bob", among: devices) == "there is no device bob; there is bob-1 (ringctl device)")
        #expect(Verbs.series("carol", among: devices) == nil && Verbs.series("dave", among: devices) == nil)
    }
}

/// `ringctl config`, as far as no ringd is needed.
struct ConfigVerbTests {
    private let home = Scratch()

    private func ringctl(_ words: String...) throws -> Outcome {
        try attempt(
            Tree.program("ringctl"), words, environment: ["HOME": home.path, "LC_ALL": "C.UTF-8"], isWhole: true)
    }

    @Test func filesThatAreNamedAreLookedAt() throws {
        #expect(try ringctl("certs", "init").status == 0)
        let certificates = home.at(".local/state/ringd/certs")
        try home.make("empty.pem")
        try home.make(
            ".config/ringd/ringd.conf",
            Data(
                """
                [apns]
                authorities = \(certificates)/ca.pem, \(home.path)/empty.pem
                [key ABC123DEFG]
                file = \(home.path)/AuthKey_ABC123DEFG.p8
                [key ABC123DEFH]
                file = \(certificates)/ca.pem
                [key ABC123DEFI]
                file = \(home.path)
                """.utf8))
        let check = try ringctl("config", "check")
        #expect(check.status == 1)
        #expect(check.out.contains("line 2: apns.authorities: \(home.path)/empty.pem cannot be used"), "\(check.all)")
        #expect(check.out.contains("line 4: [key ABC123DEFG] file: there is no file"), "\(check.all)")
        #expect(check.out.contains("line 8: [key ABC123DEFI] file: \(home.path) is not a file"), "\(check.all)")
        #expect(check.out.split(separator: "\n").count == 3, "\(check.all)")
    }

    @Test func settingsGoAndComeWithoutRingd() throws {
        let refused = try ringctl("config", "set", "apns.http2", "")
        #expect(refused.status == 1 && refused.complaint.contains("say none to close a door"), "\(refused.all)")
        #expect(try ringctl("config", "set", "sound.volume", "40").status == 0)
        let gone = try ringctl("config", "unset", "sound.volume")
        #expect(gone.status == 0 && gone.out.contains("sound.volume = 100, the default"), "\(gone.all)")
        #expect(try ringctl("config", "unset", "sound.volume").out.contains("it was not set"))
        #expect(try ringctl("config", "unset", "sound.volum").complaint.contains("did you mean sound.volume?"))
        #expect(try ringctl("config", "reload").status == 3)
    }
}
