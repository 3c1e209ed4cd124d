internal import APNs
internal import Base

/// The sections that may come often: `[key KEY-ID]` and `[fault NAME]`.
extension Configuration {
    private static let keyKeys = ["file", "team", "environment", "topics", "related"]

    mutating func takeKey(_ line: INILine) -> ConfigFault? {
        let name = "[\(line.section)] \(line.key)"
        func wrong(_ reason: String) -> ConfigFault { ConfigFault(line.number, name, reason) }
        guard let id = Self.name(line.section, "key"), Self.isKeyID(id) else {
            return wrong("a key's section is [key ABC123DEFG], with the key's id of letters and digits")
        }
        guard apns.keys[id] != nil || apns.keys.count < APNs.mostKeys else {
            return wrong("there are \(APNs.mostKeys) keys already")
        }
        var key = apns.keys[id] ?? Key(line: line.number)
        switch line.key {
        case "file":
            guard Setting.isPath(line.value) else {
                return wrong(
                    "expected the whole path of a .p8, a public key or a certificate, e.g. /home/me/AuthKey_\(id).p8")
            }
            key.file = line.value
        case "team":
            guard Self.isKeyID(line.value) else { return wrong("expected a team id, 10 letters and digits") }
            key.team = line.value
        case "environment":
            guard let environment = Key.Environment(rawValue: line.value) else {
                return wrong("expected sandbox, production or both")
            }
            key.environment = environment
        case "topics":
            let topics = line.value.split { $0 == "," || $0.isWhitespace }.map(String.init)
            if let bad = topics.first(where: { !AppID.isValid($0) }) {
                return wrong("\"\(Text.clean(bad, limit: 80))\" is no bundle id like com.example.talk")
            }
            if let bad = topics.first(where: { $0.hasSuffix(PushType.voip.suffix) }) {
                return wrong("write \(bad.dropLast(5)): a key's topics are bundle ids, which include their .voip topic")
            }
            // As many as Apple allows a key (apns.md 1.5).
            guard topics.count <= 400 else { return wrong("a key has at most 400 topics") }
            key.topics = topics
        case "related":
            guard Self.isKeyID(line.value) else { return wrong("expected another key's id") }
            key.related = line.value
        default: return wrong("unknown key\(Self.hint(line.key, Self.keyKeys))")
        }
        apns.keys[id] = key
        return nil
    }

    /// Apple's have 10 capitals and digits; test set-ups are not that strict.
    private static func isKeyID(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count) && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    private static let faultKeys = ["token", "app", "every", "times", "do"]

    mutating func takeFault(_ line: INILine) -> ConfigFault? {
        let place = "[\(line.section)] \(line.key)"
        func wrong(_ reason: String) -> ConfigFault { ConfigFault(line.number, place, reason) }
        guard let name = Self.name(line.section, "fault"), (1...64).contains(name.utf8.count) else {
            return wrong("a fault's section is [fault NAME], with a name of one word")
        }
        let index: Int
        if let known = apns.faults.firstIndex(where: { $0.name == name }) {
            index = known
        } else {
            guard apns.faults.count < APNs.mostFaults else {
                return wrong("there are \(APNs.mostFaults) faults already")
            }
            apns.faults.append(FaultRule(name: name))
            index = apns.faults.count - 1
        }
        switch line.key {
        case "token":
            let hex = line.value.lowercased()
            guard (1...64).contains(hex.utf8.count), hex.utf8.allSatisfy({ Hex.value(of: $0) != nil }) else {
                return wrong("expected the beginning of a token, 1 to 64 hexadecimal digits")
            }
            apns.faults[index].token = hex
        case "app":
            guard AppID.isValid(line.value) else { return wrong("expected an app id like com.example.talk") }
            apns.faults[index].app = line.value
        case "every", "times":
            guard let count = Int(line.value), (1...1_000_000).contains(count) else {
                return wrong("expected a number from 1 to 1000000")
            }
            if line.key == "every" { apns.faults[index].every = count } else { apns.faults[index].times = count }
        case "do":
            do throws(FaultAction.Fault) {
                apns.faults[index].actions = try FaultAction.list(line.value)
            } catch {
                return wrong(error.words)
            }
        default: return wrong("unknown key\(Self.hint(line.key, Self.faultKeys))")
        }
        return nil
    }

    /// The second word of a section of two.
    static func name(_ section: String, _ kind: String) -> String? {
        let words = section.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, words[0] == kind else { return nil }
        return String(words[1])
    }

    static func hint(_ word: String, _ known: [String]) -> String {
        Text.nearest(to: word, in: known).map { "; did you mean \($0)?" } ?? ""
    }
}
