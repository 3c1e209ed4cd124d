internal import APNs
internal import Base
internal import BusService
internal import Calls
internal import DBus
internal import Gateway
internal import Pushes

/// Pushes by D-Bus, and the record of all of them.
extension Daemon {
    // MARK: A push

    /// nil: the answer comes later.
    func push(_ call: BusCall) throws(DBusFailure) -> [DBusValue]? {
        let options = call.arguments[2]
        let wanted = options["environment"]?.text ?? ""
        guard let environment = wanted.isEmpty ? .unknown : PushEnvironment(rawValue: wanted) else {
            throw refusal("BadDeviceToken", "environment is sandbox or production, not \"\(Text.clean(wanted))\"")
        }
        let request = PushRequest()
        request.transport = .bus
        request.binaryToken = try token(
            call.arguments[0].text ?? "", device: options["device"]?.text ?? "", environment)
        for (name, header) in [
            ("expiration", PushRequest.Header.expiration), ("priority", .priority), ("collapse-id", .collapseID),
            ("id", .id),
        ] {
            guard let text = options[name]?.text else { continue }
            guard text.utf8.count <= 1024 else { throw refusal("InvalidArgument", "\(name) has at most 1024 bytes") }
            request.set(header, text)
        }
        request.append(call.arguments[1].blob ?? [])
        delivered = nil
        let answer = apns.take(request, from: apns.bus(environment))
        let result = outcome(answer)
        for case .delay(let time) in answer.faults {
            apns.later(time) { [unowned self] in edges.service.answer(call, result) }
            return nil
        }
        return try result.get()
    }

    /// A token in hex, or an app's VoIP token.
    private func token(
        _ target: String, device: String, _ environment: PushEnvironment
    ) throws(DBusFailure) -> [UInt8] {
        if let bytes = Hex.bytes(target), !bytes.isEmpty { return bytes }
        let device = device.isEmpty ? TokenDirectory.desktop : device
        guard apns.directory.has(app: target) else {
            if target.contains(".") { throw unknownApp(target) }
            throw refusal(
                "BadDeviceToken",
                "\"\(Text.clean(target, limit: 80))\" is neither a token in hex nor a registered app (ringctl apps)")
        }
        guard apns.directory.has(device: device) else { throw unknownDevice(device) }
        let found = apns.directory.tokens(app: target, device: device).last {
            $0.kind == .voip && (environment == .unknown || $0.environment == environment)
        }
        guard let found else { throw refusal("BadDeviceToken", "\(target) has no such token on \(device)") }
        return found.token.bytes
    }

    private func outcome(_ answer: PushService.Answer) -> Result<[DBusValue], DBusFailure> {
        guard let record = apns.log[answer.number] else {
            return .failure(refusal("Failed", "the push was not recorded"))
        }
        guard answer.status == 200 else {
            let why = record.findings.first { $0.reason != nil } ?? record.findings.first
            return .failure(
                refusal(answer.reasonText.isEmpty ? "Refused" : answer.reasonText, why?.text ?? "refused"))
        }
        var reply: [DBusValue.Entry] = [
            .init("push", .uint64(answer.number)), .init("id", .string(record.id)),
            .init("outcome", .string(record.outcomeWord)), .init("detail", .string(record.outcome)),
            .init("findings", .strings(record.findings.map(\.text))),
        ]
        if let delivered, delivered.push == answer.number {
            if let uuid = delivered.outcome.call { reply.append(.init("call", .string(uuid.description))) }
            reply.append(.init("dialect", .string(delivered.reading.dialect)))
            reply.append(.init("sureness", .string(delivered.reading.sureness.rawValue)))
        }
        return .success([.dict(reply)])
    }

    // MARK: The record

    func pushes(_ options: DBusValue) -> [DBusValue] {
        var filter = PushLog.Filter()
        filter.app = options["app"]?.text.flatMap { $0.isEmpty ? nil : $0 }
        filter.device = options["device"]?.text.flatMap { $0.isEmpty ? nil : $0 }
        filter.refusedOnly = options["refused"]?.flag ?? false
        let limit = Int(max(1, min(200, options["limit"]?.integer ?? 50)))
        let page: PushLog.Page
        if let after = options["after"]?.integer {
            page = apns.log.page(after: UInt64(clamping: after), limit: limit, filter)
        } else {
            let before = options["before"]?.integer.map { UInt64(clamping: $0) }
            page = apns.log.page(before: before ?? .max, limit: limit, filter)
        }
        return [
            .dict(
                ("reached", .uint64(page.reached)), ("oldest", .uint64(apns.log.oldest)),
                ("newest", .uint64(apns.log.next - 1))),
            .array(of: "a{sv}", page.records.map { .dict($0.summary) }),
        ]
    }

    func pushDetails(_ text: String) throws(DBusFailure) -> [DBusValue] {
        let number = UInt64(text) ?? apns.log.number(withID: text)
        guard let number, let record = apns.log[number] else {
            let known =
                apns.log.recordCount == 0
                ? "none has come yet" : "those from \(apns.log.oldest) to \(apns.log.next - 1) are"
            throw refusal("UnknownPush", "push \"\(Text.clean(text, limit: 80))\" is not in the record; \(known)")
        }
        return [.dict(record.details + readAs(record))]
    }

    /// The dialect that a call's payload is read in, as things are now.
    private func readAs(_ record: PushRecord) -> [DBusValue.Entry] {
        guard record.kind == .voip, record.device == TokenDirectory.desktop,
            let reading = try? PayloadReader.read(record.payload, book: dialects, dialectChoice(record.app))
        else { return [] }
        return [
            .init("dialect", .string(reading.dialect)), .init("sureness", .string(reading.sureness.rawValue)),
            .init("plain_because", .string(reading.plainBecause ?? "")),
            .init("call_id", .string(reading.signal.key ?? "")),
            .init("call_kind", .string(reading.signal.kind.rawValue)),
        ]
    }
}

extension PushRecord {
    /// One line's worth.
    var summary: [DBusValue.Entry] {
        [
            .init("number", .uint64(number)), .init("wall_ns", .int64(arrived.nanoseconds)),
            .init("door", .string(transport)), .init("app", .string(app)), .init("device", .string(device)),
            .init("token", .string(token)), .init("kind", .string(kind?.rawValue ?? "")),
            .init("type", .string(pushType)), .init("topic", .string(topic)),
            .init("bytes", .int64(Int64(payload.count))), .init("status", .int64(Int64(status))),
            .init("reason", .string(reason)), .init("outcome", .string(outcome)), .init("id", .string(id)),
            .init("findings", .int64(Int64(findings.count))),
            .init("finding", .string((findings.first { $0.reason != nil } ?? findings.first)?.text ?? "")),
        ]
    }

    /// Everything.
    var details: [DBusValue.Entry] {
        var out = summary.filter { $0.key != "findings" && $0.key != "finding" }
        out += [
            .init("unique_id", .string(uniqueID)), .init("environment", .string(environment.rawValue)),
            .init("connection", .uint64(connection)), .init("peer", .string(peer)), .init("sender", .string(sender)),
            .init("priority", .int64(Int64(priority))), .init("collapse_id", .string(collapseID)),
            .init(
                "findings",
                .array(
                    of: "a{sv}",
                    findings.map {
                        .dict(
                            ("code", .string($0.code)), ("reason", .string($0.reason?.rawValue ?? "")),
                            ("text", .string($0.text)))
                    })), .init("notes", .strings(notes)), .init("payload", .bytes(payload)),
        ]
        if let expiration { out.append(.init("expiration", .int64(expiration))) }
        // What the legacy protocol said, which knows fewer words.
        if transport.hasPrefix("binary"), let reason = PushReason(rawValue: reason) {
            out.append(.init("binary_status", .int64(Int64(reason.binaryStatus.rawValue))))
        }
        return out
    }
}
