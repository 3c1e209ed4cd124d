internal import CNGHTTP2

/// The client's side of one HTTP/2 connection as bytes in and bytes out: owner of one nghttp2 session.
package final class HTTP2Client {
    /// What came back to one request.
    package struct Response: Sendable, Equatable {
        package var status = 0
        package var headers: [(name: String, value: String)] = []
        package var body: [UInt8] = []
        /// Nil: the stream ended well; else why it was reset (RFC 9113, 7).
        package var resetCode: UInt32?

        package init() {}

        package subscript(name: String) -> String? { headers.first { $0.name == name }?.value }

        package static func == (a: Response, b: Response) -> Bool {
            a.status == b.status && a.body == b.body && a.resetCode == b.resetCode
                && a.headers.elementsEqual(b.headers) { $0 == $1 }
        }
    }

    /// A request is over.
    package var onResponse: (Int32, Response) -> Void = { _, _ in }
    /// The server will take no more: last stream it looks at, code, debug data.
    package var onGoAway: (Int32, UInt32, [UInt8]) -> Void = { _, _, _ in }
    /// The server's SETTINGS came, the first or other ones.
    package var onSettings: () -> Void = {}

    private final class Pending {
        var response = Response()
        var body: [UInt8]
        var sent = 0
        init(body: [UInt8]) { self.body = body }
    }

    private var session: OpaquePointer?
    private var pending: [Int32: Pending] = [:]
    /// What is kept of an answer's body and of its headers: APNs' answers have a few dozen bytes.
    private static let bodyLimit = 65_536
    private static let headerLimit = 100

    package init() throws(HTTP2Failure) {
        let me = Unmanaged.passUnretained(self).toOpaque()
        let result = nghttp2_session_client_new(&session, ClientCallbacks.shared.callbacks, me)
        guard result == 0 else { throw HTTP2Failure(Int(result)) }
        let settings = [nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0)]
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
    }

    deinit { nghttp2_session_del(session) }

    /// How many requests the server allows at a time; a large number before it said so.
    package var streamLimit: Int {
        Int(nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    package var openStreams: Int { pending.count }

    /// Sends a request; its number. `headers` with the pseudo-header fields first, names in lower case.
    package func request(_ headers: [(name: String, value: String)], body: [UInt8]) throws(HTTP2Failure) -> Int32 {
        let one = Pending(body: body)
        let texts = headers.map { (Array($0.name.utf8), Array($0.value.utf8)) }
        var fields: [nghttp2_nv] = []
        for (name, value) in texts {
            fields.append(
                name.withUnsafeBufferPointer { name in
                    value.withUnsafeBufferPointer { value in
                        nghttp2_nv(
                            name: UnsafeMutablePointer(mutating: name.baseAddress),
                            value: UnsafeMutablePointer(mutating: value.baseAddress), namelen: name.count,
                            valuelen: value.count, flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
                    }
                })
        }
        var provider = nghttp2_data_provider(
            source: nghttp2_data_source(ptr: Unmanaged.passUnretained(one).toOpaque()),
            read_callback: { _, _, buffer, room, flags, source, _ in
                let one = Unmanaged<Pending>.fromOpaque(source!.pointee.ptr).takeUnretainedValue()
                let count = min(room, one.body.count - one.sent)
                one.body.withUnsafeBufferPointer { body in
                    if count > 0 { buffer!.update(from: body.baseAddress! + one.sent, count: count) }
                }
                one.sent += count
                if one.sent == one.body.count { flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
                return count
            })
        // nghttp2 copies names and values before it returns.
        let id = withExtendedLifetime(texts) {
            body.isEmpty
                ? nghttp2_submit_request(session, nil, fields, fields.count, nil, nil)
                : nghttp2_submit_request(session, nil, fields, fields.count, &provider, nil)
        }
        guard id > 0 else { throw HTTP2Failure(Int(id)) }
        pending[id] = one
        return id
    }

    /// Takes what came, all of it. A failure is final.
    package func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Failure) {
        let result = nghttp2_session_mem_recv(
            session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        guard result >= 0 else { throw HTTP2Failure(result) }
    }

    /// Moves all waiting frames to the end of `out`.
    package func drain(into out: inout [UInt8]) throws(HTTP2Failure) {
        while true {
            var frame: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &frame)
            guard count >= 0 else { throw HTTP2Failure(count) }
            guard count > 0, let frame else { return }
            out.append(contentsOf: HTTP2Bytes(start: frame, count: count))
        }
    }

    /// True while the session has something to say or to hear.
    package var isAlive: Bool { nghttp2_session_want_read(session) != 0 || nghttp2_session_want_write(session) != 0 }

    /// Says that no more requests come.
    package func end() { nghttp2_session_terminate_session(session, HTTP2Code.noError.rawValue) }

    // MARK: Callbacks

    fileprivate func header(_ id: Int32, _ name: HTTP2Bytes, _ value: HTTP2Bytes) {
        guard let one = pending[id], one.response.headers.count < Self.headerLimit else { return }
        let name = String(decoding: name, as: UTF8.self)
        let value = String(decoding: value, as: UTF8.self)
        if name == ":status" {
            one.response.status = Int(value) ?? 0
        } else {
            one.response.headers.append((name, value))
        }
    }

    fileprivate func data(_ id: Int32, _ bytes: HTTP2Bytes) {
        guard let one = pending[id] else { return }
        one.response.body.append(contentsOf: bytes.prefix(Self.bodyLimit - one.response.body.count))
    }

    fileprivate func closed(_ id: Int32, _ code: UInt32) {
        guard let one = pending.removeValue(forKey: id) else { return }
        if code != 0 || one.response.status == 0 { one.response.resetCode = code }
        onResponse(id, one.response)
    }
}

private struct ClientCallbacks: @unchecked Sendable {
    // Written once, read by nghttp2 alone.
    static let shared = ClientCallbacks()
    let callbacks: OpaquePointer?

    private init() {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameSize, value, valueSize, _, context in
            ClientCallbacks.client(context).header(
                frame!.pointee.hd.stream_id, HTTP2Bytes(start: name, count: nameSize),
                HTTP2Bytes(start: value, count: valueSize))
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, context in
            ClientCallbacks.client(context).data(id, HTTP2Bytes(start: bytes, count: count))
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
            let client = ClientCallbacks.client(context)
            switch UInt32(frame!.pointee.hd.type) {
            case NGHTTP2_GOAWAY.rawValue:
                let goaway = frame!.pointee.goaway
                client.onGoAway(
                    goaway.last_stream_id, goaway.error_code,
                    Array(HTTP2Bytes(start: goaway.opaque_data, count: goaway.opaque_data_len)))
            case NGHTTP2_SETTINGS.rawValue:
                if frame!.pointee.hd.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 { client.onSettings() }
            default: break
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, context in
            ClientCallbacks.client(context).closed(id, code)
            return 0
        }
        self.callbacks = callbacks
    }

    static func client(_ context: UnsafeMutableRawPointer?) -> HTTP2Client {
        Unmanaged<HTTP2Client>.fromOpaque(context!).takeUnretainedValue()
    }
}
