import Base
import Calls

/// The outside of `CallCenter`: performs its actions on a pretend desktop and remembers everything that invariants
/// speak of. Time is whatever the test says.
struct World {
    var center = CallCenter()
    var now = Instant(nanoseconds: 1_000_000_000_000)

    // What the edges would be doing now.
    var sound: RingWish?
    var vibration: CallUUID?
    var banners: Set<CallUUID> = []
    var audio: Set<CallUUID> = []

    // What has happened.
    var completed: [PushID: [PushOutcome]] = [:]
    var endings: [CallUUID: [EndReason]] = [:]
    var raises: [CallUUID: Int] = [:]
    var notices: [CallUUID] = []
    var asked: [ActionID] = []
    var open: Set<ActionID> = []
    var records: [CallUUID: Call] = [:]
    var opened: [CallUUID] = []
    var remembered: Set<CallKey> = []
    var soundSince: Instant?
    var heard: [CallUUID: Duration] = [:]
    var rangAfterEnd: [CallUUID] = []
    private var pushes: UInt64 = 0

    init(policy: CallPolicy = CallPolicy()) { center.policy = policy }

    @discardableResult
    mutating func send(_ event: CallEvent) -> [CallAction] {
        let actions = center.handle(event, at: now)
        for action in actions { perform(action) }
        return actions
    }

    @discardableResult
    mutating func push(_ signal: Signal, isBound: Bool = true) -> PushOutcome? {
        pushes += 1
        let id = PushID(pushes)
        send(.push(id, signal, isBound: isBound))
        return completed[id]?.first
    }

    /// Lets time pass, waking the core whenever it asked for it.
    mutating func advance(_ duration: Duration) {
        let end = now + duration
        var wakes = 0
        while let next = center.nextDeadline, next <= end {
            now = max(now, next)
            send(.timeUp)
            wakes += 1
            precondition(wakes < 10_000, "the core asks to be woken for ever")
        }
        now = end
    }

    private mutating func perform(_ action: CallAction) {
        switch action {
        case .completePush(let id, let outcome): completed[id, default: []].append(outcome)
        case .ring(let wish):
            if let sound, let soundSince { heard[sound.call, default: .zero] += now - soundSince }
            sound = wish
            soundSince = wish == nil ? nil : now
            if let wish, endings[wish.call] != nil { rangAfterEnd.append(wish.call) }
        case .vibrate(let call): vibration = call
        case .show(let call, _): banners.insert(call.uuid)
        case .raise(let uuid): raises[uuid, default: 0] += 1
        case .withdraw(let uuid): banners.remove(uuid)
        case .performAnswer(let id, _), .performEnd(let id, _, _):
            asked.append(id)
            open.insert(id)
        case .open(let call): opened.append(call.uuid)
        case .audio(let uuid, let isOn): if isOn { audio.insert(uuid) } else { audio.remove(uuid) }
        case .notice(let call, _): notices.append(call.uuid)
        case .record(let call):
            records[call.uuid] = call
            if case .ended(let reason) = call.state { endings[call.uuid, default: []].append(reason) }
        case .remember(let key): remembered.insert(key)
        case .note: break
        }
    }
}

extension Invite {
    static func sample(
        _ key: String, app: String = "com.example.talk", caller: String = "Alice", handle: String? = "+4915112345",
        ringTime: Duration? = nil, sentAt: Instant? = nil, expiresAt: Instant? = nil, serial: Int64? = nil,
        isSynthetic: Bool = false
    ) -> Invite {
        // Any fixed function of app and key will do here; the daemon uses a name-based UUID.
        let digits = (app + "/" + key.lowercased()).utf8.reduce(into: UInt64(14_695_981_039_346_656_037)) {
            hash, byte in
            hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211
        }
        return Invite(
            uuid: CallUUID(high: digits, low: digits &* 31), app: app, key: key, isKeySynthetic: isSynthetic,
            caller: Caller(name: caller, handle: handle.map { Handle(.phoneNumber, $0) }), ringTime: ringTime,
            sentAt: sentAt, expiresAt: expiresAt, serial: serial)
    }

    var cancel: Signal { .cancel(callKey) }
}
