import Foundation

/// One line per event, at once, also into a file or a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

let talk = TalkVideoManager.sharedClient
talk.delegate = RingCall.shared
RingCall.shared.registerPush()
talk.initWithServer()
RunLoop.main.run()
