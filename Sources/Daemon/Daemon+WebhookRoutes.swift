internal import APNs
internal import Base
internal import Calls
internal import JSON
internal import Pushes
internal import Webhooks

/// What webhooks are for: a push to an app, or Matrix' push gateway.
extension Daemon {
    private static let routes = ["/push/APP-ID", "/_matrix/push/v1/notify"]

    func answer(_ request: WebhookServer.Request) -> WebhookServer.Answer {
        do throws(WebhookRefusal) {
            switch request.path {
            case ["_matrix", "push", "v1", "notify"]: return matrix(request)
            case let path where path.count == 2 && path[0] == "push": return try push(request, app: path[1])
            default:
                throw WebhookRefusal(
                    404, "unknown-path", "there is nothing at this address",
                    cure: "POST to \(Self.routes.joined(separator: " or "))")
            }
        } catch {
            reportRefusal(error, request)
            return error.answer
        }
    }

    /// What the push is made of: the body as it is, or, where it is larger than a push may be or in another dialect than
    /// it would be read in, the same call in ringd's own form.
    private func webhookPayload(_ body: [UInt8], app: String, dialect: String?) throws(WebhookRefusal) -> [UInt8] {
        var choice = dialectChoice(app)
        if let dialect, dialect != "auto" {
            guard dialects[dialect] != nil else {
                let hint = Text.nearest(to: dialect, in: dialects.names).map { "; did you mean \($0)?" } ?? ""
                throw WebhookRefusal(
                    400, "unknown-dialect", "there is no dialect \"\(Text.clean(dialect, limit: 40))\"\(hint)",
                    cure: "ringctl dialects")
            }
            choice.dialect = dialect
            // Who names it means it.
            choice.allowsPlain = false
        }
        if body.count <= PushRequest.bodyLimit && choice == dialectChoice(app) { return body }
        let json: JSONValue
        do throws(JSONFailure) { json = try JSONValue.parse(body) } catch { throw Self.notJSON }
        do throws(PayloadFault) {
            let reading = try dialects.read(json, choice)
            if body.count <= PushRequest.bodyLimit, let same = try? dialects.read(json, dialectChoice(app)),
                same.dialect == reading.dialect
            {
                return body
            }
            guard let own = dialects[DialectBook.ownName] else { return body }
            var signal = reading.signal
            signal.key = signal.key.map(Self.kept)
            return Array(try own.write(signal).encoded().utf8)
        } catch {
            throw WebhookRefusal(
                422, "payload-no-call", "the payload is no call: \(error)",
                cure: "ringctl dialects explain FILE says what is made of it")
        }
    }

    private static let notJSON = WebhookRefusal(
        400, "not-json", "the body is no JSON object",
        cure: "send the payload of a call, e.g. {\"callId\":\"1\",\"displayName\":\"Alice\"}")

    // MARK: /push/APP-ID

    private func push(_ request: WebhookServer.Request, app: String) throws(WebhookRefusal) -> WebhookServer.Answer {
        let token = apns.directory.tokens(app: app).last { $0.kind == .voip }?.token
        guard let token else {
            let hint = Text.nearest(to: app, in: apns.directory.apps).map { "; did you mean \($0)?" } ?? ""
            throw WebhookRefusal(
                404, "unknown-app", "no app \"\(Text.clean(app, limit: 80))\" is registered\(hint)",
                cure: "ringctl apps add APP-ID")
        }
        let payload = try webhookPayload(request.body, app: app, dialect: request["dialect"])
        guard payload.withUnsafeBufferPointer({ JSONText.isObject($0) }) else {
            throw Self.notJSON
        }
        return outcome(take(payload, for: token.bytes, from: request.peer))
    }

    /// As the bus's: no rule asks for more than a token.
    private func take(_ payload: [UInt8], for token: [UInt8], from peer: String) -> PushService.Answer {
        let push = PushRequest()
        push.transport = .webhook
        push.binaryToken = token
        push.append(payload)
        delivered = nil
        return apns.take(push, from: Sender(number: 0, peer: peer, environment: .unknown, certificate: nil))
    }

    private func outcome(_ answer: PushService.Answer) -> WebhookServer.Answer {
        guard let record = apns.log[answer.number] else {
            return WebhookRefusal(500, "not-recorded", "the push was not recorded", cure: "ringctl doctor").answer
        }
        guard answer.status == 200 else {
            let why = record.findings.first { $0.reason != nil } ?? record.findings.first
            let isNoCall = why?.code == "payload-no-call"
            return WebhookRefusal(
                isNoCall ? 422 : answer.status, why?.code ?? "refused", why?.text ?? answer.reasonText,
                cure: isNoCall
                    ? "ringctl push --caller Alice --print shows what a call looks like"
                    : "ringctl push show \(answer.number)"
            ).answer
        }
        var members: [(String, JSONValue)] = [
            ("outcome", .string(record.outcomeWord)), ("detail", .string(record.outcome)),
            ("push", .integer(Int64(clamping: answer.number))),
        ]
        if let delivered, delivered.push == answer.number {
            if let call = delivered.outcome.call { members.append(("call", .string(call.description))) }
            members.append(("dialect", .string(delivered.reading.dialect)))
            members.append(("sureness", .string(delivered.reading.sureness.rawValue)))
        }
        members.append(("findings", .array(record.findings.map { .string($0.text) })))
        return WebhookServer.Answer(status: 200, body: JSONValue.object(members.map { .init($0, $1) }).encoded())
    }

    // MARK: /_matrix/push/v1/notify

    /// More than a homeserver sends: one.
    private static let mostDevices = 32

    /// Matrix' push gateway API. Every notification of a room comes, and most are no calls: those are taken, too, since a
    /// homeserver that is refused tries again for a day, and holds back what comes behind.
    private func matrix(_ request: WebhookServer.Request) -> WebhookServer.Answer {
        let keys: [String]
        do throws(MatrixRefusal) {
            keys = try Self.pushkeys(request.body)
        } catch {
            reportRefusal(WebhookRefusal(400, "matrix", error.error, cure: "it is no Matrix notification"), request)
            return error.answer
        }
        var rejected: [JSONValue] = []
        for key in keys where isRejected(key, request) { rejected.append(.string(key)) }
        return WebhookServer.Answer(status: 200, body: JSONValue.object(("rejected", .array(rejected))).encoded())
    }

    /// Delivers to one device; true if the homeserver is to forget it.
    private func isRejected(_ key: String, _ request: WebhookServer.Request) -> Bool {
        guard let bytes = Hex.bytes(key), let token = DeviceToken(bytes) else { return true }
        guard let registration = apns.directory[token], registration.kind == .voip, registration.end == nil else {
            // For the record, which says why.
            _ = take(Array(request.body.prefix(PushRequest.bodyLimit)), for: bytes, from: request.peer)
            return true
        }
        let payload: [UInt8]
        do throws(WebhookRefusal) {
            payload = try webhookPayload(request.body, app: registration.app, dialect: "matrix-gateway")
        } catch {
            // Most notifications are no calls.
            if error.status == 422 { return false }
            reportRefusal(error, request)
            return false
        }
        switch take(payload, for: bytes, from: request.peer).reason {
        case .unregistered?, .expiredToken?, .deviceTokenNotForTopic?, .badDeviceToken?: return true
        default: return false
        }
    }

    /// Of the devices that a notification is for, each once.
    private static func pushkeys(_ body: [UInt8]) throws(MatrixRefusal) -> [String] {
        let whole: JSONValue
        do throws(JSONFailure) {
            whole = try JSONValue.parse(body)
        } catch {
            throw MatrixRefusal(code: "M_NOT_JSON", error: "the body is not JSON")
        }
        guard case .array(let devices)? = whole["notification"]?["devices"] else {
            throw MatrixRefusal(code: "M_BAD_JSON", error: "there is no notification.devices")
        }
        guard devices.count <= mostDevices else {
            throw MatrixRefusal(code: "M_BAD_JSON", error: "more than \(mostDevices) devices")
        }
        var keys: [String] = []
        for device in devices {
            guard let key = device["pushkey"]?.string else {
                throw MatrixRefusal(code: "M_BAD_JSON", error: "a device has no pushkey")
            }
            if !keys.contains(key) { keys.append(key) }
        }
        return keys
    }

    // MARK: Events

    /// Of a sender that is known, and made a mistake.
    private func reportRefusal(_ refusal: WebhookRefusal, _ request: WebhookServer.Request) {
        guard let withheld = webhookRefusals.admit(now: .now) else { return }
        let more = withheld > 0 ? " (\(withheld) before it were not reported: too many at once)" : ""
        emit(
            Event(
                .webhookRefused, level: .warning,
                "webhook of \(request.peer) refused, \(refusal.status): \(refusal.error) (\(refusal.cure))\(more)",
                [
                    .init("peer", .text(request.peer)), .init("status", .number(Int64(refusal.status))),
                    .init("cause", .text(refusal.cause)),
                ]))
    }
}

/// Why a webhook is no push.
struct WebhookRefusal: Error {
    let status: Int
    /// For programs.
    let cause: String
    let error: String
    let cure: String

    init(_ status: Int, _ cause: String, _ error: String, cure: String) {
        self.status = status
        self.cause = cause
        self.error = error
        self.cure = cure
    }

    var answer: WebhookServer.Answer {
        let body = JSONValue.object(
            ("error", .string(error)), ("cause", .string(cause)), ("cure", .string(cure)))
        return WebhookServer.Answer(status: status, body: body.encoded())
    }
}

/// The same in Matrix' words (client-server API, standard error response).
private struct MatrixRefusal: Error {
    let code: String
    let error: String

    var answer: WebhookServer.Answer {
        let body = JSONValue.object(("errcode", .string(code)), ("error", .string(error)))
        return WebhookServer.Answer(status: 400, body: body.encoded())
    }
}
