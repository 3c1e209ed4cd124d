import Foundation

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Why an invite is taken back.
enum InviteCancelReason: String {
    case remoteCancel = "remote-cancel"
    case remoteTimeout = "remote-timeout"
    case answeredElsewhere = "answered-elsewhere"
    case rejectedElsewhere = "rejected-elsewhere"
}

@MainActor protocol VoiceClientDelegate: AnyObject {
    func client(_ client: VoiceClient, didReceiveInviteForCall callId: String, from caller: String)
    func client(_ client: VoiceClient, didReceiveInviteCancelForCall callId: String, reason: InviteCancelReason)
    func client(_ client: VoiceClient, didReceiveHangupForCall callId: String)
    func client(_ client: VoiceClient, didReceiveSessionErrorWith text: String)
}

/// Stands where a provider's SDK stands: JSON lines over TCP with `Examples/python/voip_service.py`.
@MainActor final class VoiceClient {
    weak var delegate: (any VoiceClientDelegate)?
    private let fd: Int32
    private var onSession: (() -> Void)?
    private var onToken: ((_ deviceId: String) -> Void)?
    private var onAnswer: [String: () -> Void] = [:]

    init?(host: String, port: UInt16) {
        guard let fd = Self.connection(host, port) else { return nil }
        self.fd = fd
        Thread.detachNewThread { [weak self] in
            Self.readLines(fd) { line in
                DispatchQueue.main.async { MainActor.assumeIsolated { self?.heard(line) } }
            }
        }
    }

    private static func connection(_ host: String, _ port: UInt16) -> Int32? {
        #if canImport(Glibc)
            let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let fd = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else { return nil }
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return code == 0 ? fd : nil
    }

    nonisolated private static func readLines(_ fd: Int32, _ take: (_ line: Data?) -> Void) {
        var rest = Data()
        var chunk = [UInt8](repeating: 0, count: 4096)
        while case let count = read(fd, &chunk, chunk.count), count > 0 {
            rest += chunk[..<count]
            while let end = rest.firstIndex(of: 10) {
                take(Data(rest[..<end]))
                rest = Data(rest[(end + 1)...])
            }
        }
        take(nil)
    }

    private func heard(_ line: Data?) {
        guard let line else { return delegate?.client(self, didReceiveSessionErrorWith: "transport closed") ?? () }
        guard let message = try? JSONSerialization.jsonObject(with: line) as? [String: Any] else { return }
        let call = message["call"] as? String ?? ""
        switch message["what"] as? String {
        case "logged-in": onSession?()
        case "token-stored": onToken?(message["device"] as? String ?? "")
        case "connected": onAnswer.removeValue(forKey: call)?()
        case "invite":
            delegate?.client(self, didReceiveInviteForCall: call, from: message["caller"] as? String ?? "")
        case "ended":
            onAnswer[call] = nil
            if let reason = InviteCancelReason(rawValue: message["reason"] as? String ?? "") {
                delegate?.client(self, didReceiveInviteCancelForCall: call, reason: reason)
            } else {
                delegate?.client(self, didReceiveHangupForCall: call)
            }
        default: break
        }
    }

    private func send(_ message: [String: String]) {
        guard var line = try? JSONSerialization.data(withJSONObject: message) else { return }
        line.append(10)
        _ = line.withUnsafeBytes { write(fd, $0.baseAddress, $0.count) }
    }

    // MARK: What an SDK offers

    /// Takes as long as the service takes.
    func createSession(_ user: String, _ done: @escaping () -> Void) {
        onSession = done
        send(["do": "login", "user": user])
    }

    func registerVoipToken(_ token: Data, of user: String, _ done: @escaping (_ deviceId: String) -> Void) {
        onToken = done
        send(["do": "token", "user": user, "token": token.map { String(format: "%02x", $0) }.joined()])
    }

    /// Who calls, if the push is one of this service's.
    nonisolated static func invite(in payload: [AnyHashable: Any]) -> (callId: String, caller: String)? {
        guard let id = payload["callId"] as? String, let caller = payload["caller"] as? String else { return nil }
        return (id, caller)
    }

    func answer(_ callId: String, _ done: @escaping () -> Void) {
        onAnswer[callId] = done
        send(["do": "answer", "call": callId])
    }

    func reject(_ callId: String) { send(["do": "hangup", "call": callId, "reason": "declined"]) }

    func hangup(_ callId: String) { send(["do": "hangup", "call": callId, "reason": "hung-up"]) }
}
