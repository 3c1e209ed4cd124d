import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// What every sender is asked to do, by every way that it can take.
enum Behaviour: String, CaseIterable {
    case rings
    case isRefused = "is refused"
    case isGone = "is gone"
}

/// What some senders show of a gateway, or a gateway of them.
enum Quirk: String, CaseIterable {
    case certificate = "A client certificate instead of a provider token"
    case handshakes = "ALPN, prior knowledge, neither"
    case http1 = "HTTP/1.1"
    case echo = "An `apns-id` of any case is echoed byte for byte"
    case duplicateHeader = "The same header twice"
    case environments = "The CONNECT name tells the environment"
    case frames = "Frames of a refusal"
    case burst = "50 pushes at once, while one stream is announced"
    case load = "2000 requests on 2 connections"
    case singles = "A connection for every push"
    case expiration = "An expiration of 30 days"
    case moment = "An expiration of now, or of some seconds"
    case goAway = "GOAWAY in the middle of a request"
    case refusedStream = "REFUSED_STREAM"
    case discard = "What is written behind a refused binary push"
    case tickets = "TLS 1.3 session tickets on the binary port"
}

/// What the senders did in this run. The last cell makes the document and compares it with the one that is committed; a run
/// that fills some only (`--filter`, no root for a private network) leaves it alone.
enum Conformance {
    struct Line: Codable, Hashable {
        var sender: String
        /// For a quirk: empty.
        var way = ""
        var behaviour: String
        var result: String
    }

    private static let lines = Mutex<[Line]>([])
    private static let folder = Tree.root.appending(path: ".build/conformance")

    static func note(_ sender: PushSender, _ way: Way, _ behaviour: Behaviour, _ result: String) throws {
        try add(Line(sender: sender.rawValue, way: way.rawValue, behaviour: behaviour.rawValue, result: result))
    }

    static func note(_ quirk: Quirk, _ sender: String, _ result: String) throws {
        try add(Line(sender: sender, behaviour: quirk.rawValue, result: result))
    }

    private static func add(_ line: Line) throws {
        try lines.withLock { lines in
            lines.append(line)
            try write(lines)
            guard isComplete(lines) else { return }
            try compare(ConformancePage.text(lines))
        }
    }

    /// One JSON line for each, for whoever wants to work with them.
    private static func write(_ lines: [Line]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = try lines.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }.joined()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: folder.appending(path: "results.jsonl"))
    }

    private static func isComplete(_ lines: [Line]) -> Bool {
        let cells = Set(lines.map { [$0.sender, $0.way, $0.behaviour] })
        let quirks = Set(lines.filter { $0.way.isEmpty }.map(\.behaviour))
        return quirks.isSuperset(of: Quirk.allCases.map(\.rawValue))
            && Way.allCases.allSatisfy { way in
                way.senders.allSatisfy { sender in
                    Behaviour.allCases.allSatisfy { cells.contains([sender.rawValue, way.rawValue, $0.rawValue]) }
                }
            }
    }

    private static func compare(_ text: String) throws {
        let made = folder.appending(path: "conformance.md")
        try Data(text.utf8).write(to: made)
        let committed = try? String(contentsOf: Tree.root.appending(path: "Docs/conformance.md"), encoding: .utf8)
        // Not both texts in the message.
        let isSame = committed == text
        #expect(
            isSame,
            "Docs/conformance.md is not what this run found; look at both, then: cp .build/conformance/conformance.md Docs/"
        )
    }
}
