import Base
import EventLoop
import Glibc
import Store

// Writes calls as fast as it can, eight at a time, until it is killed: each rings, is answered, and ends. A line
// `NUMBER ringing|active|ended` on stdout says that this state is on disk. That is for a test which kills it.
//
//   ringd-store-writer DATABASE FIRST-NUMBER

let arguments = CommandLine.arguments
guard arguments.count == 3, let first = UInt64(arguments[2]) else {
    Console.complain("usage: ringd-store-writer DATABASE FIRST-NUMBER")
    exit(2)
}

/// What a call goes through, in this order.
enum State: String, Sendable, CaseIterable {
    case ringing
    case active
    case ended
}

@Sendable func rows(_ number: UInt64, _ state: State) -> (CallRow, LiveRow) {
    let uuid = CallUUID(high: 9, low: number)
    let began = WallTime(nanoseconds: Int64(number) * 1_000_000)
    let later = WallTime(nanoseconds: began.nanoseconds + 1)
    let call = CallRow(
        uuid: uuid, app: "com.example.talk", key: "k\(number)", callerName: "Alice", handle: "+49\(number)",
        handleKind: "phone", isVideo: false, began: began, answered: state == .ringing ? nil : later,
        connected: state == .ringing ? nil : later, ended: state == .ended ? later : nil,
        reason: state == .ended ? "hung-up" : "", category: state == .ended ? "completed" : "", rangMilliseconds: 0)
    let live = LiveRow(
        uuid: uuid, app: "com.example.talk", key: "k\(number)", isKeySynthetic: false, callerName: "Alice",
        handle: nil, handleKind: "", isVideo: false, sound: nil, serial: nil, began: .now, deadline: .now,
        beganWall: began, bootID: "b", state: state.rawValue)
    return (call, live)
}

let loop = try EventLoop()
let store = try Store(path: arguments[1], worker: Worker(name: "writer"), loop: loop) { event in
    Console.complain(event.message)
}
let next = Lock(first)

@Sendable func write(_ number: UInt64, _ states: ArraySlice<State>) {
    guard let state = states.first else {
        let number = next.withLock { next in
            defer { next += 1 }
            return next
        }
        return write(number, State.allCases[...])
    }
    let (call, live) = rows(number, state)
    store.record(call, live: state == .ended ? nil : live)
    store.append([
        EventRow(
            call: call.uuid, at: .now, wall: .now, kind: state.rawValue, level: 6, message: "", fields: "{}")
    ])
    store.flush {
        Console.write("\(number) \(state.rawValue)\n")
        write(number, states.dropFirst())
    }
}

for _ in 0..<8 { write(0, []) }
exit(try loop.run())
