import Foundation

/// One line per event, at once, also into a file or a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

// On iOS: application(_:didFinishLaunchingWithOptions:), the same whether the user or a push started the app.
let arguments = CommandLine.arguments
let service = arguments.count > 2 ? arguments[2].split(separator: ":") : []
guard service.count == 2, let port = UInt16(service[1]),
    let client = VoiceClient(host: String(service[0]), port: port)
else {
    say("usage: Incoming USER HOST:PORT  (of Examples/python/voip_service.py, which must run)")
    exit(2)
}
let manager = ClientManager(client, user: arguments[1])
manager.registerForVoIPPushes()
manager.login()
RunLoop.main.run()
