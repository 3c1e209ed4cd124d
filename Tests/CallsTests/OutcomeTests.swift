import Base
import Calls
import CallsWalk
import Testing

/// callkit.md 5.5: what each end means in history, to CallKit and to the user.
struct OutcomeTests {
    /// How far the call had come.
    enum Came: CaseIterable { case rang, quiet, answered, connected, dialled, dialledConnected }

    struct Row: Sendable {
        let reason: EndReason
        let came: Came
        let category: String
        let callKit: UInt32?
        let notice: EndReason.Notice?

        init(
            _ reason: EndReason, _ came: Came, _ category: String, _ callKit: UInt32?, _ notice: EndReason.Notice?
        ) {
            self.reason = reason
            self.came = came
            self.category = category
            self.callKit = callKit
            self.notice = notice
        }
    }

    static let rows = [
        Row(.local, .connected, "completed", nil, nil),
        Row(.local, .dialledConnected, "completed", nil, nil),
        Row(.handedOver, .answered, "completed", nil, nil),
        Row(.declined, .rang, "declined", nil, nil),
        Row(.cancelled, .dialled, "cancelled", nil, nil),
        Row(.ignored, .rang, "missed", 3, nil),
        Row(.remoteEnded, .rang, "missed", 2, .missed),
        Row(.remoteEnded, .quiet, "missed", 2, .quietlyMissed),
        Row(.remoteEnded, .answered, "missed", 2, .missed),
        Row(.remoteEnded, .connected, "completed", 2, nil),
        Row(.remoteEnded, .dialled, "declined", 2, nil),
        Row(.remoteEnded, .dialledConnected, "completed", 2, nil),
        Row(.unanswered, .rang, "missed", 3, .missed),
        Row(.unanswered, .quiet, "missed", 3, .quietlyMissed),
        Row(.unanswered, .dialled, "no answer", 3, nil),
        Row(.answeredElsewhere, .rang, "answered on another device", 4, nil),
        Row(.declinedElsewhere, .rang, "declined on another device", 5, nil),
        Row(.busy, .rang, "missed", 3, .quietlyMissed),
        Row(.filtered(.doNotDisturb), .rang, "missed", 3, .quietlyMissed),
        Row(.filtered(.unknownCaller), .rang, "missed", 3, .quietlyMissed),
        Row(.filtered(.blockList), .rang, "blocked", 3, nil),
        Row(.expired, .rang, "missed", 3, .missed),
        Row(.failed(.reported), .rang, "missed", 1, .missed),
        Row(.failed(.reported), .quiet, "missed", 1, .quietlyMissed),
        Row(.failed(.answer), .answered, "failed", 1, .failed),
        Row(.failed(.start), .dialled, "failed", 1, .failed),
        Row(.failed(.clientGone), .connected, "interrupted", 1, .failed),
        Row(.failed(.network), .dialledConnected, "interrupted", 1, .failed),
        Row(.failed(.unbound), .rang, "missed", 1, nil),
        Row(.failed(.reset), .connected, "interrupted", 1, nil),
    ]

    @Test func everyRow() {
        for row in Self.rows {
            let call = Self.call(row.came)
            #expect(row.reason.category(of: call) == row.category, "\(row.reason) \(row.came)")
            #expect(row.reason.callKitReason == row.callKit, "\(row.reason)")
            #expect(row.reason.notice(of: call) == row.notice, "\(row.reason) \(row.came)")
        }
    }

    @Test func everyReasonHasAWordOfItsOwn() {
        let reasons: [EndReason] =
            [
                .handedOver, .local, .declined, .cancelled, .ignored, .remoteEnded, .unanswered, .answeredElsewhere,
                .declinedElsewhere, .busy, .expired,
            ] + EndReason.Filter.allCases.map { .filtered($0) } + EndReason.Failure.allCases.map { .failed($0) }
        #expect(Set(reasons.map(\.word)).count == reasons.count)
        for number in 1...5 { #expect(EndReason(callKit: Int64(number))?.callKitReason == UInt32(number)) }
    }

    @Test func onlyAConnectedCallHasADuration() {
        for came in Came.allCases {
            let call = Self.call(came)
            #expect((call.connected != nil) == (came == .connected || came == .dialledConnected))
        }
        var world = World()
        world.register()
        let invite = Invite.sample("a")
        world.connect(invite)
        let connected = world.now
        world.advance(.seconds(42))
        world.report(invite.uuid, .ended(.remoteEnded, at: connected + .seconds(40), detail: ""))
        let row = world.records[invite.uuid]!
        #expect(row.ended! - row.connected! == .seconds(40))
    }

    private static func call(_ came: Came) -> Call {
        let invite = Invite.sample("a")
        var world = World(policy: IncomingTransitionTests.policy { $0.whenDisturbing = .silent })
        world.register()
        switch came {
        case .rang: world.push(invite)
        case .quiet:
            world.send(.disturbance(isForbidden: true))
            world.push(invite)
        case .answered:
            world.push(invite)
            world.send(.user(invite.uuid, .answer))
        case .connected: world.connect(invite)
        case .dialled, .dialledConnected:
            world.request(.start(invite))
            world.fulfil("start")
            if came == .dialledConnected { world.report(invite.uuid, .connected(at: nil)) }
        }
        return world.center[invite.uuid]!
    }
}
