internal import Base
internal import DBus
internal import EventLoop
internal import Glibc

// An app that takes calls over D-Bus: exports org.ringd.ProviderDelegate1 (and org.freedesktop.Application) at the name
// and path of its id, and prints a line for each thing that is asked of it.
//
//   ringd-test-app APP-ID [answer|refuse|hang]

let arguments = CommandLine.arguments
guard arguments.count >= 2, let address = SessionBus.defaultAddress(ChildProcess.environment) else {
    Console.complain("usage: ringd-test-app APP-ID [answer|refuse|hang]   (on a session bus)")
    exit(2)
}
let app = arguments[1]
let manner = arguments.count > 2 ? arguments[2] : "answer"

let loop = try EventLoop()
let connection = try DBusConnection(loop, address: address)
connection.onMessage = { message in
    guard message.kind == .call, message.path == DBusName.path(for: app),
        ["org.ringd.ProviderDelegate1", "org.freedesktop.Application"].contains(message.interface)
    else { return false }
    var words = [message.member]
    for argument in message.arguments {
        if let text = argument.text { words.append(text) }
        for entry in argument.entries ?? [] {
            words.append("\(entry.key)=\(entry.value.text ?? entry.value.flag.map { "\($0)" } ?? "?")")
        }
    }
    Console.write(words.joined(separator: "\t") + "\n")
    switch manner {
    case "refuse":
        connection.reply(to: message, .failure(DBusFailure("com.example.Error.Busy", "the line is broken")))
    case "hang": break
    default: connection.reply(to: message, .success([]))
    }
    return true
}
connection.onDisconnect = { exit(0) }
connection.callBus("RequestName", [.string(app), .uint32(4)]) { result in
    guard case .success(let values) = result, values.first?.integer == 1 else {
        Console.complain("the name \(app) is not to be had: \(result)")
        exit(1)
    }
    Console.write("ready\n")
}
exit(try loop.run())
