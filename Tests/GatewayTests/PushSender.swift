import APNs
import Base
import Crypto
import Gateway
import HTTP2

/// A sender of the HTTP/2 API that behaves: nghttp2's client over a `Client`.
final class PushSender {
    let client: Client
    let http2: HTTP2Client
    private(set) var responses: [Int32: HTTP2Client.Response] = [:]
    private(set) var goAways: [(last: Int32, code: UInt32, debug: String)] = []
    private(set) var limits: [Int] = []
    private(set) var failure: HTTP2Failure?
    private var seen = 0

    init(_ client: Client) throws {
        self.client = client
        http2 = try HTTP2Client()
        http2.onResponse = { [unowned self] in responses[$0] = $1 }
        http2.onGoAway = { [unowned self] in
            goAways.append(($0, $1, String(decoding: $2, as: UTF8.self)))
        }
        http2.onSettings = { [unowned self] in limits.append(http2.streamLimit) }
    }

    func step() {
        let fresh = Array(client.received[seen...])
        seen = client.received.count
        do {
            try fresh.withUnsafeBytes { try http2.receive($0) }
            var out: [UInt8] = []
            try http2.drain(into: &out)
            client.send(out)
        } catch {
            failure = failure ?? error as? HTTP2Failure
        }
    }

    /// Sends a push; `headers` are added to, or with a nil value taken from, a good VoIP push.
    func push(
        _ token: [UInt8] = Frames.token, _ headers: [String: String?] = [:], body: [UInt8] = Frames.payload,
        method: String = "POST", path: String? = nil
    ) throws -> Int32 {
        var fields: [(name: String, value: String)] = [
            (":method", method), (":scheme", "https"), (":authority", "localhost"),
            (":path", path ?? "/3/device/" + Hex.text(token)),
        ]
        var all: [String: String?] = [
            "apns-topic": "org.example.App.voip", "apns-push-type": "voip", "apns-expiration": "0",
        ]
        for (name, value) in headers { all[name] = .some(value) }
        for (name, value) in all.sorted(by: { $0.key < $1.key }) {
            if let value { fields.append((name, value)) }
        }
        return try http2.request(fields, body: body)
    }
}
