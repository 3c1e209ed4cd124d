internal import CDBus
internal import Glibc

/// Between `DBusValue` and libdbus's iterators. libdbus aborts on text it finds invalid, so nothing unchecked reaches it.
enum Codec {
    static func append(_ value: DBusValue, to iterator: UnsafeMutablePointer<DBusMessageIter>) throws(DBusFailure) {
        switch value {
        case .byte(let n): basic(n, code("y"), iterator)
        case .bool(let flag): basic(dbus_bool_t(flag ? 1 : 0), code("b"), iterator)
        case .int16(let n): basic(n, code("n"), iterator)
        case .uint16(let n): basic(n, code("q"), iterator)
        case .int32(let n): basic(n, code("i"), iterator)
        case .uint32(let n): basic(n, code("u"), iterator)
        case .int64(let n): basic(n, code("x"), iterator)
        case .uint64(let n): basic(n, code("t"), iterator)
        case .double(let n): basic(n, code("d"), iterator)
        case .string(let text): string(text.utf8.contains(0) ? text.filter { $0 != "\0" } : text, code("s"), iterator)
        case .objectPath(let path):
            guard dbus_validate_path(path, nil) != 0 else { throw invalid("object path", path) }
            string(path, code("o"), iterator)
        case .signature(let text):
            guard dbus_signature_validate(text, nil) != 0 else { throw invalid("signature", text) }
            string(text, code("g"), iterator)
        case .bytes(let bytes):
            var inner = DBusMessageIter()
            dbus_message_iter_open_container(iterator, code("a"), "y", &inner)
            bytes.withUnsafeBufferPointer { buffer in
                var base = buffer.baseAddress
                dbus_message_iter_append_fixed_array(&inner, code("y"), &base, Int32(buffer.count))
            }
            dbus_message_iter_close_container(iterator, &inner)
        case .array(let element, let values):
            try container(iterator, "a", element, values)
        case .dict(let entries):
            try container(iterator, "a", "{sv}", entries.map { .entry(.string($0.key), wrapped($0.value)) })
        case .entry(let key, let value): try container(iterator, "e", nil, [key, value])
        case .structure(let fields): try container(iterator, "r", nil, fields)
        case .variant(let inner): try container(iterator, "v", inner.signature, [inner])
        }
    }

    private static func wrapped(_ value: DBusValue) -> DBusValue {
        if case .variant = value { value } else { .variant(value) }
    }

    private static func container(
        _ iterator: UnsafeMutablePointer<DBusMessageIter>, _ type: Unicode.Scalar, _ signature: String?,
        _ values: [DBusValue]
    ) throws(DBusFailure) {
        if let signature, dbus_signature_validate_single(type == "a" ? "a" + signature : signature, nil) == 0 {
            throw invalid("signature", signature)
        }
        var inner = DBusMessageIter()
        dbus_message_iter_open_container(iterator, code(type), signature, &inner)
        for value in values {
            do {
                try append(value, to: &inner)
            } catch {
                dbus_message_iter_abandon_container(iterator, &inner)
                throw error
            }
        }
        dbus_message_iter_close_container(iterator, &inner)
    }

    private static func basic<T: BitwiseCopyable>(
        _ value: T, _ type: Int32, _ iterator: UnsafeMutablePointer<DBusMessageIter>
    ) {
        withUnsafePointer(to: value) { _ = dbus_message_iter_append_basic(iterator, type, $0) }
    }

    private static func string(_ text: String, _ type: Int32, _ iterator: UnsafeMutablePointer<DBusMessageIter>) {
        text.withCString { pointer in
            var pointer: UnsafePointer<CChar>? = pointer
            dbus_message_iter_append_basic(iterator, type, &pointer)
        }
    }

    static func code(_ scalar: Unicode.Scalar) -> Int32 { Int32(scalar.value) }

    private static func invalid(_ what: String, _ text: String) -> DBusFailure {
        DBusFailure("org.freedesktop.DBus.Error.InvalidArgs", "\"\(text)\" is not a valid \(what)")
    }

    // MARK: Reading

    /// More is nothing that anybody says to us unasked: bytes of texts, and eight for each value.
    static let longest = 1 << 20

    /// All values at `iterator`, if they are not too many. libdbus has validated the message: depth is at most 64.
    static func read(
        _ iterator: UnsafeMutablePointer<DBusMessageIter>, atMost limit: Int = longest
    ) throws(DBusFailure) -> [DBusValue] {
        var room = limit
        let values = values(iterator, &room)
        guard room >= 0 else {
            throw DBusFailure(
                "org.freedesktop.DBus.Error.LimitsExceeded",
                "a message has at most \(limit >> 20) MiB here, eight bytes of it for each value")
        }
        return values
    }

    /// Ends early when there is no more room.
    private static func values(
        _ iterator: UnsafeMutablePointer<DBusMessageIter>, _ room: inout Int
    ) -> [DBusValue] {
        var out: [DBusValue] = []
        while room >= 0 {
            guard let value = value(iterator, &room) else { return out }
            out.append(value)
            if dbus_message_iter_next(iterator) == 0 { return out }
        }
        return out
    }

    private static func value(_ iterator: UnsafeMutablePointer<DBusMessageIter>, _ room: inout Int) -> DBusValue? {
        room -= 8
        return switch Unicode.Scalar(UInt8(truncatingIfNeeded: dbus_message_iter_get_arg_type(iterator))) {
        case "y": .byte(read(iterator, 0))
        case "b": .bool(read(iterator, dbus_bool_t(0)) != 0)
        case "n": .int16(read(iterator, 0))
        case "q": .uint16(read(iterator, 0))
        case "i": .int32(read(iterator, 0))
        case "u": .uint32(read(iterator, 0))
        case "x": .int64(read(iterator, 0))
        case "t": .uint64(read(iterator, 0))
        case "d": .double(read(iterator, 0))
        case "s": .string(readText(iterator, &room))
        case "o": .objectPath(readText(iterator, &room))
        case "g": .signature(readText(iterator, &room))
        case "v": .variant(children(iterator, &room).first ?? .bool(false))
        case "r": .structure(children(iterator, &room))
        case "e": entry(children(iterator, &room))
        case "a": array(iterator, &room)
        default: nil  // DBUS_TYPE_INVALID ends a list; descriptors ('h') are nothing we take.
        }
    }

    private static func entry(_ pair: [DBusValue]) -> DBusValue? {
        pair.count == 2 ? .entry(pair[0], pair[1]) : nil
    }

    private static func array(_ iterator: UnsafeMutablePointer<DBusMessageIter>, _ room: inout Int) -> DBusValue {
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(iterator, &inner)
        if dbus_message_iter_get_element_type(iterator) == code("y") {
            var base: UnsafePointer<UInt8>?
            var count: Int32 = 0
            dbus_message_iter_get_fixed_array(&inner, &base, &count)
            room -= Int(count)
            guard room >= 0 else { return .bytes([]) }
            return .bytes(Array(UnsafeBufferPointer(start: base, count: Int(count))))
        }
        let text = dbus_message_iter_get_signature(&inner)
        defer { dbus_free(text) }
        let element = text.map { String(cString: $0) } ?? "s"
        let items = values(&inner, &room)
        guard element == "{sv}" else { return .array(of: element, items) }
        return .dict(
            items.compactMap { item in
                guard case .entry(.string(let key), .variant(let value)) = item else { return nil }
                return .init(key, value)
            })
    }

    private static func children(
        _ iterator: UnsafeMutablePointer<DBusMessageIter>, _ room: inout Int
    ) -> [DBusValue] {
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(iterator, &inner)
        return values(&inner, &room)
    }

    private static func read<T: BitwiseCopyable>(
        _ iterator: UnsafeMutablePointer<DBusMessageIter>, _ zero: T
    ) -> T {
        var value = zero
        dbus_message_iter_get_basic(iterator, &value)
        return value
    }

    private static func readText(_ iterator: UnsafeMutablePointer<DBusMessageIter>, _ room: inout Int) -> String {
        var pointer: UnsafePointer<CChar>?
        dbus_message_iter_get_basic(iterator, &pointer)
        guard let pointer else { return "" }
        // Measured before it is copied.
        room -= strlen(pointer)
        return room >= 0 ? String(cString: pointer) : ""
    }
}
