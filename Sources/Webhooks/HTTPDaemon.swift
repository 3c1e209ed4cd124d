internal import Base
internal import CMicroHTTP
internal import Glibc

/// Why there is no HTTP: what, and the cure.
struct HTTPFailure: Error {
    let cause: String
    let words: String
}

/// What libmicrohttpd says, on the loop's thread, from inside of `run`, `add` and no other time.
protocol HTTPHandler: AnyObject {
    /// A request line has come; the target is as it came.
    func began(_ connection: Int32, target: [UInt8])
    /// Headers, a piece of the body, or its end: see `HTTPExchange`. False cuts the connection.
    func handle(_ exchange: HTTPExchange) -> Bool
    /// A request is over, well or not.
    func completed(_ connection: Int32)
    func disconnected(_ connection: Int32)
}

/// A request in hand, for the time of one `handle`. That is called once for its headers, once for each piece of its body,
/// and once for its end; the pieces alone have `data`.
struct HTTPExchange {
    /// Its socket, which names it.
    let connection: Int32
    let method: String
    let version: String
    let data: UnsafeRawBufferPointer
    fileprivate let table: UnsafePointer<cmicrohttp_table>
    fileprivate let pointer: OpaquePointer

    /// The first header of that name.
    func header(_ name: StaticString) -> [UInt8]? {
        var size = 0
        let value = name.withUTF8Buffer { text in
            text.withMemoryRebound(to: CChar.self) {
                cmicrohttp_header(table, pointer, $0.baseAddress, $0.count, &size)
            }
        }
        return value.map { Array(UnsafeRawBufferPointer(start: $0, count: size)) }
    }

    /// At headers, where the body is not waited for, or at the end.
    func answer(_ answer: WebhookServer.Answer, header: (name: String, value: String)? = nil, closes: Bool) -> Bool {
        Array(answer.body.utf8).withUnsafeBytes { bytes in
            cmicrohttp_answer(
                table, pointer, UInt32(clamping: answer.status), bytes.baseAddress, bytes.count, header?.name,
                header?.value, closes ? 1 : 0) != 0
        }
    }
}

/// HTTP/1.1 by GNU libmicrohttpd, which is loaded when the first of these is made. It has no thread and no socket of its
/// own: `descriptor` is ready, or `timeout` over, when `run` has something to do.
final class HTTPDaemon {
    /// Its name since 0.9.42, and with 1.0.
    static let library = "libmicrohttpd.so.12"

    private let table: UnsafeMutablePointer<cmicrohttp_table>
    private let daemon: OpaquePointer
    private let bridge: Bridge
    /// PEM, which is the library's while it lives.
    private let texts: [UnsafeMutablePointer<CChar>]

    /// Who the callbacks go to: an object of its own, since the last of them come while this one is going.
    private final class Bridge {
        weak var handler: (any HTTPHandler)?
        let table: UnsafePointer<cmicrohttp_table>

        init(_ handler: any HTTPHandler, _ table: UnsafePointer<cmicrohttp_table>) {
            self.handler = handler
            self.table = table
        }
    }

    /// A request line and its headers, or a piece of a body: bytes for each connection.
    private static let memory = 32 << 10

    /// `connections`: at most so many. With `certificate` and `key`, PEM, it speaks TLS.
    init(
        library: String = HTTPDaemon.library, connections: Int, certificate: String?, key: String?,
        handler: any HTTPHandler
    ) throws(HTTPFailure) {
        let table = UnsafeMutablePointer<cmicrohttp_table>.allocate(capacity: 1)
        table.initialize(to: cmicrohttp_table())
        if let complaint = cmicrohttp_load(table, library) {
            let words = String(cString: complaint)
            table.deallocate()
            throw HTTPFailure(
                cause: "no-library",
                words: "webhooks need GNU libmicrohttpd: \(words); install the package libmicrohttpd12")
        }
        let bridge = Bridge(handler, table)
        let texts = [certificate, key].compactMap { $0.flatMap { strdup($0) } }
        var settings = Self.callbacks
        settings.connections = UInt32(clamping: connections)
        settings.memory = Self.memory
        settings.context = Unmanaged.passUnretained(bridge).toOpaque()
        if texts.count == 2 {
            settings.certificate = UnsafePointer(texts[0])
            settings.key = UnsafePointer(texts[1])
        }
        guard let daemon = cmicrohttp_start(table, &settings), cmicrohttp_epoll(table, daemon) >= 0 else {
            for text in texts { free(text) }
            table.deallocate()
            throw HTTPFailure(
                cause: "not-started",
                words: texts.isEmpty
                    ? "libmicrohttpd does not start: \(String(cString: strerror(errno)))"
                    : "libmicrohttpd does not start: it may lack TLS, or the certificate and key are no pair")
        }
        self.table = table
        self.daemon = daemon
        self.bridge = bridge
        self.texts = texts
    }

    /// Ends every connection at once; nobody hears of that.
    deinit {
        bridge.handler = nil
        cmicrohttp_stop(table, daemon)
        for text in texts { free(text) }
        table.deallocate()
    }

    /// Its epoll set, for reading; closed with this object.
    var descriptor: Int32 { cmicrohttp_epoll(table, daemon) }

    /// Does what there is to do.
    func run() { _ = cmicrohttp_run(table, daemon) }

    /// When to `run` whatever `descriptor` says; nil: not by itself.
    var timeout: Duration? {
        let milliseconds = cmicrohttp_timeout(table, daemon)
        return milliseconds < 0 ? nil : .milliseconds(milliseconds)
    }

    /// Takes over a connected socket that does not block, and closes it also where this fails. `run` comes next.
    func add(_ connection: Int32, address: [UInt8]) -> Bool {
        address.withUnsafeBytes {
            cmicrohttp_add(
                table, daemon, connection, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                socklen_t($0.count)) != 0
        }
    }

    // MARK: From C

    private static var callbacks: cmicrohttp_settings {
        var out = cmicrohttp_settings()
        out.target = { context, target, connection in
            guard let (bridge, fd) = HTTPDaemon.find(context, connection), let target else { return nil }
            bridge.handler?.began(fd, target: Array(UnsafeRawBufferPointer(start: target, count: strlen(target))))
            return nil
        }
        out.request = { context, connection, _, method, version, data, size, _ in
            guard let (bridge, fd) = HTTPDaemon.find(context, connection), let handler = bridge.handler,
                let connection, let method, let version, let size
            else { return cmicrohttp_result(0) }
            let exchange = HTTPExchange(
                connection: fd, method: String(cString: method), version: String(cString: version),
                data: UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size.pointee), table: bridge.table,
                pointer: connection)
            // All of it is taken, or dropped.
            size.pointee = 0
            return cmicrohttp_result(handler.handle(exchange) ? 1 : 0)
        }
        out.completed = { context, connection, _, _ in
            guard let (bridge, fd) = HTTPDaemon.find(context, connection) else { return }
            bridge.handler?.completed(fd)
        }
        out.connected = { context, connection, _, what in
            guard cmicrohttp_is_closed(what) != 0, let (bridge, fd) = HTTPDaemon.find(context, connection) else {
                return
            }
            bridge.handler?.disconnected(fd)
        }
        return out
    }

    private static func find(_ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?) -> (Bridge, Int32)? {
        guard let context, let connection else { return nil }
        let bridge = Unmanaged<Bridge>.fromOpaque(context).takeUnretainedValue()
        return (bridge, cmicrohttp_descriptor(bridge.table, connection))
    }
}
