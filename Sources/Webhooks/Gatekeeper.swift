internal import Base

/// A request up to the end of its headers.
struct RequestHead {
    var method: String
    var version: String
    /// As it came.
    var target: [UInt8]
    /// The first header of that name.
    var header: (StaticString) -> [UInt8]?

    func text(_ name: StaticString) -> String? { header(name).map { String(decoding: $0, as: UTF8.self) } }
}

/// Why a request goes no further.
struct Turndown: Equatable {
    let status: Int
    /// For programs, in events.
    let cause: String
    /// For people; plain characters of JSON.
    let error: String
    let cure: String
    /// A header that belongs to the answer.
    var header: (name: String, value: String)?
    /// Somebody who may not.
    var isSuspicious = false

    var answer: WebhookServer.Answer {
        WebhookServer.Answer(status: status, body: #"{"error":"\#(error)","cure":"\#(cure)"}"#)
    }

    static func == (a: Self, b: Self) -> Bool { a.status == b.status && a.cause == b.cause }
}

/// Decides by a request's headers, before any of its body is taken.
struct Gatekeeper {
    var secret: Secret
    var bodyLimit: Int

    /// The only one to which the secret may be brought in the target: homeservers send no credentials (Matrix push gateway
    /// API), and a target ends up in logs.
    static let pathWithToken = ["_matrix", "push", "v1", "notify"]

    enum Verdict {
        /// `size` is what was declared; nil: nothing was.
        case take(Target, size: Int?)
        case refuse(Turndown)
    }

    func judge(_ head: RequestHead) -> Verdict {
        guard head.version == "HTTP/1.1" || head.version == "HTTP/1.0" else { return .refuse(.version) }
        guard head.method == "POST" else { return .refuse(.method) }
        // Browsers put it on every POST, and no page is to ring by itself.
        guard head.header("Origin") == nil else { return .refuse(.browser) }
        guard let target = Target(head.target) else { return .refuse(.target) }
        guard isWelcome(head, target) else {
            return .refuse(head.header("Authorization") == nil && target["token"] == nil ? .anonymous : .stranger)
        }
        if let coding = head.text("Content-Encoding"), coding.lowercased() != "identity" { return .refuse(.coding) }
        let length = head.text("Content-Length")
        if let transfer = head.text("Transfer-Encoding") {
            // Two lengths are how requests are smuggled (RFC 9112, 6.1).
            guard length == nil, transfer.lowercased() == "chunked" else { return .refuse(.framing) }
            return .take(target, size: nil)
        }
        guard let length else { return .refuse(.length) }
        guard length.utf8.allSatisfy({ (0x30...0x39).contains($0) }), !length.isEmpty else { return .refuse(.framing) }
        guard let size = Int(length), size <= bodyLimit else { return .refuse(.tooLarge) }
        return .take(target, size: size)
    }

    private func isWelcome(_ head: RequestHead, _ target: Target) -> Bool {
        if let shown = head.header("Authorization") { return secret.fits(authorization: shown) }
        guard target.path == Self.pathWithToken, let token = target["token"] else { return false }
        return secret.fits(Array(token.utf8))
    }
}

extension Target {
    subscript(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

extension Turndown {
    static let version = Turndown(
        status: 505, cause: "http-version", error: "this is no HTTP/1.1", cure: "POST with HTTP/1.1, e.g. with curl")
    static let method = Turndown(
        status: 405, cause: "method", error: "webhooks are POSTed", cure: "curl --json @FILE, or -X POST",
        header: ("Allow", "POST"))
    static let browser = Turndown(
        status: 403, cause: "origin", error: "the request has an Origin header: web pages may not ring",
        cure: "send it from a program", isSuspicious: true)
    static let target = Turndown(
        status: 400, cause: "target", error: "the address is no path of text",
        cure: "write /push/APP-ID, with %XX for what is not plain")
    static let anonymous = Turndown(
        status: 401, cause: "no-token", error: "the request shows no token",
        cure: "send Authorization: Bearer TOKEN (ringctl webhook)", header: challenge, isSuspicious: true)
    static let stranger = Turndown(
        status: 401, cause: "wrong-token", error: "the token is wrong, or in the wrong place",
        cure: "send Authorization: Bearer TOKEN, as ringctl webhook shows; in the address it is taken for Matrix alone",
        header: challenge, isSuspicious: true)
    static let coding = Turndown(
        status: 415, cause: "coding", error: "the body is compressed", cure: "send it as it is")
    static let framing = Turndown(
        status: 400, cause: "framing", error: "the length of the body is not clear",
        cure: "send Content-Length, or Transfer-Encoding: chunked, and not both")
    static let length = Turndown(
        status: 411, cause: "no-length", error: "the request says nothing of a body",
        cure: "send Content-Length, or Transfer-Encoding: chunked")
    static let tooLarge = Turndown(
        status: 413, cause: "too-large", error: "the body is too large", cure: "send less")

    private static let challenge = ("WWW-Authenticate", #"Bearer realm="ringd""#)
}
