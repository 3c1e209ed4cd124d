internal import APNs
internal import Base
internal import EventLoop
internal import Glibc
internal import HTTP2

/// The HTTP/2 provider API (apns.md 1): requests in, one answer each.
final class HTTP2Conversation: Conversation, HTTP2ServerDelegate {
    private unowned let connection: Connection
    private let gateway: Gateway
    private let sender: Sender
    private var server: HTTP2Server!
    private var frames: [UInt8] = []

    /// Requests whose end has not come.
    private var unfinished: [PushStream] = []
    private var lastPush: Instant
    private var now: Instant
    private var wall = WallTime.now
    private var lastReset: Instant

    /// What was announced and not acknowledged yet, oldest first.
    private var announcements: [UInt32] = []
    /// Nil: nothing was acknowledged yet, so nothing can be violated.
    private var limit: UInt32?
    private var isSlowed = false
    private var errorsInARow = 0
    private var isOver = false
    private var isEnding = false
    /// Our part of the gateway's account; nil once it is given back.
    private var held: Int? = 0
    /// Answers wait since then for a sender that takes none of them.
    private var stalledSince: Instant?

    /// Whatever was announced, no connection has more unanswered requests.
    private static let mostStreams = 10_000

    private var settings: Gateway.Configuration.HTTP2 { gateway.configuration.http2 }

    init?(_ connection: Connection, _ sender: Sender) {
        self.connection = connection
        self.sender = sender
        gateway = connection.gateway
        now = .now
        lastPush = now
        lastReset = now
        let first = sender.certificate == nil ? settings.firstStreams : settings.streams
        do throws(HTTP2Failure) {
            server = try HTTP2Server(delegate: self, streams: UInt32(first), scratch: gateway.frameScratch)
        } catch {
            connection.report(ConnectionFault("out-of-resources", "cannot be served: \(error)", level: .error))
            return nil
        }
        announcements = [UInt32(first)]
    }

    // MARK: The connection's side

    func received(_ bytes: UnsafeRawBufferPointer) {
        guard !isOver else { return }
        now = .now
        wall = .now
        server.earn(seconds: (now - lastReset).seconds)
        lastReset = now
        do throws(HTTP2Failure) { try server.receive(bytes) } catch { failed(error) }
    }

    func fill() {
        guard !isOver else { return }
        do throws(HTTP2Failure) {
            while connection.hasRoom {
                frames.removeAll(keepingCapacity: true)
                let isDone = try server.drain(into: &frames, limit: 12_288)
                if !frames.isEmpty { connection.send(frames) }
                if isDone { break }
            }
        } catch {
            return failed(error)
        }
        if server.openStreams > server.unanswered && stalledSince == nil {
            stalledSince = .now
            gateway.expect(deadline)
        }
        // Kept only while there is traffic: an idle connection is to cost little.
        if frames.capacity > 0 && unfinished.isEmpty && !server.wantsToSend { frames = [] }
        if !server.isAlive { end() }
    }

    private func failed(_ failure: HTTP2Failure) {
        guard !isOver else { return }
        let words =
            failure.isBadPreface
            ? "began like HTTP/2 and is not: \(failure)"
            : failure.isFlood ? "floods: it makes us answer and does not read" : "broke HTTP/2: \(failure)"
        connection.report(ConnectionFault(failure.isFlood ? "http2-flood" : "http2-broken", words))
        sayRest()
        end()
    }

    /// What is queued, without a look at room: a GOAWAY that explains the end.
    private func sayRest() {
        frames.removeAll(keepingCapacity: true)
        // As much as the answers to all that one connection may have open.
        _ = try? server.drain(into: &frames, limit: 1 << 20)
        if !frames.isEmpty { connection.send(frames) }
    }

    private func end() {
        isOver = true
        // Not from inside a callback of the session that this would free.
        gateway.loop.later { [weak connection] in connection?.finish() }
    }

    func ended() {}
    func lost(_ words: String) {}

    func farewell() {
        guard !isOver else { return }
        for stream in unfinished {
            answer(
                stream, status: 503, id: stream.request.string(.id).map { Array($0.utf8) },
                reason: PushReason.shutdown.rawValue)
        }
        // Answers first: to some clients a GOAWAY is the end of all.
        sayRest()
        server.goAway(.noError, debug: Self.json(reason: PushReason.shutdown.rawValue))
        sayRest()
        isOver = true
    }

    func closed() {
        isOver = true
        gateway.service.left(sender)
        unfinished = []
        // Streams may outlive this by the rest of a turn, and those that are still open end without a word.
        gateway.heldBytes -= held ?? 0
        held = nil
    }

    private func account(_ stream: PushStream, _ bytes: Int) {
        if let held {
            self.held = held + bytes - stream.held
            gateway.heldBytes += bytes - stream.held
        }
        stream.held = bytes
    }

    // MARK: Time

    var deadline: Instant {
        let idle = lastPush + gateway.configuration.idleLimit
        guard !isOver else { return idle }
        let stall = stalledSince.map { $0 + settings.requestDeadline }
        let request = unfinished.lazy.map(\.began).min().map { $0 + settings.requestDeadline }
        return min(idle, stall ?? idle, request ?? idle)
    }

    var idleSince: Instant? { server.unanswered == 0 ? lastPush : nil }

    func timeUp(now: Instant) {
        // It hangs on purpose, and that has an end too.
        guard !isOver else { return connection.finish() }
        self.now = now
        if let stalledSince, now - stalledSince >= settings.requestDeadline {
            let limit = settings.requestDeadline.shortText
            connection.report(
                ConnectionFault(
                    "answers-unread", "has not taken an answer for \(limit): it does not read, or its window is zero"))
            return connection.finish()
        }
        let late = unfinished.filter { now - $0.began >= settings.requestDeadline }
        for stream in late {
            answer(stream, status: 400, id: nil, reason: PushReason.idleTimeout.rawValue)
            remove(stream)
        }
        if !late.isEmpty {
            fill()
            // The rest of the request is not waited for.
            for stream in late where !isOver { server.giveUp(stream) }
        }
        if now - lastPush >= gateway.configuration.idleLimit {
            // It was told before, or will not hear it: it has had its time.
            guard !isEnding, connection.hasRoom else { return connection.finish() }
            // What waits for its answer is not idle.
            lastPush = now
            if server.unanswered == 0 { goAway(.noError, PushReason.idleTimeout.rawValue) }
        }
        fill()
    }

    // MARK: Requests

    func streamBegan() -> HTTP2Stream? {
        guard !isEnding, gateway.heldBytes < Gateway.mostHeldBytes, server.openStreams < Self.mostStreams else {
            return nil
        }
        if let limit, server.openStreams >= Int(limit) {
            if settings.violation == .goaway {
                goAway(.refusedStream, "Maximum active streams violated for this endpoint.")
            }
            return nil
        }
        let stream = gateway.streams.popLast() ?? PushStream()
        stream.began = now
        stream.place = unfinished.count
        account(stream, PushStream.base)
        unfinished.append(stream)
        return stream
    }

    func stream(_ stream: HTTP2Stream, header name: HTTP2Bytes, value: HTTP2Bytes) {
        guard let header = PushRequest.Header(name) else { return }
        unsafeDowncast(stream, to: PushStream.self).request.set(header, value)
    }

    func refusedHeader(_ name: HTTP2Bytes) {
        connection.report(
            ConnectionFault(
                "bad-header",
                "sent \(Text.clean(name.text, limit: 40)) with a blank or a line end at its value's beginning or end, or with bytes that HTTP/2 forbids: the request is reset"
            ))
    }

    func stream(_ stream: HTTP2Stream, body: HTTP2Bytes) {
        let stream = unsafeDowncast(stream, to: PushStream.self)
        stream.request.append(body)
        // What is beyond the limit is counted and not kept.
        account(stream, PushStream.base + min(stream.request.bodySize, PushRequest.bodyLimit))
    }

    func streamEnded(_ stream: HTTP2Stream) {
        let stream = unsafeDowncast(stream, to: PushStream.self)
        remove(stream)
        lastPush = now
        let answer = gateway.service.take(stream.request, from: sender, now: now, wall: wall)
        // The one who decides may have stopped the gateway.
        guard !isOver else { return }
        if answer.faults.isEmpty { give(answer, stream) } else { giveWithFaults(answer, stream) }
    }

    func streamClosed(_ stream: HTTP2Stream) {
        let stream = unsafeDowncast(stream, to: PushStream.self)
        remove(stream)
        account(stream, 0)
        stalledSince = nil
        stream.request.reset()
        if gateway.streams.count < Gateway.mostSpareStreams { gateway.streams.append(stream) }
    }

    private func remove(_ stream: PushStream) {
        let place = stream.place
        guard place >= 0 else { return }
        let last = unfinished.removeLast()
        if last !== stream {
            unfinished[place] = last
            last.place = place
        }
        stream.place = -1
    }

    func settingsAcknowledged() {
        guard !announcements.isEmpty else { return }
        limit = announcements.removeFirst()
    }

    private func announce(_ streams: Int) {
        guard server.announcedStreams != UInt32(streams) else { return }
        server.announce(streams: UInt32(streams))
        announcements.append(UInt32(streams))
    }

    // MARK: Answers

    private func give(_ answer: PushService.Answer, _ stream: PushStream) {
        if answer.status == 200 {
            var headers = [Self.ok, HTTP2Server.Header("apns-id", answer.id)]
            if !answer.uniqueID.isEmpty { headers.append(HTTP2Server.Header("apns-unique-id", answer.uniqueID)) }
            server.respond(to: stream, headers)
        } else {
            self.answer(
                stream, status: answer.status, id: answer.id, reason: answer.reasonText, timestamp: answer.timestamp,
                uniqueID: answer.uniqueID)
        }
        adjust(answer.status)
    }

    private func answer(
        _ stream: PushStream, status: Int, id: [UInt8]?, reason: String, timestamp: Int64? = nil, uniqueID: [UInt8] = []
    ) {
        var headers = [HTTP2Server.Header(":status", Array(String(status).utf8))]
        if let id { headers.append(HTTP2Server.Header("apns-id", id)) }
        if !uniqueID.isEmpty { headers.append(HTTP2Server.Header("apns-unique-id", uniqueID)) }
        headers.append(Self.isJSON)
        server.respond(to: stream, headers, body: Self.json(reason: reason, timestamp: timestamp))
    }

    /// The stream limit follows what was answered (apns.md 1.2).
    private func adjust(_ status: Int) {
        if status == 200 {
            errorsInARow = 0
            if isSlowed || sender.isAuthenticated {
                isSlowed = false
                announce(settings.streams)
            }
        } else if status != 410 {
            errorsInARow += 1
            if settings.slowsDown && sender.isAuthenticated && !isSlowed {
                isSlowed = true
                announce(1)
            }
            if settings.errorLimit > 0 && errorsInARow >= settings.errorLimit {
                goAway(.noError, PushReason.tooManyRequests.rawValue)
            }
        }
    }

    private func goAway(_ code: HTTP2Code, _ text: String, accepting: Bool = true) {
        guard !isEnding else { return }
        isEnding = true
        server.goAway(
            code, debug: PushReason(rawValue: text) == nil ? Array(text.utf8) : Self.json(reason: text),
            accepting: accepting)
    }

    private func giveWithFaults(_ answer: PushService.Answer, _ stream: PushStream) {
        for fault in answer.faults {
            switch fault {
            case .delay(let delay):
                var rest = answer
                rest.faults.removeAll { $0 == fault }
                let id = stream.id
                gateway.service.later(delay) { [weak self, weak stream] in
                    guard let self, let stream, !self.isOver, stream.id == id else { return }
                    if rest.faults.isEmpty { self.give(rest, stream) } else { self.giveWithFaults(rest, stream) }
                    self.connection.push()
                }
                return
            case .refuseStream: return server.reset(stream, .refusedStream)
            case .reset: return server.reset(stream, .internalError)
            case .goAway(let isGraceful, let text):
                let isViolation = text.hasPrefix("Maximum active streams")
                goAway(isViolation ? .refusedStream : .noError, text, accepting: isGraceful)
                if isGraceful { return give(answer, stream) }
                sayRest()
                return end()
            case .hang:
                isOver = true
                return connection.hang()
            case .close: return end()
            case .cut:
                isOver = true
                return gateway.loop.later { [weak connection] in connection?.cut() }
            default: break
            }
        }
        give(answer, stream)
    }

    private static let ok = HTTP2Server.Header(":status", Array("200".utf8))
    private static let isJSON = HTTP2Server.Header("content-type", Array("application/json".utf8))

    /// Reasons are words of letters: nothing in them is to be escaped.
    private static func json(reason: String, timestamp: Int64? = nil) -> [UInt8] {
        let time = timestamp.map { ",\"timestamp\":\($0)" } ?? ""
        return Array("{\"reason\":\"\(reason)\"\(time)}".utf8)
    }
}

/// A request of the HTTP/2 API, used again for the next when it is over.
final class PushStream: HTTP2Stream {
    let request = PushRequest()
    var began = Instant(nanoseconds: 0)
    /// Where it stands among the unfinished; -1: it does not.
    var place = -1
    /// What it counts for in the gateway's account.
    var held = 0

    /// A request's headers and the object itself, about.
    static let base = 1024
}

extension PushRequest.Header {
    /// By the name on the wire, which HTTP/2 has in lower case.
    init?(_ name: Bytes) {
        let (header, wanted): (PushRequest.Header, StaticString)
        switch name.count {
        case 5: (header, wanted) = (.path, ":path")
        case 7: (header, wanted) = name[0] == UInt8(ascii: ":") ? (.method, ":method") : (.id, "apns-id")
        case 10: (header, wanted) = (.topic, "apns-topic")
        case 13:
            (header, wanted) =
                name[1] == UInt8(ascii: "u") ? (.authorization, "authorization") : (.priority, "apns-priority")
        case 14: (header, wanted) = (.pushType, "apns-push-type")
        case 15: (header, wanted) = (.expiration, "apns-expiration")
        case 16: (header, wanted) = (.collapseID, "apns-collapse-id")
        default: return nil
        }
        guard memcmp(name.baseAddress!, wanted.utf8Start, name.count) == 0 else { return nil }
        self = header
    }
}
