import APNs
import Base
import Crypto
import Testing

/// A service with an app, a clock that stands until it is moved, and a key; no socket and no file.
final class Desk {
    static let app = "com.example.talk"
    static let team = "TEAM000001"
    static let keyID = "ABC123DEFG"

    let service = PushService(now: Instant(nanoseconds: 0))
    var now = Instant(nanoseconds: 1_000_000_000_000)
    /// 2026-11-30.
    var wall = WallTime(nanoseconds: 1_796_000_000_000_000_000)
    var events: [Event] = []
    /// What reached this desktop.
    var deliveries: [PushService.Delivery] = []
    var outcome = PushService.Outcome("rings")
    /// What is to run later, and after what time.
    var later: [(delay: Duration, work: () -> Void)] = []
    var stored: [StoredPush] = []
    var unstored: [StoredPush] = []
    var feedback: [(DeviceToken, WallTime?)] = []
    lazy var sender = connection()

    init(apps: [String] = [app]) {
        service.report = { [unowned self] in events.append($0) }
        service.deliver = { [unowned self] in
            deliveries.append($0)
            return outcome
        }
        service.later = { [unowned self] in later.append(($0, $1)) }
        service.onStored = { [unowned self] in stored.append($0) }
        service.onUnstored = { [unowned self] in unstored.append($0) }
        service.onFeedback = { [unowned self] in feedback.append(($0, $1)) }
        for app in apps { _ = service.directory.add(app: app) }
        trust(Self.keyID, team: Self.team)
    }

    /// Has a key known whose signatures are the word `good`.
    func trust(
        _ id: String, team: String? = nil, environment: PushEnvironment = .unknown, topics: [String] = [],
        related: String? = nil
    ) {
        service.tokens.keys[id] = APNs.ProviderKey(
            id: id, team: team, environment: environment, topics: topics, related: related
        ) { _, signature in signature.elementsEqual("good".utf8) }
    }

    func pass(_ time: Duration) {
        now = now + time
        wall.nanoseconds += time.nanoseconds
    }

    func runLater() {
        let work = later
        later = []
        for one in work { one.work() }
    }

    // MARK: Who sends

    func connection(
        _ environment: PushEnvironment = .production, certificate: PeerCertificate? = nil
    ) -> Sender {
        Sender(
            number: 7, peer: "127.0.0.1:5", environment: environment, certificate: certificate, now: now, wall: wall)
    }

    /// A provider token; `iat` as it stands in the JSON.
    func token(
        _ id: String = keyID, team: String = team, iat: String? = nil, age: Int64 = 0, algorithm: String = "ES256",
        signature: String = "good"
    ) -> String {
        let header = #"{"alg":"\#(algorithm)","kid":"\#(id)"}"#
        let claims = #"{"iss":"\#(team)","iat":\#(iat ?? String(wall.seconds - age))}"#
        return [header, claims, signature].map { Base64URL.encode($0.utf8) }.joined(separator: ".")
    }

    // MARK: Pushes

    func registration(
        _ kind: TokenKind = .voip, _ environment: PushEnvironment = .production, app: String = app,
        device: String = TokenDirectory.desktop
    ) -> Registration {
        service.directory.tokens(app: app, device: device).first {
            $0.kind == kind && $0.environment == environment
        }!
    }

    /// A push that is in order: the call of an app, over HTTP/2; `change` makes it another.
    func request(
        to registration: Registration? = nil, _ headers: [PushRequest.Header: String?] = [:],
        body: String = #"{"callId":"1"}"#, transport: PushRequest.Transport = .http2
    ) -> PushRequest {
        let registration = registration ?? self.registration()
        let push = PushRequest()
        push.transport = transport
        var all: [PushRequest.Header: String?] = [:]
        if transport == .http2 {
            all = [
                .method: "POST", .path: "/3/device/\(registration.token.hex)", .authorization: "bearer \(token())",
                .topic: registration.kind == .voip ? registration.app + ".voip" : registration.app,
                .pushType: registration.kind.rawValue, .expiration: "0",
            ]
        } else {
            push.binaryToken = registration.token.bytes
        }
        for (header, value) in headers { all[header] = .some(value) }
        for (header, value) in all {
            if let value { push.set(header, value) }
        }
        push.append(Array(body.utf8))
        return push
    }

    @discardableResult
    func take(_ push: PushRequest, from other: Sender? = nil) -> PushService.Answer {
        service.take(push, from: other ?? sender, now: now, wall: wall)
    }

    /// What is in the record of the last push.
    var last: PushRecord { service.log[service.log.next - 1]! }

    /// Takes it and looks what was found first that refuses.
    func refusal(_ push: PushRequest, from other: Sender? = nil) -> String? {
        let answer = take(push, from: other)
        #expect(answer.status == last.status && answer.reasonText == last.reason)
        return answer.reason?.rawValue
    }

    func codes(_ push: PushRequest, from other: Sender? = nil) -> [String] {
        take(push, from: other)
        return last.findings.map(\.code)
    }
}

/// A certificate like those that Apple made for calls.
func voipCertificate(_ app: String = Desk.app, until end: Int64 = 1_900_000_000) -> PeerCertificate {
    var out = PeerCertificate()
    out.commonName = "VoIP Services: \(app)"
    out.userID = app + ".voip"
    out.isForSandbox = true
    out.isForProduction = true
    out.isVoIP = true
    out.bundle = app
    out.voipTopics = [app, app + ".voip"]
    out.notBefore = WallTime(nanoseconds: 1_700_000_000_000_000_000)
    out.notAfter = WallTime(nanoseconds: end * 1_000_000_000)
    return out
}
