internal import Base
internal import JSON
internal import Sender

/// `ringctl push --via http2|binary --bench N`: the rate that a gateway takes pushes at, and how long it takes for each.
struct PushBench {
    let via: PushVia
    let count: Int

    private final class Tally {
        var times: [Int64] = []
        var statuses: [Int: Int] = [:]
        var faults: [String: Int] = [:]
        /// The reason of the first push that was not accepted.
        var firstRefusal: String?
        var sent = 0
        var done: Int { times.count }
        /// Of the binary protocol, which confirms nothing: how many were likely taken; nil for all that were sent.
        var likely: Int?
    }

    func run() throws(Refusal) {
        let connections = try number("connections", 1, 1...256)
        let streams = try number("streams", 100, 1...1000)
        let tally = Tally()
        tally.times.reserveCapacity(count)
        let bar = ProgressBar(total: count, isOn: !via.session.isJSON)
        let began: Instant
        if via.isBinary {
            began = try binary(connections, tally, bar)
        } else {
            began = try http2(connections, streams, tally, bar)
        }
        let took = Instant.now - began
        bar.clear()
        try tell(tally, took)
    }

    private func number(_ option: String, _ usual: Int, _ range: ClosedRange<Int>) throws(Refusal) -> Int {
        guard let text = via.invocation.options[option] else { return usual }
        guard let value = Int(text), range.contains(value) else {
            throw .usage("push: --\(option) is a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    private func http2(
        _ connections: Int, _ streams: Int, _ tally: Tally, _ bar: ProgressBar
    ) throws(Refusal) -> Instant {
        var senders: [HTTP2Sender] = []
        for _ in 0..<connections { senders.append(try via.http2()) }
        let headers = try via.headers()
        let began = Instant.now
        var lastDone = Instant.now
        var before = 0
        while tally.done < count {
            for sender in senders where !sender.isEnded {
                while tally.sent < count, sender.inFlight < min(streams, sender.room + sender.inFlight), sender.room > 0
                {
                    tally.sent += 1
                    try PushVia.sending { () throws(SendFailure) in
                        try sender.push(path: via.path, headers: headers, payload: via.content.payload) { answer in
                            tally.times.append(answer.time.nanoseconds)
                            tally.statuses[answer.status, default: 0] += 1
                            if answer.status != 200, answer.status != 0, tally.firstRefusal == nil {
                                let reason = (try? JSONValue.parse(answer.body))?["reason"]?.string ?? answer.body
                                tally.firstRefusal = "\(answer.status) \(Text.clean(reason, limit: 80))"
                            }
                            if !answer.fault.isEmpty { tally.faults[answer.fault, default: 0] += 1 }
                        }
                    }
                }
                // With several, none is waited for while another may have something.
                try PushVia.sending { () throws(SendFailure) in
                    try sender.step(connections == 1 ? .milliseconds(100) : .zero)
                }
            }
            if tally.done > before {
                before = tally.done
                lastDone = .now
            }
            bar.show(tally.done)
            if senders.allSatisfy(\.isEnded) {
                tally.faults[
                    senders.compactMap(\.goAway).first.map { "GOAWAY, \($0)" } ?? "the connection ended", default: 0] +=
                    1
                break
            }
            guard Instant.now - lastDone < .seconds(30) else {
                throw .refused("\(via.address) has not answered for 30 s; \(tally.done) of \(count) were answered")
            }
        }
        for sender in senders { sender.close() }
        return began
    }

    private func binary(_ connections: Int, _ tally: Tally, _ bar: ProgressBar) throws(Refusal) -> Instant {
        var notification = try via.notification()
        var senders: [BinarySender] = []
        for _ in 0..<connections { senders.append(BinarySender(try via.channel())) }
        let began = Instant.now
        sending: while tally.sent < count {
            for sender in senders {
                guard !sender.isEnded, sender.refusal == nil else { break sending }
                try PushVia.sending { () throws(SendFailure) in
                    while tally.sent < count && sender.backlog < 32_768 {
                        notification.identifier = UInt32(truncatingIfNeeded: tally.sent)
                        try sender.send(notification)
                        tally.sent += 1
                        if connections > 1 { break }
                    }
                    try sender.step(sender.backlog < 32_768 ? .zero : .milliseconds(100))
                }
            }
            bar.show(tally.sent)
        }
        for sender in senders {
            try PushVia.sending { () throws(SendFailure) in
                while sender.backlog > 0 && !sender.isEnded { try sender.step(.milliseconds(100)) }
                try sender.listen(.milliseconds(300))
            }
            if sender.refusal != nil || sender.isEnded, tally.likely == nil {
                let end = BinaryEnd(sender.refusal, sent: tally.sent, connections: connections)
                tally.likely = end.likely
                tally.faults[end.words, default: 0] += 1
            }
            sender.close()
        }
        return began
    }

    private func tell(_ tally: Tally, _ took: Duration) throws(Refusal) {
        let done = via.isBinary ? tally.sent : tally.done
        let accepted = via.isBinary ? tally.likely ?? done : tally.statuses[200] ?? 0
        let rate = Double(accepted) / max(took.seconds, 1e-9)
        let times = tally.times.sorted()
        func percentile(_ part: Double) -> Int64 {
            times.isEmpty ? 0 : times[min(times.count - 1, Int(Double(times.count) * part))]
        }
        let marks: [(String, Double)] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1)]
        let refused = tally.statuses.filter { $0.key != 200 }.map(\.value).reduce(0, +)
        if via.session.isJSON {
            var members: [JSONValue.Member] = [
                .init("pushes", .integer(Int64(done))), .init("seconds", .real(took.seconds)),
                .init("per_second", .real(rate)),
            ]
            // The binary protocol says nothing of what it takes.
            if !via.isBinary {
                members.append(.init("accepted", .integer(Int64(accepted))))
            } else if let likely = tally.likely {
                members.append(.init("likely_accepted", .integer(Int64(likely))))
            }
            if let reason = tally.firstRefusal { members.append(.init("first_refusal", .string(reason))) }
            if !times.isEmpty {
                for (name, part) in marks {
                    members.append(.init(name + "_us", .integer(percentile(part) / 1000)))
                }
                members.append(
                    .init(
                        "statuses",
                        .object(
                            tally.statuses.sorted { $0.key < $1.key }.map {
                                .init(String($0.key), .integer(Int64($0.value)))
                            })))
            }
            try via.session.say(.object(members))
        } else {
            let word =
                !via.isBinary ? "accepted" : tally.likely != nil ? "likely accepted" : "sent, and no error came back"
            try via.session.say("\(accepted) of \(count) \(word), in \(took.shortText): \(Int(rate)) a second")
            if !times.isEmpty {
                let line = marks.map { "\($0.0) \(Duration.nanoseconds(percentile($0.1)).shortText)" }
                try via.session.say("latency " + line.joined(separator: ", "))
                for (status, number) in tally.statuses.sorted(by: { $0.key < $1.key }) {
                    try via.session.say("\(number) × \(status == 0 ? "no answer" : String(status))")
                }
            }
        }
        let faults = tally.faults.sorted { $0.value > $1.value }.prefix(3).map {
            $0.value > 1 ? "\($0.value) × \($0.key)" : $0.key
        }
        guard refused == 0, faults.isEmpty, done == count else {
            var words = faults
            if refused > 0, faults.isEmpty || tally.firstRefusal != nil {
                let first = tally.firstRefusal.map { ", the first: \($0)" } ?? ""
                words.insert("\(refused) of \(done) were not accepted\(first)", at: 0)
            }
            if tally.firstRefusal?.hasPrefix("429") == true, via.address.isLoopback {
                words.append("a token takes apns.device-rate pushes a second (ringctl config set apns.device-rate 0)")
            }
            throw .refused(words.joined(separator: "; "))
        }
    }
}

/// How a line of the binary protocol ended early, in words.
struct BinaryEnd {
    /// 0 where nobody can know.
    let likely: Int
    let words: String

    /// Identifiers count pushes from 0.
    init(_ refusal: BinarySender.Refusal?, sent: Int, connections: Int) {
        guard let refusal else {
            likely = 0
            words = "the gateway cut the line, \(sent) pushes were sent by then: how many it took it did not say"
            return
        }
        // A shutdown names the last that was taken, everything else the one that was not.
        let before = min(sent, Int(refusal.identifier) + (refusal.status == 10 ? 1 : 0))
        likely = before
        let which = refusal.status == 10 ? "after push \(before)" : "at push \(before + 1)"
        let others = connections > 1 ? ", perhaps fewer over \(connections) connections" : ""
        words =
            "the gateway cut the line \(which) of \(sent) sent: status \(refusal.status), \(refusal.words); likely taken: the first \(before)\(others); what was sent after it is lost"
    }
}

extension PushBench {
    static let options = Verb.Option.under(
        "Load",
        [
            .init(name: "bench", value: "N", help: "send it N times: rate and latencies"),
            .init(name: "connections", value: "N", help: "… over so many connections; 1, if not given"),
            .init(name: "streams", value: "N", help: "… with so many on their way on each; 100, if not given"),
        ])
}
