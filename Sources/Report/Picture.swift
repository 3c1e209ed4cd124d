internal import Base
internal import JSON

/// A call's timeline as SVG 1.1: one axis in seconds, a lane for each thing that was going on.
///
/// No outside font or script; light and dark by `prefers-color-scheme`; legible at 900 pixels.
package struct Picture {
    private let timeline: Timeline
    private let width = 900.0
    private let left = 104.0
    private let right = 24.0
    private let laneHeight = 54.0
    private let top = 96.0

    package init(_ timeline: Timeline) { self.timeline = timeline }

    private enum Lane: Int, CaseIterable {
        case state
        case banner
        case sound
        case vibration
        case app
        case push

        var title: String {
            switch self {
            case .state: "call"
            case .banner: "notification"
            case .sound: "sound"
            case .vibration: "vibration"
            case .app: "app"
            case .push: "push"
            }
        }
    }

    package var svg: String {
        let height = top + laneHeight * Double(Lane.allCases.count) + 44
        var out = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(width)) \(number(height))" \
            width="\(number(width))" height="\(number(height))" role="img" aria-label="\(escaped(heading))">
            <style>
            :root { color-scheme: light dark }
            svg { background: #fbfbf9 } text { font: 12px system-ui, "DejaVu Sans", "Noto Sans CJK SC", sans-serif; fill: #24292f }
            .title { font-size: 17px; font-weight: 600 } .dim { fill: #6a737d } .label { font-size: 11px }
            .grid { stroke: #d8dce0; stroke-width: 1 } .lane { stroke: #e6e8ea }
            .ring { fill: #2e9e5b } .wait { fill: #9aa4ad } .live { fill: #2f6fd0 } .banner { fill: #d9a521 }
            .tick { stroke: #8a6500; stroke-width: 2 } .wave { fill: #2e9e5b } .shake { stroke: #b0549c; stroke-width: 3 } .still { stroke: #b0549c; stroke-width: 1; opacity: .5 }
            .mark { stroke: #cf3d3d; stroke-width: 1.5; stroke-dasharray: 3 3 } .dot { fill: #2f6fd0 } .bad { fill: #cf3d3d }
            @media (prefers-color-scheme: dark) { svg { background: #15181c } text { fill: #e4e7ea } .dim { fill: #98a2ad }
            .grid { stroke: #33393f } .lane { stroke: #262b30 } .tick { stroke: #ffd76a } }
            </style>

            """
        out += text(left, 30, heading, "title") + text(left, 50, subheading, "dim")
        out += text(left, 68, timeline.measures.map { "\($0.0) \($0.1)" }.joined(separator: " · "), "dim")
        out += axis(height)
        for lane in Lane.allCases {
            let y = top + laneHeight * Double(lane.rawValue)
            out +=
                "<line class=\"lane\" x1=\"0\" x2=\"\(number(width))\" y1=\"\(number(y + laneHeight))\" y2=\"\(number(y + laneHeight))\"/>\n"
            out += text(16, y + laneHeight / 2 + 4, lane.title, "dim")
            out += content(lane, y)
        }
        out += endMark(height)
        return out + "</svg>\n"
    }

    private var heading: String { "\(timeline.caller) · \(timeline.reason.isEmpty ? "live" : timeline.reason)" }

    private var subheading: String {
        let when = WallTime(nanoseconds: timeline.beganWall).formatted("%Y-%m-%d %H:%M:%S")
        return [when, timeline.app, String(timeline.id.prefix(8))].filter { !$0.isEmpty }.joined(separator: " · ")
    }

    // MARK: Scale

    private func x(_ offset: Int64) -> Double {
        let share = Double(max(0, offset)) / Double(timeline.span)
        return left + share * (width - left - right)
    }

    private func axis(_ height: Double) -> String {
        let seconds = Double(timeline.span) / 1e9
        let steps: [Double] = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 300, 600, 3600]
        let step = steps.first { seconds / $0 <= 12 } ?? 7200
        var out = ""
        var at = 0.0
        while at <= seconds + 1e-9 {
            let here = x(Int64(at * 1e9))
            out +=
                "<line class=\"grid\" x1=\"\(number(here))\" x2=\"\(number(here))\" y1=\"\(number(top - 6))\" y2=\"\(number(height - 34))\"/>\n"
            out += text(here, height - 14, "\(Decimal.text(at, places: step < 1 ? 1 : 0)) s", "dim", anchor: "middle")
            at += step
        }
        return out
    }

    // MARK: Lanes

    private func content(_ lane: Lane, _ y: Double) -> String {
        switch lane {
        case .state: states(y)
        case .banner: banners(y)
        case .sound: sound(y)
        case .vibration: vibration(y)
        case .app: audio(y) + dots(y, ["app.", "action."])
        case .push: dots(y, ["push."])
        }
    }

    private func states(_ y: Double) -> String {
        var out = ""
        var current: (name: String, style: String, from: Int64)?
        func close(_ at: Int64) {
            guard let open = current else { return }
            out += bar(open.from, at, y + 14, 26, open.style)
            if x(at) - x(open.from) > 54 { out += text(x(open.from) + 6, y + 31, open.name, "label") }
        }
        for moment in timeline.moments {
            let next: (String, String)? =
                switch moment.kind {
                case "call.ringing": ("ringing", "ring")
                case "call.queued": ("queued", "wait")
                case "call.silenced": ("silenced", "wait")
                case "call.deferred": ("deferred", "wait")
                case "call.answering", "app.answer": ("answering", "live")
                case "call.connecting": ("connecting", "live")
                case "call.requested": ("requested", "wait")
                case "call.dialing": ("dialing", "live")
                case "call.active", "call.resumed": ("active", "live")
                case "call.held": ("on hold", "wait")
                case "call.ending": ("ending", "wait")
                default: nil
                }
            // Of an answer that is late the asking is news, of one that was handed over it is not.
            if let next, current?.name != next.0, moment.kind != "app.answer" || current?.name == "deferred" {
                close(moment.offset)
                current = (next.0, next.1, moment.offset)
            } else if moment.kind == "call.ended" {
                close(moment.offset)
                current = nil
            }
        }
        close(timeline.span)
        return out
    }

    private func banners(_ y: Double) -> String {
        var out = ""
        var from: Int64?
        for moment in timeline.moments {
            switch moment.kind {
            case "notification.shown", "notification.raised":
                if from == nil { from = moment.offset }
                let here = number(x(moment.offset))
                out +=
                    "<line class=\"tick\" x1=\"\(here)\" x2=\"\(here)\" y1=\"\(number(y + 8))\" y2=\"\(number(y + 46))\"/>\n"
            case "notification.closed", "notification.lost":
                if let start = from { out = bar(start, moment.offset, y + 20, 14, "banner") + out }
                from = nil
            default: break
            }
        }
        if let start = from { out = bar(start, timeline.span, y + 20, 14, "banner") + out }
        return out
    }

    /// The envelope as it was played: that of one loop, repeated.
    private func sound(_ y: Double) -> String {
        var out = ""
        var from: (offset: Int64, envelope: [Double], step: Int64)?
        func close(_ at: Int64) {
            guard let open = from else { return }
            out += wave(open.offset, at, open.envelope, open.step, y)
            from = nil
        }
        for moment in timeline.moments {
            switch moment.kind {
            case "sound.started":
                close(moment.offset)
                var envelope: [Double] = []
                if case .array(let values)? = moment.fields["envelope"] {
                    envelope = values.compactMap { value in
                        switch value {
                        case .real(let number): number
                        case .integer(let number): Double(number)
                        default: nil
                        }
                    }
                }
                from = (moment.offset, envelope, max(1, Timeline.integer(moment.fields["step_ms"])) * 1_000_000)
            case "sound.stopped", "call.ended", "call.answering", "call.silenced": close(moment.offset)
            default: break
            }
        }
        close(timeline.span)
        return out
    }

    private func wave(_ from: Int64, _ to: Int64, _ envelope: [Double], _ step: Int64, _ y: Double) -> String {
        guard !envelope.isEmpty else { return bar(from, to, y + 18, 18, "wave") }
        let middle = y + laneHeight / 2
        var upper = ""
        var lower = ""
        // One point a pixel is all that can be seen.
        let stride = max(step, timeline.span / Int64(width - left - right))
        var at = from
        while at < to {
            let index = Int((at - from) / step) % envelope.count
            let reach = max(0.5, min(1, envelope[index]) * 21)
            upper += "\(number(x(at))),\(number(middle - reach)) "
            lower = "\(number(x(at))),\(number(middle + reach)) " + lower
            at += stride
        }
        return "<polygon class=\"wave\" points=\"\(upper)\(lower)\"/>\n"
    }

    /// A tick a second; hollow where nothing was there to vibrate.
    private func vibration(_ y: Double) -> String {
        let style = timeline.first("vibration.started")?.fields["by"]?.string == "none" ? "still" : "shake"
        var out = ""
        var from: Int64?
        func close(_ at: Int64) {
            guard let start = from else { return }
            var pulse = start
            while pulse < at {
                out +=
                    "<line class=\"\(style)\" x1=\"\(number(x(pulse)))\" x2=\"\(number(x(pulse)))\" y1=\"\(number(y + 18))\" y2=\"\(number(y + 36))\"/>\n"
                pulse += 1_000_000_000
            }
            from = nil
        }
        for moment in timeline.moments {
            if moment.kind == "vibration.started" { from = moment.offset }
            if moment.kind == "vibration.stopped" { close(moment.offset) }
        }
        close(timeline.span)
        return out
    }

    /// A dot for each event, its words beside it while there is room.
    private func dots(_ y: Double, _ prefixes: [String]) -> String {
        var out = ""
        var row = 0
        for moment in timeline.moments where prefixes.contains(where: { moment.kind.hasPrefix($0) }) {
            let here = x(moment.offset)
            let line = y + 18 + Double(row % 2) * 20
            let isBad = moment.kind.hasSuffix("fault") || moment.kind.hasSuffix("refused")
            out +=
                "<circle class=\"\(isBad ? "bad" : "dot")\" cx=\"\(number(here))\" cy=\"\(number(line))\" r=\"4\"/>\n"
            let isRight = here > width * 0.6
            let words = Text.clean(moment.message, limit: 96)
            out += text(here + (isRight ? -9 : 9), line + 4, words, "label", anchor: isRight ? "end" : "start")
            row += 1
        }
        return out
    }

    /// When the app had the audio: a thin line along the lane's foot.
    private func audio(_ y: Double) -> String {
        var out = ""
        var from: Int64?
        for moment in timeline.moments {
            switch moment.kind {
            case "audio.on": from = from ?? moment.offset
            case "audio.off":
                if let start = from { out += bar(start, moment.offset, y + 47, 4, "live") }
                from = nil
            default: break
            }
        }
        if let start = from { out += bar(start, timeline.span, y + 47, 4, "live") }
        return out
    }

    private func endMark(_ height: Double) -> String {
        guard let end = timeline.first("call.answering") ?? timeline.first("call.ended") else { return "" }
        let here = x(end.offset)
        let line =
            "<line class=\"mark\" x1=\"\(number(here))\" x2=\"\(number(here))\" y1=\"\(number(top - 6))\" y2=\"\(number(height - 34))\"/>\n"
        return line + text(here - 6, top + 4, Timeline.offsetText(end.offset), "label", anchor: "end")
    }

    // MARK: Elements

    private func bar(_ from: Int64, _ to: Int64, _ y: Double, _ height: Double, _ style: String) -> String {
        let width = max(1.5, x(to) - x(from))
        return
            "<rect class=\"\(style)\" x=\"\(number(x(from)))\" y=\"\(number(y))\" width=\"\(number(width))\" height=\"\(number(height))\" rx=\"3\"/>\n"
    }

    private func text(_ x: Double, _ y: Double, _ words: String, _ style: String, anchor: String = "start") -> String {
        "<text class=\"\(style)\" x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\">\(escaped(words))</text>\n"
    }

    private func number(_ value: Double) -> String { Decimal.text(value, places: 1) }

    private func escaped(_ text: String) -> String { Text.escapeMarkup(text) }
}
