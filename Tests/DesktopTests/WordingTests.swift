import Base
import Desktop
import Testing

struct WordingTests {
    private func incoming(isWaiting: Bool, canHold: Bool) -> [String] {
        Wording.incoming(
            caller: "Alice", handle: nil, isVideo: false, app: "", isWaiting: isWaiting, canHold: canHold,
            canOpen: false, soundName: nil
        ).actions.flatMap { [$0.key, $0.label] }
    }

    @Test func aWaitingCallMayHoldTheOther() {
        #expect(
            incoming(isWaiting: true, canHold: true) == [
                "default", "Silence", "hold-answer", "Hold & answer", "answer", "End & answer", "decline", "Decline",
            ])
        let plain = ["default", "Silence", "answer", "End & answer", "decline", "Decline"]
        #expect(incoming(isWaiting: true, canHold: false) == plain)
        // Alone there is nothing to hold.
        #expect(incoming(isWaiting: false, canHold: true) == incoming(isWaiting: false, canHold: false))
    }

    @Test func aFailedCallIsTold() {
        let banner = Wording.failed(
            caller: "Alice", app: "Talk", why: "the app did not reply", canOpen: true, canCallBack: true)
        #expect(banner.summary == "Call failed: Alice" && banner.body == "the app did not reply · Talk")
        #expect(banner.category == "call.unanswered" && banner.urgency == .normal)
        #expect(banner.actions.map(\.key) == ["default", "callback"])
        #expect(Wording.failed(caller: "A", app: "", why: nil, canOpen: false, canCallBack: false).body.isEmpty)
    }

    @Test func aScreenedCallsNoticeIsQuiet() {
        func urgency(_ isQuiet: Bool) -> Banner.Urgency {
            Wording.missed(
                caller: "A", count: 1, last: .now, rang: .zero, app: "", why: nil, canOpen: false, canCallBack: false,
                isQuiet: isQuiet
            ).urgency
        }
        #expect(urgency(true) == .low && urgency(false) == .normal)
    }
}
