import Foundation

/// Stands where a provider's SDK stands. The number's last digit decides: 0 is refused, 9 hangs up soon after it has
/// answered, anything else answers and stays.
final class FakeNetwork {
    var onRinging: ((_ callId: String) -> Void)?
    var onAnswered: ((_ callId: String) -> Void)?
    var onHangup: ((_ callId: String) -> Void)?
    private var live: Set<String> = []
    private let delay = 0.3

    /// The id comes later than the call, as with real services.
    func serverCall(to number: String, _ callback: @escaping (_ error: Error?, _ callId: String?) -> Void) {
        after(delay) { [self] in
            guard number.last != "0" else { return callback(Refused(), nil) }
            let id = UUID().uuidString.lowercased()
            live.insert(id)
            callback(nil, id)
            whileLive(id) { $0.onRinging?(id) }
            after(delay) { [self] in
                whileLive(id) { $0.onAnswered?(id) }
                guard number.last == "9" else { return }
                after(delay) { [self] in
                    whileLive(id) { $0.onHangup?(id) }
                    live.remove(id)
                }
            }
        }
    }

    func hangup(_ callId: String) { live.remove(callId) }

    func sendDTMF(_ digits: String, in callId: String) {}

    private func whileLive(_ id: String, _ body: (FakeNetwork) -> Void) {
        if live.contains(id) { body(self) }
    }

    private func after(_ seconds: Double, _ body: @escaping () -> Void) {
        DispatchQueue.main.asyncAfter(deadline: .now() + seconds, execute: body)
    }

    struct Refused: LocalizedError {
        var errorDescription: String? { "the number is not in service" }
    }
}
