internal import Base
internal import CDBus
package import EventLoop

/// One connection to a message bus, served by an event loop. Confined to that loop's thread; not Sendable.
///
/// Connecting to a local socket is immediate; everything after it is asynchronous, the greeting too unless asked.
package final class DBusConnection {
    /// Our unique name, e.g. `:1.42`; empty until the bus has greeted us.
    package private(set) var uniqueName = ""
    /// Every signal and method call that arrives. A method call that nobody handles is answered with UnknownMethod.
    package var onMessage: ((InboundMessage) -> Bool)?
    /// What a reply may have, in bytes: a program that asks for thousands of rows wants them.
    package var longestReply = Codec.longest
    /// The connection broke; called once, after which every call fails.
    package var onDisconnect: (() -> Void)?

    private let connection: OpaquePointer
    private let loop: EventLoop
    private var descriptors: [Int32: Descriptor] = [:]
    private var timeouts: [OpaquePointer: TimerSource] = [:]
    private var isDispatchPlanned = false
    private var isClosed = false

    /// What libdbus watches on one descriptor: it makes a watch for reading and one for writing.
    private final class Descriptor {
        var watches: [OpaquePointer] = []
        var source: IOSource?
    }

    /// Connects to the bus at `address` (`DBUS_SESSION_BUS_ADDRESS`'s form) and waits for its greeting: for programs
    /// that have nothing else to do.
    package convenience init(_ loop: EventLoop, address: String) throws(DBusFailure) {
        try self.init(opening: address, loop)
        var error = DBusError()
        dbus_error_init(&error)
        guard dbus_bus_register(connection, &error) != 0 else { throw DBusFailure(taking: &error) }
        uniqueName = String(cString: dbus_bus_get_unique_name(connection))
    }

    /// Connects and sends the greeting; `then` gets its outcome, within five seconds. A socket that accepts and never
    /// answers holds up nothing.
    package convenience init(
        _ loop: EventLoop, address: String, then: @escaping (Result<Void, DBusFailure>) -> Void
    ) throws(DBusFailure) {
        try self.init(opening: address, loop)
        callBus("Hello", [], timeout: .seconds(5)) { [unowned self] result in
            switch result {
            case .success(let values):
                uniqueName = values.first?.text ?? ""
                dbus_bus_set_unique_name(connection, uniqueName)
                then(.success(()))
            case .failure(let failure): then(.failure(failure))
            }
        }
    }

    private init(opening address: String, _ loop: EventLoop) throws(DBusFailure) {
        self.loop = loop
        var error = DBusError()
        dbus_error_init(&error)
        guard let opened = dbus_connection_open_private(address, &error) else { throw DBusFailure(taking: &error) }
        connection = opened
        dbus_connection_set_exit_on_disconnect(connection, 0)
        // libdbus leaves the bus over a longer one, and with it every call of every app: what is merely too long is
        // refused by us instead, before it becomes values.
        dbus_connection_set_max_message_size(connection, 16 << 20)
        dbus_connection_set_max_received_size(connection, 4 << 20)
        attach()
    }

    deinit { close() }

    package func close() {
        guard !isClosed else { return }
        isClosed = true
        dbus_connection_flush(connection)
        // Callbacks end here: the context is unretained and this object may be on its way out.
        dbus_connection_set_dispatch_status_function(connection, nil, nil, nil)
        dbus_connection_set_watch_functions(connection, nil, nil, nil, nil, nil)
        dbus_connection_set_timeout_functions(connection, nil, nil, nil, nil, nil)
        dbus_connection_remove_filter(connection, DBusConnection.filter, context)
        for entry in descriptors.values { entry.source?.cancel() }
        descriptors = [:]
        timeouts = [:]
        dbus_connection_close(connection)
        dbus_connection_unref(connection)
    }

    // MARK: Sending

    /// Calls a method; `reply` runs on the loop, once, with the arguments of the reply or the failure.
    package func call(
        _ message: OutboundMessage, timeout: Duration = .seconds(25),
        reply: @escaping (Result<[DBusValue], DBusFailure>) -> Void
    ) {
        guard !isClosed else { return loop.later { reply(.failure(.disconnected)) } }
        let built: OpaquePointer
        do {
            built = try build(message, isSignal: false)
        } catch {
            return loop.later { reply(.failure(error)) }
        }
        defer { dbus_message_unref(built) }
        var pending: OpaquePointer?
        let millis = Int32(clamping: timeout.nanoseconds / 1_000_000)
        guard dbus_connection_send_with_reply(connection, built, &pending, millis) != 0, let pending else {
            return loop.later { reply(.failure(.disconnected)) }
        }
        // C may outlive us here: the waiter is retained and libdbus's destroy function releases it.
        let waiter = Unmanaged.passRetained(Waiter(longestReply, reply))
        dbus_pending_call_set_notify(
            pending,
            { pending, context in
                let waiter = Unmanaged<Waiter>.fromOpaque(context!).takeUnretainedValue()
                waiter.take(dbus_pending_call_steal_reply(pending))
            }, waiter.toOpaque(),
            { context in Unmanaged<Waiter>.fromOpaque(context!).release() })
        dbus_pending_call_unref(pending)
    }

    /// Calls a method and wants no reply.
    package func send(_ message: OutboundMessage) {
        guard !isClosed, let built = try? build(message, isSignal: false) else { return }
        dbus_message_set_no_reply(built, 1)
        dbus_connection_send(connection, built, nil)
        dbus_message_unref(built)
    }

    package func emit(path: String, interface: String, member: String, _ arguments: [DBusValue]) {
        let signal = OutboundMessage(path: path, interface: interface, member: member, arguments)
        guard !isClosed, let built = try? build(signal, isSignal: true) else { return }
        dbus_connection_send(connection, built, nil)
        dbus_message_unref(built)
    }

    package func reply(to call: InboundMessage, _ result: Result<[DBusValue], DBusFailure>) {
        guard !isClosed, call.wantsReply else { return }
        let isError = if case .failure = result { true } else { false }
        guard let message = dbus_message_new(isError ? DBUS_MESSAGE_TYPE_ERROR : DBUS_MESSAGE_TYPE_METHOD_RETURN)
        else { return }
        defer { dbus_message_unref(message) }
        dbus_message_set_destination(message, call.sender)
        dbus_message_set_reply_serial(message, call.serial)
        dbus_message_set_no_reply(message, 1)
        var arguments: [DBusValue] = []
        switch result {
        case .success(let values): arguments = values
        case .failure(let failure):
            dbus_message_set_error_name(message, failure.name)
            arguments = [.string(failure.message)]
        }
        guard (try? fill(message, arguments)) != nil else { return }
        dbus_connection_send(connection, message, nil)
    }

    /// Asks the bus for messages that match `rule`; a rule the bus refuses is a fault of ours and is ignored by it.
    package func addMatch(_ rule: String) {
        guard !isClosed else { return }
        dbus_bus_add_match(connection, rule, nil)
    }

    package func removeMatch(_ rule: String) {
        guard !isClosed else { return }
        dbus_bus_remove_match(connection, rule, nil)
    }

    /// Writes out what is queued; for the last words before leaving.
    package func flush() { if !isClosed { dbus_connection_flush(connection) } }

    private func build(_ message: OutboundMessage, isSignal: Bool) throws(DBusFailure) -> OpaquePointer {
        // libdbus aborts on an invalid name, so each is checked first.
        guard dbus_validate_path(message.path, nil) != 0, dbus_validate_interface(message.interface, nil) != 0,
            dbus_validate_member(message.member, nil) != 0,
            message.destination.map({ dbus_validate_bus_name($0, nil) != 0 }) ?? true
        else {
            throw DBusFailure(
                "org.freedesktop.DBus.Error.InvalidArgs",
                "invalid name in \(message.destination ?? "") \(message.path) \(message.interface).\(message.member)")
        }
        let made =
            isSignal
            ? dbus_message_new_signal(message.path, message.interface, message.member)
            : dbus_message_new_method_call(message.destination, message.path, message.interface, message.member)
        guard let made else { throw DBusFailure("org.freedesktop.DBus.Error.NoMemory", "out of memory") }
        if !message.startsService { dbus_message_set_auto_start(made, 0) }
        do {
            try fill(made, message.arguments)
        } catch {
            dbus_message_unref(made)
            throw error
        }
        return made
    }

    private func fill(_ message: OpaquePointer, _ arguments: [DBusValue]) throws(DBusFailure) {
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(message, &iterator)
        for argument in arguments { try Codec.append(argument, to: &iterator) }
    }

    // MARK: The loop

    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    private static func me(_ context: UnsafeMutableRawPointer?) -> DBusConnection {
        Unmanaged<DBusConnection>.fromOpaque(context!).takeUnretainedValue()
    }

    private static let filter: DBusHandleMessageFunction = { _, message, context in
        me(context).received(message!) ? DBUS_HANDLER_RESULT_HANDLED : DBUS_HANDLER_RESULT_NOT_YET_HANDLED
    }

    private func attach() {
        dbus_connection_add_filter(connection, Self.filter, context, nil)
        dbus_connection_set_watch_functions(
            connection,
            { watch, context in
                DBusConnection.me(context).add(watch!)
                return 1
            },
            { watch, context in DBusConnection.me(context).remove(watch!) },
            { watch, context in DBusConnection.me(context).refresh(dbus_watch_get_unix_fd(watch)) },
            context, nil)
        dbus_connection_set_timeout_functions(
            connection,
            { timeout, context in
                DBusConnection.me(context).arm(timeout!)
                return 1
            },
            { timeout, context in DBusConnection.me(context).timeouts[timeout!] = nil },
            { timeout, context in DBusConnection.me(context).arm(timeout!) },
            context, nil)
        dbus_connection_set_dispatch_status_function(
            connection,
            { _, status, context in
                if status == DBUS_DISPATCH_DATA_REMAINS { DBusConnection.me(context).planDispatch() }
            }, context, nil)
        planDispatch()
    }

    private func add(_ watch: OpaquePointer) {
        let fd = dbus_watch_get_unix_fd(watch)
        let entry = descriptors[fd] ?? Descriptor()
        entry.watches.append(watch)
        descriptors[fd] = entry
        refresh(fd)
    }

    private func remove(_ watch: OpaquePointer) {
        let fd = dbus_watch_get_unix_fd(watch)
        guard let entry = descriptors[fd] else { return }
        entry.watches.removeAll { $0 == watch }
        guard entry.watches.isEmpty else { return refresh(fd) }
        // libdbus closes the descriptor next.
        entry.source?.cancel()
        descriptors[fd] = nil
    }

    /// Merges what the enabled watches of one descriptor want: epoll takes a descriptor once.
    private func refresh(_ fd: Int32) {
        guard let entry = descriptors[fd] else { return }
        var wanted: IOInterest = []
        for watch in entry.watches where dbus_watch_get_enabled(watch) != 0 {
            let flags = dbus_watch_get_flags(watch)
            if flags & DBUS_WATCH_READABLE.rawValue != 0 { wanted.insert(.read) }
            if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { wanted.insert(.write) }
        }
        if entry.source == nil {
            entry.source = try? IOSource(loop, fd: fd, []) { [unowned self] ready in self.ready(fd, ready) }
        }
        entry.source?.interest = wanted
    }

    private func ready(_ fd: Int32, _ ready: IOInterest) {
        guard let entry = descriptors[fd] else { return }
        for watch in entry.watches where !isClosed && dbus_watch_get_enabled(watch) != 0 {
            let wanted = dbus_watch_get_flags(watch)
            var flags: UInt32 = 0
            if ready.contains(.read) { flags |= wanted & DBUS_WATCH_READABLE.rawValue }
            if ready.contains(.write) { flags |= wanted & DBUS_WATCH_WRITABLE.rawValue }
            if ready.contains(.hangup) { flags |= DBUS_WATCH_HANGUP.rawValue }
            if ready.contains(.error) { flags |= DBUS_WATCH_ERROR.rawValue }
            if flags != 0 { dbus_watch_handle(watch, flags) }
        }
        planDispatch()
    }

    private func arm(_ timeout: OpaquePointer) {
        guard dbus_timeout_get_enabled(timeout) != 0 else {
            timeouts[timeout]?.disarm()
            return
        }
        let timer =
            timeouts[timeout]
            ?? (try? TimerSource(loop, accuracy: .milliseconds(50)) { dbus_timeout_handle(timeout) })
        timeouts[timeout] = timer
        timer?.arm(after: .milliseconds(Int64(dbus_timeout_get_interval(timeout))))
    }

    /// Never dispatch from inside a callback of libdbus.
    private func planDispatch() {
        guard !isDispatchPlanned, !isClosed else { return }
        isDispatchPlanned = true
        loop.later { [weak self] in
            guard let self else { return }
            isDispatchPlanned = false
            while !isClosed && dbus_connection_dispatch(connection) == DBUS_DISPATCH_DATA_REMAINS {}
        }
    }

    private func received(_ message: OpaquePointer) -> Bool {
        if dbus_message_is_signal(message, DBUS_INTERFACE_LOCAL, "Disconnected") != 0 {
            // Not from inside libdbus's dispatch: the handler may drop this connection.
            loop.later { [weak self] in
                let handler = self?.onDisconnect
                self?.onDisconnect = nil
                handler?()
            }
            return true
        }
        let kind: InboundMessage.Kind
        switch dbus_message_get_type(message) {
        case DBUS_MESSAGE_TYPE_METHOD_CALL: kind = .call
        case DBUS_MESSAGE_TYPE_SIGNAL: kind = .signal
        default: return false
        }
        func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
        var iterator = DBusMessageIter()
        let arguments: [DBusValue]
        do {
            arguments = dbus_message_iter_init(message, &iterator) != 0 ? try Codec.read(&iterator) : []
        } catch {
            refuse(message, error)
            return kind == .call
        }
        let inbound = InboundMessage(
            kind: kind, sender: text(dbus_message_get_sender(message)), path: text(dbus_message_get_path(message)),
            interface: text(dbus_message_get_interface(message)), member: text(dbus_message_get_member(message)),
            signature: text(dbus_message_get_signature(message)), arguments: arguments,
            serial: dbus_message_get_serial(message), wantsReply: dbus_message_get_no_reply(message) == 0)
        let handled = onMessage?(inbound) ?? false
        // A signal may interest others too; an unhandled call gets libdbus's own UnknownMethod.
        return handled && kind == .call
    }

    private func refuse(_ message: OpaquePointer, _ why: DBusFailure) {
        guard !isClosed, dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_METHOD_CALL,
            dbus_message_get_no_reply(message) == 0,
            let error = dbus_message_new_error(message, why.name, why.message)
        else { return }
        dbus_connection_send(connection, error, nil)
        dbus_message_unref(error)
    }
}

/// Waits for one reply.
private final class Waiter {
    private let reply: (Result<[DBusValue], DBusFailure>) -> Void
    private let longest: Int

    init(_ longest: Int, _ reply: @escaping (Result<[DBusValue], DBusFailure>) -> Void) {
        self.longest = longest
        self.reply = reply
    }

    func take(_ message: OpaquePointer?) {
        guard let message else { return reply(.failure(.disconnected)) }
        defer { dbus_message_unref(message) }
        var iterator = DBusMessageIter()
        let values: [DBusValue]
        do {
            values = dbus_message_iter_init(message, &iterator) != 0 ? try Codec.read(&iterator, atMost: longest) : []
        } catch {
            return reply(.failure(error))
        }
        if dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_ERROR {
            let name = dbus_message_get_error_name(message).map { String(cString: $0) } ?? "?"
            reply(.failure(DBusFailure(name, values.first?.text ?? "")))
        } else {
            reply(.success(values))
        }
    }
}

extension DBusFailure {
    /// The failure in `error`, which is freed.
    init(taking error: inout DBusError) {
        self.init(
            error.name.map { String(cString: $0) } ?? "org.freedesktop.DBus.Error.Failed",
            error.message.map { String(cString: $0) } ?? "")
        dbus_error_free(&error)
    }
}
