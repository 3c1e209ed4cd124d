internal import Base
internal import JSON
internal import Pushes

/// The payload of `ringctl push --caller NAME`: a call as one of the families writes it, ringd's own if none is named.
struct ReadyMade {
    let invocation: Invocation
    let session: Session

    init(_ invocation: Invocation, _ session: Session) {
        self.invocation = invocation
        self.session = session
    }

    func payload() throws(Refusal) -> JSONValue {
        let name = invocation.options["dialect"]
        let (book, _) = Dialects.book(session)
        guard let dialect = book[name ?? "ringd"] else { throw Dialects.unknown(name ?? "ringd", book) }
        var signal = CallSignal()
        signal.kind = try kind()
        let isEnd = signal.isEnd
        guard isEnd || invocation.has("caller") else {
            throw .usage("push: say what: --caller NAME, --cancel, --payload FILE, or a .apns file")
        }
        signal.key = invocation.options["id"]
        if signal.key == nil && signal.kind != .invite {
            throw .usage(
                "push: --\(invocation.has("kind") ? "kind \(signal.kind.rawValue)" : "cancel") needs the call's --id")
        }
        signal.callerName = invocation.options["caller"]
        signal.handle = invocation.options["handle"]
        if let handle = signal.handle, handle.hasPrefix("+") { signal.handleKind = .phoneNumber }
        // Unasked, ringd's own says no more than it must.
        if invocation.has("video") { signal.video = true } else if name != nil { signal.video = false }
        signal.sound = invocation.options["sound"]
        if let text = invocation.options["time"] {
            guard let seconds = Double(text), seconds > 0, seconds < 1e6 else {
                throw .usage("push: --time is a number of seconds, not \"\(Text.clean(text, limit: 40))\"")
            }
            signal.ringTime = .seconds(seconds)
        }
        if name != nil && !isEnd {
            signal.sentAt = .now
            let time = signal.ringTime ?? .seconds(60)
            signal.expiresAt = WallTime(nanoseconds: WallTime.now.nanoseconds + time.nanoseconds)
            // So that it can be cancelled.
            if signal.key == nil && dialect.hasID { signal.key = CallUUID.random().description }
        }
        do throws(PayloadFault) {
            let payload = try dialect.write(signal)
            if name != nil { tellWhatIsLost(dialect, payload) }
            return payload
        } catch {
            throw .refused("\(error)")
        }
    }

    /// Not every family has a place for everything.
    private func tellWhatIsLost(_ dialect: Dialect, _ payload: JSONValue) {
        guard let read = try? DialectBook([dialect]).read(payload, .init(dialect: dialect.name)).signal else { return }
        var lost: [String] = []
        func look(_ option: String, _ isThere: Bool) {
            if invocation.has(option) && !isThere { lost.append("--" + option) }
        }
        look("caller", read.callerName != nil)
        look("handle", read.handle != nil)
        look("video", read.video == true)
        look("time", read.ringTime != nil || read.expiresAt != nil)
        look("sound", read.sound != nil)
        look("id", read.key != nil)
        guard !lost.isEmpty else { return }
        Console.complain("ringctl: \(dialect.title) has no place for \(lost.joined(separator: ", "))")
    }

    private func kind() throws(Refusal) -> CallSignal.Kind {
        guard let word = invocation.options["kind"] else { return invocation.has("cancel") ? .cancel : .invite }
        guard let kind = CallSignal.Kind(rawValue: word), kind != .other else {
            let known = CallSignal.Kind.allCases.filter { $0 != .other }.map(\.rawValue)
            throw .usage("push: --kind is \(known.joined(separator: ", "))")
        }
        if invocation.has("cancel") && kind != .cancel { throw .usage("push: --cancel is --kind cancel, not another") }
        return kind
    }
}
