internal import Base
package import JSON

/// The other way round: a payload of this family that says a signal. For tests of apps, and of the reading.
extension Dialect {
    package func write(_ signal: CallSignal) throws(PayloadFault) -> JSONValue {
        if let opaque { throw PayloadFault("\(title) cannot be written: \(opaque)") }
        var payload = JSONValue.object([])
        for constant in constants { try put(constant.value, at: constant.pointer, in: &payload) }
        // Who cannot say that a call answered here is to stay says what never ends one.
        let isGentle = signal.endsRingingOnly && signal.kind == .cancel && !cancelsRingingOnly && says.contains(.missed)
        try writeKind(isGentle ? .missed : signal.kind, in: &payload)
        try put(signal.key, .id, in: &payload)
        try put(signal.callerName, .name, in: &payload)
        try put(signal.handle, .handle, in: &payload)
        try put(signal.sound, .sound, in: &payload)
        if signal.handle != nil && signal.handleKind != .generic {
            try put(signal.handleKind.rawValue, .handleKind, in: &payload)
        }
        if let video = signal.video { try write(video: video, in: &payload) }
        if let time = signal.ringTime {
            // A ttl counts from when the push was sent.
            let field = self[.ring].isEmpty ? Field.ttl : .ring
            if let source = self[field].first { try put(source.written(time), at: source.path.pointer, in: &payload) }
        }
        for (time, field) in [(signal.sentAt, Field.sent), (signal.expiresAt, .expires)] {
            guard let time, let source = self[field].first else { continue }
            try put(source.written(time), at: source.path.pointer, in: &payload)
        }
        if let serial = signal.serial, let source = self[.serial].first {
            try put(.integer(serial), at: source.path.pointer, in: &payload)
        }
        let out = try closed(payload)
        var view = PayloadView(out)
        // What is written is to be read again; nobody knows the plain form by anything.
        guard name == DialectBook.plainName || match(&view) != nil else {
            throw PayloadFault(
                "\(title): what was written is not known by [detect]; it lacks \(unmet(in: out).joined(separator: ", "))"
            )
        }
        return out
    }

    private func put(_ text: String?, _ field: Field, in payload: inout JSONValue) throws(PayloadFault) {
        // One that asks for something else to be so is not the ordinary one.
        guard let text, let source = self[field].first(where: { $0.condition == nil }) ?? self[field].first else {
            return
        }
        try put(source.written(text), at: source.path.pointer, in: &payload)
    }

    private func put(
        _ value: JSONValue, at pointer: JSONPointer, in payload: inout JSONValue
    ) throws(PayloadFault) {
        guard let made = pointer.put(value, in: payload) else {
            throw PayloadFault(
                "\(title): \(pointer) is under something that is no object (a fault of the dialect file)")
        }
        payload = made
    }

    private func writeKind(_ kind: CallSignal.Kind, in payload: inout JSONValue) throws(PayloadFault) {
        for map in kinds {
            if let value = map.value(of: kind) { return try put(value, at: map.path.pointer, in: &payload) }
        }
        guard kind == self.kind else {
            let known = says.map(\.rawValue).joined(separator: ", ")
            throw PayloadFault("\(title) has no push that says \(kind.rawValue); it says \(known)")
        }
    }

    private func write(video: Bool, in payload: inout JSONValue) throws(PayloadFault) {
        for map in videos {
            if let value = map.value(of: video) { return try put(value, at: map.path.pointer, in: &payload) }
        }
        if let source = self[.video].first { try put(.bool(video), at: source.path.pointer, in: &payload) }
    }

    /// With the values that go as text turned into it, the innermost first.
    private func closed(_ payload: JSONValue) throws(PayloadFault) -> JSONValue {
        var out = payload
        for unpack in unpacks.sorted(by: { $0.pointer.tokens.count > $1.pointer.tokens.count }) {
            var view = PayloadView(out)
            guard unpack.form != .jsonOrObject, let value = view.value(at: Path(pointer: unpack.pointer)),
                value.members != nil
            else { continue }
            let text = unpack.form == .query ? QueryText.text(value) : value.encoded()
            try put(.string(text), at: unpack.pointer, in: &out)
        }
        return out
    }
}
