internal import Base
internal import JSON

/// From a payload of this family to a signal.
extension Dialect {
    /// Bytes of a provider's call id; a longer one is none. An alert group's key may be pages of labels.
    static let longestKey = 16_384
    /// What senders say when nobody knows who calls.
    private static let nobody: Set<String> = [
        "unknown", "unknown caller", "anonymous", "restricted", "private", "unavailable", "null", "undefined", "(null)",
    ]

    private static func isNobody(_ text: String) -> Bool { text.utf8.count <= 16 && nobody.contains(text.lowercased()) }

    /// Some senders repeat the handle where a name belongs; it is shown without its scheme, as a handle.
    private static func isURI(_ text: String) -> Bool {
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        return scheme.count < text.utf8.count
            && ["sip", "sips", "tel"].contains(String(decoding: scheme, as: UTF8.self).lowercased())
    }

    /// `common`: where senders of all kinds say what a push is, for a family that leaves that to each app.
    func read(
        _ view: inout PayloadView, _ region: PhoneRegion? = nil, common: [ValueMap<CallSignal.Kind>] = []
    ) throws(PayloadFault) -> CallSignal {
        if let opaque { throw PayloadFault("a push of \(title): \(opaque)") }
        var signal = CallSignal()
        (signal.kind, signal.unknownKind) = kind(in: &view, common)
        if signal.kind == .other {
            throw PayloadFault("\(title) says that this is no call\(signal.unknownKind.map { " (\($0))" } ?? "")")
        }
        signal.key = first(.id, in: &view) { value in
            value.looseText.flatMap { $0.isEmpty || $0.utf8.count > Self.longestKey ? nil : $0 }
        }
        signal.endsRingingOnly = cancelsRingingOnly && signal.isEnd
        if signal.key == nil && signal.kind != .invite {
            signal.meansOnlyCall = signal.isEnd && cancelsOnlyCall
            guard signal.meansOnlyCall else {
                throw PayloadFault(
                    "\(signal.kind.words) without a call id\(places(.id)): it cannot tell which call it means"
                )
            }
        }
        readCaller(&view, region, into: &signal)
        signal.video = isVideo(in: &view)
        signal.sound = first(.sound, in: &view) { value in
            value.string.flatMap { $0.isEmpty || $0 == "default" || $0.utf8.count > 256 ? nil : $0 }
        }
        readTimes(&view, into: &signal)
        return signal
    }

    /// For people who look for it: ` (/callId or /uuid)`.
    private func places(_ field: Field) -> String {
        let all = self[field].prefix(2).map(\.path.pointer.description)
        return all.isEmpty ? "" : " (\(all.joined(separator: " or ")))"
    }

    private func first<Result>(
        _ field: Field, in view: inout PayloadView, _ read: (JSONValue) -> Result?
    ) -> Result? {
        for source in self[field] {
            guard let value = source.value(in: &view), let result = read(value) else { continue }
            view.found(field.word, at: source.path)
            return result
        }
        return nil
    }

    // MARK: What it is

    private func kind(
        in view: inout PayloadView, _ common: [ValueMap<CallSignal.Kind>]
    ) -> (CallSignal.Kind, unknown: String?) {
        var unknown: String?
        var isInvite = false
        for map in kinds {
            guard let (kind, word) = map.meaning(in: &view) else { continue }
            if kind == .invite {
                // A guess: what another place says for certain comes first.
                if let word { unknown = unknown ?? Text.clean(word, limit: 60) } else { isInvite = true }
                view.found("kind", at: map.path)
            } else if !isInvite || word == nil && kind.isEnd {
                view.found("kind", at: map.path)
                return (kind, word.map { Text.clean($0, limit: 60) })
            }
        }
        if isInvite { return (.invite, nil) }
        guard unknown != nil || kind == .invite else { return (kind, nil) }
        if let end = Self.end(said: common, in: &view) { return (end, nil) }
        return (.invite, unknown)
    }

    /// That a call is over, if one of its places says so for certain.
    func end(in view: inout PayloadView) -> CallSignal.Kind? { opaque == nil ? Self.end(said: kinds, in: &view) : nil }

    private static func end(said maps: [ValueMap<CallSignal.Kind>], in view: inout PayloadView) -> CallSignal.Kind? {
        for map in maps {
            guard let (kind, word) = map.meaning(in: &view), word == nil, kind.isEnd else { continue }
            view.found("kind", at: map.path)
            return kind
        }
        return nil
    }

    private func isVideo(in view: inout PayloadView) -> Bool? {
        for map in videos {
            guard let (flag, _) = map.meaning(in: &view) else { continue }
            view.found(Field.video.word, at: map.path)
            return flag
        }
        return first(.video, in: &view) { value in
            switch value.string?.lowercased() {
            case "video": true
            case "audio", "voice": false
            default: value.looseFlag
            }
        }
    }

    // MARK: Who calls

    private func readCaller(_ view: inout PayloadView, _ region: PhoneRegion?, into signal: inout CallSignal) {
        signal.callerName = words(.name, in: &view) { !Self.isURI($0) }
        let hint = first(.handleKind, in: &view) { $0.looseText?.lowercased() }
        let handle = words(.handle, in: &view) { _ in true }
        // Who has nothing but an address where the name belongs.
        let address = handle == nil && signal.callerName == nil ? words(.name, in: &view, Self.isURI) : nil
        guard let handle = handle ?? address else { return }
        signal.handle = handle
        signal.handleKind = CallSignal.HandleKind(of: handle, hint: hint)
        // What its sender calls something else than a number is none.
        if hint == nil || signal.handleKind == .phoneNumber { signal.settleNumber(in: region) }
    }

    /// Made fit to be shown, and of somebody.
    private func words(_ field: Field, in view: inout PayloadView, _ fits: (String) -> Bool) -> String? {
        first(field, in: &view) { value in
            value.looseText.flatMap { text in
                let clean = Text.clean(text, limit: 256)
                return clean.isEmpty || Self.isNobody(clean) || !fits(clean) ? nil : clean
            }
        }
    }

    // MARK: When

    private func readTimes(_ view: inout PayloadView, into signal: inout CallSignal) {
        signal.sentAt = first(.sent, in: &view) { $0.looseTime }
        signal.expiresAt = first(.expires, in: &view) { $0.looseTime }
        signal.ringTime = duration(.ring, in: &view)
        if let ttl = duration(.ttl, in: &view) ?? fixedLifetime {
            if let sent = signal.sentAt {
                let end = WallTime(nanoseconds: sent.nanoseconds.addingClamped(ttl.nanoseconds))
                signal.expiresAt = signal.expiresAt.map { min($0, end) } ?? end
            } else if signal.ringTime == nil && fixedLifetime == nil {
                // With no date to count from, it is how long to ring.
                signal.ringTime = ttl
            }
        }
        // A counter, or the newest of some dates, in milliseconds.
        for source in self[.serial] {
            let all = view.values(at: source.path).compactMap { value in
                value.looseInteger ?? value.looseTime.map { $0.nanoseconds / 1_000_000 }
            }
            if let newest = all.max() {
                signal.serial = newest
                view.found(Field.serial.word, at: source.path)
                break
            }
        }
    }

    /// 0, negative and absurd values are absent ones.
    private func duration(_ field: Field, in view: inout PayloadView) -> Duration? {
        for source in self[field] {
            guard let number = source.value(in: &view)?.looseReal, number.isFinite else { continue }
            let seconds = source.isMilliseconds ? number / 1000 : number
            guard seconds >= 0.001 && seconds < 86_400 * 30 else { continue }
            view.found(field.word, at: source.path)
            return .seconds(seconds)
        }
        return nil
    }
}

extension CallSignal.Kind {
    /// It ends a call rather than announcing one.
    var isEnd: Bool {
        switch self {
        case .cancel, .answeredElsewhere, .declinedElsewhere, .missed: true
        case .invite, .update, .other: false
        }
    }

    /// In a sentence.
    var words: String {
        switch self {
        case .invite: "a call"
        case .update: "an update of a call"
        case .cancel: "a cancel"
        case .answeredElsewhere: "an answer on another device"
        case .declinedElsewhere: "a decline on another device"
        case .missed: "a missed call"
        case .other: "no call"
        }
    }
}

extension CallSignal.HandleKind {
    /// As the sender says, else as it looks.
    init(of handle: String, hint: String?) {
        switch hint {
        case "phone", "phonenumber", "phone_number", "number", "2": self = .phoneNumber
        case "email", "emailaddress", "email_address", "3": self = .emailAddress
        case "generic", "1": self = .generic
        default:
            let digits = handle.drop { $0 == "+" }
            let isNumber =
                !PhoneNumber.isAddress(handle) && digits.count >= 3
                && digits.allSatisfy { $0.isASCII && ($0.isNumber || " -().".contains($0)) }
            self = isNumber ? .phoneNumber : .generic
        }
    }
}
