import Foundation
import JSON
import TestSupport
import Testing

extension EndToEnd {
    /// Senders as their authors publish them, with their own parameters or with no word about ringd at all.
    @Suite(.serialized, SharedDesk()) struct Clients {
        @Test(arguments: Way.parameters.senders) func byParameters(_ sender: PushSender) throws {
            try ClientDesk.check(sender, .parameters)
        }

        @Test(arguments: Way.door.senders) func throughTheDoor(_ sender: PushSender) throws {
            try ClientDesk.check(sender, .door)
        }

        @Test(arguments: Way.names.senders) func byNames(_ sender: PushSender) throws {
            try ClientDesk.check(sender, .names)
        }
    }

    /// The same with Apple's names on Apple's ports, and nothing said to any sender but whom to trust.
    @Suite(
        .serialized, .enabled(if: PrivateNetwork.isPossible, "root may make a private network; others are not let"),
        SharedDesk(isPrivate: true))
    struct ClientsOfAPrivateNetwork {
        @Test(arguments: Way.network.senders) func unmodified(_ sender: PushSender) throws {
            try ClientDesk.check(sender, .network)
        }
    }
}

extension ClientDesk {
    /// All that every sender is to do by every way.
    static func check(_ sender: PushSender, _ way: Way) throws {
        let desk = try #require(shared)
        if sender.isBinary { try desk.checkBinary(sender, way) } else { try desk.checkHTTP2(sender, way) }
    }

    private func checkHTTP2(_ sender: PushSender, _ way: Way) throws {
        let call = "\(sender.rawValue) by \(way.rawValue)"
        let voip = try token("voip-production")
        let start = rig.events.count
        var gone = Push(goneToken, "gone")
        gone.topic = Self.goneApp + ".voip"
        let reports = try send(
            sender, Manner(way),
            [Push(voip, call), Push(try token("alert-production"), "alert"), Push(nobodysToken, "nobody"), gone])
        try #require(reports.count == 4, "\(reports)")

        let good = reports[0]
        #expect(good.isOK && [nil, 200].contains(good.status), "\(good.all.encoded())")
        try expectRing(call)
        #expect(rig.events("push.accepted", from: start).count == 1)
        try Conformance.note(
            sender, way, .rings, Self.shown(good.status.map { "\($0)" }, good.id.map { _ in "`apns-id`" }))

        for (report, reason) in [(reports[1], "DeviceTokenNotForTopic"), (reports[2], "BadDeviceToken")] {
            #expect(!report.isOK && report.reason == reason, "\(report.all.encoded())")
            #expect([nil, 400].contains(report.status))
        }
        try Conformance.note(
            sender, way, .isRefused,
            Self.shown(
                reports[1].status.map { "\($0)" }, reports[1].reason.map { "`\($0)`" },
                reports[2].reason.map { "`\($0)`" }))

        let last = reports[3]
        #expect(!last.isOK && last.reason == "Unregistered", "\(last.all.encoded())")
        #expect([nil, 410].contains(last.status))
        #expect(goneAt.contains(try #require(last.timestamp)), "\(last.all.encoded()), not in \(goneAt)")
        try Conformance.note(
            sender, way, .isGone,
            Self.shown(
                last.status.map { "\($0)" }, last.reason.map { "`\($0)`" }, last.timestamp.map { _ in "`timestamp`" }))
    }

    private static func shown(_ words: String?...) -> String {
        let said = words.compactMap(\.self)
        return said.isEmpty ? "no error" : said.joined(separator: ", ")
    }

    // MARK: The legacy protocol

    private func checkBinary(_ sender: PushSender, _ way: Way) throws {
        let voip = try token("voip-production")
        let isPHP = sender == .phpStreams
        let quick = Manner(way, certificate: Rig.app, ["PUSH_PATIENCE": "0.3"])
        let patient = Manner(way, certificate: Rig.app, ["PUSH_PATIENCE": "20"])

        for command in isPHP ? [0, 1, 2] : [2] {
            let call = "\(sender.rawValue) \(command) by \(way.rawValue)"
            var push = Push(voip, call)
            push.command = command
            let reports = try send(sender, quick, [push])
            #expect(reports.map(\.isOK) == [true])
            try expectRing(call)
            #expect(try pushes(1).first?["door"]?.string == "binary, command \(command)")
        }
        try Conformance.note(sender, way, .rings, "no answer")

        for (command, identifier) in isPHP ? [(1, 901), (2, 902)] : [(2, 0)] {
            for wrong in [nobodysToken, try token("alert-production")] {
                var push = Push(wrong, "wrong")
                push.command = command
                push.identifier = identifier
                let report = try #require(try send(sender, patient, [push]).first)
                #expect(!report.isOK && report.status == 8, "\(report.all.encoded())")
                #expect(report.identifier == Int64(identifier))
            }
        }
        if isPHP {
            // The first of the three commands has no word for it.
            var push = Push(nobodysToken, "nobody")
            push.command = 0
            let report = try #require(try send(sender, patient, [push]).first)
            #expect(!report.isOK && report.status == nil && report.all["isCut"]?.flag == true)
        }
        try Conformance.note(
            sender, way, .isRefused, "error 8 with the identifier" + (isPHP ? "; command 0: cut off" : ""))

        // What others were told of does not count.
        let late = Manner(way, certificate: Self.goneApp, ["PUSH_PATIENCE": "20"])
        _ = try feedback(sender, late)
        var push = Push(goneToken, "gone")
        push.identifier = isPHP ? 903 : 0
        let report = try #require(try send(sender, late, [push]).first)
        #expect(
            !report.isOK && report.status == 8 && report.identifier == Int64(push.identifier), "\(report.all.encoded())"
        )
        let told = try feedback(sender, late)
        #expect(told.map(\.token) == [goneToken])
        let time = try #require(told.first?.timestamp)
        // When the app went, as 410 has it, in whole seconds.
        let gone = goneAt.lowerBound / 1000...goneAt.upperBound / 1000
        #expect(gone.contains(time), "\(time), not in \(gone)")
        #expect(try feedback(sender, late).isEmpty, "what was read is gone")
        try Conformance.note(
            sender, way, .isGone, "error 8 with the identifier, then feedback with the time in seconds")
    }
}
