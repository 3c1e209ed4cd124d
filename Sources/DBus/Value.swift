/// A D-Bus value with its type (D-Bus specification, "Type System"). Dictionaries from string to variant, the common
/// case, have a case of their own and keep their order.
package indirect enum DBusValue: Sendable, Equatable {
    case byte(UInt8)
    case bool(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(String)
    case signature(String)
    /// `ay`.
    case bytes([UInt8])
    /// An array whose elements have the given signature.
    case array(of: String, [DBusValue])
    /// `a{sv}`.
    case dict([Entry])
    /// An entry of any other dictionary; only inside `array`.
    case entry(DBusValue, DBusValue)
    case structure([DBusValue])
    case variant(DBusValue)

    package struct Entry: Sendable, Equatable {
        package let key: String
        package let value: DBusValue
        package init(_ key: String, _ value: DBusValue) {
            self.key = key
            self.value = value
        }
    }

    /// The type code, e.g. `a{sv}`.
    package var signature: String {
        switch self {
        case .byte: "y"
        case .bool: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .bytes: "ay"
        case .array(let element, _): "a" + element
        case .dict: "a{sv}"
        case .entry(let key, let value): "{" + key.signature + value.signature + "}"
        case .structure(let fields): "(" + fields.map(\.signature).joined() + ")"
        case .variant: "v"
        }
    }

    // MARK: Reading, without care for variants around the value

    package var text: String? {
        switch self {
        case .string(let text), .objectPath(let text), .signature(let text): text
        case .variant(let inner): inner.text
        default: nil
        }
    }

    package var integer: Int64? {
        switch self {
        case .byte(let n): Int64(n)
        case .int16(let n): Int64(n)
        case .uint16(let n): Int64(n)
        case .int32(let n): Int64(n)
        case .uint32(let n): Int64(n)
        case .int64(let n): n
        case .uint64(let n): Int64(exactly: n)
        case .variant(let inner): inner.integer
        default: nil
        }
    }

    package var real: Double? {
        switch self {
        case .double(let n): n
        case .variant(let inner): inner.real
        default: integer.map(Double.init)
        }
    }

    package var flag: Bool? {
        switch self {
        case .bool(let flag): flag
        case .variant(let inner): inner.flag
        default: nil
        }
    }

    package var blob: [UInt8]? {
        switch self {
        case .bytes(let bytes): bytes
        case .variant(let inner): inner.blob
        default: nil
        }
    }

    package var elements: [DBusValue]? {
        switch self {
        case .array(_, let values), .structure(let values): values
        case .variant(let inner): inner.elements
        default: nil
        }
    }

    package var entries: [Entry]? {
        switch self {
        case .dict(let entries): entries
        case .variant(let inner): inner.entries
        default: nil
        }
    }

    /// The value under `key` of an `a{sv}`.
    package subscript(_ key: String) -> DBusValue? { entries?.last { $0.key == key }?.value }

    package static func strings(_ texts: [String]) -> DBusValue { .array(of: "s", texts.map(DBusValue.string)) }

    package static func dict(_ entries: (String, DBusValue)...) -> DBusValue {
        .dict(entries.map { Entry($0.0, $0.1) })
    }
}
