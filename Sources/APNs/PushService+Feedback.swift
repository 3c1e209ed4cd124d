package import Base
package import Crypto

/// The list that the legacy feedback service reads out.
extension PushService {
    func noteFailure(_ registration: Registration) {
        guard case .unregistered(let at) = registration.end, failed[registration.token] == nil,
            failed.count < TokenDirectory.mostDead
        else { return }
        // When the app went, as 410 has it: not when the push came.
        failed[registration.token] = at
        onFeedback(registration.token, at)
    }

    package func restore(feedback token: DeviceToken, at wall: WallTime) { failed[token] = wall }

    /// The failures since the last time, of the apps that a certificate names (of all, if it names none): reading clears
    /// them (apns.md 2.3).
    package func takeFeedback(for certificate: PeerCertificate?) -> [(token: DeviceToken, at: WallTime)] {
        let topics = certificate?.topics ?? []
        let mine = failed.filter { token, _ in
            guard !topics.isEmpty, let app = directory[token]?.app else { return true }
            return topics.contains { $0 == app || $0 == app + PushType.voip.suffix }
        }
        for token in mine.keys {
            failed[token] = nil
            onFeedback(token, nil)
        }
        return mine.map { ($0.key, $0.value) }.sorted { $0.at < $1.at }
    }
}
