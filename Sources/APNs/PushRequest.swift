internal import Glibc

/// A push as a sender wrote it, nothing checked yet. An object that its door uses again and again, so that a push costs
/// no allocation.
package final class PushRequest {
    package enum Transport: Sendable, Hashable {
        /// The legacy protocol; `command` is 0, 1 or 2.
        case binary(command: UInt8)
        /// The HTTP/2 provider API.
        case http2
        /// D-Bus (`ringctl push`).
        case bus

        package var word: String {
            switch self {
            case .binary(let command): "binary, command \(command)"
            case .http2: "HTTP/2"
            case .bus: "D-Bus"
            }
        }
    }

    /// The header fields that mean something.
    package enum Header: Int, Sendable, CaseIterable {
        case method
        case path
        case authorization
        case topic
        case pushType
        case id
        case expiration
        case priority
        case collapseID

        package var name: String {
            switch self {
            case .method: ":method"
            case .path: ":path"
            case .authorization: "authorization"
            case .topic: "apns-topic"
            case .pushType: "apns-push-type"
            case .id: "apns-id"
            case .expiration: "apns-expiration"
            case .priority: "apns-priority"
            case .collapseID: "apns-collapse-id"
            }
        }
    }

    package var transport = Transport.http2
    /// All that came of the body, also what was not kept.
    package private(set) var bodySize = 0
    /// The first header that came twice.
    package private(set) var duplicate: Header?
    /// `.binary`: the token, as sent; the other doors have it in the path.
    package var binaryToken: [UInt8] = []
    /// `.binary`: the sender's own number.
    package var identifier: UInt32?

    private var text = Growing()
    private var content = Growing()
    private var ranges = [Range<Int>](repeating: 0..<0, count: Header.allCases.count)
    private var present: UInt16 = 0

    /// What is kept of a body: the most that any push may have.
    package static let bodyLimit = 5120

    package init() {}

    deinit {
        text.free()
        content.free()
    }

    package func reset() {
        text.count = 0
        content.count = 0
        bodySize = 0
        duplicate = nil
        present = 0
        identifier = nil
        if !binaryToken.isEmpty { binaryToken = [] }
    }

    /// Takes a header; a second one of the same name only leaves its mark. The caller bounds their size.
    package func set(_ header: Header, _ value: Bytes) {
        let bit = UInt16(1) << UInt16(header.rawValue)
        guard present & bit == 0 else {
            if duplicate == nil { duplicate = header }
            return
        }
        present |= bit
        let start = text.count
        text.append(value)
        ranges[header.rawValue] = start..<text.count
    }

    package func set(_ header: Header, _ value: String) {
        var value = value
        value.withUTF8 { set(header, $0) }
    }

    package func append(_ bytes: Bytes) {
        bodySize += bytes.count
        let room = Self.bodyLimit - content.count
        guard room > 0 else { return }
        content.append(Bytes(rebasing: bytes.prefix(room)))
    }

    package func append(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { append($0) } }

    package func has(_ header: Header) -> Bool { present & 1 << UInt16(header.rawValue) != 0 }

    /// The header's value, empty if it did not come: borrowed until the next `set` or `reset`.
    package subscript(_ header: Header) -> Bytes {
        has(header) ? Bytes(rebasing: text.bytes[ranges[header.rawValue]]) : Bytes(start: nil, count: 0)
    }

    /// The body as far as it is kept: borrowed until the next `append` or `reset`.
    package var body: Bytes { content.bytes }

    /// The value as text for people, nil if it did not come.
    package func string(_ header: Header) -> String? { has(header) ? self[header].text : nil }

    /// What it holds in memory, about.
    package var weight: Int { text.capacity + content.capacity }
}

/// A buffer that grows and never shrinks; its owner frees it.
private struct Growing {
    private var start: UnsafeMutablePointer<UInt8>?
    private(set) var capacity = 0
    var count = 0

    var bytes: Bytes { Bytes(start: start, count: count) }

    mutating func append(_ more: Bytes) {
        guard let source = more.baseAddress, more.count > 0 else { return }
        if count + more.count > capacity {
            capacity = max(256, max(2 * capacity, count + more.count))
            start = realloc(start, capacity)!.assumingMemoryBound(to: UInt8.self)
        }
        (start! + count).update(from: source, count: more.count)
        count += more.count
    }

    func free() { Glibc.free(start) }
}
