internal import Base
internal import DBus
internal import EventLoop
internal import Glibc

// An app that takes calls over D-Bus: registers, exports org.ringd.ProviderDelegate1, org.ringd.PushDelegate1 (and
// org.freedesktop.Application) at the path of its id, and prints a line for each thing that is asked of it.
//
//   ringd-test-app APP-ID [answer|refuse|hang|late|stay|calls|eager|mute] [KEY=VALUE …]
//
// stay: it does everything but end a call; calls: it registers for pushes when it is told to; eager: it does not, and
// reports a call without waiting for its registration; mute: it completes no push.
//
// KEY=VALUE: its configuration, e.g. session=down; push.KEY=VALUE: how it registers for pushes, e.g. push.account=alice.
// org.ringd.TestApp1.Do(s) has it call a method, e.g.
// "ReportCallEnded UUID 2".

let arguments = CommandLine.arguments
guard arguments.count >= 2, let address = SessionBus.defaultAddress(ChildProcess.environment) else {
    Console.complain("usage: ringd-test-app APP-ID [answer|refuse|hang|late] [KEY=VALUE …]   (on a session bus)")
    exit(2)
}
let app = arguments[1]
let manner = arguments.count > 2 ? arguments[2] : "answer"
/// The words that begin so, as entries.
func entries(_ prefix: String) -> DBusValue {
    let words = arguments.dropFirst(3).filter { $0.hasPrefix("push.") ? prefix == "push." : prefix.isEmpty }
    return .dict(
        words.map { word in
            let bare = word.dropFirst(prefix.count)
            let equals = bare.firstIndex(of: "=") ?? bare.endIndex
            let value = String(bare[equals...].dropFirst())
            let number = UInt32(value).map { DBusValue.uint32($0) }
            let flag: DBusValue? = value == "true" || value == "false" ? .bool(value == "true") : nil
            return .init(String(bare[..<equals]), number ?? flag ?? .string(value))
        })
}

let loop = try EventLoop()
let connection = try DBusConnection(loop, address: address)

@MainActor func ask(
    _ interface: String, _ member: String, _ values: [DBusValue],
    then: @escaping (Result<[DBusValue], DBusFailure>) -> Void
) {
    connection.call(
        OutboundMessage(
            to: "org.ringd.Ringd1", path: "/org/ringd/Ringd1", interface: "org.ringd." + interface, member: member,
            values), reply: then)
}

@MainActor func provider(_ member: String, _ values: [DBusValue]) {
    ask("CallProvider1", member, values) { result in
        if case .failure(let failure) = result { Console.write("failure\t\(member)\t\(failure.name)\n") }
    }
}

connection.onMessage = { message in
    if message.kind == .signal, message.member == "NameOwnerChanged", message.arguments.last?.text?.isEmpty == false {
        register()
    }
    guard message.kind == .call, message.path == DBusName.path(for: app),
        [
            "org.ringd.ProviderDelegate1", "org.ringd.PushDelegate1", "org.freedesktop.Application",
            "org.ringd.TestApp1",
        ].contains(message.interface)
    else { return false }
    if message.interface == "org.ringd.TestApp1" {
        connection.reply(to: message, .success([]))
        command(Substring(message.arguments.first?.text ?? ""))
        return true
    }
    var words = [message.member]
    for argument in message.arguments {
        if let text = argument.text { words.append(text) }
        if let bytes = argument.blob { words.append(Hex.text(bytes)) }
        if let number = argument.integer { words.append("\(number)") }
        for entry in argument.entries ?? [] where entry.key != "timeout" {
            words.append("\(entry.key)=\(entry.value.text ?? entry.value.flag.map { "\($0)" } ?? "?")")
        }
    }
    Console.write(words.joined(separator: "\t") + "\n")
    let isAction = message.member.hasPrefix("Perform")
    switch manner {
    case "refuse" where isAction:
        connection.reply(to: message, .failure(DBusFailure("com.example.Error.Busy", "the line is broken")))
    case "hang" where isAction: break
    case "mute" where message.member == "DidReceiveIncomingPush": break
    default:
        connection.reply(to: message, .success([]))
        guard isAction, manner != "late" || message.member != "PerformAnswerCall",
            manner != "stay" || message.member != "PerformEndCall"
        else { break }
        provider("FulfillAction", [message.arguments[0], .dict([])])
    }
    return true
}
connection.onDisconnect = { exit(0) }

/// A method of CallProvider1 by its name and words, as far as tests need them.
@MainActor func command(_ line: Substring) {
    let words = line.split(separator: " ").map(String.init)
    guard let member = words.first else { return }
    let texts = words.dropFirst().map { DBusValue.string($0) }
    switch member {
    case "ReportCallEnded": provider(member, [texts[0], .uint32(UInt32(words[2]) ?? 0), .dict([])])
    case "ReportCallStartedConnecting", "ReportCallConnected", "FulfillAction", "ReportCallUpdated":
        provider(member, [texts[0], .dict([])])
    case "MarkUploaded":
        ask("PushRegistry1", member, [.string(app), .string("voip"), texts[0]]) { Console.write("marked\t\($0)\n") }
    case "Request":
        ask(
            "CallController1", member,
            [.array(of: "(ssa{sv})", [.structure([texts[0], texts[1], .dict([])])])]
        ) { result in
            if case .failure(let failure) = result { Console.write("failure\t\(member)\t\(failure.name)\n") }
        }
    case "Status", "Pushes":
        ask("Monitor1", member, member == "Pushes" ? [.dict([])] : []) { result in
            if case .failure(let failure) = result { Console.write("failure\t\(member)\t\(failure.name)\n") }
        }
    case "Register": registerCalls()
    case "RegisterPushes":
        let account =
            words.count > 1 ? [DBusValue.Entry("account", UInt32(words[1]).map { .uint32($0) } ?? texts[0])] : []
        registerPushes(.dict(account)) {}
    case "Huge":
        provider("SetConfiguration", [.string(app), .dict(("icon", .string(String(repeating: "x", count: 2 << 20))))])
    case "Churn":
        for _ in 0..<300 {
            provider("Register", [.string(app), .objectPath(DBusName.path(for: app)), .dict([])])
            provider("Invalidate", [.string(app)])
        }
    case "Flood":
        for _ in 0..<400 { provider("FulfillAction", [.string("none"), .dict([])]) }
    case "ReportNewIncomingCall":
        provider(member, [.string(app), texts[0], .dict(("caller", .string(words.count > 2 ? words[2] : "Caller")))])
    case "SetSession": provider(member, [.string(app), texts[0]])
    case "SetForeground": provider(member, [.string(app), .bool(words[1] == "true")])
    case "BindAccount": ask("PushRegistry1", member, [.string(app), texts[0]]) { Console.write("bound\t\($0)\n") }
    case "UnbindAccount": ask("PushRegistry1", member, [.string(app)]) { Console.write("unbound\t\($0)\n") }
    default: provider(member, Array(texts))
    }
}

@MainActor func registerPushes(_ options: DBusValue, then: @escaping () -> Void) {
    let path = DBusValue.objectPath(DBusName.path(for: app))
    ask("PushRegistry1", "Register", [.string(app), path, options]) { result in
        if case .failure(let failure) = result { Console.write("failure\tRegisterPushes\t\(failure)\n") }
        then()
    }
}

@MainActor func registerCalls() {
    let path = DBusValue.objectPath(DBusName.path(for: app))
    ask("CallProvider1", "Register", [.string(app), path, entries("")]) { result in
        Console.write(result.isSuccess ? "ready\n" : "failure\tRegister\t\(result)\n")
    }
}

@MainActor func register() {
    if manner == "eager" {
        let call = DBusValue.string("2f1d6a3e-0000-4000-8000-000000000001")
        registerCalls()
        provider("ReportNewIncomingCall", [.string(app), call, .dict(("caller", .string("Nobody")))])
        provider("ReportCallUpdated", [call, .dict(("caller", .string("Alice")))])
        return
    }
    if manner == "calls" { registerCalls() } else { registerPushes(entries("push."), then: registerCalls) }
}

connection.addMatch(
    "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='org.ringd.Ringd1'")
connection.callBus("RequestName", [.string(app), .uint32(4)]) { result in
    guard case .success(let values) = result, values.first?.integer == 1 else {
        Console.complain("the name \(app) is not to be had: \(result)")
        exit(1)
    }
    register()
}
exit(try loop.run())

extension Result {
    var isSuccess: Bool { if case .success = self { true } else { false } }
}
