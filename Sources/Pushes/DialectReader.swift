internal import Base
internal import JSON

/// A dialect in the making: takes the lines of its file one by one.
struct DialectReader {
    private var dialect: Dialect
    private var seen: Set<String> = []
    private var hasCall = false

    init(name: String) {
        dialect = Dialect(name: name)
    }

    /// Nil, or what is wrong with the line.
    mutating func take(_ line: INILine) -> String? {
        guard seen.insert(line.section + "\n" + line.key).inserted else { return "is there twice" }
        let words = line.section.split(separator: " ", maxSplits: 1).map { $0.drop { $0 == " " } }
        switch words.first {
        case "dialect" where words.count == 1: return takeHead(line)
        case "detect" where words.count == 1: return takeDetection(line)
        case "unpack" where words.count == 1: return takeUnpacking(line)
        case "call" where words.count == 1: return takeField(line)
        case "write" where words.count == 1: return takeConstant(line)
        case "kind" where words.count == 2: return takeKind(line, at: words[1])
        case "video" where words.count == 2: return takeVideo(line, at: words[1])
        default:
            return
                "unknown section [\(Text.clean(line.section, limit: 40))]; there are [dialect], [detect], [unpack], [call], "
                + "[kind POINTER], [video POINTER] and [write]"
        }
    }

    /// What the file lacks as a whole.
    var missing: String? {
        if dialect.title.isEmpty { return "[dialect] title is missing: the sender's name, for people" }
        if dialect.opaque != nil { return hasCall ? "an opaque dialect has no [call]: nobody can read it" : nil }
        if dialect[.name].isEmpty && dialect[.handle].isEmpty && dialect.kind != .other {
            return "[call] says neither name nor handle: where does the caller stand?"
        }
        if dialect[.need].isEmpty && dialect[.any].isEmpty && dialect[.mark].isEmpty
            && dialect.name != DialectBook.plainName
        {
            return "[detect] has neither need, any nor mark: by what is a payload known?"
        }
        return nil
    }

    /// With the texts opened on the way of each path, which only the whole file tells.
    var finished: Dialect {
        var out = dialect
        let unpacks = dialect.unpacks.sorted { $0.pointer.tokens.count < $1.pointer.tokens.count }
        func opened(_ path: inout Path) {
            path.openings = unpacks.filter {
                $0.pointer.tokens.count < path.pointer.tokens.count && $0.pointer.isPrefix(of: path.pointer)
            }.map { Path.Opening(depth: $0.pointer.tokens.count, form: $0.form) }
        }
        func open(_ sources: inout [ValueSource]) {
            for index in sources.indices {
                opened(&sources[index].path)
                if sources[index].condition != nil { opened(&sources[index].condition!.path) }
            }
        }
        func open(_ conditions: inout [Condition]) {
            for index in conditions.indices { opened(&conditions[index].path) }
        }
        for field in Dialect.Field.allCases { open(&out[field]) }
        for test in Dialect.Test.allCases { open(&out[test]) }
        for index in out.kinds.indices { opened(&out.kinds[index].path) }
        for index in out.videos.indices { opened(&out.videos[index].path) }
        return out
    }

    // MARK: Sections

    private mutating func takeHead(_ line: INILine) -> String? {
        let text = Text.clean(line.value, limit: 200)
        switch line.key {
        case "title":
            guard !text.isEmpty else { return "is empty" }
            dialect.title = text
        case "about": dialect.about = text
        case "opaque": dialect.opaque = text
        case "extends": break
        default: return "unknown key\(hint(line.key, ["title", "about", "opaque", "extends"]))"
        }
        return nil
    }

    private mutating func takeDetection(_ line: INILine) -> String? {
        guard let place = Dialect.Test.words.firstIndex(of: line.key) else {
            return "unknown key\(hint(line.key, Dialect.Test.words))"
        }
        var list: [Condition] = []
        for item in items(line.value) {
            switch condition(item) {
            case .success(let made): list.append(made)
            case .failure(let why): return why.text
            }
        }
        guard (1...DialectFile.mostConditions).contains(list.count) else {
            return "takes 1 to \(DialectFile.mostConditions) conditions, with commas between them"
        }
        dialect[Dialect.Test.allCases[place]] = list
        return nil
    }

    private mutating func takeUnpacking(_ line: INILine) -> String? {
        guard let pointer = JSONPointer(line.key) else { return notPointer(line.key) }
        guard !pointer.tokens.contains(.each) else { return "a text is opened at one place: no *" }
        guard let form = Unpacking(rawValue: line.value) else {
            return "\"\(Text.clean(line.value, limit: 40))\" is no form; there are "
                + Unpacking.allCases.map(\.rawValue).joined(separator: ", ")
        }
        guard dialect.unpacks.count < 8 else { return "no more than 8 texts are opened" }
        dialect.unpacks.append(.init(pointer: pointer, form: form))
        return nil
    }

    private mutating func takeField(_ line: INILine) -> String? {
        hasCall = true
        switch line.key {
        case "kind":
            guard let kind = CallSignal.Kind(rawValue: line.value) else { return notKind(line.value) }
            dialect.kind = kind
        case "lifetime":
            guard let seconds = Int(line.value), (1...86_400).contains(seconds) else {
                return "expected 1…86400 seconds"
            }
            dialect.fixedLifetime = .seconds(seconds)
        case "cancel-ends":
            guard ["any", "ringing"].contains(line.value) else { return "expected any or ringing" }
            dialect.cancelsRingingOnly = line.value == "ringing"
        case "cancel-without-id":
            guard ["refuse", "only-call"].contains(line.value) else { return "expected refuse or only-call" }
            dialect.cancelsOnlyCall = line.value == "only-call"
        default:
            guard let place = Dialect.Field.words.firstIndex(of: line.key) else {
                let known = Dialect.Field.words + ["kind", "lifetime", "cancel-ends", "cancel-without-id"]
                return "unknown key\(hint(line.key, known))"
            }
            var list: [ValueSource] = []
            for item in items(line.value) {
                switch source(item) {
                case .success(let made): list.append(made)
                case .failure(let why): return why.text
                }
            }
            guard (1...DialectFile.mostSources).contains(list.count) else {
                return
                    "takes 1 to \(DialectFile.mostSources) places, with commas between them; the first that is there counts"
            }
            dialect[Dialect.Field.allCases[place]] = list
        }
        return nil
    }

    private mutating func takeKind(_ line: INILine, at place: Substring) -> String? {
        guard let kind = CallSignal.Kind(rawValue: line.value) else { return notKind(line.value) }
        return Self.add(line.key, kind, at: place, to: &dialect.kinds)
    }

    private mutating func takeVideo(_ line: INILine, at place: Substring) -> String? {
        guard ["yes", "no"].contains(line.value) else { return "expected yes or no" }
        return Self.add(line.key, line.value == "yes", at: place, to: &dialect.videos)
    }

    /// A section may stand for several places.
    private static func add<Meaning: Hashable & Sendable>(
        _ key: String, _ meaning: Meaning, at places: Substring, to maps: inout [ValueMap<Meaning>]
    ) -> String? {
        for place in places.split(separator: ",") {
            if let reason = add(key, meaning, atOne: place.trimmed, to: &maps) { return reason }
        }
        return nil
    }

    private static func add<Meaning: Hashable & Sendable>(
        _ key: String, _ meaning: Meaning, atOne place: String, to maps: inout [ValueMap<Meaning>]
    ) -> String? {
        guard let pointer = JSONPointer(place), !pointer.tokens.contains(.each) else {
            return "[… \(Text.clean(place, limit: 60))] names no place: write a JSON pointer such as /type"
        }
        // A word, or a JSON scalar where the type matters in writing: 1, true, "1".
        let value = (try? JSONValue.parse(key)).flatMap { $0.scalarText == nil ? nil : $0 } ?? .string(key)
        guard let text = value.scalarText, let pattern = ValuePattern(text) else {
            return "is no value: write a word, a number, or * for any other"
        }
        let index = maps.firstIndex { $0.path.pointer == pointer }
        guard index != nil || maps.count < DialectFile.mostMaps else {
            return "no more than \(DialectFile.mostMaps) such sections"
        }
        if index == nil { maps.append(ValueMap(path: Path(pointer: pointer))) }
        let at = index ?? maps.count - 1
        guard maps[at].entries.count < DialectFile.mostEntries else {
            return "no more than \(DialectFile.mostEntries) values in a section"
        }
        maps[at].entries.append(.init(pattern: pattern, meaning: meaning, value: text.contains("*") ? nil : value))
        return nil
    }

    private mutating func takeConstant(_ line: INILine) -> String? {
        guard let pointer = JSONPointer(line.key) else { return notPointer(line.key) }
        guard let value = try? JSONValue.parse(line.value) else {
            return "is to be a JSON value: \"text\", 1, true, {} or []"
        }
        guard dialect.constants.count < DialectFile.mostConstants else {
            return "no more than \(DialectFile.mostConstants) constants"
        }
        dialect.constants.append(.init(pointer: pointer, value: value))
        return nil
    }
}
