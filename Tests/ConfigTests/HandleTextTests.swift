import Base
import Testing

struct HandleTextTests {
    @Test(arguments: [
        ("", ""), ("+49301234567", "+49301234567"), ("alice@example.com", "alice@example.com"),
        ("sip:alice@example.com", "alice@example.com"), ("SIPS:Alice@Example.com:5061", "Alice@Example.com:5061"),
        ("sip:alice@example.com;transport=tls", "alice@example.com"),
        ("sip:alice@example.com?Subject=a%40b", "alice@example.com"),
        ("sip:alice:secret@example.com", "alice@example.com"),
        ("sip:+49301234567;phone-context=x@example.com;user=phone", "+49301234567@example.com"),
        ("sip:alice;day=tuesday@example.com;lr", "alice;day=tuesday@example.com"),
        ("sip://alice@example.com", "alice@example.com"), ("sip:%2B4930@example.com", "+4930@example.com"),
        ("tel:+49-30-1234567", "+49-30-1234567"), ("tel:1001;phone-context=example.com", "1001"),
        ("client:alice_1", "alice_1"), ("mailto:a@b?subject=hello", "a@b"), ("mailto:%22a%20b%22@c", "\"a b\"@c"),
        ("xmpp:alice@example.com/phone?call", "alice@example.com/phone"), ("im:alice@example.com", "alice@example.com"),
        ("matrix:u/alice:example.org", "@alice:example.org"),
        ("matrix:u/alice:example.org?action=chat", "@alice:example.org"),
        ("matrix:roomid/abc:example.org/e/x?via=y", "!abc:example.org"), ("@alice:example.org", "@alice:example.org"),
        ("\"Alice\" <sip:alice@example.com>", "alice@example.com"),
        ("Alice B. <sips:alice@example.com;transport=tcp>;tag=1", "alice@example.com"), ("<+49 30 1>", "+49 30 1"),
        ("alice@example.com;transport=tls", "alice@example.com"), ("+4930;ext=1", "+4930"),
        ("sip:sip:alice", "alice"), ("sip:", "sip:"), ("sip:<>", "<>"), ("a <b> c", "a <b> c"),
        ("I <3 you>", "I <3 you>"),
        ("a;b", "a;b"), ("Team: support", "Team: support"), ("http://x", "http://x"), ("sip:a%zzb%", "a%zzb%"),
        ("sip:%ff%fe", "%ff%fe"), ("\u{202e}sip:x\u{0}", "x"), ("sip:a\u{202e}b", "ab"), ("sip:%E2%80%AEab%00", "ab"),
        ("\u{0}", "?"), ("\u{200b}", "?"), ("\u{301}", "\u{301}"), ("a \u{0}\u{301}b", "a b"),
    ])
    func peopleReadTheAddress(_ handle: String, _ shown: String) {
        #expect(HandleText.shown(handle) == shown)
        #expect(HandleText.shown(shown) == shown)
    }

    @Test func longHandlesAreCut() {
        let long = "sip:" + String(repeating: "ä", count: 400) + "@example.com"
        let shown = HandleText.shown(long)
        #expect(shown.utf8.count <= 259 && shown.hasPrefix("ä") && shown.hasSuffix("…"))
        #expect(HandleText.shown(shown) == shown)
        let bracketed = HandleText.shown("x <sip:a>;b=" + String(repeating: "c", count: 300) + " <sip:d")
        #expect(bracketed == "a" && HandleText.shown(bracketed) == bracketed)
        #expect(HandleText.shown(String(repeating: "sip:", count: 100_000)) == "…")
    }

    /// What is read on the screen is what one blocks.
    @Test(arguments: [
        "client:Alice", "matrix:u/alice:example.org", "\"Alice\" <sip:alice@example.com>;tag=1", "tel:1001;ext=1",
        "sip:%2B4930@example.com", "sip:alice:secret@example.com",
    ])
    func whatIsShownMatches(_ handle: String) throws {
        #expect(try HandlePattern(HandleText.shown(handle)).matches(handle))
        #expect(try HandlePattern(handle).matches(HandleText.shown(handle)))
    }
}
