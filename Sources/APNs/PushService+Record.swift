internal import Base

/// The record, and what is said.
extension PushService {
    func record(
        _ push: PushRequest, _ sender: Sender, _ judgement: Judgement, _ answer: Answer, _ outcome: String,
        _ wall: WallTime
    ) {
        let registration = judgement.registration
        let instead = answer.faults.lazy.compactMap(\.insteadOfAnswer).first
        let reasonText = instead ?? answer.reasonText
        PushText.with(sender.peer, registration?.app ?? "", registration?.device ?? "", reasonText, outcome) {
            peer, app, device, reason, outcome in
            sender.credentials.withUnsafeBufferPointer { credentials in
                answer.id.withUnsafeBufferPointer { id in
                    answer.uniqueID.withUnsafeBufferPointer { unique in
                        _ = log.append(
                            push, from: sender, judgement, status: instead == nil ? answer.status : 0,
                            texts: PushLog.Texts(
                                peer: peer, sender: credentials, app: app, device: device, topic: push[.topic],
                                pushType: push[.pushType], collapseID: push[.collapseID], id: id, uniqueID: unique,
                                reason: reason, outcome: outcome, payload: push.body), arrived: wall)
                    }
                }
            }
        }
        onRecord()
    }

    /// A push that an earlier run kept gets a record in this one; the push, with that record's number.
    func recordAgain(_ kept: StoredPush, _ wall: WallTime) -> StoredPush {
        let request = PushRequest()
        request.transport = .bus
        request.binaryToken = kept.token.bytes
        request.set(.collapseID, kept.collapseID)
        request.append(kept.payload)
        var judgement = Judgement()
        judgement.registration = directory[kept.token]
        judgement.expiration = kept.expiration
        judgement.priority = kept.priority
        var push = kept
        push.number = log.next
        record(
            request, Sender(number: 0, peer: kept.peer, environment: .unknown, certificate: nil, wall: wall), judgement,
            Answer(
                number: push.number, status: 200, reason: nil, reasonText: "", id: [], uniqueID: [], timestamp: nil,
                faults: []), "stored: it came in an earlier run (\(kept.via))", wall)
        return push
    }

    /// The log line carries the first finding; a flood makes few lines, and the records have the rest.
    func tell(
        _ push: PushRequest, _ sender: Sender, _ judgement: Judgement, _ answer: Answer, _ outcome: String,
        _ now: Instant
    ) {
        let isRefused = answer.status != 200
        guard let withheld = isRefused ? refusals.admit(now: now) : acceptances.admit(now: now) else { return }
        let app = judgement.registration?.app ?? ""
        var fields: [Event.Field] = [
            .init("push", .number(Int64(answer.number))), .init("via", .text(push.transport.word)),
            .init("bytes", .number(Int64(push.bodySize))), .init("peer", .text(sender.peer)),
            .init("status", .number(Int64(answer.status))),
        ]
        if !app.isEmpty { fields.append(.init("app", .text(app))) }
        let first = judgement.findings.first
        if let first { fields.append(.init("finding", .text(first.code))) }
        let more = withheld > 0 ? " (\(withheld) before it were not logged: too many at once; ringctl pushes)" : ""
        if withheld > 0 { fields.append(.init("withheld", .number(Int64(withheld)))) }
        if isRefused {
            fields.append(.init("reason", .text(answer.reasonText)))
            let why = first?.code == Self.faultCode ? first : judgement.refusal ?? first
            report(
                Event(
                    .pushRefused, level: .warning,
                    "push \(answer.number) refused, \(answer.status) \(answer.reasonText): \(why?.text ?? "")\(more)",
                    fields))
        } else {
            fields.append(.init("outcome", .text(String(outcome.prefix { $0 != ":" }))))
            let note = first.map { "; \($0.text)" } ?? ""
            let whose = app.isEmpty ? "" : ", \(app)"
            report(
                Event(
                    .pushReceived,
                    "push \(answer.number): \(push.transport.word), \(push.bodySize) bytes\(whose): \(outcome)\(note)\(more)",
                    fields))
        }
    }
}
