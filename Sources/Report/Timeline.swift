internal import Base
package import JSON

/// A call and everything that happened to it, in order, with times relative to the call's first event.
package struct Timeline: Sendable, Equatable {
    package struct Moment: Sendable, Equatable {
        package let kind: String
        package let message: String
        /// Nanoseconds since the timeline's origin; may be negative for what led to the call.
        package let offset: Int64
        package let fields: JSONValue
    }

    package let id: String
    package let app: String
    package let caller: String
    package let handle: String
    package let isVideo: Bool
    package let key: String
    package let reason: String
    package let category: String
    package let beganWall: Int64
    package let moments: [Moment]
    private let call: JSONValue

    /// `call` and `events` as ringd's `Report` method gives them.
    package init(call: JSONValue, events: [JSONValue]) {
        func text(_ name: String) -> String { call[name]?.string ?? "" }
        self.call = call
        id = text("id")
        app = text("app")
        caller = text("caller")
        handle = text("handle")
        isVideo = call["video"] == .bool(true)
        key = text("key")
        reason = text("reason")
        category = text("category")
        beganWall = Self.integer(call["began_ns"])
        let origin = events.first { $0["kind"]?.string == "call.ringing" } ?? events.first
        let zero = Self.integer(origin?["at_ns"])
        moments = events.map { event in
            let fields = event["fields"]?.string.flatMap { try? JSONValue.parse($0) } ?? .object([])
            return Moment(
                kind: event["kind"]?.string ?? "", message: event["message"]?.string ?? "",
                offset: Self.integer(event["at_ns"]) - zero, fields: fields)
        }.enumerated().sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }.map(\.element)
    }

    static func integer(_ value: JSONValue?) -> Int64 { if case .integer(let number)? = value { number } else { 0 } }

    /// Nanoseconds from the first to the last moment; at least a second.
    var span: Int64 { max(1_000_000_000, moments.last?.offset ?? 0) }

    func first(_ kind: String) -> Moment? { moments.first { $0.kind == kind } }

    package var json: JSONValue {
        .object(
            ("call", call),
            (
                "events",
                .array(
                    moments.map { moment in
                        .object(
                            ("kind", .string(moment.kind)), ("offset_ns", .integer(moment.offset)),
                            ("message", .string(moment.message)), ("fields", moment.fields))
                    })
            ))
    }

    /// For a terminal or a file.
    package var text: String {
        let shown = HandleText.shown(handle)
        var out =
            "\(caller)\(shown.isEmpty || shown == caller ? "" : " <\(shown)>") · \(isVideo ? "video" : "audio") call"
        out += app.isEmpty ? "\n" : " · \(app)\n"
        out +=
            "\(WallTime(nanoseconds: beganWall).formatted("%Y-%m-%d %H:%M:%S")) · \(id) · \(reason.isEmpty ? "live" : reason)\n\n"
        for moment in moments {
            out +=
                "  \(Self.offsetText(moment.offset).leftPadded(to: 11))  \(moment.kind.rightPadded(to: 21)) \(moment.message)\n"
        }
        let summary = measures
        if !summary.isEmpty {
            out += "\n"
            for (name, value) in summary { out += "  \(name.rightPadded(to: 24)) \(value)\n" }
        }
        return out
    }

    static func offsetText(_ offset: Int64) -> String {
        let sign = offset < 0 ? "-" : "+"
        return sign + Duration.nanoseconds(Int64(offset.magnitude)).shortText
    }

    /// The instants that matter, as spans.
    var measures: [(String, String)] {
        var out: [(String, String)] = []
        let start = first("call.ringing")
        func span(_ name: String, from: Moment?, to: Moment?) {
            guard let from, let to, to.offset >= from.offset else { return }
            out.append((name, Duration.nanoseconds(to.offset - from.offset).shortText))
        }
        span("ringing → shown", from: start, to: first("notification.shown"))
        span("ringing → sound", from: start, to: first("sound.heard"))
        if let end = first("call.answering") ?? first("call.silenced") ?? first("call.ended") {
            span(
                "end → sound stopped", from: end,
                to: moments.first { $0.kind == "sound.stopped" && $0.offset >= end.offset })
        }
        span("answered → connected", from: first("call.answering"), to: first("call.active"))
        span("dialled → connected", from: first("call.requested"), to: first("call.active"))
        let raises = moments.filter { $0.kind == "notification.raised" }.count
        if raises > 0 { out.append(("raised again", raises == 1 ? "once" : "\(raises) times")) }
        return out
    }
}
