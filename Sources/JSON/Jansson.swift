internal import CJansson

extension JSONValue {
    /// Parses `bytes`: UTF-8, any value on top, at most 64 levels deep.
    ///
    /// The depth is checked on the bytes before jansson builds anything, so that neither its recursion nor ours is at a
    /// sender's mercy.
    package static func parse(_ bytes: some ContiguousBytesLike) throws(JSONFailure) -> JSONValue {
        var error = json_error_t()
        let depthLimit = 64
        // jansson passes over one behind a number, and no JSON has any.
        guard !bytes.withBytes({ $0.contains(0) }) else { throw JSONFailure(description: "there is a NUL byte in it") }
        let root: UnsafeMutablePointer<json_t>? = bytes.withBytes { buffer in
            guard nesting(of: buffer) <= depthLimit else { return nil }
            return json_loadb(
                UnsafeRawPointer(buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!)
                    .assumingMemoryBound(to: CChar.self), buffer.count,
                Int(JSON_DECODE_ANY | JSON_ALLOW_NUL), &error)
        }
        guard let root else {
            if error.line == 0 && error.source.0 == 0 && error.text.0 == 0 {
                throw JSONFailure(description: "nested deeper than \(depthLimit) levels")
            }
            let text = withUnsafeBytes(of: error.text) { raw in
                String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
            }
            throw JSONFailure(description: "line \(error.line), column \(error.column): \(text)")
        }
        defer { json_decref(root) }
        return convert(root)
    }

    /// One line without spaces, or indented by two.
    package func encoded(pretty: Bool = false) -> String {
        let root = Self.build(self)
        defer { json_decref(root) }
        let flags = Int(JSON_ENCODE_ANY) | (pretty ? 2 : Int(JSON_COMPACT))
        guard let text = json_dumps(root, flags) else { return "null" }
        defer { free(text) }
        return String(cString: text)
    }

    private static func nesting(of buffer: UnsafeRawBufferPointer) -> Int {
        var depth = 0
        var deepest = 0
        var inString = false
        var escaped = false
        for byte in buffer {
            if inString {
                if escaped {
                    escaped = false
                } else if byte == UInt8(ascii: "\\") {
                    escaped = true
                } else if byte == UInt8(ascii: "\"") {
                    inString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): inString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return deepest
    }

    private static func convert(_ node: UnsafeMutablePointer<json_t>) -> JSONValue {
        switch node.pointee.type {
        case JSON_OBJECT:
            var members: [Member] = []
            var cursor = json_object_iter(node)
            while let here = cursor {
                let name = String(cString: json_object_iter_key(here))
                members.append(Member(name, convert(json_object_iter_value(here))))
                cursor = json_object_iter_next(node, here)
            }
            return .object(members)
        case JSON_ARRAY:
            return .array((0..<json_array_size(node)).map { convert(json_array_get(node, $0)) })
        case JSON_STRING:
            let bytes = UnsafeRawBufferPointer(start: json_string_value(node), count: json_string_length(node))
            return .string(String(decoding: bytes, as: UTF8.self))
        case JSON_INTEGER: return .integer(json_integer_value(node))
        case JSON_REAL: return .real(json_real_value(node))
        case JSON_TRUE: return .bool(true)
        case JSON_FALSE: return .bool(false)
        default: return .null
        }
    }

    private static func build(_ value: JSONValue) -> UnsafeMutablePointer<json_t>? {
        switch value {
        case .null: return json_null()
        case .bool(let flag): return flag ? json_true() : json_false()
        case .integer(let number): return json_integer(number)
        case .real(let number): return number.isFinite ? json_real(number) : json_null()
        case .string(var text):
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { json_stringn($0.baseAddress ?? emptyText, $0.count) }
            }
        case .array(let values):
            let array = json_array()
            for value in values { json_array_append_new(array, build(value)) }
            return array
        case .object(let members):
            let object = json_object()
            for member in members { json_object_set_new(object, member.name, build(member.value)) }
            return object
        }
    }
}

// jansson wants a pointer even for no bytes.
private nonisolated(unsafe) let emptyText: UnsafePointer<CChar> = {
    let text = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    text.pointee = 0
    return UnsafePointer(text)
}()

/// What `parse` reads: bytes or text, without a copy.
package protocol ContiguousBytesLike {
    func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R
}

extension [UInt8]: ContiguousBytesLike {
    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { withUnsafeBytes(body) }
}

extension String: ContiguousBytesLike {
    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        var copy = self
        return copy.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}
