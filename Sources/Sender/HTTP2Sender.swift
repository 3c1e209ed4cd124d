internal import Base
internal import HTTP2

/// Sends pushes to an APNs gateway over one HTTP/2 connection.
package final class HTTP2Sender {
    /// What a gateway answered to one push.
    package struct Answer: Sendable, Equatable {
        /// The HTTP status; 0: the stream was reset, or the connection ended, before there was one.
        package var status = 0
        package var id = ""
        /// The sandbox's only.
        package var uniqueID = ""
        /// The body, as it came: `{"reason":"…"}`; empty on success.
        package var body = ""
        /// Why there is no answer, if there is none.
        package var fault = ""
        /// From the request to the answer.
        package var time: Duration = .zero

        package init() {}
    }

    private let channel: Channel
    private let http2: HTTP2Client
    private var waiting: [Int32: (began: Instant, done: (Answer) -> Void)] = [:]
    /// Why no more may be sent; a GOAWAY's words.
    package private(set) var goAway: String?

    package init(_ channel: Channel) throws(SendFailure) {
        self.channel = channel
        do throws(HTTP2Failure) { http2 = try HTTP2Client() } catch {
            throw SendFailure("HTTP/2 cannot begin: \(error)")
        }
        http2.onResponse = { [unowned self] id, response in answered(id, response) }
        http2.onGoAway = { [unowned self] _, code, debug in
            let text = Text.clean(String(decoding: debug, as: UTF8.self), limit: 200)
            goAway = "code \(code)\(text.isEmpty ? "" : ": \(text)")"
        }
    }

    /// Pushes that were sent and not answered.
    package var inFlight: Int { waiting.count }

    /// How many more may be sent now.
    package var room: Int { goAway == nil ? max(0, http2.streamLimit - waiting.count) : 0 }

    /// Sends a push; `done` is called from inside `step`. `headers`: `apns-*` and `authorization`.
    package func push(
        path: String, headers: [(name: String, value: String)], payload: [UInt8], done: @escaping (Answer) -> Void
    ) throws(SendFailure) {
        let fields =
            [(":method", "POST"), (":scheme", "https"), (":authority", channel.address.description), (":path", path)]
            + headers
        do throws(HTTP2Failure) {
            let id = try http2.request(fields.map { (name: $0.0, value: $0.1) }, body: payload)
            waiting[id] = (.now, done)
        } catch {
            throw SendFailure("the request cannot be sent: \(error)")
        }
    }

    /// One turn: sends, waits up to `time`, takes what came.
    package func step(_ time: Duration) throws(SendFailure) {
        try pump()
        guard http2.isAlive, !channel.isEnded else { return end() }
        channel.wait(time)
        let bytes = try channel.read()
        do {
            try bytes.withUnsafeBytes { try http2.receive($0) }
        } catch {
            throw SendFailure("\(channel.address) does not speak HTTP/2: \(error)")
        }
        try pump()
        if channel.isEnded || !http2.isAlive { end() }
    }

    /// The connection is over, and nothing more comes.
    package var isEnded: Bool { channel.isEnded || !http2.isAlive }

    /// Until every push is answered, at most `patience` without any answer.
    package func finish(patience: Duration = .seconds(30)) throws(SendFailure) {
        var last = Instant.now
        var left = waiting.count
        while !waiting.isEmpty {
            try step(.milliseconds(100))
            if waiting.count != left {
                left = waiting.count
                last = .now
            }
            guard Instant.now - last < patience else {
                throw SendFailure("\(channel.address) has not answered for \(patience.shortText)")
            }
        }
    }

    /// Ends the connection politely.
    package func close() {
        http2.end()
        try? pump()
        channel.finish()
    }

    private func pump() throws(SendFailure) {
        var out: [UInt8] = []
        do throws(HTTP2Failure) { try http2.drain(into: &out) } catch {
            throw SendFailure("HTTP/2 with \(channel.address) failed: \(error)")
        }
        try channel.send(out)
        try channel.flush()
    }

    private func answered(_ id: Int32, _ response: HTTP2Client.Response) {
        guard let one = waiting.removeValue(forKey: id) else { return }
        var answer = Answer()
        answer.status = response.status
        answer.id = Text.clean(response["apns-id"] ?? "", limit: 64)
        answer.uniqueID = Text.clean(response["apns-unique-id"] ?? "", limit: 64)
        answer.body = Text.clean(String(decoding: response.body, as: UTF8.self), limit: 1024)
        answer.time = .now - one.began
        if let code = response.resetCode {
            answer.fault = code == 7 ? "the stream was refused: try again" : "the stream was reset with code \(code)"
        }
        one.done(answer)
    }

    private func end() {
        let all = waiting.values
        waiting = [:]
        for one in all {
            var answer = Answer()
            answer.fault = goAway.map { "the gateway said GOAWAY, \($0)" } ?? "the connection ended without an answer"
            answer.time = .now - one.began
            one.done(answer)
        }
    }
}
