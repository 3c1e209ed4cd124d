import Base
import Calls
import CallsWalk

/// Events per second of the core alone: nothing is performed, nothing is checked.
enum Speed {
    private static let talk = "com.example.talk"

    /// A call's whole life, again and again: push, the app's own invite, answer, hold, resume, end.
    static func cycle(count: Int) -> Int {
        var center = CallCenter()
        var now = Instant(nanoseconds: 1_000_000_000_000)
        var events = 0
        func send(_ event: CallEvent) -> ActionID {
            events += 1
            now = now + .milliseconds(1)
            var asked = ActionID(0)
            for case .perform(let id, _, _, _) in center.handle(event, at: now) { asked = id }
            return asked
        }
        _ = send(.app(talk, .provider(ProviderConfiguration())))
        _ = send(.app(talk, .attached))
        let clock = ContinuousClock()
        events = 0
        let took = clock.measure {
            for number in 1...UInt64(count) {
                let uuid = CallUUID(high: number, low: ~number)
                let invite = Invite(
                    uuid: uuid, app: talk, key: "\(number)",
                    caller: Caller(name: "Alice", handle: Handle(.phoneNumber, "+4915112345")))
                let request = RequestID(number)
                _ = send(.push(PushID(number), app: talk, .invite(invite), isBound: true))
                _ = send(.report(request, app: talk, uuid, .newIncoming(invite, CallUpdate())))
                _ = send(.delivered(PushID(number)))
                let answer = send(.user(uuid, .answer))
                _ = send(.fulfilled(answer, at: nil, isConnecting: false))
                _ = send(.report(request, app: talk, uuid, .audioRuns))
                let hold = send(.request(request, app: nil, [.setHeld(uuid, true)]))
                _ = send(.fulfilled(hold, at: nil, isConnecting: false))
                let resume = send(.request(request, app: nil, [.setHeld(uuid, false)]))
                _ = send(.fulfilled(resume, at: nil, isConnecting: false))
                let end = send(.user(uuid, .hangUp))
                _ = send(.fulfilled(end, at: nil, isConnecting: false))
            }
        }
        precondition(center.calls.isEmpty, "a cycle ends")
        return Int(Double(events) / (took / .seconds(1)))
    }

    /// The events of random walks, as they came.
    static func walk(seeds: ClosedRange<UInt64>, steps: Int) -> Int {
        let tapes = seeds.map { Walk.tape(seed: $0, steps: steps) }
        let clock = ContinuousClock()
        var actions = 0
        let took = clock.measure {
            for tape in tapes {
                var center = CallCenter(policy: tape.policy)
                for (event, instant) in tape.events { actions += center.handle(event, at: instant).count }
            }
        }
        precondition(actions > 0, "a walk does something")
        return Int(Double(tapes.reduce(0) { $0 + $1.events.count }) / (took / .seconds(1)))
    }
}
