import Foundation

/// One line per event, at once, also into a file or a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

let model = CallModel()

// On iOS: two buttons.
Thread.detachNewThread {
    while let line = readLine() {
        let words = line.split(separator: " ").map(String.init)
        DispatchQueue.main.async {
            switch words.first {
            case "call" where words.count == 2: model.startCall(words[1])
            case "end": model.endCall()
            default: say("usage: call NUMBER, or end")
            }
        }
    }
}
dispatchMain()
