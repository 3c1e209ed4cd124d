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
        /// HTTP/1.1 (Docs/webhooks.md).
        case webhook

        package var word: String {
            switch self {
            case .binary(let command): "binary, command \(command)"
            case .http2: "HTTP/2"
            case .bus: "D-Bus"
            case .webhook: "webhook"
            }
        }

        /// Apple's: with credentials and a topic. The others' senders are let in by their doors, and the token says what
        /// it is for.
        package var isOfAPNs: Bool {
            switch self {
            case .binary, .http2: true
            case .bus, .webhook: false
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

    package var transport: Transport {
        get { state.pointee.transport }
        set { state.pointee.transport = newValue }
    }

    /// `.binary`: the sender's own number.
    package var identifier: UInt32? {
        get { state.pointee.identifier }
        set { state.pointee.identifier = newValue }
    }

    /// `.binary`: the token, as sent; the other doors have it in the path.
    package var binaryToken: [UInt8] = []

    /// Behind a pointer rather than in properties: a push reads and writes these some fifty times, and each access to a
    /// property of an object is checked for exclusivity at run time, a tenth of a push's whole cost.
    private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

    private struct State {
        var transport = Transport.http2
        var text = Growing()
        var content = Growing()
        var bodySize = 0
        var duplicate: Header?
        var identifier: UInt32?
        var present: UInt16 = 0
        var ranges = InlineArray<9, Range<Int>>(repeating: 0..<0)
    }

    /// What is kept of a body: the most that any push may have.
    package static let bodyLimit = 5120

    package init() { state.initialize(to: State()) }

    deinit {
        state.pointee.text.free()
        state.pointee.content.free()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    package func reset() {
        state.pointee.text.count = 0
        state.pointee.content.count = 0
        state.pointee.bodySize = 0
        state.pointee.duplicate = nil
        state.pointee.present = 0
        guard state.pointee.identifier != nil || state.pointee.transport != .http2 else { return }
        state.pointee.identifier = nil
        binaryToken = []
    }

    /// All that came of the body, also what was not kept.
    package var bodySize: Int { state.pointee.bodySize }
    /// The first header that came twice.
    package var duplicate: Header? { state.pointee.duplicate }

    /// Takes a header; a second one of the same name only leaves its mark. The caller bounds their size.
    package func set(_ header: Header, _ value: Bytes) {
        let bit = UInt16(1) << UInt16(header.rawValue)
        guard state.pointee.present & bit == 0 else {
            if state.pointee.duplicate == nil { state.pointee.duplicate = header }
            return
        }
        state.pointee.present |= bit
        let start = state.pointee.text.count
        state.pointee.text.append(value)
        state.pointee.ranges[header.rawValue] = start..<state.pointee.text.count
    }

    package func set(_ header: Header, _ value: String) {
        var value = value
        value.withUTF8 { set(header, $0) }
    }

    package func append(_ bytes: Bytes) {
        state.pointee.bodySize += bytes.count
        let room = Self.bodyLimit - state.pointee.content.count
        guard room > 0 else { return }
        state.pointee.content.append(Bytes(rebasing: bytes.prefix(room)))
    }

    package func append(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { append($0) } }

    package func has(_ header: Header) -> Bool { state.pointee.present & 1 << UInt16(header.rawValue) != 0 }

    /// The header's value, empty if it did not come: borrowed until the next `set` or `reset`.
    package subscript(_ header: Header) -> Bytes {
        guard has(header) else { return Bytes(start: nil, count: 0) }
        return Bytes(rebasing: state.pointee.text.bytes[state.pointee.ranges[header.rawValue]])
    }

    /// The body as far as it is kept: borrowed until the next `append` or `reset`.
    package var body: Bytes { state.pointee.content.bytes }

    /// What it holds in memory, about: bytes.
    package var weight: Int { state.pointee.text.capacity + state.pointee.content.capacity }

    /// The value as text for people, nil if it did not come.
    package func string(_ header: Header) -> String? { has(header) ? self[header].text : nil }
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
