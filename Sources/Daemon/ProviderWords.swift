internal import Base
internal import Calls
internal import DBus
internal import JSON

/// An app's configuration and updates, between the bus, the store and the core.
extension ProviderConfiguration {
    /// CXProviderConfiguration as `CallProvider1.Register` takes it; what is left out stays. The key that is wrong, and
    /// what it is to be, if one is.
    mutating func apply(_ entries: [DBusValue.Entry]) -> String? {
        for entry in entries {
            let value = entry.value
            var isRight = true
            func flag(_ set: (Bool) -> Void) { value.flag.map(set) ?? { isRight = false }() }
            func count(_ range: ClosedRange<Int64>, _ set: (Int) -> Void) {
                guard let number = value.integer, range.contains(number) else { return isRight = false }
                set(Int(number))
            }
            func words(_ set: (String?) -> Void) {
                guard let text = value.text, text.utf8.count <= 256 else { return isRight = false }
                let clean = Text.clean(text)
                set(clean.isEmpty ? nil : clean)
            }
            switch entry.key {
            case "maximum-call-groups": count(1...8) { maximumCallGroups = $0 }
            case "maximum-calls-per-call-group": count(1...16) { maximumCallsPerCallGroup = $0 }
            case "supported-handle-types":
                let kinds = (value.elements ?? []).compactMap { $0.text.flatMap(Handle.Kind.init(callKit:)) }
                isRight = value.elements.map { $0.count == kinds.count } ?? false
                if isRight { supportedHandleTypes = Set(kinds) }
            case "supports-video": flag { supportsVideo = $0 }
            case "includes-calls-in-recents": flag { includesCallsInRecents = $0 }
            case "ringtone-sound":
                words { ringtoneSound = $0 }
                if ringtoneSound?.contains("/") == true {
                    ringtoneSound = nil
                    isRight = false
                }
            case "localized-name": words { localizedName = $0 }
            case "icon": words { iconName = $0 }
            case "has-signalling": flag { hasSignalling = $0 }
            case "foreground-handled": flag { isForegroundHandled = $0 }
            case "configures-audio": flag { configuresAudio = $0 }
            case "provides-remote-info": flag { providesRemoteInfo = $0 }
            case "session", "version": break  // Of the moment, not of the app.
            default: return "\(Text.clean(entry.key, limit: 40)) is no key of a provider's configuration"
            }
            guard isRight else { return "\(entry.key): \(Self.expects[entry.key] ?? "a text") was expected" }
        }
        return nil
    }

    private static let expects = [
        "maximum-call-groups": "1 to 8 (u)", "maximum-calls-per-call-group": "1 to 16 (u)",
        "supported-handle-types": "generic, phone-number, email-address (as)", "supports-video": "true or false",
        "includes-calls-in-recents": "true or false", "ringtone-sound": "a sound's name, not a path",
        "has-signalling": "true or false", "foreground-handled": "true or false", "configures-audio": "true or false",
        "provides-remote-info": "true or false",
    ]

    // MARK: On disk

    /// As `apply` reads it again: what is not as it would be anyway, since a start reads that of every app.
    var stored: String {
        let usual = ProviderConfiguration()
        var members: [JSONValue.Member] = []
        func add<Value: Equatable>(_ key: String, _ field: (Self) -> Value, _ json: (Value) -> JSONValue) {
            if field(self) != field(usual) { members.append(.init(key, json(field(self)))) }
        }
        add("maximum-call-groups", \.maximumCallGroups) { .integer(Int64($0)) }
        add("maximum-calls-per-call-group", \.maximumCallsPerCallGroup) { .integer(Int64($0)) }
        add("supported-handle-types", \.supportedHandleTypes) {
            .array($0.map(\.callKit).sorted().map { .string($0) })
        }
        add("supports-video", \.supportsVideo) { .bool($0) }
        add("includes-calls-in-recents", \.includesCallsInRecents) { .bool($0) }
        add("has-signalling", \.hasSignalling) { .bool($0) }
        add("foreground-handled", \.isForegroundHandled) { .bool($0) }
        add("configures-audio", \.configuresAudio) { .bool($0) }
        add("provides-remote-info", \.providesRemoteInfo) { .bool($0) }
        add("ringtone-sound", \.ringtoneSound) { .string($0 ?? "") }
        add("localized-name", \.localizedName) { .string($0 ?? "") }
        add("icon", \.iconName) { .string($0 ?? "") }
        return JSONValue.object(members).encoded()
    }

    init(stored text: String) {
        self.init()
        guard let json = try? JSONValue.parse(Array(text.utf8)) else { return }
        for member in json.members ?? [] {
            let value: DBusValue
            switch member.value {
            case .bool(let flag): value = .bool(flag)
            case .integer(let number): value = .int64(number)
            case .string(let text): value = .string(text)
            case .array(let items): value = .strings(items.compactMap(\.string))
            default: continue
            }
            _ = apply([.init(member.name, value)])
        }
    }
}

extension Handle.Kind {
    /// CXHandle.HandleType, as the bus has it.
    init?(callKit word: String) {
        switch word {
        case "generic": self = .generic
        case "phone-number", "phone": self = .phoneNumber
        case "email-address", "email": self = .emailAddress
        default: return nil
        }
    }

    var callKit: String {
        switch self {
        case .generic: "generic"
        case .phoneNumber: "phone-number"
        case .emailAddress: "email-address"
        }
    }
}

extension Handle {
    /// From a handle's text and, if it is given, its kind.
    init(_ text: String, kind word: String?) {
        let isNumber = text.hasPrefix("+") || !text.isEmpty && text.allSatisfy(\.isNumber)
        let guess: Kind = isNumber ? .phoneNumber : text.contains("@") && !text.contains(":") ? .emailAddress : .generic
        self.init(word.flatMap(Kind.init(callKit:)) ?? guess, text)
    }
}

extension CallUpdate {
    /// Keys of CXCallUpdate on the bus; true: a text.
    private static let keys = [
        "caller": true, "handle": true, "handle-type": true, "call-back": true, "call-back-type": true, "video": false,
        "supports-holding": false, "supports-grouping": false, "supports-ungrouping": false, "supports-dtmf": false,
    ]
    /// … that count when the call is new.
    private static let newKeys = ["sound": true, "time": false, "silent": false]

    /// What is wrong with an update; nil if nothing is.
    static func fault(in details: DBusValue, isNew: Bool) -> String? {
        let known = isNew ? keys.merging(newKeys) { old, _ in old } : keys
        for entry in details.entries ?? [] {
            guard let isText = known[entry.key] else {
                let key = Text.clean(entry.key, limit: 40)
                let hint = Text.nearest(to: key, in: known.keys.sorted()).map { "; did you mean \($0)?" } ?? ""
                return "\(key) is no key of a call's update\(hint)"
            }
            if entry.key == "time" {
                guard entry.value.real.map({ $0 > 0 && $0 < 86_400 }) ?? false else {
                    return "time: seconds (d) were expected"
                }
            } else if isText {
                guard let text = entry.value.text, text.utf8.count <= 512 else {
                    return "\(entry.key): a text of at most 512 bytes was expected"
                }
                if entry.key.hasSuffix("-type"), Handle.Kind(callKit: text) == nil {
                    return "\(entry.key) is generic, phone-number or email-address"
                }
            } else if entry.value.flag == nil {
                return "\(entry.key): true or false was expected"
            }
        }
        return nil
    }

    /// CXCallUpdate as the bus has it, cleaned; an empty text says nothing.
    init(_ details: DBusValue) {
        self.init()
        func words(_ key: String) -> String? {
            let clean = Text.clean(details[key]?.text ?? "", limit: 512)
            return clean.isEmpty ? nil : clean
        }
        name = words("caller")
        handle = words("handle").map { Handle($0, kind: details["handle-type"]?.text) }
        callBack = words("call-back").map { Handle($0, kind: details["call-back-type"]?.text) }
        isVideo = details["video"]?.flag
        holding = details["supports-holding"]?.flag
        grouping = details["supports-grouping"]?.flag
        ungrouping = details["supports-ungrouping"]?.flag
        dtmf = details["supports-dtmf"]?.flag
        isSilent = details["silent"]?.flag
    }
}
