/// A JSON value (RFC 8259). Objects keep their order; of a repeated key the last one counts, as jansson has it.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    package struct Member: Sendable, Equatable {
        package let name: String
        package let value: JSONValue
        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The member of an object; nil for anything else.
    package subscript(_ name: String) -> JSONValue? {
        if case .object(let members) = self { members.last { $0.name == name }?.value } else { nil }
    }

    package var members: [Member]? { if case .object(let members) = self { members } else { nil } }

    package var string: String? { if case .string(let text) = self { text } else { nil } }

    package static func object(_ members: (String, JSONValue)...) -> JSONValue {
        .object(members.map { Member($0.0, $0.1) })
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}

/// Why a text is not JSON: jansson's words, with the place.
package struct JSONFailure: Error, CustomStringConvertible {
    package let description: String
}
