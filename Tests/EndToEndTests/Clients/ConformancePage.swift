/// Docs/conformance.md: what it says follows from the results alone, so it changes only with them.
enum ConformancePage {
    static func text(_ lines: [Conformance.Line]) -> String {
        """
        # Conformance

        Push senders as their authors publish them, against `ringd` on a desktop with a session bus, PulseAudio and dunst. The test run makes this page
        (`Scripts/test`, `Tests/EndToEndTests/Clients`), and fails if the page says something else than what the run found.

        Each sender did this by each way that its row names, and showed its user what the row says:

        - **rings**: a push to the app's VoIP token, over whose call the desktop showed a notification until it was declined (the
          legacy protocol's good answer is none);
        - **is refused**: pushes to the app's alert token with the `.voip` topic, and to a token that nobody has;
        - **is gone**: a push to an app that was removed before. `timestamp` is the time of that, in milliseconds.

        \(table(["sender", "version", "how it speaks", "led here by", "rings", "is refused", "is gone"], senders(lines)))

        What leads them here; none of them was changed:

        \(Way.allCases.map { "- **\($0.rawValue)**: \($0.words)" }.joined(separator: "\n"))

        ## What else was seen

        \(table(["what", "sender", "seen"], quirks(lines)))

        """
    }

    private static func senders(_ lines: [Conformance.Line]) -> [[String]] {
        PushSender.allCases.map { sender in
            let mine = lines.filter { $0.sender == sender.rawValue && !$0.way.isEmpty }
            // What was the same by every way is said once.
            let seen = Behaviour.allCases.map { behaviour in
                let here = mine.filter { $0.behaviour == behaviour.rawValue }
                let results = Set(here.map(\.result))
                if results.count == 1 { return results.first! }
                return here.map { "\($0.way): \($0.result)" }.sorted().joined(separator: "; ")
            }
            let ways = Way.allCases.filter { way in mine.contains { $0.way == way.rawValue } }
            return [sender.rawValue, sender.version, sender.dialect, ways.map(\.rawValue).joined(separator: ", ")]
                + seen
        }
    }

    private static func quirks(_ lines: [Conformance.Line]) -> [[String]] {
        Quirk.allCases.flatMap { quirk in
            lines.filter { $0.way.isEmpty && $0.behaviour == quirk.rawValue }
                .sorted { ($0.sender, $0.result) < ($1.sender, $1.result) }
                .map { [quirk.rawValue, $0.sender, $0.result] }
        }
    }

    private static func table(_ head: [String], _ rows: [[String]]) -> String {
        ([head, head.map { _ in "---" }] + rows).map { "| " + $0.joined(separator: " | ") + " |" }
            .joined(separator: "\n")
    }
}
