package import Base

extension Configuration {
    /// Reads a whole file's text. Every wrong line is named and skipped; the rest is in force.
    package static func read(_ text: String) -> (Configuration, [ConfigFault]) {
        var configuration = Configuration()
        guard text.utf8.count <= INI.sizeLimit else {
            return (
                configuration, [ConfigFault(1, nil, "the file is larger than \(INI.sizeLimit) bytes: nothing was read")]
            )
        }
        var (lines, faults) = INI.configuration(text)
        for line in lines {
            if let fault = configuration.take(line) { faults.append(fault) }
        }
        faults += configuration.check(lines)
        lines = []
        if configuration.ring.time > configuration.ring.longest { configuration.ring.time = configuration.ring.longest }
        return (configuration, faults.sorted { $0.line < $1.line })
    }

    /// The line that has the last word on a setting.
    package static func line(of name: String, in text: String) -> Int? {
        guard text.utf8.count <= INI.sizeLimit else { return nil }
        return INI.configuration(text).lines.last { "\($0.section).\($0.key)" == name }?.number
    }

    private mutating func take(_ line: INILine) -> ConfigFault? {
        switch line.section.prefix(while: { !$0.isWhitespace }) {
        case "app": return takeApp(line)
        case "key": return takeKey(line)
        case "fault": return takeFault(line)
        default: break
        }
        let known = Setting.all.filter { $0.section == line.section }
        guard !known.isEmpty else {
            if line.section.isEmpty { return ConfigFault(line.number, line.key, "stands before the first [section]") }
            // By the first word: what stands behind it is somebody's name.
            let named = ["app": "app APP-ID", "key": "key KEY-ID", "fault": "fault NAME"]
            let sections = Set(Setting.all.map(\.section)).union(named.keys).sorted()
            let word = String(line.section.prefix { !$0.isWhitespace })
            let hint = Text.nearest(to: word, in: sections).map { "; did you mean [\(named[$0] ?? $0)]?" } ?? ""
            return ConfigFault(line.number, line.key, "unknown section [\(line.section)]\(hint)")
        }
        guard let setting = known.first(where: { $0.key == line.key }) else {
            return ConfigFault(
                line.number, "\(line.section).\(line.key)", "unknown key\(Self.hint(line.key, known.map(\.key)))")
        }
        guard setting.read(line.value, &self) else {
            let isEmptyDoor = setting.isDoor && line.value.isEmpty
            return ConfigFault(
                line.number, setting.name,
                isEmptyDoor
                    ? "no value; say none to close a door; \(setting.text(self)) is in force"
                    : "\"\(Text.clean(line.value))\" is not understood; expected \(setting.expects)\(setting.hint(line.value)); \(setting.inForce(self)) is in force"
            )
        }
        return nil
    }

    private static let appKeys = [
        "name", "sound", "answer", "open", "call-back", "end", "busy", "glare", "recall", "must-report", "insist",
        "dialect", "plain",
    ]

    private mutating func takeApp(_ line: INILine) -> ConfigFault? {
        let id = String(line.section.dropFirst(4))
        let name = "[\(line.section)] \(line.key)"
        guard AppID.isValid(id) else {
            return ConfigFault(line.number, name, "an app's section is [app com.example.talk], with a reverse-DNS id")
        }
        var app = apps[id] ?? App()
        switch line.key {
        case "name": app.name = Text.clean(line.value, limit: 64)
        case "sound":
            guard Setting.soundName(line.value, { app.sound = $0 }) else {
                return ConfigFault(line.number, name, "a sound is a name, not a path (ringctl sounds add FILE)")
            }
        case "answer", "open", "call-back", "end":
            let handoff: Handoff
            switch Handoff.read(line.value) {
            case .success(let read): handoff = read
            case .failure(let reason): return ConfigFault(line.number, name, reason.text)
            }
            switch line.key {
            case "answer": app.answer = handoff
            case "open": app.open = handoff
            case "end": app.end = handoff
            default: app.callBack = handoff
            }
        case "busy":
            guard Setting.choice(line.value, { app.busy = $0 }) else {
                return ConfigFault(line.number, name, "expected wait or busy")
            }
        case "glare":
            guard Setting.choice(line.value, { app.glare = $0 }) else {
                return ConfigFault(line.number, name, "expected wait, lesser-id or accept")
            }
        case "recall":
            guard Setting.flag(line.value, { app.recall = $0 }) else {
                return ConfigFault(line.number, name, "expected yes or no")
            }
        case "must-report":
            guard Setting.choice(line.value, { app.mustReport = $0 }) else {
                return ConfigFault(line.number, name, "expected lenient or strict")
            }
        case "insist":
            guard line.value == "no" || Setting.whole(line.value, 1...1440, { app.insistence = .seconds(60 * $0) })
            else {
                return ConfigFault(line.number, name, "expected no or 1…1440 minutes")
            }
            if line.value == "no" { app.insistence = nil }
        case "dialect":
            guard Setting.dialect(line.value, { app.dialect = $0 }) else {
                return ConfigFault(line.number, name, "expected auto or a dialect's name (ringctl dialects)")
            }
        case "plain":
            guard Setting.flag(line.value, { app.allowsPlain = $0 }) else {
                return ConfigFault(line.number, name, "expected yes or no")
            }
        default:
            return ConfigFault(line.number, name, "unknown key\(Self.hint(line.key, Self.appKeys))")
        }
        apps[id] = app
        return nil
    }
}

extension Handoff {
    struct Reason: Error {
        let text: String
    }

    /// `dbus [NAME [PATH [INTERFACE.METHOD]]]`, `url TEMPLATE`, `run PROGRAM [WORD …]`.
    static func read(_ text: String) -> Result<Handoff, Reason> {
        func wrong(_ text: String) -> Result<Handoff, Reason> { .failure(Reason(text: text)) }
        let kind = text.prefix { !$0.isWhitespace }
        let rest = String(text.dropFirst(kind.count).drop(while: \.isWhitespace))
        switch kind {
        case "dbus":
            let words = rest.split(whereSeparator: \.isWhitespace).map(String.init)
            guard words.count <= 3 else { return wrong("expected dbus [NAME [PATH [INTERFACE.METHOD]]]") }
            var interface: String?
            var method: String?
            if words.count == 3 {
                guard let dot = words[2].lastIndex(of: ".") else {
                    return wrong("\"\(words[2])\" names no interface: write INTERFACE.METHOD")
                }
                interface = String(words[2][..<dot])
                method = String(words[2][words[2].index(after: dot)...])
            }
            return .success(
                .dbus(
                    busName: words.first, path: words.count > 1 ? words[1] : nil, interface: interface, method: method))
        case "url":
            let scheme = rest.prefix { $0 != ":" }.lowercased()
            guard rest.contains(":"), schemes.contains(scheme) else {
                return wrong("the URL begins with one of \(schemes.map { $0 + ":" }.joined(separator: " "))")
            }
            guard !rest.contains(where: \.isWhitespace) else {
                return wrong("a URL has no blanks (a comment stands on a line of its own)")
            }
            if let bad = unknownField(rest) {
                return wrong("{\(bad)} is no field; there are \(fields.map { "{\($0)}" }.joined(separator: " "))")
            }
            return .success(.url(template: rest))
        case "run":
            guard let words = Words.split(rest), let program = words.first else {
                return wrong("expected run PROGRAM [WORD …] with closed quotes")
            }
            guard program.hasPrefix("/") else {
                return wrong("the program is named by its whole path, e.g. /usr/bin/true")
            }
            return .success(.run(words))
        default: return wrong("expected dbus …, url … or run …")
        }
    }

    private static func unknownField(_ template: String) -> String? {
        var rest = Substring(template)
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else { return String(rest[open...].dropFirst()) }
            let name = String(rest[rest.index(after: open)..<close])
            if !fields.contains(name) { return name }
            rest = rest[rest.index(after: close)...]
        }
        return nil
    }

    /// The template with each `{field}` replaced by `value(field)`, percent-encoded: a value can never add a scheme,
    /// a host or a parameter.
    package static func fill(_ template: String, _ value: (String) -> String) -> String {
        var out = ""
        var rest = Substring(template)
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            out += rest[..<open]
            out += percentEncoded(value(String(rest[rest.index(after: open)..<close])))
            rest = rest[rest.index(after: close)...]
        }
        return out + rest
    }

    /// RFC 3986 unreserved characters stay, and `+` and `@`, which handles have.
    private static func percentEncoded(_ text: String) -> String {
        var out = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "@"):
                out.unicodeScalars.append(Unicode.Scalar(byte))
            default: out += "%" + Hex.text([byte]).uppercased()
            }
        }
        return out
    }
}
