internal import CNGHTTP2

/// Text as it stands in a frame, borrowed for the call that gets it.
package typealias HTTP2Bytes = UnsafeBufferPointer<UInt8>

/// One request of a server's session. Whoever serves makes a subclass with what it needs of a request.
open class HTTP2Stream {
    /// RFC 9113, 5.1.1; 0 before it began and after it is gone.
    package fileprivate(set) var id: Int32 = 0
    /// What an answer's DATA frame carries.
    fileprivate var body: [UInt8] = []
    /// It was answered or reset; nothing more of it matters.
    package fileprivate(set) var isDone = false
    /// Where it stands among its session's streams.
    fileprivate var place = 0

    package init() {}
}

/// What a server's session tells the one who serves; from inside `receive(_:)`, one at a time.
package protocol HTTP2ServerDelegate: AnyObject {
    /// A request begins. Nil refuses it with REFUSED_STREAM, to be tried again.
    func streamBegan() -> HTTP2Stream?
    func stream(_ stream: HTTP2Stream, header name: HTTP2Bytes, value: HTTP2Bytes)
    /// A header that HTTP/2 forbids, by its value or its name: the stream is being reset for it.
    func refusedHeader(_ name: HTTP2Bytes)
    func stream(_ stream: HTTP2Stream, body: HTTP2Bytes)
    /// The request is whole.
    func streamEnded(_ stream: HTTP2Stream)
    /// The stream is gone, answered or not; the object may be used again.
    func streamClosed(_ stream: HTTP2Stream)
    /// The other side knows our last SETTINGS.
    func settingsAcknowledged()
}

/// The server's side of one HTTP/2 connection as bytes in and bytes out: owner of one nghttp2 session.
///
/// It says what Apple's service says (apns.md 1.2) and enforces the stream limit by `streamBegan()` alone: nghttp2 would
/// refuse a burst that was sent before the limit can have been read.
package final class HTTP2Server {
    /// MAX_CONCURRENT_STREAMS as last announced.
    package private(set) var announcedStreams: UInt32
    /// Sum of names, values and 32 for each (RFC 9113, 6.5.2) that a request may have; announced, and enforced.
    package static let headerListLimit = 8000
    /// Resets that a sender may make, at once and a second: a reset storm (CVE-2023-44487) makes us work for nothing.
    private static let resetBurst = 1000.0
    private static let resetsPerSecond = 100.0

    private var session: OpaquePointer?
    private let scratch: FrameScratch
    private unowned let delegate: any HTTP2ServerDelegate
    /// Behind a pointer rather than in properties: nghttp2 calls back a dozen times for a request, and each access to a
    /// property of an object is checked for exclusivity at run time.
    private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

    private struct State {
        /// The stream of the last callback: the next is nearly always about the same.
        var current: Unmanaged<HTTP2Stream>?
        var currentID: Int32 = 0
        /// Of the header block that is being read.
        var headerBytes = 0
        var resets = HTTP2Server.resetBurst
        var unanswered = 0
        /// Held for nghttp2, which does not say goodbye to those that are there when its session ends.
        var streams: [Unmanaged<HTTP2Stream>] = []
    }

    /// Requests that are not over: an answer that was not taken yet is one more that we have to keep.
    package var openStreams: Int { state.pointee.streams.count }
    /// Those that were neither answered nor reset.
    package var unanswered: Int { state.pointee.unanswered }

    /// `scratch` is shared by the sessions of one loop.
    package init(
        delegate: any HTTP2ServerDelegate, streams: UInt32, scratch: FrameScratch
    ) throws(HTTP2Failure) {
        self.scratch = scratch
        self.delegate = delegate
        announcedStreams = streams
        state.initialize(to: State())
        let me = Unmanaged.passUnretained(self).toOpaque()
        let result = nghttp2_session_server_new3(
            &session, ServerCallbacks.shared.callbacks, me, ServerCallbacks.shared.options, scratch.functions)
        guard result == 0 else { throw HTTP2Failure(Int(result)) }
        submitSettings()
    }

    deinit {
        nghttp2_session_del(session)
        for stream in state.pointee.streams {
            stream.takeUnretainedValue().id = 0
            stream.release()
        }
        state.deinitialize(count: 1)
        state.deallocate()
    }

    // MARK: In

    /// Takes what came, all of it. A failure is final; a GOAWAY that explains it is in the output.
    package func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Failure) {
        let result = nghttp2_session_mem_recv(
            session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        guard result >= 0 else { throw HTTP2Failure(result) }
    }

    // MARK: Out

    /// Moves waiting frames to the end of `out` until it holds `limit` bytes or none is left; true if none is.
    package func drain(into out: inout [UInt8], limit: Int) throws(HTTP2Failure) -> Bool {
        while out.count < limit {
            var frame: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &frame)
            guard count >= 0 else { throw HTTP2Failure(count) }
            guard count > 0, let frame else { return true }
            // Ours alone begin a frame with type 4, flags 0: the acknowledgement of theirs has flag 1.
            if count >= 9, frame[3] == 4, frame[4] & 1 == 0 {
                out += settingsFrame
            } else {
                out.append(contentsOf: HTTP2Bytes(start: frame, count: count))
            }
        }
        return nghttp2_session_want_write(session) == 0
    }

    /// True while the session has something to say or to hear.
    package var isAlive: Bool { nghttp2_session_want_read(session) != 0 || nghttp2_session_want_write(session) != 0 }

    package var wantsToSend: Bool { nghttp2_session_want_write(session) != 0 }

    /// What Apple's service has been seen to announce (apns.md 1.2). nghttp2 is told another story: no limit on streams,
    /// and no priorities.
    private var settingsFrame: [UInt8] {
        let settings: [(UInt16, UInt32)] = [
            (1, 4096), (3, announcedStreams), (4, 65_535), (5, 16_384), (6, UInt32(Self.headerListLimit)),
        ]
        var frame: [UInt8] = [0, 0, UInt8(settings.count * 6), 4, 0, 0, 0, 0, 0]
        for (id, value) in settings {
            frame.append(UInt8(id >> 8))
            frame.append(UInt8(id & 0xff))
            for shift in stride(from: 24, through: 0, by: -8) {
                frame.append(UInt8(truncatingIfNeeded: value >> UInt32(shift)))
            }
        }
        return frame
    }

    private func submitSettings() {
        let settings = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: 100_000),
            nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES.rawValue), value: 1),
        ]
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
    }

    /// Announces another stream limit.
    package func announce(streams: UInt32) {
        guard streams != announcedStreams else { return }
        announcedStreams = streams
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil, 0)
    }

    // MARK: Answers

    /// One header of an answer. The name lives as long as the program; the value is copied.
    package struct Header {
        let name: StaticString
        let value: [UInt8]

        package init(_ name: StaticString, _ value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    /// One HEADERS frame, and for a body exactly one DATA frame: clients depend on both (apns.md 1.2).
    package func respond(to stream: HTTP2Stream, _ headers: [Header], body: [UInt8] = []) {
        guard !stream.isDone, stream.id != 0 else { return }
        finish(stream)
        withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: headers.count) { fields in
            var index = 0
            for header in headers {
                header.value.withUnsafeBufferPointer { value in
                    fields[index] = nghttp2_nv(
                        name: UnsafeMutablePointer(mutating: header.name.utf8Start),
                        value: UnsafeMutablePointer(mutating: value.baseAddress),
                        namelen: header.name.utf8CodeUnitCount,
                        valuelen: value.count, flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue))
                }
                index += 1
            }
            // The arrays live until here, and nghttp2 has copied the values when it returns.
            withExtendedLifetime(headers) {
                if body.isEmpty {
                    nghttp2_submit_response(session, stream.id, fields.baseAddress, headers.count, nil)
                } else {
                    stream.body = body
                    var provider = nghttp2_data_provider(
                        source: nghttp2_data_source(ptr: Unmanaged.passUnretained(stream).toOpaque()),
                        read_callback: { _, _, buffer, room, flags, source, _ in
                            let stream = Unmanaged<HTTP2Stream>.fromOpaque(source!.pointee.ptr).takeUnretainedValue()
                            let count = min(room, stream.body.count)
                            stream.body.withUnsafeBufferPointer { buffer!.update(from: $0.baseAddress!, count: count) }
                            stream.body.removeFirst(count)
                            if stream.body.isEmpty { flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
                            return count
                        })
                    nghttp2_submit_response(session, stream.id, fields.baseAddress, headers.count, &provider)
                }
            }
        }
    }

    package func reset(_ stream: HTTP2Stream, _ code: HTTP2Code) {
        guard !stream.isDone, stream.id != 0 else { return }
        finish(stream)
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.rawValue)
    }

    /// Ends a stream whose answer was sent before its request had come to an end (RFC 9113, 8.1).
    package func giveUp(_ stream: HTTP2Stream) {
        guard stream.id != 0 else { return }
        nghttp2_submit_rst_stream(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, HTTP2Code.noError.rawValue)
    }

    private func finish(_ stream: HTTP2Stream) {
        stream.isDone = true
        state.pointee.unanswered -= 1
    }

    /// Says GOAWAY with `debug` data. `accepting`: streams up to the last one that came are still answered; else none.
    package func goAway(_ code: HTTP2Code, debug: [UInt8], accepting: Bool = true) {
        let last = accepting ? nghttp2_session_get_last_proc_stream_id(session) : 0
        nghttp2_submit_goaway(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, code.rawValue, debug, debug.count)
    }

    // MARK: Callbacks

    fileprivate func began(_ id: Int32) -> Int32 {
        guard let stream = delegate.streamBegan() else { return refuse(id, .refusedStream) }
        stream.id = id
        stream.isDone = false
        stream.body = []
        let held = Unmanaged.passRetained(stream)
        state.pointee.unanswered += 1
        stream.place = state.pointee.streams.count
        state.pointee.streams.append(held)
        state.pointee.headerBytes = 0
        state.pointee.current = held
        state.pointee.currentID = id
        nghttp2_session_set_stream_user_data(session, id, held.toOpaque())
        return 0
    }

    /// Ends a stream from inside its headers; the connection goes on.
    private func refuse(_ id: Int32, _ code: HTTP2Code) -> Int32 {
        nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, code.rawValue)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }

    private func find(_ id: Int32) -> HTTP2Stream? {
        if state.pointee.currentID == id { return state.pointee.current?.takeUnretainedValue() }
        guard let context = nghttp2_session_get_stream_user_data(session, id) else { return nil }
        let found = Unmanaged<HTTP2Stream>.fromOpaque(context)
        state.pointee.current = found
        state.pointee.currentID = id
        return found.takeUnretainedValue()
    }

    fileprivate func header(_ id: Int32, _ name: HTTP2Bytes, _ value: HTTP2Bytes) -> Int32 {
        guard let stream = find(id) else { return 0 }
        state.pointee.headerBytes += name.count + value.count + 32
        guard state.pointee.headerBytes <= Self.headerListLimit else { return refuse(id, .enhanceYourCalm) }
        delegate.stream(stream, header: name, value: value)
        return 0
    }

    fileprivate func badHeader(_ name: HTTP2Bytes) { delegate.refusedHeader(name) }

    fileprivate func data(_ id: Int32, _ bytes: HTTP2Bytes) {
        guard let stream = find(id), !stream.isDone else { return }
        delegate.stream(stream, body: bytes)
    }

    fileprivate func ended(_ id: Int32) {
        guard let stream = find(id), !stream.isDone else { return }
        delegate.streamEnded(stream)
    }

    fileprivate func closed(_ id: Int32) {
        guard let stream = find(id) else { return }
        state.pointee.current = nil
        state.pointee.currentID = 0
        nghttp2_session_set_stream_user_data(session, id, nil)
        if !stream.isDone { finish(stream) }
        let last = state.pointee.streams.removeLast()
        if stream.place < state.pointee.streams.count {
            state.pointee.streams[stream.place] = last
            last.takeUnretainedValue().place = stream.place
        }
        stream.id = 0
        delegate.streamClosed(stream)
        Unmanaged.passUnretained(stream).release()
    }

    /// False: too many.
    fileprivate func wasReset() -> Bool {
        state.pointee.resets -= 1
        return state.pointee.resets > 0
    }

    /// To be called now and then with the time since the last call: a sender earns its resets back.
    package func earn(seconds: Double) {
        state.pointee.resets = min(Self.resetBurst, state.pointee.resets + seconds * Self.resetsPerSecond)
    }

    fileprivate func acknowledged() { delegate.settingsAcknowledged() }
}

/// The table of callbacks and the options: the same for every session.
private struct ServerCallbacks: @unchecked Sendable {
    // Written once, read by nghttp2 alone.
    static let shared = ServerCallbacks()
    let callbacks: OpaquePointer?
    let options: OpaquePointer?

    private init() {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, context in
            guard frame!.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue),
                frame!.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
            else { return 0 }
            return ServerCallbacks.server(context).began(frame!.pointee.hd.stream_id)
        }
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { session, header, _ in
            // nghttp2 looks at no PRIORITY frame once priorities are off; RFC 9113, 6.3 has this one rule left.
            if header!.pointee.type == UInt8(NGHTTP2_PRIORITY.rawValue), header!.pointee.stream_id == 0 {
                return nghttp2_session_terminate_session(session, HTTP2Code.protocolError.rawValue)
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameSize, value, valueSize, _, context in
            // Trailers mean nothing to a push.
            guard frame!.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
            return ServerCallbacks.server(context).header(
                frame!.pointee.hd.stream_id, HTTP2Bytes(start: name, count: nameSize),
                HTTP2Bytes(start: value, count: valueSize))
        }
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) {
            _, _, name, nameSize, _, _, _, context in
            ServerCallbacks.server(context).badHeader(HTTP2Bytes(start: name, count: nameSize))
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, context in
            ServerCallbacks.server(context).data(id, HTTP2Bytes(start: bytes, count: count))
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
            let header = frame!.pointee.hd
            switch UInt32(header.type) {
            case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
                if header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
                    ServerCallbacks.server(context).ended(header.stream_id)
                }
            case NGHTTP2_SETTINGS.rawValue:
                if header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 {
                    ServerCallbacks.server(context).acknowledged()
                }
            case NGHTTP2_RST_STREAM.rawValue:
                if !ServerCallbacks.server(context).wasReset() { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
            default: break
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, _, context in
            ServerCallbacks.server(context).closed(id)
            return 0
        }
        self.callbacks = callbacks
        var options: OpaquePointer?
        nghttp2_option_new(&options)
        // Nothing is gained from indexing answers that are never twice the same.
        nghttp2_option_set_max_deflate_dynamic_table_size(options, 0)
        nghttp2_option_set_no_closed_streams(options, 1)
        nghttp2_option_set_max_send_header_block_length(options, 4096)
        self.options = options
    }

    static func server(_ context: UnsafeMutableRawPointer?) -> HTTP2Server {
        Unmanaged<HTTP2Server>.fromOpaque(context!).takeUnretainedValue()
    }
}
