package import Base
package import DBus

/// A method call on one of our objects, checked against its interface, to be answered once through `BusService.answer`.
package struct BusCall: Sendable {
    package let interface: String
    package let member: String
    /// On a call's object: which call.
    package let call: CallUUID?
    package let arguments: [DBusValue]
    /// Unique name of the caller.
    package let sender: String
    let message: InboundMessage
}

/// Our objects on the bus: name, introspection, properties, object manager and dispatch. It decides nothing; methods
/// go to `handler`. Confined to the loop's thread.
package final class BusService: BusListener {
    package static let name = "org.ringd.Ringd1"
    package static let path = "/org/ringd/Ringd1"

    package static func path(of call: CallUUID) -> String { "\(path)/call/\(call.pathElement)" }

    /// Whether the name is ours.
    package enum NameState: Sendable, Equatable {
        case owned
        /// Another program has it.
        case taken
        case refused(String)
    }

    package var handler: ((BusCall) -> Void)?
    package var onName: ((NameState) -> Void)?

    private var connection: DBusConnection?
    /// Published calls in order, with their properties.
    private var calls: [(uuid: CallUUID, properties: [DBusValue.Entry])] = []

    package init() {}

    // MARK: What is published

    /// Adds the call's object, or tells what changed in it.
    package func publish(_ uuid: CallUUID, _ properties: [DBusValue.Entry]) {
        let path = Self.path(of: uuid)
        guard let index = calls.firstIndex(where: { $0.uuid == uuid }) else {
            calls.append((uuid, properties))
            connection?.emit(
                path: Self.path, interface: BusInterface.objectManager.name, member: "InterfacesAdded",
                [.objectPath(path), Self.interfaces(properties)])
            return
        }
        let old = calls[index].properties
        calls[index].properties = properties
        let changed = properties.filter { !old.contains($0) }
        guard !changed.isEmpty else { return }
        connection?.emit(
            path: path, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
            [.string(BusInterface.call.name), .dict(changed), .strings([])])
    }

    package func unpublish(_ uuid: CallUUID) {
        guard let index = calls.firstIndex(where: { $0.uuid == uuid }) else { return }
        calls.remove(at: index)
        connection?.emit(
            path: Self.path, interface: BusInterface.objectManager.name, member: "InterfacesRemoved",
            [.objectPath(Self.path(of: uuid)), .strings([BusInterface.call.name])])
    }

    package func emitEvent(_ kind: String, _ event: [DBusValue.Entry]) {
        connection?.emit(
            path: Self.path, interface: BusInterface.monitor.name, member: "Event", [.string(kind), .dict(event)])
    }

    /// There are records of pushes up to this number.
    package func emitPushes(last: UInt64) {
        connection?.emit(path: Self.path, interface: BusInterface.monitor.name, member: "Pushes", [.uint64(last)])
    }

    package func answer(_ call: BusCall, _ result: Result<[DBusValue], DBusFailure>) {
        connection?.reply(to: call.message, result)
    }

    // MARK: The bus

    package func busUp(_ connection: DBusConnection) {
        self.connection = connection
        // 4: do not queue. Two daemons ringing for one user would be twice the noise.
        connection.callBus("RequestName", [.string(Self.name), .uint32(4)]) { [weak self] result in
            switch result {
            case .success(let values):
                let code = values.first?.integer
                self?.onName?(code == 1 || code == 4 ? .owned : .taken)
            case .failure(let failure): self?.onName?(.refused(failure.description))
            }
        }
    }

    package func busDown() { connection = nil }

    package func busMessage(_ message: InboundMessage) -> Bool {
        guard message.kind == .call, let connection else { return false }
        let call =
            message.path.hasPrefix(Self.path + "/call/")
            ? CallUUID(message.path.dropFirst(Self.path.count + 6)) : nil
        let isRoot = message.path == Self.path
        let isCall = call.map { uuid in calls.contains { $0.uuid == uuid } } ?? false
        if message.interface == "org.freedesktop.DBus.Introspectable" {
            guard let xml = introspect(message.path, isRoot: isRoot, isCall: isCall) else { return false }
            connection.reply(to: message, .success([.string(xml)]))
            return true
        }
        guard isRoot || isCall else {
            guard message.path.hasPrefix(Self.path) else { return false }
            connection.reply(
                to: message,
                .failure(DBusFailure("org.freedesktop.DBus.Error.UnknownObject", "no such call: \(message.path)")))
            return true
        }
        if message.interface == "org.freedesktop.DBus.Properties" {
            connection.reply(to: message, properties(message, call))
            return true
        }
        if isRoot, message.interface == BusInterface.objectManager.name, message.member == "GetManagedObjects" {
            connection.reply(to: message, .success([managedObjects()]))
            return true
        }
        dispatch(message, isRoot ? nil : call, among: isRoot ? BusInterface.root : [.call], connection)
        return true
    }

    private func dispatch(
        _ message: InboundMessage, _ call: CallUUID?, among interfaces: [BusInterface], _ connection: DBusConnection
    ) {
        // The interface may be left out (D-Bus specification, "Message Format").
        let found = interfaces.lazy
            .filter { message.interface.isEmpty || $0.name == message.interface }
            .compactMap { interface in interface.methods.first { $0.name == message.member }.map { (interface, $0) } }
            .first
        guard let (interface, method) = found else {
            let known = interfaces.flatMap(\.methods).map(\.name)
            let hint = Text.nearest(to: message.member, in: known).map { "; did you mean \($0)?" } ?? ""
            connection.reply(
                to: message,
                .failure(
                    DBusFailure(
                        "org.freedesktop.DBus.Error.UnknownMethod",
                        "no method \(message.member) on \(message.path)\(hint)")))
            return
        }
        guard message.signature == method.signature else {
            connection.reply(
                to: message,
                .failure(
                    DBusFailure(
                        "org.freedesktop.DBus.Error.InvalidArgs",
                        "\(method.name) takes (\(method.signature)), not (\(message.signature))")))
            return
        }
        handler?(
            BusCall(
                interface: interface.name, member: method.name, call: call, arguments: message.arguments,
                sender: message.sender, message: message))
    }

    // MARK: Standard interfaces

    private func introspect(_ path: String, isRoot: Bool, isCall: Bool) -> String? {
        let head = """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>

            """
        var interfaces: [BusInterface] = []
        var children: [String] = []
        if isRoot {
            interfaces = BusInterface.root + BusInterface.standard + [BusInterface.objectManager]
            if !calls.isEmpty { children = ["call"] }
        } else if isCall {
            interfaces = [BusInterface.call] + BusInterface.standard
        } else if path == Self.path + "/call" {
            children = calls.map(\.uuid.pathElement)
        } else if path == "/" || Self.path.hasPrefix(path + "/") {
            // The way down to our root, so that tools can walk the tree.
            let rest = Self.path.dropFirst(path == "/" ? 1 : path.count + 1)
            children = [String(rest.prefix { $0 != "/" })]
        } else {
            return nil
        }
        return head + interfaces.map(\.xml).joined() + children.map { "  <node name=\"\($0)\"/>\n" }.joined()
            + "</node>\n"
    }

    private func properties(_ message: InboundMessage, _ call: CallUUID?) -> Result<[DBusValue], DBusFailure> {
        let all = call.flatMap { uuid in calls.first { $0.uuid == uuid }?.properties } ?? []
        let asked = message.arguments.first?.text ?? ""
        let shown = asked.isEmpty || asked == BusInterface.call.name ? all : []
        switch (message.member, message.signature) {
        case ("GetAll", "s"): return .success([.dict(shown)])
        case ("Get", "ss"):
            let name = message.arguments.last?.text ?? ""
            guard let entry = shown.first(where: { $0.key == name }) else {
                return .failure(
                    DBusFailure("org.freedesktop.DBus.Error.UnknownProperty", "no property \(asked).\(name)"))
            }
            return .success([.variant(entry.value)])
        case ("Set", "ssv"):
            return .failure(
                DBusFailure("org.freedesktop.DBus.Error.PropertyReadOnly", "every property here is read-only"))
        default:
            return .failure(
                DBusFailure("org.freedesktop.DBus.Error.UnknownMethod", "no such method of Properties"))
        }
    }

    private func managedObjects() -> DBusValue {
        .array(
            of: "{oa{sa{sv}}}",
            calls.map { .entry(.objectPath(Self.path(of: $0.uuid)), Self.interfaces($0.properties)) })
    }

    private static func interfaces(_ properties: [DBusValue.Entry]) -> DBusValue {
        .array(of: "{sa{sv}}", [.entry(.string(BusInterface.call.name), .dict(properties))])
    }
}
