import Foundation

/// One line per event, at once, also into a file or a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

// On iOS: application(_:didFinishLaunchingWithOptions:).
let arguments = CommandLine.arguments
guard arguments.count > 2 else {
    say("usage: Meeting USER HOST:PORT  (of Examples/python/voip_service.py, which must run)")
    exit(2)
}
let meeting = Meeting(user: arguments[1], service: arguments[2])
// dispatchMain() would do as well.
RunLoop.main.run()
